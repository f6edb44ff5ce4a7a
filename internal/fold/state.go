package fold

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
)

// State is what the kernel decides by. Counters live here and not in the
// loop, so that they survive a crash.
type State struct {
	LastSeq int64
	Session SessionInfo
	Task    Task
	Request Request
	// Calls are the calls without a result, in block order.
	Calls   []Call
	callIDs list[string] // of every call in the log, also of attempts that failed
	// Interrupted is set by the user's interrupt until the next message.
	Interrupted bool
	Steering    []Queued // words waiting for a safe seam
	Messages    []Queued // messages waiting for the end of the task
	Permissions []OpenPermission
	Questions   []event.QuestionAsked
	Todo        []event.TodoItem // the task list
	// ContextTokens are the prompt and answer tokens of the last call, as the
	// API counted them.
	ContextTokens int64
	// CompactedSinceCall keeps the kernel from compacting twice in a row.
	CompactedSinceCall bool
	// BaselineMoments says which baselines the log has.
	BaselineMoments []event.BaselineMoment
	// Processes counts the background processes that were ever started.
	Processes int
	// Running are those whose end is not in the log.
	Running []event.ProcessStarted
	// Tiers are the recorded tiers, the newest of each.
	Tiers []event.TierRecorded
}

// SessionInfo is the head of the log.
type SessionInfo struct {
	ID, Title, Directory, ProjectHash string
	Model, AuxModel                   string
	Branch                            string
	StartedTS                         int64
}

// Task is the work on one message of the user.
type Task struct {
	Open      bool
	Seq       int64 // of the message that opened it
	StartTS   int64
	Objective string
	Responses int // answers of the model so far
	// Overflows counts requests in a row that were too long.
	Overflows int
	// Cut counts answers in a row that hit the output limit.
	Cut int
	// Nudges counts the demands for verification.
	Nudges int
	// Repeated is how often in a row the newest call was made.
	Repeated int
	lastCall string
	// Answer is the text of the newest answer; AnswerSeq its last block.
	Answer    string
	AnswerSeq int64
	// Unanswered says what nobody was there to allow.
	Unanswered []string
	// Result is how the last task ended; nil while one is open.
	Result event.Fact
}

// RequestPhase is how far a model call has come.
type RequestPhase int

const (
	NoRequest RequestPhase = iota
	Streaming
	Answered
	Failed
)

// Request is the newest conversational model call.
type Request struct {
	ID      string
	Phase   RequestPhase
	Stop    event.StopReason
	Calls   int  // calls in the answer
	Text    bool // the answer holds text
	Failure event.ModelRequestFailed
	// Superseded is set once the user's side said something after the answer,
	// so that its stop reason no longer decides what is next.
	Superseded bool
	// Continues says that the answer goes on with the text of the one before,
	// which was cut or paused.
	Continues bool
	before    attempt
}

// attempt is what a failed attempt takes back: how the task stood before it.
type attempt struct {
	lastCall string
	repeated int
	answer   string
}

// Call is a tool call without a result.
type Call struct {
	RequestID string
	ID        string
	Name      string
	Input     json.RawMessage
	Approved  bool
	Started   bool
}

// Queued is text that waits.
type Queued struct {
	EventID  string
	Text     string
	Mentions []event.Mention
	Images   []event.Media
}

// OpenPermission is a question without an answer.
type OpenPermission struct {
	Seq int64
	event.PermissionRequested
}

// Apply folds one fact.
func (s State) Apply(r event.Record) State {
	s.LastSeq = r.Seq
	switch p := r.Fact.(type) {
	case event.SessionStarted:
		s.Session = infoOf(r, p)
	case event.SessionRenamed:
		s.Session.Title = p.Title
	case event.SessionForked:
		s.Session.ID = r.SessionID
	case event.ModelChanged:
		s.Session.Model = p.To
	case event.BaselineRecorded:
		s.BaselineMoments = with(s.BaselineMoments, p.When)
	case event.TierRecorded:
		s.Tiers = with(without(s.Tiers, func(t event.TierRecorded) bool { return t.Tier == p.Tier }), p)

	case event.UserMessageCreated:
		s = s.opened(r, p.Text)
	case event.MessageDequeued:
		s = s.dequeued(r, p)
	case event.MessageQueued:
		s.Messages = with(s.Messages, Queued{EventID: r.ID, Text: p.Text, Mentions: p.Mentions, Images: p.Images})
	case event.SteeringQueued:
		s.Steering = with(s.Steering, Queued{EventID: r.ID, Text: p.Text})
	case event.SteeringWithdrawn:
		s.Steering = unqueued(s.Steering, p.QueuedEventID)
	case event.SteeringInjected:
		s.Steering = unqueued(s.Steering, p.QueuedEventID)
		s = s.toldMore()
	case event.Interrupted:
		s.Interrupted = true
		s = s.ended(p)
	case event.QuestionAsked:
		s.Questions = with(s.Questions, p)
	case event.QuestionAnswered:
		s.Questions = without(s.Questions, func(q event.QuestionAsked) bool { return q.QuestionID == p.QuestionID })
		s.Task.Repeated = 0
	case event.TodoUpdated:
		s.Todo = p.Items

	case event.ModelRequestStarted:
		s = s.requestStarted(p)
	case event.ModelTextBlockCompleted:
		s = s.textSettled(r, p)
	case event.ToolRequested:
		s.callIDs = s.callIDs.add(p.ToolUseID)
		s = s.called(p)
	case event.ModelResponseCompleted:
		s = s.answered(p)
	case event.ModelRequestFailed:
		s = s.requestFailed(p)

	case event.PermissionRequested:
		s.Permissions = with(s.Permissions, OpenPermission{Seq: r.Seq, PermissionRequested: p})
	case event.PermissionGranted:
		s.Permissions = decided(s.Permissions, p.PermissionRequestID)
	case event.PermissionDenied:
		if p.Source == event.DeniedByTimeout {
			s.Task.Unanswered = with(s.Task.Unanswered, descriptor(s.Permissions, p.PermissionRequestID))
		}
		s.Permissions = decided(s.Permissions, p.PermissionRequestID)
	case event.ToolApproved:
		s.Calls = changed(s.Calls, p.ToolUseID, func(c *Call) { c.Approved = true })
	case event.ToolStarted:
		s.Calls = changed(s.Calls, p.ToolUseID, func(c *Call) { c.Started = true })
	case event.ToolCompleted:
		s = s.closed(p.ToolUseID)
	case event.ToolFailed:
		s = s.closed(p.ToolUseID)
	case event.ToolCancelled:
		s = s.closed(p.ToolUseID)

	case event.ProcessStarted:
		s.Processes++
		s.Running = with(s.Running, p)
	case event.ProcessExited:
		s.Running = without(s.Running, func(r event.ProcessStarted) bool { return r.ProcessID == p.ProcessID })

	case event.ContextCompacted:
		s.CompactedSinceCall = true
		s.ContextTokens = 0
	case event.ContextNoted:
		s = s.toldMore()
	case event.VerificationRequested:
		s.Task.Nudges = p.Attempt
		s = s.toldMore()
	case event.ChecksCompleted:
		if p.ModelText != "" {
			s = s.toldMore()
		}
	case event.TaskCompleted:
		s = s.ended(p)
	case event.TaskFailed:
		s = s.ended(p)
	}
	return s
}

func infoOf(r event.Record, p event.SessionStarted) SessionInfo {
	info := SessionInfo{
		ID: r.SessionID, Title: p.Title, Directory: p.WorkingDirectory, ProjectHash: p.ProjectHash,
		Model: p.Model, AuxModel: p.AuxModel, StartedTS: r.TS,
	}
	if p.GitBranch != nil {
		info.Branch = *p.GitBranch
	}
	return info
}

// opened starts a task, or goes on with the open one when the user writes
// again before it ended (after a crash, say).
func (s State) opened(r event.Record, text string) State {
	s = s.ended(nil)
	s.Task = Task{Open: true, Seq: r.Seq, StartTS: r.TS, Objective: text}
	s.Interrupted = false
	return s.toldMore()
}

func (s State) dequeued(r event.Record, p event.MessageDequeued) State {
	for _, q := range s.Messages {
		if q.EventID == p.QueuedEventID && p.By == event.TakenByEngine {
			s = s.opened(r, q.Text)
		}
	}
	s.Messages = unqueued(s.Messages, p.QueuedEventID)
	return s
}

// toldMore notes that the model has something new to answer to.
func (s State) toldMore() State {
	s.Request.Superseded = true
	s.Task.Repeated = 0
	return s
}

func (s State) requestStarted(p event.ModelRequestStarted) State {
	s.CompactedSinceCall = false
	if p.Purpose.Conversational() {
		s.Request = Request{
			ID: p.RequestID, Phase: Streaming, Continues: s.Request.unfinished(),
			before: attempt{lastCall: s.Task.lastCall, repeated: s.Task.Repeated, answer: s.Task.Answer},
		}
	}
	return s
}

// unfinished says that the next answer goes on with this one's text.
func (r Request) unfinished() bool {
	switch r.Phase {
	case Answered:
		return r.Calls == 0 && (r.Stop == event.StopMaxTokens || r.Stop == event.StopPauseTurn)
	case Failed:
		return r.Continues
	}
	return false
}

func (s State) textSettled(r event.Record, p event.ModelTextBlockCompleted) State {
	if p.RequestID != s.Request.ID || strings.TrimSpace(p.Text) == "" {
		return s
	}
	switch {
	case s.Request.Text:
		s.Task.Answer += "\n\n" + p.Text
	case s.Request.Continues:
		s.Task.Answer += p.Text
	default:
		s.Task.Answer = p.Text
	}
	s.Request.Text, s.Task.AnswerSeq = true, r.Seq
	return s
}

func (s State) called(p event.ToolRequested) State {
	if p.RequestID != s.Request.ID {
		return s
	}
	s.Request.Calls++
	s.Calls = with(s.Calls, Call{RequestID: p.RequestID, ID: p.ToolUseID, Name: p.ToolName, Input: p.Input})
	if key := p.ToolName + "\x00" + string(p.Input); key == s.Task.lastCall {
		s.Task.Repeated++
	} else {
		s.Task.Repeated, s.Task.lastCall = 1, key
	}
	return s
}

func (s State) answered(p event.ModelResponseCompleted) State {
	if p.RequestID != s.Request.ID {
		return s
	}
	s.Request.Phase, s.Request.Stop = Answered, p.StopReason
	s.Task.Responses++
	if p.StopReason == event.StopMaxTokens {
		s.Task.Cut++
	} else {
		s.Task.Cut = 0
	}
	if p.StopReason == event.StopContextWindow {
		s.Task.Overflows++
	} else {
		s.Task.Overflows = 0
	}
	if !s.Request.Text && !s.Request.Continues {
		s.Task.Answer = ""
	}
	u := p.Usage
	s.ContextTokens = u.InputTokens + u.OutputTokens + u.CacheReadTokens + u.CacheWriteTokens
	return s
}

func (s State) requestFailed(p event.ModelRequestFailed) State {
	if p.RequestID != s.Request.ID {
		return s
	}
	s.Request.Phase, s.Request.Failure = Failed, p
	if p.Kind != event.ErrorCancelled { // the attempt's calls were never made, nor its words said
		was := s.Request.before
		s.Task.lastCall, s.Task.Repeated, s.Task.Answer = was.lastCall, was.repeated, was.answer
	}
	if p.Kind == event.ErrorContextOverflow {
		s.Task.Overflows++
	}
	return s
}

// closed removes a call that has its result.
func (s State) closed(id string) State {
	s.Calls = without(s.Calls, func(c Call) bool { return c.ID == id })
	s.Permissions = without(s.Permissions, func(p OpenPermission) bool { return p.ToolUseID == id })
	s.Questions = without(s.Questions, func(q event.QuestionAsked) bool { return q.ToolUseID == id })
	return s
}

func (s State) ended(result event.Fact) State {
	s.Task.Open, s.Task.Result = false, result
	// A question of the engine's own is about the task; nobody waits any more.
	s.Questions = without(s.Questions, func(q event.QuestionAsked) bool { return q.ToolUseID == "" })
	return s
}

// HasCall says whether the log has a call of that id: an id is used once, also
// after its call has left the history.
func (s State) HasCall(id string) bool { return slices.Contains(s.callIDs.items, id) }

// Runnable says that the open calls may run: their answer arrived whole.
// Calls of an answer that did not arrive are closed without running.
func (s State) Runnable() bool {
	return s.Request.Phase == Answered && !s.Interrupted && s.Task.Open
}

// Tier is the recorded text of a tier.
func (s State) Tier(t event.Tier) (event.TierRecorded, bool) {
	for _, have := range s.Tiers {
		if have.Tier == t {
			return have, true
		}
	}
	return event.TierRecorded{}, false
}

func unqueued(queue []Queued, id string) []Queued {
	return without(queue, func(q Queued) bool { return q.EventID == id })
}

func descriptor(open []OpenPermission, id string) string {
	for _, p := range open {
		if p.PermissionRequestID == id {
			return p.Descriptor
		}
	}
	return ""
}

func decided(open []OpenPermission, id string) []OpenPermission {
	return without(open, func(p OpenPermission) bool { return p.PermissionRequestID == id })
}

func changed(calls []Call, id string, change func(*Call)) []Call {
	copied := append([]Call(nil), calls...)
	for i := range copied {
		if copied[i].ID == id {
			change(&copied[i])
		}
	}
	return copied
}

// LastCall is the newest call as a person reads it: the tool and its input.
func (t Task) LastCall() string { return strings.Replace(t.lastCall, "\x00", " ", 1) }
