package kernel

import (
	"fmt"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// Action is what happens next.
type Action interface{ action() }

type (
	// ExecuteTools runs the open calls, or closes those that may not run.
	ExecuteTools struct{ Calls []fold.Call }
	// InjectSteering puts the oldest queued word into the history.
	InjectSteering struct {
		Queued fold.Queued
		Seam   event.Seam
	}
	// Compact shortens the history.
	Compact struct{ Trigger event.CompactionTrigger }
	// Verify withholds the answer until the project's checks ran.
	Verify struct{ Attempt int }
	// AskUser asks whether to go on with a call that repeats itself.
	AskUser struct {
		Call  string
		Times int
	}
	// CallModel asks the model.
	CallModel struct{}
	// Done ends the task with its evidence.
	Done struct{}
	// Fail ends the task; Detail says what to do about it.
	Fail struct {
		Reason event.FailureReason
		Detail string
	}
	// Interrupted says that the user stopped the task and all is closed.
	Interrupted struct{}
	// Idle says that there is no task.
	Idle struct{}
)

func (ExecuteTools) action()   {}
func (InjectSteering) action() {}
func (Compact) action()        {}
func (Verify) action()         {}
func (AskUser) action()        {}
func (CallModel) action()      {}
func (Done) action()           {}
func (Fail) action()           {}
func (Interrupted) action()    {}
func (Idle) action()           {}

// Limits are what the services around the kernel can do and allow.
type Limits struct {
	MaxResponses int
	CompactAbove int64
	CanCompact   bool
	CanVerify    bool
	CanAsk       bool // somebody is there to ask
}

// Bounds that the contract sets (§5).
const (
	maxRepeats   = 3 // byte-identical calls in a row
	maxOverflows = 2 // requests in a row that were too long
	maxCutTexts  = 2 // answers in a row cut by the output limit, without a call
	maxCutCalls  = 3 // the same, with calls
	maxNudges    = 2 // demands for verification
)

// shownMessage bounds what is repeated of a server's words, in characters.
const shownMessage = 2000

// DeriveNext is what happens next in a state: the most urgent case first, in
// the order of seed 000.
func DeriveNext(s fold.State, l Limits, g Gate) Action {
	switch {
	case len(s.Calls) > 0:
		return ExecuteTools{Calls: s.Calls}
	case s.Interrupted:
		return Interrupted{}
	case !s.Task.Open:
		return Idle{}
	case failedForGood(s): // a queued word opens a task of its own afterwards
		return Fail{Reason: event.FailedModel, Detail: event.Clip(s.Request.Failure.Message, shownMessage)}
	case len(s.Steering) > 0:
		return InjectSteering{Queued: s.Steering[0], Seam: seam(s)}
	case overflowed(s, l), crowded(s, l):
		return compact(s, l)
	case s.Request.Phase == fold.Answered && !s.Request.Superseded:
		return afterAnswer(s, l, g)
	}
	return another(s, l)
}

// seam is where the conversation stands: behind a batch of results, or before
// any call.
func seam(s fold.State) event.Seam {
	if s.Request.Phase == fold.Answered && s.Request.Calls > 0 && !s.Request.Superseded {
		return event.PostToolBatch
	}
	return event.PreModelCall
}

// overflowed says that the newest request, or its answer, did not fit. In a
// new task that cannot compact it is tried again: the model may be another.
func overflowed(s fold.State, l Limits) bool {
	if s.CompactedSinceCall || !l.CanCompact && s.Task.Overflows == 0 {
		return false
	}
	switch s.Request.Phase {
	case fold.Failed:
		return s.Request.Failure.Kind == event.ErrorContextOverflow
	case fold.Answered:
		return s.Request.Stop == event.StopContextWindow
	}
	return false
}

// crowded says that the next request would come too close to the window.
func crowded(s fold.State, l Limits) bool {
	return l.CanCompact && l.CompactAbove > 0 && s.ContextTokens > l.CompactAbove && !s.CompactedSinceCall
}

func compact(s fold.State, l Limits) Action {
	if !l.CanCompact {
		return Fail{Reason: event.FailedModel, Detail: "the conversation no longer fits the model's context window" + said(s) +
			"; start a new session, or fork this one at an earlier point (khaelor sessions fork ID --at SEQ)"}
	}
	if s.Task.Overflows > maxOverflows-1 {
		return Fail{Reason: event.FailedModel, Detail: "the request is still too long after compaction" + said(s) +
			"; the fixed part (instructions, tools) or the last message alone fills the window: shorten it"}
	}
	if overflowed(s, l) {
		return Compact{Trigger: event.TriggerOverflow}
	}
	return Compact{Trigger: event.TriggerBudget}
}

func said(s fold.State) string {
	if m := s.Request.Failure.Message; s.Request.Phase == fold.Failed && m != "" {
		return " (" + event.Clip(m, shownMessage) + ")"
	}
	return ""
}

// failedForGood says that calling again would not help. A cancelled call that
// nobody interrupted was cut by a shutdown: it is made again.
func failedForGood(s fold.State) bool {
	f := s.Request.Failure
	return s.Request.Phase == fold.Failed && !s.Request.Superseded && f.Kind != event.ErrorCancelled &&
		f.Kind != event.ErrorContextOverflow && (f.RetriesExhausted || f.Kind != event.ErrorRetryable)
}

// afterAnswer goes by why the model stopped.
func afterAnswer(s fold.State, l Limits, g Gate) Action {
	switch s.Request.Stop {
	case event.StopRefusal:
		return Fail{Reason: event.FailedRefusal, Detail: "the model refused to answer; rephrase the request, or go back to an earlier point"}
	case event.StopMaxTokens:
		if s.Request.Calls == 0 && s.Task.Cut >= maxCutTexts || s.Task.Cut >= maxCutCalls {
			return Fail{Reason: event.FailedOutput, Detail: fmt.Sprintf(
				"the output limit cut %d answers in a row; raise maxOutputTokens, or ask for smaller steps", s.Task.Cut)}
		}
		return another(s, l)
	case event.StopToolUse:
		if s.Request.Calls > 0 {
			return another(s, l)
		}
	case event.StopPauseTurn, event.StopContextWindow: // the latter was compacted by now
		return another(s, l)
	}
	return finish(s, l, g)
}

// finish ends the task, unless what it changed is still to be verified.
func finish(s fold.State, l Limits, g Gate) Action {
	switch {
	case l.CanVerify && s.Task.Nudges < maxNudges && g.unverified():
		return Verify{Attempt: s.Task.Nudges + 1}
	case !l.CanAsk && len(s.Task.Unanswered) > 0:
		return Fail{Reason: event.FailedPermission, Detail: "a permission was needed that nobody was there to give (" +
			event.Clip(strings.Join(s.Task.Unanswered, "; "), shownMessage) + "); allow it with a rule (--allow) or a mode (--permission-mode)"}
	}
	return Done{}
}

// another calls the model again, if nothing speaks against it.
func another(s fold.State, l Limits) Action {
	switch {
	case s.Task.Repeated >= maxRepeats && l.CanAsk:
		return AskUser{Call: event.Clip(s.Task.LastCall(), shownCommand), Times: s.Task.Repeated}
	case s.Task.Repeated >= maxRepeats:
		return Fail{Reason: event.FailedDoomLoop, Detail: fmt.Sprintf(
			"the model made the same call %d times in a row (%s)", s.Task.Repeated, event.Clip(s.Task.LastCall(), shownCommand))}
	case l.MaxResponses > 0 && s.Task.Responses >= l.MaxResponses:
		return Fail{Reason: event.FailedIterations, Detail: fmt.Sprintf(
			"the task took %d model calls, which is the limit; raise --max-turns to go on", s.Task.Responses)}
	}
	return CallModel{}
}
