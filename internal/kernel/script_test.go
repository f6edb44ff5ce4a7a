package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

var errCrash = errors.New("the program crashed")

// stage is a kernel whose services play a script. Each service call takes the
// next line; one that nobody expected, and a line that nobody used, fail the
// test.
type stage struct {
	t      *testing.T
	log    *log
	out    strings.Builder
	kernel *Kernel
	script []string // "SERVICE step; step; …"
	calls  int      // model calls so far
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func newStage(t *testing.T) *stage {
	s := &stage{t: t, log: &log{}}
	s.log.heard = func(r event.Record) { fmt.Fprintf(&s.out, "  %s\n", recorded(r)) }
	s.kernel = &Kernel{Log: s.log, Model: model{s}, Tools: tools{s}, Judge: judge}
	return s
}

// recorded is a fact in one line: its number, its name, and its payload
// without what is empty.
func recorded(r event.Record) string {
	var line struct {
		Payload json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(r.Line, &line); err != nil {
		panic(err)
	}
	payload := string(line.Payload)
	for _, empty := range []string{
		`,"blockIndex":0`, `,"usage":{"inputTokens":0,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0}`, `,"durationMs":0`,
		`,"contextStats":{"estimatedInputTokens":0,"sections":[]}`, `,"ui":{"kind":"","summary":""}`, `,"mentions":[]`,
		`,"diffStats":{"added":0,"removed":0}`, `,"descriptor":""`, `,"capability":""`, `,"feedback":""`,
	} {
		payload = strings.ReplaceAll(payload, empty, "")
	}
	return fmt.Sprintf("%d %s %s", r.Seq, r.Name(), payload)
}

// run lets the kernel act and writes down what it derived.
func (s *stage) run() {
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	defer s.cancel(nil)
	s.log.derived = func(f fold.Session) { fmt.Fprintf(&s.out, "%s\n", spoken(next(f, s.kernel.limits()))) }
	if err := s.kernel.Run(s.ctx); err != nil {
		fmt.Fprintf(&s.out, "error: %v\n", err)
	}
	s.log.derived = nil
	for _, unused := range s.script {
		s.t.Errorf("nobody used %q", unused)
	}
	s.script = nil
}

// resume is what session.Open and engine.New do after a crash.
func (s *stage) resume() {
	replayed := fold.Session{}
	for _, r := range s.log.records {
		replayed = replayed.Apply(r)
	}
	s.log.folded = replayed
	for _, c := range replayed.State.Calls {
		s.log.must(event.ToolCancelled{ToolUseID: c.ID, Reason: event.CancelRecovery, ModelText: "[ended]"})
	}
	s.log.must(event.SessionResumed{ReplayedSeq: replayed.State.LastSeq})
}

// play does the steps of the next line of the script.
func (s *stage) play(service string, do func(verb, rest string) error) error {
	if len(s.script) == 0 || !strings.HasPrefix(s.script[0], service) {
		s.t.Errorf("nobody expected a call of %s; the script goes on with %q", service, s.script)
		return errors.New("nobody expected this call of " + service)
	}
	line := strings.TrimPrefix(s.script[0], service)
	s.script = s.script[1:]
	for step := range strings.SplitSeq(line, ";") {
		verb, rest, _ := strings.Cut(strings.TrimSpace(step), " ")
		if done, err := s.anywhere(verb, rest); done {
			if err != nil {
				return err
			}
			continue
		}
		if err := do(verb, rest); err != nil {
			return err
		}
	}
	return nil
}

// anywhere does the steps that can happen during any call.
func (s *stage) anywhere(verb, rest string) (done bool, err error) {
	switch verb {
	case "":
	case "crash":
		return true, errCrash
	case "shutdown":
		s.cancel(errors.New("shutting down"))
	case "interrupt":
		var pending event.List[string]
		for _, c := range s.log.folded.State.Calls {
			pending = append(pending, c.ID)
		}
		s.log.must(event.Interrupted{Scope: event.ScopeTurn, PendingToolUseIDs: pending})
		s.cancel(errors.New("interrupted"))
	case "steer":
		s.log.must(event.SteeringQueued{Text: rest})
	default:
		return false, nil
	}
	return true, nil
}

type model struct{ *stage }

// Call plays: text WORDS | call ID TOOL INPUT | stop REASON [TOKENS] |
// fail KIND [exhausted] | again (a further attempt) | budget.
func (m model) Call(context.Context) error {
	begin := func() string {
		m.calls++
		id := fmt.Sprintf("r%d", m.calls)
		m.log.must(started(id))
		return id
	}
	if len(m.script) > 0 && m.script[0] == "model budget" {
		m.script = m.script[1:]
		m.log.must(event.TaskFailed{Reason: event.FailedCost, Detail: "spent"})
		return nil
	}
	id := begin()
	return m.play("model", func(verb, rest string) error {
		words := strings.Fields(rest)
		switch verb {
		case "text":
			m.log.must(text(id, rest))
		case "call":
			m.log.must(calls(id, words[0], words[1], strings.Join(words[2:], " ")))
		case "stop":
			tokens := int64(0)
			if len(words) > 1 {
				tokens, _ = strconv.ParseInt(words[1], 10, 64)
			}
			m.log.must(answeredOf(id, event.StopReason(words[0]), tokens))
		case "fail":
			m.log.must(failed(id, event.ModelErrorKind(words[0]), len(words) > 1))
			if words[0] != string(event.ErrorCancelled) {
				for _, c := range m.log.folded.State.Calls {
					m.log.must(event.ToolCancelled{ToolUseID: c.ID, Reason: event.CancelResponseFailed, ModelText: "[not whole]"})
				}
			}
		case "again":
			id = begin()
		default:
			return errors.New("the model does not know how to " + verb)
		}
		return nil
	})
}

type tools struct{ *stage }

// Run plays: done ID | exit ID CODE | failed ID | edit PATH | deny ID |
// cancel ID. At its end every call must have its result.
func (x tools) Run(_ context.Context, open []fold.Call) error {
	err := x.play("tools", func(verb, rest string) error {
		words := strings.Fields(rest)
		switch verb {
		case "done":
			x.log.must(event.ToolCompleted{ToolUseID: words[0], ModelText: "ok"})
		case "exit":
			code, err := strconv.Atoi(words[1])
			if err != nil {
				return err
			}
			x.log.must(event.ToolCompleted{ToolUseID: words[0], ModelText: "said", UI: event.ToolUI{ExitCode: &code}})
		case "failed":
			x.log.must(event.ToolFailed{ToolUseID: words[0], ModelText: "no such tool", ErrorKind: event.ToolNotFound})
		case "edit":
			x.log.must(modified(rest))
		case "deny":
			x.log.must(
				event.PermissionRequested{PermissionRequestID: "p" + words[0], ToolUseID: words[0]},
				event.PermissionDenied{PermissionRequestID: "p" + words[0], Source: event.DeniedByTimeout},
				event.ToolFailed{ToolUseID: words[0], ModelText: "not allowed", ErrorKind: event.ToolPermissionDenied},
			)
		case "cancel":
			x.log.must(event.ToolCancelled{ToolUseID: words[0], Reason: event.CancelInterrupted, ModelText: "[cancelled]"})
		default:
			return errors.New("tools do not know how to " + verb)
		}
		return nil
	})
	if err == nil && len(x.log.folded.State.Calls) > 0 {
		x.t.Errorf("%d of %d calls have no result", len(x.log.folded.State.Calls), len(open))
		return errors.New("calls without a result")
	}
	return err
}

type compactor struct{ *stage }

// Compact plays: checkpoint.
func (c compactor) Compact(_ context.Context, trigger event.CompactionTrigger) error {
	return c.play("compactor", func(string, string) error {
		c.log.must(event.ContextCompacted{CheckpointYAML: "objective: x\n", Cut: event.Cut{FromSeq: 1, ToSeq: 1}, Trigger: trigger})
		return nil
	})
}

type verifier struct{ *stage }

// Verify plays: demand.
func (v verifier) Verify(_ context.Context, attempt int) error {
	return v.play("verifier", func(string, string) error {
		v.log.must(event.VerificationRequested{Attempt: attempt, ModelText: "run the tests", WithheldCandidateSeq: v.log.folded.State.Task.AnswerSeq})
		return nil
	})
}

type user struct{ *stage }

// AskRepeated plays: go-on | stop.
func (u user) AskRepeated(_ context.Context, call string, _ int) error {
	return u.play("user", func(verb, _ string) error {
		u.log.must(event.QuestionAsked{QuestionID: "q", Question: call}, event.QuestionAnswered{QuestionID: "q", Answer: []byte(`"` + verb + `"`)})
		if verb == "stop" {
			u.log.must(event.TaskFailed{Reason: event.FailedDoomLoop, Detail: "stopped by the user"})
		}
		return nil
	})
}
