package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/permission"
	"github.com/khaelor/khaelor/internal/tool"
)

// Errors of commands that cannot be done now.
var (
	ErrBusy          = errors.New("a task is running: change the model when it has ended")
	ErrEmptyMessage  = errors.New("the message is empty")
	ErrNothingToDo   = errors.New("the session has no unfinished task")
	ErrNothingRuns   = errors.New("no command is running")
	ErrNothingQueued = errors.New("nothing of that id is queued")
	ErrNotAsked      = errors.New("nothing of that id is waiting for an answer")
	ErrNotAnObject   = errors.New("the edited input is not a JSON object")
	ErrClosed        = errors.New("the engine is closed")
)

// Dispatch does what the user asks for, or starts it; it does not wait for
// the model. The error says why it cannot be done. A subscriber of the log's
// bus must not call it from its handler: Dispatch itself publishes.
func (e *Engine) Dispatch(c command.Command) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.failure != nil:
		return e.failure
	case e.ctx.Err() != nil:
		return ErrClosed
	}
	s := e.o.Log.Fold().State
	switch c := c.(type) {
	case command.SubmitMessage:
		return e.submit(s, c)
	case command.Continue:
		if !s.Task.Open && len(s.Calls) == 0 {
			return ErrNothingToDo
		}
		e.rouse()
		return nil
	case command.Steer:
		if !s.Task.Open {
			return e.submit(s, command.SubmitMessage{Text: c.Text})
		}
		return e.wait(event.SteeringQueued{Text: event.Text(c.Text)})
	case command.WithdrawSteering:
		return e.takeBack(s.Steering, c.QueuedEventID, event.SteeringWithdrawn{QueuedEventID: c.QueuedEventID})
	case command.QueueMessage:
		if !s.Task.Open {
			return e.submit(s, command.SubmitMessage(c))
		}
		return e.wait(event.MessageQueued{Text: event.Text(c.Text), Mentions: c.Mentions, Images: c.Images})
	case command.TakeBack:
		return e.takeBack(s.Messages, c.QueuedEventID, event.MessageDequeued{QueuedEventID: c.QueuedEventID, By: event.TakenByUser})
	case command.Interrupt:
		return e.interrupt(s)
	case command.PermissionResponse:
		return e.permissionResponse(s, c)
	case command.AnswerQuestion:
		return e.answers.question(c)
	case command.Background:
		return e.background(s)
	case command.SetMode:
		return e.setMode(permission.Mode(c.Mode))
	case command.SetModel:
		if s.Task.Open {
			return ErrBusy // an answer under way belongs to the model that gives it
		}
		return e.publish(event.ModelChanged{From: s.Session.Model, To: c.Model, Reason: event.ChangedByUser})
	case command.Rename:
		return e.publish(event.SessionRenamed{Title: event.Text(c.Title)})
	}
	return fmt.Errorf("dispatch: no case for %T", c)
}

func (e *Engine) publish(f event.Fact) error {
	_, err := e.o.Log.Publish(f)
	return err
}

// wait queues words for the open task, which a resumed session may not have
// gone on with yet.
func (e *Engine) wait(f event.Fact) error {
	if err := e.publish(f); err != nil {
		return err
	}
	e.rouse()
	return nil
}

// submit opens a task; while one runs the message waits for its end.
func (e *Engine) submit(s fold.State, c command.SubmitMessage) error {
	if strings.TrimSpace(c.Text) == "" && len(c.Images) == 0 {
		return ErrEmptyMessage
	}
	if s.Task.Open && e.busy() {
		return e.publish(event.MessageQueued{Text: event.Text(c.Text), Mentions: c.Mentions, Images: c.Images})
	}
	if err := e.note(); err != nil {
		return err
	}
	if err := e.publish(event.UserMessageCreated{Text: event.Text(c.Text), Mentions: c.Mentions, Images: c.Images}); err != nil {
		return err
	}
	e.rouse()
	return nil
}

// background detaches the command that runs now; one that still waits for a
// permission is not meant.
func (e *Engine) background(s fold.State) error {
	if !slices.ContainsFunc(s.Calls, func(c fold.Call) bool { return c.Started }) {
		return ErrNothingRuns
	}
	close(e.detach)
	e.detach = make(chan struct{})
	return nil
}

func (e *Engine) setMode(m permission.Mode) error {
	switch m {
	case permission.ModeDefault, permission.ModeAcceptEdits, permission.ModePlan, permission.ModeBypass:
		e.o.Policy.SetMode(m)
		return nil
	}
	return fmt.Errorf("there is no permission mode %q: choose default, accept-edits, plan or bypass", m)
}

func (e *Engine) takeBack(queue []fold.Queued, id string, f event.Fact) error {
	for _, q := range queue {
		if q.EventID == id {
			return e.publish(f)
		}
	}
	return ErrNothingQueued
}

// interrupt records what will be closed before anything is.
func (e *Engine) interrupt(s fold.State) error {
	if !s.Task.Open {
		return ErrNothingToDo
	}
	var pending event.List[string]
	for _, call := range s.Calls {
		pending = append(pending, call.ID)
	}
	if err := e.publish(event.Interrupted{Scope: event.ScopeTurn, PendingToolUseIDs: pending}); err != nil {
		return err
	}
	if e.running != nil {
		e.running(tool.ErrInterrupted)
	}
	return nil
}

func (e *Engine) permissionResponse(s fold.State, c command.PermissionResponse) error {
	if c.EditedInput != nil && !isObject(c.EditedInput) {
		return ErrNotAnObject
	}
	answer := tool.Answer{Feedback: c.Feedback, EditedInput: c.EditedInput}
	switch c.Decision {
	case command.Once:
		answer.Granted, answer.Scope = true, event.GrantOnce
	case command.Session:
		answer.Granted, answer.Scope = true, event.GrantSession
	case command.Always:
		answer.Granted, answer.Scope = true, event.GrantProject
	default:
		answer.Source = event.DeniedByUser
	}
	i := slices.IndexFunc(s.Permissions, func(p fold.OpenPermission) bool { return p.PermissionRequestID == c.RequestID })
	if i < 0 {
		return ErrNotAsked
	}
	kept := e.keep(s.Permissions[i], answer.Scope)
	if kept != nil && answer.Scope == event.GrantProject {
		answer.Scope = event.GrantSession // the log says only what holds
	}
	return errors.Join(e.answers.permission(c.RequestID, answer), kept)
}

func isObject(raw []byte) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(raw, &members) == nil && members != nil
}

// keep makes a rule of an answer that is to hold for longer than one call.
// When it cannot be stored for the project it holds for the session.
func (e *Engine) keep(open fold.OpenPermission, scope event.GrantScope) error {
	if open.Suggestion == nil || (scope != event.GrantSession && scope != event.GrantProject) {
		return nil
	}
	rule, err := permission.ParseRule(open.Suggestion.Capability + "(" + open.Suggestion.Pattern + ")")
	if err != nil {
		return err
	}
	rule.Action = permission.Allow
	e.o.Policy.AddSession(rule)
	if scope == event.GrantProject {
		if err := e.o.Remember(rule); err != nil {
			return fmt.Errorf("allowed for this session only: %w", err)
		}
	}
	return nil
}
