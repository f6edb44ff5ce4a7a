package fold

import (
	"encoding/json"
	"slices"

	"github.com/khaelor/khaelor/internal/event"
)

// Runs are the commands of the bash tool that ran to their end in the present
// work, with their own exit codes, and the calls of which nobody knows what
// they changed.
//
// The work begins with the message that opens a task. A message that comes
// before that task has ended, after a crash, goes on with the same work.
type Runs struct {
	// Since is the message that the work began with.
	Since int64
	// Blind says that the tree is too large to see what commands change.
	Blind bool

	done   list[Run]
	unseen []Unseen
	open   []openRun
	ended  bool // the task: the next message begins other work
}

// Done are the commands in the order in which they ended. The slice must not
// be changed.
func (r Runs) Done() []Run { return r.done.items }

// Unseen are the calls of which nobody saw what they changed, besides those in
// Done. They stay until a task is completed. The slice must not be changed.
func (r Runs) Unseen() []Unseen { return r.unseen }

// Run is one command.
type Run struct {
	Seq        int64 // of its result
	Command    string
	Cwd        string // as the call named it; "" is the working directory
	ExitCode   int
	Output     string
	DurationMS int64
}

// Unseen is a call that had begun when the program died and whose one change
// is not recorded, or one that has no exit code in a tree that is not watched.
type Unseen struct {
	Seq       int64 // of its result
	ToolUseID string
	Tool      string
	Input     json.RawMessage
	StartTS   int64 // milliseconds since 1970
	Crash     bool
}

type openRun struct {
	event.ToolRequested
	startTS int64 // 0 before it has begun
}

// bashTool is the one tool whose calls can be checks of the project. It and
// processTool run commands.
const (
	bashTool    = "bash"
	processTool = "process"
)

// onlyRead are the tools that change no file, whatever happens to them.
var onlyRead = []string{"read", "grep", "glob"}

// BlindNote tells the model, once and by context.noted, that changes by
// commands are not seen.
const BlindNote = "[This folder has too many files to see which of them a command changes, and git cannot tell either. " +
	"Changes made by commands are not recorded and cannot be taken back: prefer write and edit.]"

// Apply folds one fact.
func (r Runs) Apply(rec event.Record) Runs {
	switch p := rec.Fact.(type) {
	case event.UserMessageCreated:
		return r.opened(rec.Seq)
	case event.MessageDequeued:
		if p.By == event.TakenByEngine {
			return r.opened(rec.Seq)
		}
	case event.TaskCompleted:
		r.unseen, r.ended = nil, true // what is not known is in its evidence
	case event.TaskFailed:
		r.ended = true
	case event.Interrupted:
		r.ended = true
	case event.ContextNoted:
		r.Blind = r.Blind || p.Text == BlindNote

	case event.ToolRequested:
		if !slices.Contains(onlyRead, p.ToolName) {
			r.open = with(r.open, openRun{ToolRequested: p})
		}
	case event.ToolStarted:
		r.open = begun(r.open, p.ToolUseID, rec.TS)
	case event.FileModified:
		if p.Operation != event.FileExecuted { // such a call changes one file
			r.open = closedRun(r.open, p.ToolUseID)
			r.unseen = without(r.unseen, func(u Unseen) bool { return u.ToolUseID == p.ToolUseID })
		}
	case event.ToolCompleted:
		return r.completed(rec.Seq, p)
	case event.ToolFailed:
		return r.closed(rec.Seq, p.ToolUseID, false)
	case event.ToolCancelled:
		// What a call changed that the runtime stops itself is looked after.
		return r.closed(rec.Seq, p.ToolUseID, p.Reason == event.CancelRecovery)
	}
	return r
}

func (r Runs) opened(seq int64) Runs {
	if r.Since > 0 && !r.ended {
		return r
	}
	return Runs{Since: seq, Blind: r.Blind, unseen: r.unseen}
}

func (r Runs) completed(seq int64, p event.ToolCompleted) Runs {
	i := slices.IndexFunc(r.open, func(c openRun) bool { return c.ToolUseID == p.ToolUseID && c.ToolName == bashTool })
	var input struct {
		Command string `json:"command"`
		Cwd     string `json:"cwd"`
	}
	if i < 0 || p.UI.ExitCode == nil || json.Unmarshal(r.open[i].Input, &input) != nil {
		return r.closed(seq, p.ToolUseID, false)
	}
	r.done = r.done.add(Run{
		Seq: seq, Command: input.Command, Cwd: input.Cwd, ExitCode: *p.UI.ExitCode,
		Output: p.ModelText, DurationMS: p.DurationMS,
	})
	r.open = closedRun(r.open, p.ToolUseID)
	return r
}

// closed ends a call that is no run.
func (r Runs) closed(seq int64, id string, crash bool) Runs {
	for _, c := range r.open {
		blind := r.Blind && (c.ToolName == bashTool || c.ToolName == processTool)
		if c.ToolUseID == id && c.startTS > 0 && (crash || blind) {
			r.unseen = with(r.unseen, Unseen{
				Seq: seq, ToolUseID: id, Tool: c.ToolName, Input: c.Input, StartTS: c.startTS, Crash: crash,
			})
		}
	}
	r.open = closedRun(r.open, id)
	return r
}

func begun(open []openRun, id string, ts int64) []openRun {
	copied := slices.Clone(open)
	for i := range copied {
		if copied[i].ToolUseID == id {
			copied[i].startTS = ts
		}
	}
	return copied
}

func closedRun(open []openRun, id string) []openRun {
	return without(open, func(c openRun) bool { return c.ToolUseID == id })
}
