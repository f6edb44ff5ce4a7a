package fold

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/khaelor/khaelor/internal/event"
)

// everything is all projections of one log.
type everything struct {
	Session
	Timeline Timeline
}

func (e everything) Apply(r event.Record) everything {
	return everything{Session: e.Session.Apply(r), Timeline: e.Timeline.Apply(r)}
}

// snapshot is all that a value says, written out, with what it keeps for
// later.
func snapshot(e everything) string {
	var calls []string
	for _, c := range e.History.calls {
		calls = append(calls, fmt.Sprintf("%s %t", c.id, c.result != nil))
	}
	var requests []string
	for _, i := range e.Timeline.Items() {
		requests = append(requests, i.request)
	}
	out, err := json.Marshal([]any{
		e.State, e.State.Task.lastCall, fmt.Sprintf("%+v", e.State.Request.before),
		e.History.Blocks(), e.History.Epoch, e.History.request, e.History.since, calls, e.History.held, e.History.queued,
		e.Usage.Models, e.Usage.newest, e.Changes.Baseline, e.Changes.reads.items, e.Changes.Edits(), e.Changes.Since(0),
		e.Runs.Done(), e.Runs.open, e.Runs.unseen, e.Runs.Since, e.Runs.Blind, e.Runs.ended, e.Timeline.Items(), e.Timeline.request, len(e.Timeline.open), requests,
	})
	if err != nil {
		panic(err)
	}
	return string(out)
}

// anyFact draws a fact of any kind that a fold reads, with names from so small
// a set that facts meet.
func anyFact(t *rapid.T) event.Fact {
	return rapid.SampledFrom(makers).Draw(t, "fact")(t)
}

func pick(t *rapid.T, prefix string, n int) string {
	return fmt.Sprintf("%s%d", prefix, rapid.IntRange(1, n).Draw(t, prefix))
}

func call(t *rapid.T) string    { return pick(t, "c", 4) }
func request(t *rapid.T) string { return pick(t, "r", 2) }
func queued(t *rapid.T) string  { return pick(t, "e", 12) }
func file(t *rapid.T) string    { return pick(t, "f", 3) }
func words(t *rapid.T) string   { return pick(t, "text", 3) }

var makers = []func(*rapid.T) event.Fact{
	func(*rapid.T) event.Fact { return event.SessionStarted{Title: "t", Model: "m"} },
	func(*rapid.T) event.Fact { return event.SessionResumed{Model: "m"} },
	func(t *rapid.T) event.Fact { return event.SessionRenamed{Title: words(t)} },
	func(*rapid.T) event.Fact { return event.SessionForked{FromSessionID: "o"} },
	func(*rapid.T) event.Fact { return event.ModelChanged{From: "m", To: "n"} },
	func(t *rapid.T) event.Fact {
		return event.BaselineRecorded{When: event.BeforeEdit, Baseline: event.GitBaseline{Branch: words(t)}}
	},
	func(t *rapid.T) event.Fact {
		content := words(t)
		return event.UserMessageCreated{
			Text: words(t), Mentions: []event.Mention{{Path: file(t), Content: &content}}, Images: []event.Media{{SHA256: words(t)}},
		}
	},
	func(t *rapid.T) event.Fact { return event.SteeringQueued{Text: words(t)} },
	func(t *rapid.T) event.Fact { return event.SteeringInjected{QueuedEventID: queued(t)} },
	func(t *rapid.T) event.Fact { return event.SteeringWithdrawn{QueuedEventID: queued(t)} },
	func(t *rapid.T) event.Fact { return event.MessageQueued{Text: words(t)} },
	func(t *rapid.T) event.Fact {
		by := rapid.SampledFrom([]event.Taker{event.TakenByEngine, event.TakenByUser}).Draw(t, "by")
		return event.MessageDequeued{QueuedEventID: queued(t), By: by}
	},
	func(*rapid.T) event.Fact { return event.Interrupted{Scope: event.ScopeTurn} },
	func(t *rapid.T) event.Fact { return event.ShellRun{Command: words(t)} },
	func(t *rapid.T) event.Fact {
		return event.QuestionAsked{QuestionID: pick(t, "q", 2), ToolUseID: call(t)}
	},
	func(t *rapid.T) event.Fact {
		return event.QuestionAnswered{QuestionID: pick(t, "q", 2), Answer: []byte(`""`)}
	},
	func(t *rapid.T) event.Fact { return event.TodoUpdated{Items: []event.TodoItem{{Text: words(t)}}} },
	func(t *rapid.T) event.Fact {
		purpose := rapid.SampledFrom([]event.Purpose{event.PurposeMain, event.PurposeNudge, event.PurposeCompaction}).Draw(t, "purpose")
		return event.ModelRequestStarted{RequestID: request(t), Model: pick(t, "m", 2), Purpose: purpose}
	},
	func(t *rapid.T) event.Fact { return text(request(t), words(t)) },
	func(t *rapid.T) event.Fact { return thought(request(t), words(t)) },
	func(t *rapid.T) event.Fact { return opaque(request(t), "redacted_thinking") },
	func(t *rapid.T) event.Fact { return called(request(t), call(t), "bash", `{"command":"x"}`) },
	func(t *rapid.T) event.Fact { return called(request(t), call(t), "read", `{}`) },
	func(t *rapid.T) event.Fact {
		stop := rapid.SampledFrom([]event.StopReason{event.StopToolUse, event.StopMaxTokens, event.StopContextWindow}).Draw(t, "stop")
		return event.ModelResponseCompleted{RequestID: request(t), StopReason: stop, Usage: event.ModelUsage{InputTokens: 1}}
	},
	func(t *rapid.T) event.Fact {
		kind := rapid.SampledFrom([]event.ModelErrorKind{event.ErrorRetryable, event.ErrorCancelled, event.ErrorContextOverflow}).Draw(t, "kind")
		return attemptFailed(request(t), kind)
	},
	func(t *rapid.T) event.Fact {
		return event.PermissionRequested{PermissionRequestID: pick(t, "p", 2), ToolUseID: call(t)}
	},
	func(t *rapid.T) event.Fact { return event.PermissionGranted{PermissionRequestID: pick(t, "p", 2)} },
	func(t *rapid.T) event.Fact {
		return event.PermissionDenied{PermissionRequestID: pick(t, "p", 2), Source: event.DeniedByTimeout}
	},
	func(t *rapid.T) event.Fact { return event.ToolApproved{ToolUseID: call(t)} },
	func(t *rapid.T) event.Fact { return event.ToolStarted{ToolUseID: call(t)} },
	func(t *rapid.T) event.Fact { return ran(call(t), 0) },
	func(t *rapid.T) event.Fact { return toolFailed(call(t)) },
	func(t *rapid.T) event.Fact { return cancelled(call(t)) },
	func(t *rapid.T) event.Fact { return read(file(t), words(t)) },
	func(t *rapid.T) event.Fact { return modified(file(t), call(t), event.FileEdited, 1, 1, words(t)) },
	func(t *rapid.T) event.Fact { return event.ProcessStarted{ProcessID: pick(t, "w", 2)} },
	func(t *rapid.T) event.Fact { return event.ProcessExited{ProcessID: pick(t, "w", 2)} },
	func(t *rapid.T) event.Fact {
		return event.ContextPruned{ToolUseIDs: []string{call(t)}, Placeholder: "[pruned]"}
	},
	func(t *rapid.T) event.Fact {
		from := rapid.Int64Range(1, 20).Draw(t, "from")
		return event.ContextCompacted{Cut: event.Cut{FromSeq: from, ToSeq: from + rapid.Int64Range(0, 20).Draw(t, "length")}}
	},
	func(t *rapid.T) event.Fact { return event.ContextNoted{Text: words(t)} },
	func(t *rapid.T) event.Fact {
		return event.TierRecorded{Tier: rapid.SampledFrom([]event.Tier{event.TierTools, event.TierStatic}).Draw(t, "tier"), Text: words(t)}
	},
	func(t *rapid.T) event.Fact { return event.VerificationRequested{Attempt: 1, ModelText: words(t)} },
	func(t *rapid.T) event.Fact { return event.ChecksCompleted{ModelText: words(t)} },
	func(*rapid.T) event.Fact { return event.TaskCompleted{} },
	func(*rapid.T) event.Fact { return event.TaskFailed{Reason: event.FailedModel} },
	func(*rapid.T) event.Fact { return event.Unknown{Type: unknown, Raw: []byte(`{}`)} },
}

func facts(t *rapid.T, l log, label string) log {
	l.records = l.records[:len(l.records):len(l.records)]
	for range rapid.IntRange(0, 25).Draw(t, label) {
		l.add(anyFact(t))
	}
	return l
}

// Two futures of one past share its memory; neither may show in the other, nor
// in the past.
func TestAValueThatWasHandedOutStaysWhatItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		past := facts(t, log{}, "past")
		one, other := facts(t, past, "one future"), facts(t, past, "other future")

		value := folded(everything{}, past.records)
		before := snapshot(value)
		first := folded(value, one.records[len(past.records):])
		firstBefore := snapshot(first)
		second := folded(value, other.records[len(past.records):])

		if snapshot(value) != before {
			t.Fatalf("the past was\n%s\nand is now\n%s", before, snapshot(value))
		}
		if snapshot(first) != firstBefore {
			t.Fatalf("one future was\n%s\nand is now\n%s", firstBefore, snapshot(first))
		}
		for future, got := range map[*log]everything{&one: first, &other: second} {
			if want := snapshot(folded(everything{}, future.records)); snapshot(got) != want {
				t.Fatalf("a future of a shared past is\n%s\nfrom the log alone it is\n%s", snapshot(got), want)
			}
		}
	})
}

func TestEveryValueAlongASessionStaysWhatItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var value everything
		var values []everything
		var said []string
		for _, r := range session(t).records {
			value = value.Apply(r)
			values, said = append(values, value), append(said, snapshot(value))
		}
		for i, v := range values {
			if now := snapshot(v); now != said[i] {
				t.Fatalf("after fact %d it was\n%s\nand is now\n%s", i+1, said[i], now)
			}
		}
	})
}

func TestPurityIsTriedWithEveryFactThatAFoldReads(t *testing.T) {
	drawn := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		for _, maker := range makers {
			drawn[event.NameOf(maker(t))] = true
		}
	})
	for name, folds := range readers(t) {
		if len(folds) > 0 && !drawn[name] {
			t.Errorf("%s is read by %v and never drawn", name, folds)
		}
	}
}
