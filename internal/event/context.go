package event

var contextFacts = []kind{
	fact[ContextPruned](), fact[ContextCompacted](), fact[ContextNoted](), fact[TierRecorded](),
}

// ContextPruned blanks old tool results in the history.
type ContextPruned struct {
	ToolUseIDs              List[string] `json:"toolUseIds"`
	Placeholder             string       `json:"placeholder"` // what stands there from now on
	TokensReclaimedEstimate int64        `json:"tokensReclaimedEstimate"`
}

// Cut is an inclusive range of facts.
type Cut struct {
	FromSeq int64 `json:"fromSeq"`
	ToSeq   int64 `json:"toSeq"`
}

// CompactionTrigger says why the history was compacted.
type CompactionTrigger string

const (
	TriggerBudget   CompactionTrigger = "proactive-token-budget"
	TriggerOverflow CompactionTrigger = "reactive-overflow"
	TriggerUser     CompactionTrigger = "user-command"
)

// ContextCompacted replaces a part of the history by a checkpoint.
type ContextCompacted struct {
	CheckpointYAML string            `json:"checkpointYaml"`
	Cut            Cut               `json:"cut"`
	Trigger        CompactionTrigger `json:"trigger"`
	TokensBefore   int64             `json:"tokensBefore"`
	SummaryModel   string            `json:"summaryModel"`
}

// ContextNoted tells the model what changed by itself: date, branch, files.
type ContextNoted struct {
	Text string `json:"text"`
}

// Tier is a part of the prompt that stands before the conversation.
type Tier string

const (
	TierTools   Tier = "tools"
	TierStatic  Tier = "static"
	TierSession Tier = "session"
)

// TierRecorded keeps a tier as it was first sent, so that a resumed session
// sends the same bytes.
type TierRecorded struct {
	Tier   Tier   `json:"tier"`
	Text   string `json:"text"` // for tools: the array, byte for byte
	SHA256 string `json:"sha256"`
}

func (ContextPruned) durable() string    { return "context.pruned" }
func (ContextCompacted) durable() string { return "context.compacted" }
func (ContextNoted) durable() string     { return "context.noted" }
func (TierRecorded) durable() string     { return "context.tier-recorded" }
