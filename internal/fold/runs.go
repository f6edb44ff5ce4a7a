package fold

import (
	"encoding/json"

	"github.com/khaelor/khaelor/internal/event"
)

// Runs are the commands of the bash tool that ran to their end in the present
// task, with their own exit codes.
type Runs struct {
	done list[Run]
	open []event.ToolRequested
}

// Done are the commands in the order in which they ended. The slice must not
// be changed.
func (r Runs) Done() []Run { return r.done.items }

// Run is one command.
type Run struct {
	Seq        int64 // of its result
	Command    string
	ExitCode   int
	Output     string
	DurationMS int64
}

// bashTool is the one tool whose calls can be checks of the project.
const bashTool = "bash"

// Apply folds one fact.
func (r Runs) Apply(rec event.Record) Runs {
	switch p := rec.Fact.(type) {
	case event.UserMessageCreated:
		return Runs{}
	case event.MessageDequeued:
		if p.By == event.TakenByEngine {
			return Runs{}
		}
	case event.ToolRequested:
		if p.ToolName == bashTool {
			r.open = with(r.open, p)
		}
	case event.ToolCompleted:
		return r.completed(rec.Seq, p)
	case event.ToolFailed:
		r.open = closedRun(r.open, p.ToolUseID)
	case event.ToolCancelled:
		r.open = closedRun(r.open, p.ToolUseID)
	}
	return r
}

func (r Runs) completed(seq int64, p event.ToolCompleted) Runs {
	for _, call := range r.open {
		var input struct {
			Command string `json:"command"`
		}
		if call.ToolUseID != p.ToolUseID || p.UI.ExitCode == nil || json.Unmarshal(call.Input, &input) != nil {
			continue
		}
		r.done = r.done.add(Run{
			Seq: seq, Command: input.Command, ExitCode: *p.UI.ExitCode,
			Output: p.ModelText, DurationMS: p.DurationMS,
		})
	}
	r.open = closedRun(r.open, p.ToolUseID)
	return r
}

func closedRun(open []event.ToolRequested, id string) []event.ToolRequested {
	return without(open, func(c event.ToolRequested) bool { return c.ToolUseID == id })
}
