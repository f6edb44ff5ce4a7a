package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/bus"
	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
	"github.com/khaelor/khaelor/internal/permission"
)

// exists says whether a file of the project is there.
func (w *world) exists(name string) bool {
	_, err := os.Stat(filepath.Join(w.dir, name))
	return err == nil
}

// touching lets the model run `touch a` three times.
func touching() fakeapi.Options {
	return script(
		turn(bash("t1", "touch a")), turn(bash("t2", "touch a"), bash("t3", "touch b")), turn(fakeapi.Text("Done.")))
}

func TestAGrantHoldsForTheCallTheSessionOrTheProject(t *testing.T) {
	for _, c := range []struct {
		decision command.PermissionDecision
		asked    int // t1, t2, t3
		scope    event.GrantScope
		via      []event.ApprovalVia
		kept     string
	}{
		{command.Once, 3, event.GrantOnce, []event.ApprovalVia{event.ViaUserOnce, event.ViaUserOnce, event.ViaUserOnce}, ""},
		{command.Session, 2, event.GrantSession, []event.ApprovalVia{event.ViaUserSession, event.ViaUserSession, event.ViaUserSession}, ""},
		{
			command.Always, 2, event.GrantProject,
			[]event.ApprovalVia{event.ViaUserAlways, event.ViaUserSession, event.ViaUserAlways},
			"allow process.execute(touch a) allow process.execute(touch b)",
		},
	} {
		t.Run(string(c.decision), func(t *testing.T) {
			var kept []string
			w := newWorld(t, touching(), attended, asking(), func(o *engine.Options) {
				o.Remember = func(r permission.Rule) error {
					kept = append(kept, string(r.Action)+" "+r.String())
					return nil
				}
			})
			w.answering(func(event.PermissionRequested) command.PermissionResponse {
				return command.PermissionResponse{Decision: c.decision}
			})
			w.say("begin")
			w.completed()
			granted := facts[event.PermissionGranted](w)
			if len(granted) != c.asked || granted[0].Scope != c.scope {
				t.Errorf("%d grants, the first %+v; want %d", len(granted), granted[0], c.asked)
			}
			for i, a := range facts[event.ToolApproved](w) {
				if a.Via != c.via[i] {
					t.Errorf("call %d ran by %s, want %s", i+1, a.Via, c.via[i])
				}
			}
			if got := strings.Join(kept, " "); got != c.kept {
				t.Errorf("kept for the project: %q, want %q", got, c.kept)
			}
			if !w.exists("a") || !w.exists("b") {
				t.Error("the calls did not run")
			}
		})
	}
}

func TestAGrantThatCannotBeStoredHoldsForTheSessionAndTheCallRuns(t *testing.T) {
	full := errors.New("the disk is full")
	w := newWorld(t, touching(), attended, asking(), func(o *engine.Options) {
		o.Remember = func(permission.Rule) error { return full }
	})
	var said []error
	bus.On(w.log.Bus(), func(_ event.Record, p event.PermissionRequested) {
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			said = append(said, w.Dispatch(command.PermissionResponse{RequestID: p.PermissionRequestID, Decision: command.Always}))
		}()
		<-answered
	})
	w.say("begin")
	w.completed()
	for _, g := range facts[event.PermissionGranted](w) {
		if g.Scope != event.GrantSession {
			t.Errorf("logged as %s", g.Scope)
		}
	}
	if len(said) != 2 || !errors.Is(said[0], full) || !w.exists("a") || !w.exists("b") {
		t.Errorf("told %v", said)
	}
}

func TestADenialWithWordsReachesTheModelAndNothingRuns(t *testing.T) {
	w := newWorld(t, script(turn(bash("t1", "touch a")), turn(fakeapi.Text("I see."))), attended, asking())
	w.answering(func(event.PermissionRequested) command.PermissionResponse {
		return command.PermissionResponse{Decision: command.Refuse, Feedback: "use the write tool"}
	})
	w.say("begin")
	w.completed() // somebody was there to ask: the task has not failed
	asked := only[event.PermissionRequested](w)
	if asked.Descriptor != "bash: touch a" || asked.Capability != "process.execute" || asked.CallHash == "" || asked.Suggestion == nil {
		t.Errorf("asked %+v", asked)
	}
	denied := only[event.PermissionDenied](w)
	got := only[event.ToolFailed](w)
	if denied.Source != event.DeniedByUser || got.ErrorKind != event.ToolPermissionDenied || !strings.Contains(got.ModelText, "use the write tool") {
		t.Errorf("denied %+v, told %+v", denied, got)
	}
	if w.exists("a") || len(facts[event.ToolStarted](w)) > 0 {
		t.Error("the call ran")
	}
}

func TestAnAnswerMayComeBeforeTheWaitForIt(t *testing.T) {
	w := newWorld(t, script(turn(bash("t1", "touch a")), turn(fakeapi.Text("Done."))), attended, asking())
	bus.On(w.log.Bus(), func(_ event.Record, p event.PermissionRequested) {
		// The worker publishes, and waits when this handler is done.
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			w.do(command.PermissionResponse{RequestID: p.PermissionRequestID, Decision: command.Once})
		}()
		<-answered
		if err := w.Dispatch(command.PermissionResponse{RequestID: p.PermissionRequestID, Decision: command.Refuse}); err == nil {
			t.Error("a second answer was taken")
		}
	})
	w.say("begin")
	w.completed()
	if !w.exists("a") {
		t.Error("the call did not run")
	}
}

func TestWhatTheUserChangedAndSaidIsToldToTheModelAlsoWhenTheCallFails(t *testing.T) {
	w := newWorld(t, script(
		turn(bash("t1", "touch a")),
		turn(call("t2", "write", `{"path":"c","content":"x"}`)),
		turn(fakeapi.Text("Done."))), attended, asking())
	w.answering(func(p event.PermissionRequested) command.PermissionResponse {
		r := command.PermissionResponse{Decision: command.Once, Feedback: "b is better", EditedInput: []byte(`{"command":"touch b; echo made"}`)}
		if p.ToolUseID == "t2" {
			r.EditedInput = []byte(`{"path":"c","content":7}`)
		}
		return r
	})
	w.say("begin")
	w.completed()
	if w.exists("a") || !w.exists("b") {
		t.Error("what ran is not what the user allowed")
	}
	if got := only[event.ToolCompleted](w).ModelText; !strings.Contains(got, "made") || !strings.Contains(got, "touch b") || !strings.Contains(got, "b is better") {
		t.Errorf("told %q", got)
	}
	failed := only[event.ToolFailed](w)
	if failed.ErrorKind != event.ToolInvalidInput || !strings.Contains(failed.ModelText, `"content" must be a string`) {
		t.Errorf("the changed input that fits no schema: %+v", failed)
	}
	if got := string(facts[event.PermissionGranted](w)[0].EditedInput); got != `{"command":"touch b; echo made"}` {
		t.Errorf("the log has %s", got)
	}
}

func TestAChangedInputMayNotDoWhatNobodyMayAllow(t *testing.T) {
	w := newWorld(t, script(turn(bash("t1", "touch a")), turn(fakeapi.Text("I see."))), attended, asking("deny process.execute(touch secret)"))
	asked := heard[event.PermissionRequested](w)
	w.do(command.SubmitMessage{Text: "begin"})
	w.do(command.PermissionResponse{
		RequestID: await(w, "the question", asked).PermissionRequestID, Decision: command.Once,
		EditedInput: []byte(`{"command":"touch secret"}`),
	})
	w.rest()
	w.completed()
	if w.exists("secret") || only[event.ToolFailed](w).ErrorKind != event.ToolPermissionDenied {
		t.Error("the call ran")
	}
}

func TestWithNobodyToAskTheModelIsToldAndTheTaskFails(t *testing.T) {
	w := newWorld(t, script(turn(bash("t1", "touch a")), turn(fakeapi.Text("I cannot."))), asking())
	w.say("begin")
	detail := w.failed(event.FailedPermission)
	if !strings.Contains(detail, "--allow") {
		t.Errorf("detail %q", detail)
	}
	got := only[event.ToolFailed](w)
	if got.ErrorKind != event.ToolPermissionDenied || !strings.Contains(got.ModelText, "process.execute(touch a)") || w.exists("a") {
		t.Errorf("told %+v", got)
	}
	if only[event.PermissionDenied](w).Source != event.DeniedByTimeout {
		t.Error("the denial does not say that nobody answered")
	}
}

func TestADenyRuleAndTheFloorRefuseWithoutAsking(t *testing.T) {
	w := newWorld(t, script(
		turn(bash("t1", "touch a"), bash("t2", "touch b")), turn(fakeapi.Text("I see."))),
		asking("deny process.execute(touch a)", "allow process.execute(touch b)"))
	w.say("begin")
	w.completed()
	if w.exists("a") || !w.exists("b") {
		t.Error("the rule was not kept")
	}
	if got := only[event.PermissionDenied](w); got.Source != event.DeniedByPolicy {
		t.Errorf("denied by %s", got.Source)
	}

	floor := newWorld(t, script(turn(bash("t1", "rm -rf /"), bash("t2", "touch b")), turn(fakeapi.Text("I see."))))
	floor.say("begin")
	floor.completed()
	if got := only[event.PermissionDenied](floor); got.Source != event.DeniedByHardline {
		t.Errorf("denied by %s", got.Source)
	}
	if got := only[event.ToolFailed](floor).ModelText; !strings.Contains(got, "Never allowed") || !floor.exists("b") {
		t.Errorf("in mode bypass: %q", got)
	}
}

func TestTheModeChangesWhatIsAsked(t *testing.T) {
	w := newWorld(t, script(
		turn(call("t1", "write", `{"path":"a","content":"x"}`)), turn(fakeapi.Text("No.")),
		turn(call("t2", "write", `{"path":"a","content":"x"}`)), turn(fakeapi.Text("Yes."))), attended, asking())
	w.do(command.SetMode{Mode: "plan"})
	w.say("begin")
	if w.exists("a") {
		t.Error("written while planning")
	}
	w.do(command.SetMode{Mode: "accept-edits"})
	w.say("again")
	w.completed()
	if !w.exists("a") {
		t.Error("not written with accept-edits")
	}
}

func TestAnInterruptEndsAQuestion(t *testing.T) {
	w := newWorld(t, script(turn(bash("t1", "touch a")), turn(fakeapi.Text("Fine."))), attended, asking())
	asked := heard[event.PermissionRequested](w)
	w.do(command.SubmitMessage{Text: "begin"})
	question := await(w, "the question", asked)
	w.do(command.Interrupt{})
	w.rest()
	if err := w.Dispatch(command.PermissionResponse{RequestID: question.PermissionRequestID, Decision: command.Once}); err == nil {
		t.Error("an answer after the interrupt was taken")
	}
	if s := w.log.Fold().State; len(s.Permissions) > 0 || len(s.Calls) > 0 || w.exists("a") {
		t.Errorf("left open: %+v", s)
	}
	w.say("go on")
	w.completed()
}

// What a rule or the floor withholds is not shown by a search of its folder
// either, and the model is told.
func TestASearchOfAFolderShowsNothingThatIsWithheld(t *testing.T) {
	w := newWorld(t, script(
		turn(call("t1", "grep", `{"pattern":"KEY"}`), call("t2", "grep", `{"pattern":"KEY","glob":".env"}`),
			call("t3", "glob", `{"pattern":"**/*.txt"}`), call("t4", "glob", `{"pattern":"**/.env"}`)),
		turn(fakeapi.Text("Done."))), asking("deny file.read(private/**)"))
	for _, name := range []string{"open.txt", "private/a.txt", ".env"} {
		w.file(name, "KEY=1\n")
	}
	w.say("look")
	const ask = "[1 file not searched: reading needs permission; name one as path to ask]\n"
	want := map[string]string{
		"t1": "open.txt\n1:KEY=1\n" + ask, "t2": "no matches\n" + ask,
		"t3": "open.txt\n[1 file left out: reading needs permission]\n", "t4": "no files fit\n[1 file left out: reading needs permission]\n",
	}
	for _, r := range facts[event.ToolCompleted](w) {
		if r.ModelText != want[r.ToolUseID] {
			t.Errorf("%s: %q, want %q", r.ToolUseID, r.ModelText, want[r.ToolUseID])
		}
		delete(want, r.ToolUseID)
	}
	if len(want) > 0 {
		t.Errorf("no result of %v", want)
	}
}
