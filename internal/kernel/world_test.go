package kernel

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// log is a session log in memory. Each fact is folded from the line that it
// is written as.
type log struct {
	records []event.Record
	folded  fold.Session
	// heard is told of every record, derived of every look of the kernel.
	heard   func(event.Record)
	derived func(fold.Session)
}

func (l *log) Publish(f event.Fact) (event.Record, error) {
	seq := int64(len(l.records) + 1)
	line, err := event.AppendLine(nil, event.Record{
		V: event.Version, ID: fmt.Sprintf("e%d", seq), SessionID: "s", Seq: seq, TS: 1000 * seq, Fact: f,
	})
	if err != nil {
		return event.Record{}, err
	}
	r, err := event.DecodeLine(line[:len(line)-1])
	if err != nil {
		return event.Record{}, err
	}
	l.records = append(l.records, r)
	l.folded = l.folded.Apply(r)
	if l.heard != nil {
		l.heard(r)
	}
	return r, nil
}

func (l *log) Fold() fold.Session {
	if l.derived != nil {
		l.derived(l.folded)
	}
	return l.folded
}

// must publishes what a fake has to say.
func (l *log) must(facts ...event.Fact) {
	for _, f := range facts {
		if _, err := l.Publish(f); err != nil {
			panic(err)
		}
	}
}

func logOf(facts ...event.Fact) *log {
	l := &log{}
	l.must(facts...)
	return l
}

// spoken is an action in one line.
func spoken(a Action) string {
	switch a := a.(type) {
	case ExecuteTools:
		var ids []string
		for _, c := range a.Calls {
			ids = append(ids, c.ID)
		}
		return "execute " + strings.Join(ids, " ")
	case InjectSteering:
		return fmt.Sprintf("steer %s: %s", a.Seam, a.Queued.Text)
	case Compact:
		return "compact " + string(a.Trigger)
	case Verify:
		return fmt.Sprintf("verify %d", a.Attempt)
	case AskUser:
		return fmt.Sprintf("ask about %s, made %d times", a.Call, a.Times)
	case CallModel:
		return "call the model"
	case Done:
		return "done"
	case Fail:
		return fmt.Sprintf("fail %s: %s", a.Reason, a.Detail)
	case Interrupted:
		return "interrupted"
	case Idle:
		return "idle"
	}
	return fmt.Sprintf("%T", a)
}

var judge = Judge{
	IsCheck:        func(run fold.Run) bool { return strings.HasPrefix(run.Command, "go test") },
	ChangesNothing: func(run fold.Run) bool { return run.Command == "ls" },
}

func next(s fold.Session, l Limits) Action {
	return DeriveNext(s.State, l, Gate{Changes: s.Changes, Runs: s.Runs, Judge: judge})
}

// The facts below are the words of the tables.

func says(text string) event.Fact { return event.UserMessageCreated{Text: text} }

func started(request string) event.Fact {
	return event.ModelRequestStarted{RequestID: request, Model: "m", Purpose: event.PurposeMain}
}

func text(request, text string) event.Fact {
	return event.ModelTextBlockCompleted{RequestID: request, Text: text}
}

func calls(request, id, tool, input string) event.Fact {
	return event.ToolRequested{RequestID: request, ToolUseID: id, ToolName: tool, Input: json.RawMessage(input)}
}

func answered(request string, stop event.StopReason) event.Fact {
	return event.ModelResponseCompleted{RequestID: request, StopReason: stop}
}

func answeredOf(request string, stop event.StopReason, tokens int64) event.Fact {
	return event.ModelResponseCompleted{RequestID: request, StopReason: stop, Usage: event.ModelUsage{InputTokens: tokens}}
}

func failed(request string, kind event.ModelErrorKind, exhausted bool) event.Fact {
	return event.ModelRequestFailed{RequestID: request, Kind: kind, Message: "the server said no", RetriesExhausted: exhausted}
}

func completed(id string) event.Fact { return event.ToolCompleted{ToolUseID: id, ModelText: "ok"} }

func exited(id string, code int) event.Fact {
	return event.ToolCompleted{ToolUseID: id, ModelText: "PASS\nok\n[exit code]", UI: event.ToolUI{ExitCode: &code}}
}

func cancelled(id string) event.Fact {
	return event.ToolCancelled{ToolUseID: id, ModelText: "[Cancelled]", Reason: event.CancelInterrupted}
}

func modified(path string) event.Fact {
	return event.FileModified{Path: path, Operation: event.FileEdited}
}

// answers is a whole answer that only says something.
func answers(request string, stop event.StopReason) []event.Fact {
	return []event.Fact{started(request), text(request, "so it is"), answered(request, stop)}
}

// runs is an answer with one call of the shell and its result.
func runs(request, command string, code int) []event.Fact {
	id := "t" + request
	input := fmt.Sprintf(`{"command":%q}`, command)
	return []event.Fact{started(request), calls(request, id, "bash", input), answered(request, event.StopToolUse), exited(id, code)}
}

// edits is an answer with one call that changes a file.
func edits(request, path string) []event.Fact {
	id := "t" + request
	return []event.Fact{
		started(request), calls(request, id, "edit", fmt.Sprintf(`{"path":%q,"n":%q}`, path, request)), answered(request, event.StopToolUse),
		modified(path), completed(id),
	}
}

// then joins facts and lists of facts.
func then(parts ...any) []event.Fact {
	var all []event.Fact
	for _, p := range parts {
		switch p := p.(type) {
		case event.Fact:
			all = append(all, p)
		case []event.Fact:
			all = append(all, p...)
		default:
			panic(fmt.Sprintf("then: %T", p))
		}
	}
	return all
}
