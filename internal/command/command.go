// Package command lists what a user can ask of an engine.
//
// A command is a request and may be refused; what came of it is a fact. The
// set is closed. Start reading at Command.
package command

import "github.com/khaelor/khaelor/internal/event"

// Command is one request.
type Command interface{ command() }

// SubmitMessage opens a task, or queues the message when one runs.
type SubmitMessage struct {
	Text     string
	Mentions []event.Mention
	Images   []event.Media
}

// Continue goes on with a task that a crash or a shutdown left open.
type Continue struct{}

// Steer gives the running task a word at the next safe seam.
type Steer struct{ Text string }

// WithdrawSteering takes a queued word back.
type WithdrawSteering struct{ QueuedEventID string }

// QueueMessage waits for the end of the running task.
type QueueMessage struct {
	Text     string
	Mentions []event.Mention
	Images   []event.Media
}

// TakeBack takes a queued message back.
type TakeBack struct{ QueuedEventID string }

// Interrupt stops the running task.
type Interrupt struct{}

// PermissionDecision answers a permission.requested.
type PermissionDecision string

const (
	Once    PermissionDecision = "once"
	Session PermissionDecision = "session"
	Always  PermissionDecision = "always"
	Refuse  PermissionDecision = "deny"
)

// PermissionResponse answers a question of the permission gate.
type PermissionResponse struct {
	RequestID   string
	Decision    PermissionDecision
	Feedback    string
	EditedInput []byte // nil: as it was
}

// AnswerQuestion answers a user.question-asked.
type AnswerQuestion struct {
	QuestionID string
	Answer     []string
}

// Background lets the running command go on as a background process.
type Background struct{}

// SetMode changes the permission mode.
type SetMode struct{ Mode string }

// SetModel changes the model for what follows.
type SetModel struct{ Model string }

// Rename gives the session another title.
type Rename struct{ Title string }

func (SubmitMessage) command()      {}
func (Continue) command()           {}
func (Steer) command()              {}
func (WithdrawSteering) command()   {}
func (QueueMessage) command()       {}
func (TakeBack) command()           {}
func (Interrupt) command()          {}
func (PermissionResponse) command() {}
func (AnswerQuestion) command()     {}
func (Background) command()         {}
func (SetMode) command()            {}
func (SetModel) command()           {}
func (Rename) command()             {}
