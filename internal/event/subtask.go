package event

var subtaskFacts = []kind{fact[SubtaskStarted](), fact[SubtaskFinished](), fact[SubtaskMerged](), fact[SubtaskDiscarded]()}

// SubtaskStarted says that a child engine works in a worktree of its own.
type SubtaskStarted struct {
	SubtaskID      string `json:"subtaskId"`
	ChildSessionID string `json:"childSessionId"`
	Kind           string `json:"kind"` // work or explore
	Objective      string `json:"objective"`
	Branch         string `json:"branch"`
}

// SubtaskFinished says how the child ended.
type SubtaskFinished struct {
	SubtaskID string             `json:"subtaskId"`
	Outcome   string             `json:"outcome"`
	Evidence  CompletionEvidence `json:"evidence"`
	Usage     ModelUsage         `json:"usage"`
}

// SubtaskMerged brought the child's changes into the working tree, or says
// which files conflict.
type SubtaskMerged struct {
	SubtaskID string       `json:"subtaskId"`
	Files     List[string] `json:"files"`
	Conflicts List[string] `json:"conflicts"`
}

// SubtaskDiscarded removed the child's worktree and branch.
type SubtaskDiscarded struct {
	SubtaskID string `json:"subtaskId"`
	Reason    string `json:"reason"`
}

func (SubtaskStarted) durable() string   { return "subtask.started" }
func (SubtaskFinished) durable() string  { return "subtask.finished" }
func (SubtaskMerged) durable() string    { return "subtask.merged" }
func (SubtaskDiscarded) durable() string { return "subtask.discarded" }
