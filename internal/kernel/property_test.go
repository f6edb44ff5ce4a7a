package kernel

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// chaos is a world that does anything a world may do: every service of its
// kernel draws what happens next, the user breaks in anywhere, and the power
// goes at any fact.
type chaos struct {
	t       *rapid.T
	log     *log
	kernel  *Kernel
	cancel  context.CancelCauseFunc
	n       int // for fresh ids
	budget  int // model calls until the model only ends its turns
	until   int // facts until the power goes; negative: never
	derived int
	lost    bool // the newest request failed for good, and nobody wrote since
}

type powerCut struct{}

func (c *chaos) id(prefix string) string {
	c.n++
	return fmt.Sprintf("%s%d", prefix, c.n)
}

func (c *chaos) chance(percent int) bool {
	return rapid.IntRange(1, 100).Draw(c.t, "chance") <= percent
}

func (c *chaos) publish(facts ...event.Fact) {
	for _, f := range facts {
		c.log.must(f)
		c.watch(f)
		if c.until--; c.until == 0 {
			panic(powerCut{})
		}
	}
}

func (c *chaos) watch(f event.Fact) {
	switch f := f.(type) {
	case event.ModelRequestFailed:
		c.lost = f.RetriesExhausted && f.Kind != event.ErrorCancelled && f.Kind != event.ErrorContextOverflow
	case event.UserMessageCreated, event.ModelRequestStarted:
		c.lost = false
	}
}

// breakIn is the user, at any moment.
func (c *chaos) breakIn() {
	switch s := c.log.folded.State; {
	case !s.Task.Open || !c.chance(10):
	case c.chance(50):
		c.publish(event.SteeringQueued{Text: c.id("word")})
	case c.chance(50):
		c.publish(event.Interrupted{Scope: event.ScopeTurn})
		c.cancel(errors.New("interrupted"))
	default:
		c.cancel(errors.New("shutting down"))
	}
}

// look is every look of the kernel at the log.
func (c *chaos) look(s fold.Session) {
	if c.derived++; c.derived > 2000 {
		c.t.Fatal("the kernel does not come to an end")
	}
	l := c.kernel.limits()
	kept := s
	first, second := next(s, l), next(s, l)
	if !reflect.DeepEqual(first, second) {
		c.t.Fatalf("derived %s, then %s from the same state", spoken(first), spoken(second))
	}
	if !reflect.DeepEqual(kept, s) {
		c.t.Fatal("deriving changed the state")
	}
	_, calling := first.(CallModel)
	if calling && len(s.State.Calls) > 0 {
		c.t.Fatalf("%s while calls are open", spoken(first))
	}
	if calling && c.lost {
		c.t.Fatalf("%s after a failure for good", spoken(first))
	}
}

type chaosModel struct{ *chaos }

func (m chaosModel) Call(ctx context.Context) error {
	for {
		request := m.id("r")
		m.publish(started(request))
		m.budget--
		for range rapid.IntRange(0, 3).Draw(m.t, "blocks") {
			if m.chance(40) {
				m.publish(text(request, "words"))
			} else if m.budget > 0 {
				command := rapid.SampledFrom([]string{"ls", "go test ./...", "make"}).Draw(m.t, "command")
				m.publish(calls(request, m.id("t"), "bash", fmt.Sprintf(`{"command":%q}`, command)))
			}
			m.breakIn()
		}
		switch {
		case ctx.Err() != nil:
			m.publish(failed(request, event.ErrorCancelled, true))
			return nil
		case m.budget <= 0:
			m.publish(answered(request, event.StopEndTurn))
			return nil
		case m.chance(75):
			m.publish(answeredOf(request, m.stop(), int64(rapid.IntRange(0, 200).Draw(m.t, "tokens"))))
			return nil
		}
		kind := rapid.SampledFrom([]event.ModelErrorKind{
			event.ErrorRetryable, event.ErrorRetryable, event.ErrorContextOverflow, event.ErrorAuth, event.ErrorInvalidRequest,
		}).Draw(m.t, "kind")
		again := kind == event.ErrorRetryable && m.chance(70)
		m.publish(failed(request, kind, !again))
		for _, call := range m.log.folded.State.Calls {
			m.publish(event.ToolCancelled{ToolUseID: call.ID, Reason: event.CancelResponseFailed, ModelText: "x"})
		}
		if m.breakIn(); !again || ctx.Err() != nil {
			return nil
		}
	}
}

func (m chaosModel) stop() event.StopReason {
	return rapid.SampledFrom([]event.StopReason{
		event.StopToolUse, event.StopToolUse, event.StopToolUse, event.StopEndTurn, event.StopMaxTokens,
		event.StopRefusal, event.StopPauseTurn, event.StopSequence, event.StopContextWindow, "new_reason",
	}).Draw(m.t, "stop")
}

type chaosTools struct{ *chaos }

func (x chaosTools) Run(ctx context.Context, open []fold.Call) error {
	for _, call := range open {
		switch x.breakIn(); {
		case !x.log.folded.State.Runnable() || ctx.Err() != nil:
			x.publish(cancelled(call.ID))
		case x.chance(20):
			x.publish(event.ToolFailed{ToolUseID: call.ID, ModelText: "no", ErrorKind: event.ToolNotFound})
		default:
			if x.chance(30) {
				x.publish(modified("a.go"))
			}
			x.publish(exited(call.ID, rapid.IntRange(0, 1).Draw(x.t, "exit")))
		}
	}
	return nil
}

type chaosRest struct{ *chaos }

func (r chaosRest) Compact(_ context.Context, trigger event.CompactionTrigger) error {
	if r.log.folded.State.CompactedSinceCall {
		r.t.Fatal("compacted twice without a call in between")
	}
	r.publish(event.ContextCompacted{CheckpointYAML: "x", Cut: event.Cut{FromSeq: 1, ToSeq: 1}, Trigger: trigger})
	r.breakIn()
	return nil
}

func (r chaosRest) Verify(_ context.Context, attempt int) error {
	if attempt > maxNudges {
		r.t.Fatalf("demand %d for verification", attempt)
	}
	r.publish(event.VerificationRequested{Attempt: attempt, ModelText: "run the tests"})
	return nil
}

func (r chaosRest) AskRepeated(context.Context, string, int) error {
	id := r.id("q")
	r.publish(event.QuestionAsked{QuestionID: id}, event.QuestionAnswered{QuestionID: id, Answer: []byte(`"go on"`)})
	if r.chance(30) {
		r.publish(event.TaskFailed{Reason: event.FailedDoomLoop, Detail: "stopped"})
	}
	return nil
}

// chaosLog lets the power go at the kernel's own facts, too.
type chaosLog struct{ *chaos }

func (l chaosLog) Fold() fold.Session { return l.log.Fold() }

func (l chaosLog) Publish(f event.Fact) (event.Record, error) {
	l.publish(f)
	return l.log.records[len(l.log.records)-1], nil
}

// live runs the kernel until it returns or the power goes.
func (c *chaos) live() (cut bool) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	c.cancel = cancel
	c.until = rapid.IntRange(-20, 40).Draw(c.t, "facts until the power goes")
	if c.until == 0 {
		c.until = -1
	}
	defer func() {
		c.until = -1
		switch p := recover().(type) {
		case nil:
		case powerCut:
			cut = true
		default:
			panic(p)
		}
	}()
	err := c.kernel.Run(ctx)
	if err != nil && ctx.Err() == nil {
		c.t.Fatalf("run: %v", err)
	}
	return false
}

// reopen is what the next program does, and holds replay against live.
func (c *chaos) reopen() {
	replayed := fold.Session{}
	for _, r := range c.log.records {
		replayed = replayed.Apply(r)
	}
	if !reflect.DeepEqual(replayed.State, c.log.folded.State) {
		c.t.Fatalf("replayed %+v\nlive %+v", replayed.State, c.log.folded.State)
	}
	if !reflect.DeepEqual(next(replayed, c.kernel.limits()), next(c.log.folded, c.kernel.limits())) {
		c.t.Fatal("the replayed log derives another action")
	}
	c.log.folded = replayed
	for _, call := range replayed.State.Calls {
		c.publish(event.ToolCancelled{ToolUseID: call.ID, Reason: event.CancelRecovery, ModelText: "x"})
	}
	c.publish(event.SessionResumed{})
}

func newChaos(t *rapid.T) *chaos {
	c := &chaos{t: t, log: &log{}, until: -1}
	c.log.derived = c.look
	c.kernel = &Kernel{Log: chaosLog{c}, Model: chaosModel{c}, Tools: chaosTools{c}, Judge: judge}
	if rapid.Bool().Draw(t, "compactor") {
		c.kernel.Compactor, c.kernel.CompactAbove = chaosRest{c}, 100
	}
	if rapid.Bool().Draw(t, "verifier") {
		c.kernel.Verifier = chaosRest{c}
	}
	if rapid.Bool().Draw(t, "user") {
		c.kernel.User = chaosRest{c}
	}
	c.kernel.MaxResponses = rapid.SampledFrom([]int{0, 0, 5}).Draw(t, "turns")
	return c
}

func TestWhateverHappensATaskEndsAndEachCallHasOneResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newChaos(t)
		for range rapid.IntRange(1, 3).Draw(t, "tasks") {
			c.publish(says("do it"))
			c.budget = rapid.IntRange(1, 15).Draw(t, "model calls")
			for lives := 0; c.log.folded.State.Task.Open || len(c.log.folded.State.Calls) > 0; lives++ {
				if lives > 50 {
					t.Fatal("the task outlives 50 programs")
				}
				if c.live() || c.log.folded.State.Task.Open {
					c.reopen()
				}
			}
		}
		c.results()
	})
}

// results counts the results of each call.
func (c *chaos) results() {
	results := map[string]int{}
	for _, r := range c.log.records {
		switch p := r.Fact.(type) {
		case event.ToolRequested:
			results[p.ToolUseID] += 0
		case event.ToolCompleted:
			results[p.ToolUseID]++
		case event.ToolFailed:
			results[p.ToolUseID]++
		case event.ToolCancelled:
			results[p.ToolUseID]++
		}
	}
	for id, n := range results {
		if n != 1 {
			c.t.Fatalf("call %s has %d results", id, n)
		}
	}
}
