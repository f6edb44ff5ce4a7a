package event

import "encoding/json"

var userFacts = []kind{
	fact[UserMessageCreated](), fact[SteeringQueued](), fact[SteeringInjected](), fact[SteeringWithdrawn](),
	fact[MessageQueued](), fact[MessageDequeued](), fact[Interrupted](), fact[ShellRun](),
	fact[QuestionAsked](), fact[QuestionAnswered](),
}

// Mention is a file the user named in a message.
type Mention struct {
	Path    string  `json:"path"`
	Range   *Span   `json:"range,omitempty"`
	Content *string `json:"content,omitempty"` // budgeted, as captured when the message was sent
}

// UserMessageCreated opens a task.
type UserMessageCreated struct {
	Text     string        `json:"text"` // enters the model's history byte for byte
	Mentions List[Mention] `json:"mentions"`
	Images   []Media       `json:"images,omitempty"`
}

// SteeringQueued is a word from the user while a task runs.
type SteeringQueued struct {
	Text string `json:"text"`
}

// Seam is a place between two model calls where text can be added.
type Seam string

const (
	PostToolBatch Seam = "post-tool-batch"
	PreModelCall  Seam = "pre-model-call"
)

// SteeringInjected puts a queued word into the model's history.
type SteeringInjected struct {
	QueuedEventID string `json:"queuedEventId"`
	Seam          Seam   `json:"seam"`
	AfterSeq      int64  `json:"afterSeq"` // the last fact before the injection
}

// SteeringWithdrawn takes a queued word back before it was injected.
type SteeringWithdrawn struct {
	QueuedEventID string `json:"queuedEventId"`
}

// MessageQueued is a message for after the running task.
type MessageQueued struct {
	Text     string        `json:"text"`
	Mentions List[Mention] `json:"mentions"`
	Images   []Media       `json:"images,omitempty"`
}

// Taker says who took a message off the queue.
type Taker string

const (
	TakenByUser   Taker = "user"
	TakenByEngine Taker = "engine"
)

// MessageDequeued ends the wait of a queued message. Taken by the engine, the
// message opens a task.
type MessageDequeued struct {
	QueuedEventID string `json:"queuedEventId"`
	By            Taker  `json:"by"`
}

// InterruptScope says what an interrupt ends.
type InterruptScope string

// ScopeTurn ends the model's stream and the tools in flight.
const ScopeTurn InterruptScope = "turn"

// Interrupted says that the user stopped the task.
type Interrupted struct {
	Scope             InterruptScope `json:"scope"`
	PendingToolUseIDs List[string]   `json:"pendingToolUseIds"`
}

// ShellRun is a command the user ran with "!".
type ShellRun struct {
	Command    string `json:"command"`
	ExitCode   int    `json:"exitCode"`
	Output     string `json:"output"`
	DurationMS int64  `json:"durationMs"`
}

// QuestionAsked waits for an answer of the user.
type QuestionAsked struct {
	QuestionID string       `json:"questionId"`
	ToolUseID  string       `json:"toolUseId"` // "" when the engine asks, not the model
	Question   string       `json:"question"`
	Options    List[string] `json:"options"`
	Multiple   bool         `json:"multiple,omitempty"` // several of the options may be chosen
}

// QuestionAnswered ends the wait.
type QuestionAnswered struct {
	QuestionID string          `json:"questionId"`
	Answer     json.RawMessage `json:"answer"` // a string, or an array of them
}

func (UserMessageCreated) durable() string { return "user.message-created" }
func (SteeringQueued) durable() string     { return "user.steering-queued" }
func (SteeringInjected) durable() string   { return "user.steering-injected" }
func (SteeringWithdrawn) durable() string  { return "user.steering-withdrawn" }
func (MessageQueued) durable() string      { return "user.message-queued" }
func (MessageDequeued) durable() string    { return "user.message-dequeued" }
func (Interrupted) durable() string        { return "user.interrupted" }
func (ShellRun) durable() string           { return "user.shell-run" }
func (QuestionAsked) durable() string      { return "user.question-asked" }
func (QuestionAnswered) durable() string   { return "user.question-answered" }
