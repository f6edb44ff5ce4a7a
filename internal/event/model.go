package event

import "encoding/json"

var modelFacts = []kind{
	fact[ModelRequestStarted](), fact[ModelTextBlockCompleted](), fact[ModelThinkingBlockCompleted](),
	fact[ModelOpaqueBlockCompleted](), fact[ModelResponseCompleted](), fact[ModelRequestFailed](),
}

// Purpose says what a model call is for. Only main and verification-nudge
// calls become part of the conversation.
type Purpose string

const (
	PurposeMain       Purpose = "main"
	PurposeCompaction Purpose = "compaction"
	PurposeNudge      Purpose = "verification-nudge"
)

// Conversational says whether the answer of such a call enters the history.
func (p Purpose) Conversational() bool { return p == PurposeMain || p == PurposeNudge }

// StopReason says why the model stopped, in the API's words. Reasons that are
// not listed are kept as they came and treated as StopEndTurn.
type StopReason string

const (
	StopEndTurn       StopReason = "end_turn"
	StopToolUse       StopReason = "tool_use"
	StopMaxTokens     StopReason = "max_tokens"
	StopRefusal       StopReason = "refusal"
	StopPauseTurn     StopReason = "pause_turn"
	StopSequence      StopReason = "stop_sequence"
	StopContextWindow StopReason = "model_context_window_exceeded"
)

// ModelUsage are the API's own token counts of one call.
type ModelUsage struct {
	InputTokens      int64 `json:"inputTokens"`
	OutputTokens     int64 `json:"outputTokens"`
	CacheReadTokens  int64 `json:"cacheReadTokens"`
	CacheWriteTokens int64 `json:"cacheWriteTokens"`
}

// ModelErrorKind is the taxonomy of failed calls (seed 000, Model Runtime).
type ModelErrorKind string

const (
	ErrorRetryable       ModelErrorKind = "retryable"
	ErrorContextOverflow ModelErrorKind = "context-overflow"
	ErrorAuth            ModelErrorKind = "auth"
	ErrorInvalidRequest  ModelErrorKind = "invalid-request"
	ErrorCancelled       ModelErrorKind = "cancelled"
)

// Section is one part of a request with its estimated size.
type Section struct {
	Name            string `json:"name"`
	EstimatedTokens int64  `json:"estimatedTokens"` // bytes / 4
}

// ContextStats are estimates, and labelled so.
type ContextStats struct {
	EstimatedInputTokens int64         `json:"estimatedInputTokens"`
	Sections             List[Section] `json:"sections"`
}

// ModelRequestStarted opens one attempt at a model call.
type ModelRequestStarted struct {
	RequestID    string       `json:"requestId"`
	Model        string       `json:"model"`
	Purpose      Purpose      `json:"purpose"`
	ContextStats ContextStats `json:"contextStats"`
}

// ModelTextBlockCompleted is a settled block of text.
type ModelTextBlockCompleted struct {
	RequestID  string `json:"requestId"`
	BlockIndex int    `json:"blockIndex"`
	Text       string `json:"text"`
}

// ModelThinkingBlockCompleted is a settled block of thinking. It is never
// recorded without its signature: the API refuses it then.
type ModelThinkingBlockCompleted struct {
	RequestID  string `json:"requestId"`
	BlockIndex int    `json:"blockIndex"`
	Thinking   string `json:"thinking"`
	Signature  string `json:"signature"`
}

// ModelOpaqueBlockCompleted is any other block, sent back as it came.
type ModelOpaqueBlockCompleted struct {
	RequestID  string          `json:"requestId"`
	BlockIndex int             `json:"blockIndex"`
	BlockType  string          `json:"blockType"`
	Raw        json.RawMessage `json:"raw"`
}

// ModelResponseCompleted says that an answer arrived whole. Calls in it may
// run from here on.
type ModelResponseCompleted struct {
	RequestID  string     `json:"requestId"`
	StopReason StopReason `json:"stopReason"`
	Usage      ModelUsage `json:"usage"`
	DurationMS int64      `json:"durationMs"`
}

// ModelRequestFailed ends an attempt without an answer. Except after a
// cancellation the attempt's blocks leave the history.
type ModelRequestFailed struct {
	RequestID        string         `json:"requestId"`
	Kind             ModelErrorKind `json:"kind"`
	Message          string         `json:"message"` // never holds a key or a header
	Status           int            `json:"status,omitempty"`
	RetriesExhausted bool           `json:"retriesExhausted"`
	// Usage is what the API had counted by then: it is charged all the same.
	Usage *ModelUsage `json:"usage,omitempty"`
}

func (ModelRequestStarted) durable() string         { return "model.request-started" }
func (ModelTextBlockCompleted) durable() string     { return "model.text-block-completed" }
func (ModelThinkingBlockCompleted) durable() string { return "model.thinking-block-completed" }
func (ModelOpaqueBlockCompleted) durable() string   { return "model.opaque-block-completed" }
func (ModelResponseCompleted) durable() string      { return "model.response-completed" }
func (ModelRequestFailed) durable() string          { return "model.request-failed" }

// ModelTextDelta is a piece of a text block that is not settled yet.
type ModelTextDelta struct {
	RequestID  string `json:"requestId"`
	BlockIndex int    `json:"blockIndex"`
	Text       string `json:"text"`
}

// ModelThinkingDelta is a piece of a thinking block.
type ModelThinkingDelta struct {
	RequestID  string `json:"requestId"`
	BlockIndex int    `json:"blockIndex"`
	Text       string `json:"text"`
}

// ToolCallStarted says that the model began to write a call.
type ToolCallStarted struct {
	RequestID  string `json:"requestId"`
	BlockIndex int    `json:"blockIndex"`
	ToolUseID  string `json:"toolUseId"`
	ToolName   string `json:"toolName"`
}

// ToolInputDelta is a piece of a call's input.
type ToolInputDelta struct {
	RequestID   string `json:"requestId"`
	BlockIndex  int    `json:"blockIndex"`
	ToolUseID   string `json:"toolUseId"`
	PartialJSON string `json:"partialJson"`
}

// ModelRetryScheduled says that a failed attempt will be repeated.
type ModelRetryScheduled struct {
	RequestID string         `json:"requestId"` // of the attempt that failed
	Attempt   int            `json:"attempt"`   // of the attempt to come, 2 and up
	DelayMS   int64          `json:"delayMs"`
	Kind      ModelErrorKind `json:"kind"`
	Status    int            `json:"status"`
}

func (ModelTextDelta) ephemeral() string      { return "model.text-delta" }
func (ModelThinkingDelta) ephemeral() string  { return "model.thinking-delta" }
func (ToolCallStarted) ephemeral() string     { return "model.tool-call-started" }
func (ToolInputDelta) ephemeral() string      { return "model.tool-input-delta" }
func (ModelRetryScheduled) ephemeral() string { return "model.retry-scheduled" }
