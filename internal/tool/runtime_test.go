package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// log is a session log in memory. Each fact is folded from its line.
type log struct {
	facts  []event.Fact
	folded fold.Session
	full   bool // it takes no more
}

var errFull = errors.New("the log is full")

func (l *log) Publish(f event.Fact) (event.Record, error) {
	if l.full {
		return event.Record{}, errFull
	}
	seq := int64(len(l.facts) + 1)
	line, err := event.AppendLine(nil, event.Record{V: event.Version, ID: fmt.Sprint("e", seq), SessionID: "s", Seq: seq, Fact: f})
	if err != nil {
		return event.Record{}, err
	}
	r, err := event.DecodeLine(line[:len(line)-1])
	if err != nil {
		return event.Record{}, err
	}
	l.facts, l.folded = append(l.facts, r.Fact), l.folded.Apply(r)
	return r, nil
}

func (l *log) Notify(event.Notice) {}
func (l *log) Fold() fold.Session  { return l.folded }

// policy is what a test says about each tool; what it does not name is allowed.
type policy map[string]tool.Verdict

func (p policy) Judge(name, _ string, _ tool.Need) tool.Verdict {
	if v, ok := p[name]; ok {
		return v
	}
	return tool.Verdict{Action: tool.Allow, Via: event.ViaRule}
}

// asker answers every question the same way.
type asker struct {
	answer tool.Answer
	err    error
}

func (a asker) Expect(string) func(context.Context) (tool.Answer, error) {
	return func(context.Context) (tool.Answer, error) { return a.answer, a.err }
}

// input is what the tools of these tests take.
type input struct {
	Text  string   `json:"text"`
	Count int      `json:"count"`
	Deep  bool     `json:"deep"`
	List  []string `json:"list"`
}

type runFunc func(ctx context.Context, env *tool.Env, in input) (tool.Result, error)

func define(name string, run runFunc) tool.Tool {
	return tool.Define(tool.Spec[input]{
		Name: name, Doc: "A tool.", Schema: `{"type": "object"}`, Run: run,
		Needs: func(*tool.Env, input) (tool.Need, error) {
			return tool.Need{Capabilities: []string{tool.FileWrite}}, nil
		},
	})
}

func ok(context.Context, *tool.Env, input) (tool.Result, error) {
	return tool.Result{Text: "fine"}, nil
}

// rig is a runtime with a log in which a model asked for some calls.
type rig struct {
	*tool.Runtime
	log   *log
	calls []fold.Call
}

// asked makes a rig; each call is "name" or "name input".
func asked(tools tool.Registry, calls ...string) *rig {
	l := &log{}
	publish := func(f event.Fact) {
		if _, err := l.Publish(f); err != nil {
			panic(err)
		}
	}
	publish(event.SessionStarted{Title: "t"})
	publish(event.UserMessageCreated{Text: "do it"})
	publish(event.ModelRequestStarted{RequestID: "r1", Purpose: event.PurposeMain})
	for i, c := range calls {
		name, in, _ := strings.Cut(c, " ")
		if in == "" {
			in = "{}"
		}
		publish(event.ToolRequested{RequestID: "r1", BlockIndex: i, ToolUseID: fmt.Sprint("t", i+1), ToolName: name, Input: json.RawMessage(in)})
	}
	publish(event.ModelResponseCompleted{RequestID: "r1", StopReason: event.StopToolUse})
	return &rig{
		Runtime: &tool.Runtime{
			Log: l, Tools: tools, Policy: policy{}, Asker: asker{}, Clock: clock.Fixed(time.Unix(0, 0), 1),
			NewEnv:     func(id string) *tool.Env { return &tool.Env{ToolUseID: id} },
			BeforeEdit: func(context.Context) error { return nil },
			AfterRun:   func(context.Context, string, []event.Fact) []event.Fact { return nil },
		},
		log: l, calls: l.folded.State.Calls,
	}
}

func (r *rig) run(t *testing.T) []event.Fact {
	t.Helper()
	before := len(r.log.facts)
	if err := r.Run(t.Context(), r.calls); err != nil {
		t.Fatal(err)
	}
	return r.log.facts[before:]
}

// failed is the failure of the only call.
func failed(t *testing.T, facts []event.Fact) event.ToolFailed {
	t.Helper()
	f, ok := facts[len(facts)-1].(event.ToolFailed)
	if !ok {
		t.Fatalf("the call ended as %+v", facts[len(facts)-1])
	}
	return f
}

// names are the wire names of facts in order.
func names(facts []event.Fact) string {
	var list []string
	for _, f := range facts {
		list = append(list, event.NameOf(f))
	}
	return strings.Join(list, " ")
}

func TestACallIsApprovedStartedAndCompletedInThisOrder(t *testing.T) {
	got := asked(tool.Registry{define("good", ok)}, "good").run(t)
	if names(got) != "tool.approved tool.started tool.completed" {
		t.Errorf("facts: %s", names(got))
	}
	if done := got[2].(event.ToolCompleted); done.ModelText != "fine" || done.DurationMS <= 0 {
		t.Errorf("completed %+v", done)
	}
}

func TestFactsOfACallStandBeforeItsResultWithItsID(t *testing.T) {
	r := asked(tool.Registry{define("good", func(context.Context, *tool.Env, input) (tool.Result, error) {
		return tool.Result{Text: "x", Facts: []event.Fact{event.FileRead{Path: "a"}}}, nil
	})}, "good")
	r.AfterRun = func(_ context.Context, name string, reported []event.Fact) []event.Fact {
		if name != "good" || len(reported) != 1 {
			t.Errorf("after %s: %+v", name, reported)
		}
		return []event.Fact{event.FileModified{Path: "b"}}
	}
	got := r.run(t)
	if names(got) != "tool.approved tool.started file.read file.modified tool.completed" {
		t.Fatalf("facts: %s", names(got))
	}
	if got[2].(event.FileRead).ToolUseID != "t1" || got[3].(event.FileModified).ToolUseID != "t1" {
		t.Errorf("the facts belong to nobody: %+v", got)
	}
}

func TestAPanicInRunOrNeedsIsAFailedCallAndTheNextOneRuns(t *testing.T) {
	needs := tool.Define(tool.Spec[input]{
		Name: "needs", Schema: `{}`, Run: ok,
		Needs: func(*tool.Env, input) (tool.Need, error) { panic("no needs") },
	})
	run := define("run", func(context.Context, *tool.Env, input) (tool.Result, error) { panic(errors.New("no run")) })
	r := asked(tool.Registry{needs, run, define("good", ok)}, "needs", "run", "good")
	got := r.run(t)
	if names(got) != "tool.failed tool.approved tool.started tool.failed tool.approved tool.started tool.completed" {
		t.Fatalf("facts: %s", names(got))
	}
	for i, want := range map[int]string{0: "no needs", 3: "no run"} {
		f := got[i].(event.ToolFailed)
		if f.ErrorKind != event.ToolInternal || !strings.Contains(f.ModelText, want) || strings.Count(f.ModelText, "\n") > 13 {
			t.Errorf("told %+v", f)
		}
	}
}

func TestAnUnknownToolIsAnsweredWithThoseThatThereAre(t *testing.T) {
	got := failed(t, asked(tool.Registry{define("good", ok), define("better", ok)}, "best").run(t))
	if got.ErrorKind != event.ToolNotFound || !strings.Contains(got.ModelText, `"best"`) || !strings.Contains(got.ModelText, "good, better") {
		t.Errorf("told %+v", got)
	}
}

func TestABadInputIsAnsweredInTheWordsOfItsSchema(t *testing.T) {
	for in, want := range map[string]string{
		`{"text":7}`:                    `"text" must be a string, not number`,
		`{"count":"7"}`:                 `"count" must be a whole number, not string`,
		`{"count":1.5}`:                 `"count" must be a whole number, not number 1.5`,
		`{"deep":"yes"}`:                `"deep" must be true or false, not string`,
		`{"list":"a"}`:                  `"list" must be an array, not string`,
		`{"list":[1]}`:                  `"list" must be a string, not number`,
		`{"file_path":"a"}`:             `unknown field "file_path"`,
		`{"text":{"a":"` + long + `"}}`: `"text" must be a string, not object`,
	} {
		got := failed(t, asked(tool.Registry{define("good", ok)}, "good "+in).run(t))
		if got.ErrorKind != event.ToolInvalidInput || !strings.Contains(got.ModelText, want) || !strings.Contains(got.ModelText, "input of good") {
			t.Errorf("%s: %s", in, got.ModelText)
		}
		if strings.Contains(got.ModelText, "Go ") || len(got.ModelText) > 1000 {
			t.Errorf("%s: %s", in, got.ModelText)
		}
	}
}

var long = strings.Repeat("x", 5000)

func TestACancelledContextClosesEveryCallAndRunsNone(t *testing.T) {
	for cause, want := range map[error]event.CancelReason{
		tool.ErrInterrupted: event.CancelInterrupted, tool.ErrShutdown: event.CancelShutdown, errors.New("other"): event.CancelShutdown,
	} {
		r := asked(tool.Registry{define("good", ok)}, "good", "unknown", "good")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if err := r.Run(ctx, r.calls); err != nil {
			t.Fatal(err)
		}
		got := r.log.facts[len(r.log.facts)-3:]
		if names(got) != "tool.cancelled tool.cancelled tool.cancelled" {
			t.Fatalf("facts: %s", names(got))
		}
		for i, f := range got {
			if c := f.(event.ToolCancelled); c.Reason != want || c.ToolUseID != fmt.Sprint("t", i+1) || c.ModelText == "" {
				t.Errorf("%v: %+v", cause, c)
			}
		}
	}
}

func TestACallCancelledMidwayTellsWhatItHadAndOneThatFinishedCounts(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r := asked(tool.Registry{define("slow", func(ctx context.Context, _ *tool.Env, in input) (tool.Result, error) {
		cancel(tool.ErrInterrupted)
		if in.Deep {
			return tool.Result{Text: "got to the end"}, nil
		}
		return tool.Result{Text: "half"}, ctx.Err()
	})}, `slow {"deep":true}`, "slow")
	if err := r.Run(ctx, r.calls[:1]); err != nil {
		t.Fatal(err)
	}
	if done, ok := r.log.facts[len(r.log.facts)-1].(event.ToolCompleted); !ok || done.ModelText != "got to the end" {
		t.Errorf("the finished call: %+v", r.log.facts[len(r.log.facts)-1])
	}
	again, cancelAgain := context.WithCancelCause(t.Context())
	cancel = cancelAgain
	if err := r.Run(again, r.calls[1:]); err != nil {
		t.Fatal(err)
	}
	if c, ok := r.log.facts[len(r.log.facts)-1].(event.ToolCancelled); !ok || !strings.Contains(c.ModelText, "half") {
		t.Errorf("the call cut short: %+v", r.log.facts[len(r.log.facts)-1])
	}
}

func TestNothingRunsWhenTheWaitForAnAnswerOrTheBaselineWasInterrupted(t *testing.T) {
	for name, set := range map[string]func(*rig, context.CancelCauseFunc){
		"answer": func(r *rig, cancel context.CancelCauseFunc) {
			r.Policy, r.Asker = ask("good"), cancelling{cancel}
		},
		"baseline": func(r *rig, cancel context.CancelCauseFunc) {
			r.BeforeEdit = func(context.Context) error { cancel(tool.ErrInterrupted); return nil }
		},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		r := asked(tool.Registry{define("good", ok)}, "good")
		set(r, cancel)
		if err := r.Run(ctx, r.calls); err != nil {
			t.Fatal(err)
		}
		last := r.log.facts[len(r.log.facts)-1]
		if c, ok := last.(event.ToolCancelled); !ok || c.Reason != event.CancelInterrupted || strings.Contains(names(r.log.facts), "tool.started") {
			t.Errorf("%s: %+v", name, last)
		}
	}
}

// cancelling is a user who interrupts when asked.
type cancelling struct{ cancel context.CancelCauseFunc }

func (c cancelling) Expect(string) func(context.Context) (tool.Answer, error) {
	return func(ctx context.Context) (tool.Answer, error) {
		c.cancel(tool.ErrInterrupted)
		return tool.Answer{}, ctx.Err()
	}
}

func ask(name string) policy {
	return policy{name: {Action: tool.Ask, Descriptor: "good: x", Reason: "no rule"}}
}

func TestWhatTheLogRefusesEndsTheRun(t *testing.T) {
	r := asked(tool.Registry{define("good", func(context.Context, *tool.Env, input) (tool.Result, error) {
		t.Error("it ran unrecorded")
		return tool.Result{}, nil
	})}, "good", "good")
	r.log.full = true
	if err := r.Run(t.Context(), r.calls); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
	r.log.full = false
	r.BeforeEdit = func(context.Context) error { return errFull }
	if err := r.Run(t.Context(), r.calls); !errors.Is(err, errFull) {
		t.Errorf("when the baseline cannot be recorded: %v", err)
	}
}

func TestAResultIsNeverEmptyInvalidOrEndless(t *testing.T) {
	for text, want := range map[string]string{
		"":             "(no output)",
		" \n\t":        "(no output)",
		"a\xffb":       "a\uFFFDb",
		"as it is\n\n": "as it is\n\n",
	} {
		for _, err := range []error{nil, tool.Errorf(event.ToolExecError, "%s", text)} {
			got := asked(tool.Registry{define("good", func(context.Context, *tool.Env, input) (tool.Result, error) {
				return tool.Result{Text: text}, err
			})}, "good").run(t)
			if said := resultText(got[len(got)-1]); said != want {
				t.Errorf("%q became %q", text, said)
			}
		}
	}
	got := asked(tool.Registry{define("good", func(context.Context, *tool.Env, input) (tool.Result, error) {
		return tool.Result{Text: strings.Repeat("é", 1_000_000)}, nil
	})}, "good").run(t)
	if n := utf8.RuneCountInString(resultText(got[len(got)-1])); n > 101_000 || n < 100_000 {
		t.Errorf("a result of %d characters", n)
	}
}

func resultText(f event.Fact) string {
	switch p := f.(type) {
	case event.ToolCompleted:
		return p.ModelText
	case event.ToolFailed:
		return p.ModelText
	case event.ToolCancelled:
		return p.ModelText
	}
	return ""
}

func TestEveryCallHasExactlyOneResultInOrderWhateverTheToolsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		behave := map[string]runFunc{
			"ok":    ok,
			"error": func(context.Context, *tool.Env, input) (tool.Result, error) { return tool.Result{}, errors.New("no") },
			"typed": func(context.Context, *tool.Env, input) (tool.Result, error) {
				return tool.Result{}, tool.Errorf(event.ToolStale, "")
			},
			"panic": func(context.Context, *tool.Env, input) (tool.Result, error) { panic("oh") },
			"cancel": func(ctx context.Context, _ *tool.Env, _ input) (tool.Result, error) {
				cancel(tool.ErrInterrupted)
				return tool.Result{Text: "half"}, ctx.Err()
			},
			"denied": ok, "asked": ok, "floor": ok,
		}
		var tools tool.Registry
		for name, run := range behave {
			tools = append(tools, define(name, run))
		}
		kinds := []string{"ok", "error", "typed", "panic", "cancel", "denied", "asked", "floor", "unknown", `ok {"count":"x"}`}
		calls := rapid.SliceOfN(rapid.SampledFrom(kinds), 1, 8).Draw(t, "calls")
		r := asked(tools, calls...)
		r.Policy = policy{
			"denied": {Action: tool.Deny, Source: event.DeniedByPolicy, Reason: "no"},
			"floor":  {Action: tool.Deny, Source: event.DeniedByHardline, Reason: "never"},
			"asked":  {Action: tool.Ask, Reason: "maybe"},
		}
		r.Asker = asker{answer: rapid.SampledFrom([]tool.Answer{
			{Granted: true, Scope: event.GrantOnce, Feedback: "well"},
			{Source: event.DeniedByUser},
			{Granted: true, Scope: event.GrantSession, EditedInput: []byte(`{"text":"y"}`)},
		}).Draw(t, "answer")}
		before := len(r.log.facts)
		if err := r.Run(ctx, r.calls); err != nil {
			t.Fatal(err)
		}
		checkResults(t, r.log.facts[before:], len(calls))
		if open := r.log.folded.State; len(open.Calls)+len(open.Permissions) > 0 {
			t.Fatalf("left open: %+v", open)
		}
	})
}

// checkResults holds facts to one result for each call, in order, the start
// of a call only after its approval.
func checkResults(t *rapid.T, facts []event.Fact, calls int) {
	next, approved, started := 1, "", ""
	for _, f := range facts {
		id := fmt.Sprint("t", next)
		switch p := f.(type) {
		case event.ToolApproved:
			approved = p.ToolUseID
		case event.ToolStarted:
			if started = p.ToolUseID; approved != id {
				t.Fatalf("%s started without approval", started)
			}
		case event.ToolCompleted:
			if p.ToolUseID != id || started != id || p.ModelText == "" {
				t.Fatalf("%s expected, got %+v", id, p)
			}
			next++
		case event.ToolFailed:
			if p.ToolUseID != id || p.ModelText == "" {
				t.Fatalf("%s expected, got %+v", id, p)
			}
			next++
		case event.ToolCancelled:
			if p.ToolUseID != id || p.ModelText == "" {
				t.Fatalf("%s expected, got %+v", id, p)
			}
			next++
		}
	}
	if next != calls+1 {
		t.Fatalf("%d results for %d calls", next-1, calls)
	}
}
