package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/bus"
	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
	"github.com/khaelor/khaelor/internal/permission"
	"github.com/khaelor/khaelor/internal/web"
)

const colours = `{"question":"Which colours?","options":["red","green"],"multiple":true}`

func TestAQuestionOfTheModelWaitsForItsAnswer(t *testing.T) {
	w := newWorld(t, script(turn(fakeapi.Call("ask_user", colours)), turn(fakeapi.Text("Fine."))), attended, asking())
	bus.On(w.log.Bus(), func(_ event.Record, q event.QuestionAsked) {
		w.send(command.AnswerQuestion{QuestionID: q.QuestionID, Answer: []string{"green", "a\xffb"}})
	})
	w.say("begin")
	w.completed()
	asked, answered, result := only[event.QuestionAsked](w), only[event.QuestionAnswered](w), only[event.ToolCompleted](w)
	if asked.Question != "Which colours?" || !slices.Equal(asked.Options, []string{"red", "green"}) || !asked.Multiple || asked.ToolUseID != result.ToolUseID {
		t.Errorf("asked %+v", asked)
	}
	if answered.QuestionID != asked.QuestionID || string(answered.Answer) != "[\"green\",\"a\ufffdb\"]" || result.ModelText != "green\na\ufffdb" {
		t.Errorf("answered %s, told %q", answered.Answer, result.ModelText)
	}
	if n := len(facts[event.PermissionRequested](w)); n > 0 {
		t.Errorf("%d permissions were asked for", n)
	}
	if err := w.Dispatch(command.AnswerQuestion{QuestionID: asked.QuestionID, Answer: []string{"late"}}); err == nil {
		t.Error("a second answer was taken")
	}
}

func TestNobodyToAskLetsTheModelDecide(t *testing.T) {
	w := newWorld(t, script(turn(fakeapi.Call("ask_user", colours)), turn(fakeapi.Text("I took red."))), asking())
	w.say("begin")
	w.completed() // not failed for want of a permission
	if got := only[event.ToolCompleted](w); !strings.Contains(got.ModelText, "Nobody is there to ask") {
		t.Errorf("told %q", got.ModelText)
	}
	if s := w.log.Fold().State; len(facts[event.QuestionAsked](w)) > 0 || len(s.Task.Unanswered) > 0 {
		t.Errorf("%d questions, unanswered %q", len(facts[event.QuestionAsked](w)), s.Task.Unanswered)
	}
}

func TestAnInterruptEndsAQuestionOfTheModel(t *testing.T) {
	w := newWorld(t, script(turn(fakeapi.Call("ask_user", colours)), turn(fakeapi.Text("Fine."))), attended)
	asked := heard[event.QuestionAsked](w)
	w.do(command.SubmitMessage{Text: "begin"})
	question := await(w, "the question", asked)
	w.do(command.Interrupt{})
	w.rest()
	if err := w.Dispatch(command.AnswerQuestion{QuestionID: question.QuestionID, Answer: []string{"red"}}); err == nil {
		t.Error("an answer after the interrupt was taken")
	}
	if s := w.log.Fold().State; len(s.Questions) > 0 || len(s.Calls) > 0 || len(facts[event.QuestionAnswered](w)) > 0 {
		t.Errorf("left open: %+v", s.Questions)
	}
	if got := only[event.ToolCancelled](w); got.Reason != event.CancelInterrupted {
		t.Errorf("%+v", got)
	}
	w.say("go on")
	w.completed()
}

func TestAQuestionOfADeadProgramIsOverAndTheTaskGoesOn(t *testing.T) {
	w := newWorld(t, script(turn(fakeapi.Text("I took red."))), attended)
	w.dies("ask_user", colours, func() {
		if _, err := w.log.Publish(event.QuestionAsked{QuestionID: "q", ToolUseID: "cut", Question: "Which colours?"}); err != nil {
			t.Fatal(err)
		}
	})
	if s := w.log.Fold().State; len(s.Questions) > 0 || len(s.Calls) > 0 {
		t.Errorf("open after the crash: %+v", s.Questions)
	}
	if got := only[event.ToolCancelled](w); got.Reason != event.CancelRecovery || got.ToolUseID != "cut" {
		t.Errorf("%+v", got)
	}
	if err := w.Dispatch(command.AnswerQuestion{QuestionID: "q", Answer: []string{"red"}}); err == nil {
		t.Error("an answer was taken that nobody waits for")
	}
	w.do(command.Continue{})
	w.rest()
	w.completed()
}

func TestTheTaskListIsInTheStateOfTheSession(t *testing.T) {
	w := newWorld(t, script(
		turn(fakeapi.Call("todo", `{"items":[{"text":"look","status":"active"},{"text":"cut","status":"pending"}]}`)),
		turn(fakeapi.Call("todo", `{"items":[{"text":"look","status":"undone"}]}`)),
		turn(fakeapi.Text("Fine.")),
	), asking())
	w.say("begin")
	w.completed()
	want := []event.TodoItem{{Text: "look", Status: event.TodoActive}, {Text: "cut", Status: event.TodoPending}}
	if got := w.log.Fold().State.Todo; !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if got := only[event.ToolFailed](w); got.ErrorKind != event.ToolInvalidInput {
		t.Errorf("%+v", got)
	}
	w.resume()
	if got := w.log.Fold().State.Todo; !slices.Equal(got, want) {
		t.Errorf("after a resume %+v", got)
	}
}

// page lets calls fetch, and counts how often they did.
func page(fetches *int) func(*engine.Options) {
	return func(o *engine.Options) {
		o.Fetch = func(_ context.Context, url string) (web.Page, error) {
			*fetches++
			return web.Page{URL: url, Text: "Words of a page."}, nil
		}
	}
}

func TestAPageIsFetchedOnceItsHostIsAllowed(t *testing.T) {
	n := 0
	var kept []string
	w := newWorld(t, script(
		turn(fakeapi.Call("web_fetch", `{"url":"https://docs.example.com/a"}`)),
		turn(fakeapi.Call("web_fetch", `{"url":"https://docs.example.com/b"}`), fakeapi.Call("web_fetch", `{"url":"https://other.example.com/"}`)),
		turn(fakeapi.Text("Fine.")),
	), attended, asking(), page(&n), func(o *engine.Options) {
		o.Remember = func(r permission.Rule) error { kept = append(kept, r.String()); return nil }
	})
	w.answering(func(p event.PermissionRequested) command.PermissionResponse {
		if strings.Contains(p.Descriptor, "other") {
			return command.PermissionResponse{Decision: command.Refuse}
		}
		return command.PermissionResponse{Decision: command.Always}
	})
	w.say("begin")
	w.completed()
	asked := facts[event.PermissionRequested](w)
	if len(asked) != 2 || asked[0].Descriptor != "web_fetch: https://docs.example.com/a" || asked[0].Capability != "network.access" ||
		asked[1].Descriptor != "web_fetch: https://other.example.com/" {
		t.Errorf("asked %+v", asked)
	}
	if n != 2 || !slices.Equal(kept, []string{"network.access(https://docs.example.com/*)"}) {
		t.Errorf("%d pages, kept %q", n, kept)
	}
	for _, r := range facts[event.ToolCompleted](w) {
		if !strings.Contains(r.ModelText, "untrusted data") || !strings.Contains(r.ModelText, "Words of a page.") {
			t.Errorf("%q", r.ModelText)
		}
	}
}

func TestAPageThatNobodyAllowsIsNotFetched(t *testing.T) {
	n := 0
	w := newWorld(t, script(turn(fakeapi.Call("web_fetch", `{"url":"https://docs.example.com/a"}`)), turn(fakeapi.Text("Fine."))), asking(), page(&n))
	w.say("begin")
	w.rest()
	if got := only[event.ToolFailed](w); got.ErrorKind != event.ToolPermissionDenied || n != 0 {
		t.Errorf("%+v, %d pages", got, n)
	}
	if got := w.log.Fold().State.Task.Unanswered; len(got) != 1 {
		t.Errorf("%q", got)
	}
}
