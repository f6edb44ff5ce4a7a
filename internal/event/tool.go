package event

import "encoding/json"

var toolFacts = []kind{
	fact[ToolRequested](), fact[ToolApproved](), fact[ToolStarted](),
	fact[ToolCompleted](), fact[ToolFailed](), fact[ToolCancelled](),
	fact[TodoUpdated](),
}

// ToolRequested is a settled call of the model. Exactly one of ToolCompleted,
// ToolFailed and ToolCancelled ends it.
type ToolRequested struct {
	RequestID  string          `json:"requestId"`
	BlockIndex int             `json:"blockIndex"`
	ToolUseID  string          `json:"toolUseId"` // matches ^[a-zA-Z0-9_-]+$, unique in the session
	ToolName   string          `json:"toolName"`
	Input      json.RawMessage `json:"input"` // a compact JSON object in the model's own key order
}

// ApprovalVia says what allowed a call.
type ApprovalVia string

const (
	ViaPolicy      ApprovalVia = "policy-allow"
	ViaUserOnce    ApprovalVia = "user-once"
	ViaUserSession ApprovalVia = "user-session"
	ViaUserAlways  ApprovalVia = "user-always"
	ViaRule        ApprovalVia = "rule"
	ViaMode        ApprovalVia = "mode"
	ViaHook        ApprovalVia = "hook"
)

// ToolApproved lets a call run.
type ToolApproved struct {
	ToolUseID string      `json:"toolUseId"`
	Via       ApprovalVia `json:"via"`
}

// ToolStarted is written before the call has any effect.
type ToolStarted struct {
	ToolUseID string `json:"toolUseId"`
	ToolName  string `json:"toolName"`
}

// UIKind groups tools by how their results are shown.
type UIKind string

const (
	UIRead     UIKind = "read"
	UISearch   UIKind = "search"
	UIEdit     UIKind = "edit"
	UIExec     UIKind = "exec"
	UIProcess  UIKind = "process"
	UITodo     UIKind = "todo"
	UIQuestion UIKind = "question"
	UIWeb      UIKind = "web"
	UIIndex    UIKind = "index"
	UIMemory   UIKind = "memory"
	UISubtask  UIKind = "subtask"
	UIMCP      UIKind = "mcp"
)

// ToolUI is data for showing a result, not a way of showing it.
type ToolUI struct {
	Kind       UIKind     `json:"kind"`
	Summary    string     `json:"summary"`
	DiffStats  *DiffStats `json:"diffStats,omitempty"`
	ExitCode   *int       `json:"exitCode,omitempty"`
	MatchCount *int       `json:"matchCount,omitempty"`
}

// ToolCompleted is the one result of a call that ran to its end.
type ToolCompleted struct {
	ToolUseID  string  `json:"toolUseId"`
	ModelText  string  `json:"modelText"` // what the model reads, byte for byte
	SpillFile  string  `json:"spillFile,omitempty"`
	DurationMS int64   `json:"durationMs"`
	UI         ToolUI  `json:"ui"`
	Media      []Media `json:"media,omitempty"`
}

// ToolErrorKind says why a call failed.
type ToolErrorKind string

const (
	ToolInvalidInput     ToolErrorKind = "invalid-input"
	ToolNotFound         ToolErrorKind = "not-found"
	ToolAmbiguousEdit    ToolErrorKind = "ambiguous-edit"
	ToolExecError        ToolErrorKind = "exec-error"
	ToolTimeout          ToolErrorKind = "timeout"
	ToolPermissionDenied ToolErrorKind = "permission-denied"
	ToolStale            ToolErrorKind = "stale"
	ToolInternal         ToolErrorKind = "internal"
)

// ToolFailed is the one result of a call that could not be done.
type ToolFailed struct {
	ToolUseID  string        `json:"toolUseId"`
	ModelText  string        `json:"modelText"`
	ErrorKind  ToolErrorKind `json:"errorKind"`
	DurationMS int64         `json:"durationMs"`
}

// CancelReason says why a call was stopped.
type CancelReason string

const (
	CancelInterrupted    CancelReason = "interrupted"
	CancelRecovery       CancelReason = "resume-recovery"
	CancelShutdown       CancelReason = "shutdown"
	CancelResponseFailed CancelReason = "response-failed"
)

// ToolCancelled is the one result of a call that was stopped.
type ToolCancelled struct {
	ToolUseID string       `json:"toolUseId"`
	Reason    CancelReason `json:"reason"`
	ModelText string       `json:"modelText"`
}

// TodoStatus is the state of one item of the task list.
type TodoStatus string

const (
	TodoPending TodoStatus = "pending"
	TodoActive  TodoStatus = "active"
	TodoDone    TodoStatus = "done"
)

// TodoItem is one line of the task list.
type TodoItem struct {
	Text   string     `json:"text"`
	Status TodoStatus `json:"status"`
}

// TodoUpdated replaces the task list.
type TodoUpdated struct {
	Items List[TodoItem] `json:"items"`
}

func (ToolRequested) durable() string { return "tool.requested" }
func (ToolApproved) durable() string  { return "tool.approved" }
func (ToolStarted) durable() string   { return "tool.started" }
func (ToolCompleted) durable() string { return "tool.completed" }
func (ToolFailed) durable() string    { return "tool.failed" }
func (ToolCancelled) durable() string { return "tool.cancelled" }
func (TodoUpdated) durable() string   { return "todo.updated" }

// ToolOutput is a piece of a running tool's output.
type ToolOutput struct {
	ToolUseID string `json:"toolUseId"`
	Chunk     string `json:"chunk"` // escape sequences removed
}

func (ToolOutput) ephemeral() string { return "tool.output" }
