package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/bus"
	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/tool"
)

// looping is a model that makes one call six times, in whatever task.
func looping() fakeapi.Options {
	made := 0
	return fakeapi.Options{Responder: func(int, *fakeapi.Request) fakeapi.Turn {
		if made++; made > 6 {
			return turn(fakeapi.Text("Out of it."))
		}
		return turn(fakeapi.Call("read", `{"path":"a.txt"}`))
	}}
}

func TestARepeatedCallIsStoppedWhenNobodyIsThereAndTheNextMessageWorks(t *testing.T) {
	w := newWorld(t, looping())
	w.file("a.txt", "hello\n")
	w.say("begin")
	if detail := w.failed(event.FailedDoomLoop); !strings.Contains(detail, `3 times in a row (read {"path":"a.txt"})`) {
		t.Errorf("detail %q", detail)
	}
	if n := len(w.asked()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
	w.say("go on")
	w.failed(event.FailedDoomLoop) // three more
	w.say("and now")
	w.completed()
}

func TestTheUserDecidesAboutARepeatedCall(t *testing.T) {
	answers := []string{"go on", "stop"}
	w := newWorld(t, looping(), attended)
	w.file("a.txt", "hello\n")
	bus.On(w.log.Bus(), func(_ event.Record, q event.QuestionAsked) {
		if !strings.Contains(q.Question, "3 times in a row") {
			t.Errorf("question %q", q.Question)
		}
		w.send(command.AnswerQuestion{QuestionID: q.QuestionID, Answer: answers[:1]})
		answers = answers[1:]
	})
	w.say("begin")
	if detail := w.failed(event.FailedDoomLoop); !strings.Contains(detail, "stopped by the user") {
		t.Errorf("detail %q", detail)
	}
	if asked, answered := facts[event.QuestionAsked](w), facts[event.QuestionAnswered](w); len(asked) != 2 || len(answered) != 2 {
		t.Errorf("%d questions, %d answers", len(asked), len(answered))
	}
	w.say("something else")
	w.completed()
}

func TestTheLimitOfModelCallsEndsTheTaskAndTheNextMessageHasItsOwn(t *testing.T) {
	n := 0
	w := newWorld(t, fakeapi.Options{Responder: func(int, *fakeapi.Request) fakeapi.Turn {
		if n++; n > 3 {
			return turn(fakeapi.Text("Done."))
		}
		return turn(fakeapi.Call("read", fmt.Sprintf(`{"path":"%d"}`, n)))
	}}, func(o *engine.Options) { o.MaxTurns = 3 })
	w.say("begin")
	if detail := w.failed(event.FailedIterations); !strings.Contains(detail, "--max-turns") {
		t.Errorf("detail %q", detail)
	}
	if len(w.asked()) != 3 {
		t.Errorf("%d requests", len(w.asked()))
	}
	w.say("go on")
	w.completed()
}

func TestTheThirdRequestIsNotSentOnceTheMoneyIsSpent(t *testing.T) {
	spend := &fakeapi.Usage{InputTokens: 20_000, OutputTokens: 10_000} // 0.03 at the prices below
	n := 0
	w := newWorld(t, fakeapi.Options{Responder: func(int, *fakeapi.Request) fakeapi.Turn {
		if n++; n > 2 {
			return turn(fakeapi.Text("Done."))
		}
		return fakeapi.Turn{Blocks: []fakeapi.Block{fakeapi.Call("read", fmt.Sprintf(`{"path":"%d"}`, n))}, Usage: spend}
	}}, func(o *engine.Options) {
		o.MaxCost = 0.05
		o.Price = func(string) (fold.Price, bool) { return fold.Price{Input: 0.5, Output: 2}, true }
	})
	w.say("begin")
	if detail := w.failed(event.FailedCost); !strings.Contains(detail, "$0.0600 spent of a limit of $0.0500") || !strings.Contains(detail, "--max-cost") {
		t.Errorf("detail %q", detail)
	}
	w.say("more") // the budget is the session's
	w.failed(event.FailedCost)
	if len(w.asked()) != 2 || len(facts[event.ModelRequestStarted](w)) != 2 {
		t.Errorf("%d requests were sent", len(w.asked()))
	}
	w.resume(func(o *engine.Options) { o.MaxCost = 1 })
	w.say("go on")
	w.completed()
}

func TestAModelWithoutAPriceCannotKeepALimit(t *testing.T) {
	w := newWorld(t, script(turn(fakeapi.Call("read", `{"path":"a"}`))), func(o *engine.Options) { o.MaxCost = 0.05 })
	w.say("begin")
	if detail := w.failed(event.FailedCost); !strings.Contains(detail, "no price") {
		t.Errorf("detail %q", detail)
	}
}

func TestATaskWhoseTimeIsUpEndsAndClosesItsCalls(t *testing.T) {
	w := newWorld(t, script(turn(call("t1", "stuck", `{}`)), turn(fakeapi.Text("Done."))),
		stuck(make(chan string, 1)), func(o *engine.Options) { o.Timeout = 200 * time.Millisecond })
	w.say("begin")
	if detail := w.failed(event.FailedTime); !strings.Contains(detail, "200ms") || !strings.Contains(detail, "--timeout") {
		t.Errorf("detail %q", detail)
	}
	only[event.ToolCancelled](w)
	w.say("go on")
	w.completed()
}

func TestTimeThatIsUpEndsAnAnswerAndAWait(t *testing.T) {
	short := func(o *engine.Options) { o.Timeout = 200 * time.Millisecond }
	for name, first := range map[string]fakeapi.Turn{
		"answer": {Blocks: []fakeapi.Block{fakeapi.Text("One.")}, StallAfterEvents: 2},
		"wait":   {Error: &fakeapi.Fault{Status: 529, RetryAfter: "60"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, script(first), short)
			w.say("begin")
			w.failed(event.FailedTime)
		})
	}
}

func TestTwelveCallsInOneReplyHaveTheirResultsInOrderInOneMessage(t *testing.T) {
	var blocks []fakeapi.Block
	var want []string
	for i := range 12 {
		id := fmt.Sprintf("t%d", i)
		switch i {
		case 4:
			blocks, want = append(blocks, call(id, "read", `{"path":"missing"}`)), append(want, id+" true")
		case 7:
			blocks, want = append(blocks, bash(id, "touch denied")), append(want, id+" true")
		default:
			blocks, want = append(blocks, bash(id, "echo "+id)), append(want, id+" false")
		}
	}
	w := newWorld(t, script(turn(blocks...), turn(fakeapi.Text("Done."))), asking("allow process.execute", "deny process.execute(touch denied)"))
	w.say("begin")
	w.completed()
	all := w.asked()
	messages := all[len(all)-1].Messages
	var got []string
	for _, p := range messages[len(messages)-1].Parts {
		got = append(got, fmt.Sprintf("%s %v", p.ToolUseID, p.IsError))
		if !p.IsError && !strings.Contains(p.Content[0].Text, p.ToolUseID) {
			t.Errorf("%s has the result %q", p.ToolUseID, p.Content[0].Text)
		}
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("results %v, want %v", got, want)
	}
}

func TestAToolThatPanicsIsAFailedCall(t *testing.T) {
	w := newWorld(t, script(turn(call("t1", "bad", `{}`)), turn(fakeapi.Text("I see."))),
		own("bad", func(context.Context, *tool.Env, map[string]any) (tool.Result, error) { panic("at the disco") }))
	w.say("begin")
	w.completed()
	if got := only[event.ToolFailed](w); got.ErrorKind != event.ToolInternal || !strings.Contains(got.ModelText, "at the disco") {
		t.Errorf("told %+v", got)
	}
}
