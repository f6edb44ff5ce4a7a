package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
	"github.com/khaelor/khaelor/internal/fold"
)

func TestAFailedAttemptIsRepeatedInTheOpen(t *testing.T) {
	broken := answers(fakeapi.Think("Hm."), fakeapi.Text("Half an answer"), fakeapi.Call("bash", `{"command":"rm -rf x"}`), fakeapi.Text("more"))
	broken.MidError, broken.ErrorAfterEvents = &fakeapi.Fault{Type: "overloaded_error", Message: "busy"}, 16
	cut := answers(fakeapi.Text("Half"), fakeapi.Text("again"))
	cut.CutAfterEvents, cut.CutClean = 6, true
	r := newRig(t, fails(529, "overloaded"), broken, cut, answers(fakeapi.Text("Whole.")))
	r.say("hello")
	r.call()

	var ids []string
	for _, s := range told[event.ModelRequestStarted](r) {
		if slices.Contains(ids, s.RequestID) {
			t.Errorf("two attempts are request %s", s.RequestID)
		}
		ids = append(ids, s.RequestID)
	}
	failures, retries := told[event.ModelRequestFailed](r), noticed[event.ModelRetryScheduled](r)
	if len(ids) != 4 || len(failures) != 3 || len(retries) != 3 {
		t.Fatalf("%d attempts, %d failures, %d retries announced", len(ids), len(failures), len(retries))
	}
	for i, f := range failures {
		if f.RequestID != ids[i] || f.Kind != event.ErrorRetryable || f.RetriesExhausted || retries[i].Attempt != i+2 || retries[i].RequestID != ids[i] || retries[i].DelayMS < 0 {
			t.Errorf("failure %+v, announced %+v", f, retries[i])
		}
	}
	if failures[0].Status != 529 || failures[1].Status != 200 || !strings.Contains(failures[1].Message, "busy") {
		t.Errorf("failures %+v", failures)
	}
	if closed := told[event.ToolCancelled](r); len(closed) != 1 || closed[0].Reason != event.CancelResponseFailed {
		t.Errorf("closed %+v", closed)
	}
	r.converses("user: hello", "assistant: Whole.")
	if tokens, n := r.log.Fold().Usage.Total(); n != 1 {
		t.Errorf("usage %+v of %d answers", tokens, n)
	}
}

func TestTheRecordedOverloadIsRepeated(t *testing.T) {
	for _, name := range []string{"overloaded_midstream.sse", "eof_after_delta.sse"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, recorded(t, name), answers(fakeapi.Text("Whole.")))
			r.say("hello")
			r.call()
			r.converses("user: hello", "assistant: Whole.")
		})
	}
}

func TestWhatNoAttemptCanCureIsTriedOnce(t *testing.T) {
	for _, c := range []struct {
		status  int
		message string
		kind    event.ModelErrorKind
		says    string
	}{
		{400, "messages: bad", event.ErrorInvalidRequest, "messages: bad"},
		{401, "invalid x-api-key", event.ErrorAuth, "ANTHROPIC_API_KEY"},
		{403, "not yours", event.ErrorAuth, "permissions"},
		{404, "model: nosuch", event.ErrorInvalidRequest, "model id"},
		{413, "too large", event.ErrorContextOverflow, "compact"},
		{400, "prompt is too long: 210000 tokens > 200000 maximum", event.ErrorContextOverflow, "compact"},
	} {
		t.Run(fmt.Sprint(c.status, " ", c.kind), func(t *testing.T) {
			r := newRig(t, fails(c.status, c.message))
			r.say("hello")
			r.call()
			failures := told[event.ModelRequestFailed](r)
			if len(failures) != 1 || failures[0].Kind != c.kind || failures[0].Status != c.status || !failures[0].RetriesExhausted || !strings.Contains(failures[0].Message, c.says) {
				t.Errorf("failures %+v", failures)
			}
			if len(r.server.Requests()) != 1 || len(noticed[event.ModelRetryScheduled](r)) != 0 {
				t.Error("it was tried again")
			}
		})
	}
}

func TestAWaitLongerThanTheBudgetIsRefusedAtOnce(t *testing.T) {
	r := newRig(t, fakeapi.Turn{Error: &fakeapi.Fault{Status: 429, RetryAfter: "3600"}})
	r.say("hello")
	r.call()
	failures := told[event.ModelRequestFailed](r)
	if len(failures) != 1 || !failures[0].RetriesExhausted || failures[0].Kind != event.ErrorRetryable || !strings.Contains(failures[0].Message, "1h0m0s") {
		t.Errorf("failures %+v", failures)
	}
}

func TestAttemptsComeToAnEnd(t *testing.T) {
	overloaded := fails(529, "overloaded")
	overloaded.Repeat = 8
	r := newRig(t, overloaded)
	r.say("hello")
	r.call()
	failures := told[event.ModelRequestFailed](r)
	if len(failures) != 8 || !failures[7].RetriesExhausted || failures[6].RetriesExhausted || !strings.Contains(failures[7].Message, "8 attempts") {
		t.Errorf("failures %+v", failures)
	}
}

func TestAnInterruptKeepsWhatHasSettled(t *testing.T) {
	stalled := answers(fakeapi.Text("First."), fakeapi.Call("bash", `{"command":"ls"}`), fakeapi.Text("never"))
	stalled.StallAfterEvents = 9
	r := newRig(t, stalled, answers(fakeapi.Text("Well.")))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	r.log.Bus().OnAny(func(f event.Record) {
		if _, ok := f.Fact.(event.ToolRequested); ok {
			cancel(errors.New("interrupted"))
		}
	}, func(event.Live) {})
	r.say("look")
	r.callWith(ctx)
	failures := told[event.ModelRequestFailed](r)
	if len(failures) != 1 || failures[0].Kind != event.ErrorCancelled || len(noticed[event.ModelRetryScheduled](r)) != 0 {
		t.Errorf("failures %+v", failures)
	}
	open := r.log.Fold().State.Calls
	if len(open) != 1 || r.log.Fold().State.Runnable() {
		t.Fatalf("open calls %+v, runnable %v", open, r.log.Fold().State.Runnable())
	}
	r.publish(event.ToolCancelled{ToolUseID: open[0].ID, Reason: event.CancelInterrupted, ModelText: "[cancelled]"})
	r.say("go on")
	r.call()
	r.converses("user: look", "assistant: First.", `assistant calls `+open[0].ID+`: bash{"command":"ls"}`,
		"user answers "+open[0].ID+": [cancelled]", "user: go on", "assistant: Well.")
}

func TestAnInterruptedTextIsToldToBeCut(t *testing.T) {
	stalled := answers(fakeapi.Text("First."), fakeapi.Text("never"))
	stalled.StallAfterEvents = 5
	r := newRig(t, stalled, answers(fakeapi.Text("Second.")))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.log.Bus().OnAny(func(f event.Record) {
		if f.Name() == "model.text-block-completed" {
			cancel()
		}
	}, func(event.Live) {})
	r.say("count")
	r.callWith(ctx)
	r.call() // as after a shutdown: nobody wrote in between
	r.converses("user: count", "assistant: First.", "user: Your answer was cut off here. Go on where it stopped.", "assistant: Second.")
}

func TestInterruptedThinkingLeavesNothing(t *testing.T) {
	stalled := answers(fakeapi.Think(strings.Repeat("thinking ", 50)), fakeapi.Text("never"))
	stalled.StallAfterEvents, stalled.DeltaBytes = 6, 10
	r := newRig(t, stalled, answers(fakeapi.Text("Well.")))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.log.Bus().OnAny(func(event.Record) {}, func(n event.Live) {
		if _, ok := n.Notice.(event.ModelThinkingDelta); ok {
			cancel()
		}
	})
	r.say("think")
	r.callWith(ctx)
	if thoughts := told[event.ModelThinkingBlockCompleted](r); len(thoughts) != 0 {
		t.Errorf("settled %+v", thoughts)
	}
	r.say("and?")
	r.call()
	r.converses("user: think", "user: and?", "assistant: Well.")
}

// The service refuses an assistant message that ends in thinking, signed or not.
func TestAnInterruptBehindThinkingLeavesNoMessageThatEndsInIt(t *testing.T) {
	r := newRig(t, answers(fakeapi.Think("hm"), fakeapi.Text(strings.Repeat("never whole ", 50))), answers(fakeapi.Text("Well.")))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.log.Bus().OnAny(func(event.Record) {}, func(n event.Live) {
		if _, ok := n.Notice.(event.ModelTextDelta); ok {
			cancel()
		}
	})
	r.say("think")
	r.callWith(ctx)
	if thoughts := told[event.ModelThinkingBlockCompleted](r); len(thoughts) != 1 {
		t.Errorf("settled %+v", thoughts)
	}
	r.say("and?")
	r.call()
	r.converses("user: think", "user: and?", "assistant: Well.")
}

func TestAnInterruptEndsTheWaitForTheNextAttempt(t *testing.T) {
	r := newRig(t, fakeapi.Turn{Error: &fakeapi.Fault{Status: 529, RetryAfter: "200"}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r.log.Bus().OnAny(func(event.Record) {}, func(n event.Live) {
		if _, ok := n.Notice.(event.ModelRetryScheduled); ok {
			cancel()
		}
	})
	r.say("hello")
	r.callWith(ctx)
	if failures := told[event.ModelRequestFailed](r); len(failures) != 1 || failures[0].RetriesExhausted {
		t.Errorf("failures %+v", failures)
	}
}

func TestABudgetStopsBeforeTheCall(t *testing.T) {
	r := newRig(t, answers(fakeapi.Text("One.")), fails(529, "overloaded"))
	asked := 0
	r.Budget = func(fold.Session) *event.TaskFailed {
		if asked++; asked > 2 {
			return &event.TaskFailed{Reason: event.FailedCost, Detail: "spent"}
		}
		return nil
	}
	r.say("hello")
	r.call()
	r.say("again")
	r.call() // one attempt, and none after it
	if len(r.server.Requests()) != 2 || asked != 3 {
		t.Errorf("%d requests, asked %d times", len(r.server.Requests()), asked)
	}
	if s := r.log.Fold().State; s.Task.Open {
		t.Error("the task goes on")
	}
}

func TestALogThatCannotBeWrittenEndsTheCall(t *testing.T) {
	r := newRig(t, answers(fakeapi.Text("One.")))
	r.say("hello")
	full := errors.New("disk full")
	r.Log = brokenLog[event.ModelTextBlockCompleted]{r.log, full}
	if err := r.Call(t.Context()); !errors.Is(err, full) {
		t.Errorf("call: %v", err)
	}
	r.publish(event.ModelRequestFailed{RequestID: told[event.ModelRequestStarted](r)[0].RequestID, Kind: event.ErrorCancelled})
}

// brokenLog refuses one type of fact.
type brokenLog[P event.Fact] struct {
	Log
	err error
}

func (l brokenLog[P]) Publish(f event.Fact) (event.Record, error) {
	if _, ok := f.(P); ok {
		return event.Record{}, l.err
	}
	return l.Log.Publish(f)
}
