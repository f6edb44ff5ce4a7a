package event

var memoryFacts = []kind{fact[MemoryRecalled](), fact[MemorySaved](), fact[MemoryForgotten]()}

// MemoryEntry names one remembered text and its content.
type MemoryEntry struct {
	ID   string `json:"id"`
	Hash string `json:"hash"`
}

// MemoryRecalled puts remembered text into the session tier.
type MemoryRecalled struct {
	Entries List[MemoryEntry] `json:"entries"`
	Text    string            `json:"text"`
}

// MemorySaved keeps a text for later sessions.
type MemorySaved struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Source string `json:"source"`
}

// MemoryForgotten drops one.
type MemoryForgotten struct {
	ID string `json:"id"`
}

func (MemoryRecalled) durable() string  { return "memory.recalled" }
func (MemorySaved) durable() string     { return "memory.saved" }
func (MemoryForgotten) durable() string { return "memory.forgotten" }
