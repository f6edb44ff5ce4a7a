package session_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/disk/memdisk"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/session"
)

var errNoPower = errors.New("the power is out")

func TestWhenThePowerGoesAtAnyByteAnyNumberOfTimesTheLogOpensAndEveryCallHasOneResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &powered{dir: memdisk.New(), clock: clock.Fixed(time.UnixMilli(1767225600000), 1)}
		p.boot()
		l, err := p.store.Create(started())
		if err != nil || l.Sync() != nil {
			t.Fatal(err)
		}
		p.fuse(t)
		for range rapid.IntRange(1, 60).Draw(t, "facts") {
			_, err := l.Publish(nextFact(t, l.Fold().State))
			switch {
			case errors.Is(err, errNoPower):
				l = p.recover(t, l.ID())
			case err != nil && !errors.Is(err, session.ErrRefused):
				t.Fatal(err)
			}
		}
		p.dir.FailAppendAfter(0, nil, 0)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		p.consistent(t, l)
	})
}

// powered is a machine whose power goes at a drawn moment.
type powered struct {
	dir   *memdisk.Dir
	clock *clock.Clock
	store *session.Store
}

func (p *powered) boot() { p.store = session.NewStore(p.dir, p.clock, func(error) {}) }

// fuse draws when the power goes: in the middle of one of the next appends.
func (p *powered) fuse(t *rapid.T) {
	p.dir.FailAppendAfter(rapid.IntRange(0, 20).Draw(t, "appends"), errNoPower, rapid.IntRange(0, 400).Draw(t, "bytes of the next"))
}

// recover boots until the session is open again, and demands that it has all
// that survived, one result for every call, and nothing else.
func (p *powered) recover(t *rapid.T, id string) *session.Log {
	for {
		p.dir = p.dir.PowerLossKeeping(rapid.IntRange(0, 3000).Draw(t, "unsynced bytes kept"))
		p.boot()
		p.fuse(t)
		survived := replayed(t, p.store, id).State.LastSeq
		l, err := p.store.Open(id)
		if errors.Is(err, errNoPower) {
			continue
		}
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		if got, want := l.Fold().State.LastSeq, survived+int64(len(l.Recovered().Cancelled)); got != want {
			t.Fatalf("%d facts after recovery, want the %d that survived and the results", got, want)
		}
		if p.consistent(t, l).Unfinished {
			t.Fatal("calls are left open")
		}
		return l
	}
}

// consistent demands a sound log whose replay gives the live state.
func (p *powered) consistent(t *rapid.T, l *session.Log) session.Report {
	report, err := p.store.Check(l.ID())
	if err != nil || len(report.Problems) > 0 {
		t.Fatalf("check: %+v, %v", report.Problems, err)
	}
	if !reflect.DeepEqual(replayed(t, p.store, l.ID()), l.Fold()) {
		t.Fatal("the replayed state is not the live one")
	}
	return report
}

func replayed(t *rapid.T, s *session.Store, id string) fold.Session {
	v, err := s.View(id)
	if err != nil {
		t.Fatal(err)
	}
	var state fold.Session
	for r, err := range v.Records() {
		if err != nil {
			t.Fatal(err)
		}
		state = state.Apply(r)
	}
	return state
}

// nextFact draws what may follow.
func nextFact(t *rapid.T, s fold.State) event.Fact {
	n := s.LastSeq + 1
	text := rapid.StringN(1, 30, -1).Draw(t, "text")
	facts := []event.Fact{event.ContextNoted{Text: event.Text(text)}, event.SteeringQueued{Text: event.Text(text)}}
	request := s.Request.ID
	switch {
	case s.Request.Phase == fold.Streaming:
		facts = append(
			facts, event.ModelTextBlockCompleted{RequestID: request, Text: event.Text(text)},
			event.ModelThinkingBlockCompleted{RequestID: request, Thinking: "hm", Signature: "s"},
			call(request, fmt.Sprint("toolu_", n)), call(request, fmt.Sprint("toolu_", n)),
			answer(request, event.StopToolUse), event.ModelRequestFailed{RequestID: request, Kind: event.ErrorRetryable},
		)
	case len(s.Calls) > 0:
		c := rapid.SampledFrom(s.Calls).Draw(t, "call")
		facts = append(
			facts, event.ToolStarted{ToolUseID: c.ID}, done(c.ID), done(c.ID),
			event.ToolFailed{ToolUseID: c.ID, ModelText: "no"}, event.ToolCancelled{ToolUseID: c.ID, Reason: event.CancelInterrupted},
		)
	default:
		from := rapid.Int64Range(1, n).Draw(t, "cut from")
		facts = append(
			facts, said(event.Text(text)), ask(fmt.Sprint("r", n)), ask(fmt.Sprint("r", n)), ask(fmt.Sprint("r", n)),
			event.Interrupted{Scope: event.ScopeTurn}, event.TaskCompleted{}, event.ModelChanged{From: "m1", To: "m2"},
			event.ContextCompacted{Cut: event.Cut{FromSeq: from, ToSeq: rapid.Int64Range(from, n).Draw(t, "cut to")}},
		)
	}
	if len(s.Steering) > 0 {
		facts = append(facts, event.SteeringInjected{QueuedEventID: s.Steering[0].EventID})
	}
	return rapid.SampledFrom(facts).Draw(t, "fact")
}
