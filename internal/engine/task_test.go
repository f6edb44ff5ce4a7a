package engine_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/tool"
)

func TestAMessageBecomesATaskThatEndsWithItsEvidence(t *testing.T) {
	w := newWorld(t, script(
		turn(fakeapi.Think("look first"), fakeapi.Text("Reading."), call("t1", "read", `{"path":"a.txt"}`)),
		turn(fakeapi.Text("It says hello.")),
	))
	w.file("a.txt", "hello\n")
	w.say("what does a.txt say?")
	w.completed()
	w.wantLast(`user: t1="hello\n"`)
	done := only[event.TaskCompleted](w).Evidence
	if done.Objective != "what does a.txt say?" || len(done.ChangedFiles)+len(done.UnresolvedIssues) != 0 {
		t.Errorf("evidence %+v", done)
	}
	if s := w.log.Fold().State; s.Task.Answer != "It says hello." || s.Task.Responses != 2 {
		t.Errorf("task %+v", s.Task)
	}
}

// steering is a world whose tool gives the user the moment to say something.
func steering(t *testing.T, say func(*world), turns ...fakeapi.Turn) *world {
	var w *world
	w = newWorld(t, script(turns...), own("moment", func(context.Context, *tool.Env, map[string]any) (tool.Result, error) {
		say(w)
		return tool.Result{Text: "done"}, nil
	}))
	return w
}

func TestASteeringWordLandsBehindTheResultsInTheSameMessage(t *testing.T) {
	w := steering(t, func(w *world) {
		w.do(command.Steer{Text: "in English, please"})
		w.do(command.Steer{Text: "and short"})
	}, turn(call("t1", "moment", `{}`), call("t2", "read", `{"path":"a.txt"}`)), turn(fakeapi.Text("Yes.")))
	w.file("a.txt", "hello\n")
	w.say("begin")
	w.completed()
	w.wantLast(`user: t1="done" t2="hello\n" "in English, please" "and short"`)
	if s := facts[event.SteeringInjected](w)[0]; s.Seam != event.PostToolBatch {
		t.Errorf("injected at %q", s.Seam)
	}
}

func TestASteeringWordTakenBackIsNeverSaid(t *testing.T) {
	w := steering(t, func(w *world) {
		w.do(command.Steer{Text: "no, stop"})
		w.do(command.WithdrawSteering{QueuedEventID: w.log.Fold().State.Steering[0].EventID})
		if err := w.Dispatch(command.WithdrawSteering{QueuedEventID: "of nobody"}); !errors.Is(err, engine.ErrNothingQueued) {
			w.Errorf("withdrawing nothing: %v", err)
		}
	}, turn(call("t1", "moment", `{}`)), turn(fakeapi.Text("Yes.")))
	w.say("begin")
	w.completed()
	w.wantLast(`user: t1="done"`)
}

func TestASteeringWordWhileTheLastAnswerArrivesIsStillHeard(t *testing.T) {
	var w *world
	o := script(turn(fakeapi.Text("Done.")), turn(fakeapi.Text("Done again.")))
	o.OnRequest = func(n int, _, _ string) {
		if n == 0 {
			w.do(command.Steer{Text: "one more thing"})
		}
	}
	w = newWorld(t, o)
	w.say("begin")
	w.completed()
	w.wantLast(`user: "one more thing"`)
	if n := len(facts[event.UserMessageCreated](w)); n != 1 {
		t.Errorf("%d tasks, want the word in the first", n)
	}
}

func TestASteeringWordThatTheTaskDoesNotLiveToHearBecomesTheNextTask(t *testing.T) {
	var w *world
	o := script(fakeapi.Turn{Error: &fakeapi.Fault{Status: 400, Message: "no"}}, turn(fakeapi.Text("Heard.")))
	o.OnRequest = func(n int, _, _ string) {
		if n == 0 {
			w.do(command.Steer{Text: "are you there?"})
		}
	}
	w = newWorld(t, o)
	w.say("begin")
	w.completed()
	if failed := only[event.TaskFailed](w); failed.Reason != event.FailedModel {
		t.Errorf("the first task: %+v", failed)
	}
	if got := facts[event.UserMessageCreated](w); len(got) != 2 || got[1].Text != "are you there?" {
		t.Errorf("messages %+v", got)
	}
}

func TestMessagesForAfterTheTaskRunInOrderAndOneTakenBackDoesNot(t *testing.T) {
	w := steering(t, func(w *world) {
		w.do(command.QueueMessage{Text: "second"})
		w.do(command.QueueMessage{Text: "dropped"})
		w.do(command.SubmitMessage{Text: "third"})
		w.do(command.TakeBack{QueuedEventID: w.log.Fold().State.Messages[1].EventID})
	}, turn(call("t1", "moment", `{}`)), turn(fakeapi.Text("One.")), turn(fakeapi.Text("Two.")), turn(fakeapi.Text("Three.")))
	w.say("first")
	w.completed()
	w.wantLast(`user: "third"`)
	if done := facts[event.TaskCompleted](w); len(done) != 3 || done[1].Evidence.Objective != "second" {
		t.Errorf("tasks %+v", done)
	}
	if body := string(w.asked()[3].Body); strings.Contains(body, "dropped") {
		t.Error("the message that was taken back was sent")
	}
}

func TestAQueuedMessageKeepsItsPictures(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n"
	w := steering(t, func(w *world) {
		sha, err := w.log.PutBlob([]byte(png))
		if err != nil {
			w.Fatal(err)
		}
		w.do(command.QueueMessage{Text: "and this", Images: []event.Media{{MediaType: "image/png", SHA256: sha}}})
	}, turn(call("t1", "moment", `{}`)), turn(fakeapi.Text("One.")), turn(fakeapi.Text("Two.")))
	w.say("first")
	w.completed()
	asked := w.asked()
	if body := string(asked[len(asked)-1].Body); !strings.Contains(body, base64.StdEncoding.EncodeToString([]byte(png))) {
		t.Error("the picture was not sent with its message")
	}
}

func TestTwoMessagesInOneMomentAreTwoTasks(t *testing.T) {
	w := newWorld(t, script(turn(fakeapi.Text("One.")), turn(fakeapi.Text("Two."))))
	w.do(command.SubmitMessage{Text: "first"})
	w.do(command.SubmitMessage{Text: "second"})
	w.rest()
	w.completed()
	w.wantLast(`user: "second"`)
	if n := len(facts[event.TaskCompleted](w)); n != 2 {
		t.Errorf("%d tasks", n)
	}
}

// Whatever moment a message is queued at, it is answered: there is none at
// which the engine rests and leaves it waiting.
func TestAMessageQueuedAtTheVeryEndOfATaskIsNotForgotten(t *testing.T) {
	w := newWorld(t, fakeapi.Options{Responder: func(int, *fakeapi.Request) fakeapi.Turn { return turn(fakeapi.Text("Yes.")) }})
	ends := heard[event.ModelResponseCompleted](w)
	const rounds = 40
	for i := range rounds {
		w.do(command.SubmitMessage{Text: fmt.Sprint("first ", i)})
		await(w, "the answer", ends)
		w.do(command.QueueMessage{Text: fmt.Sprint("second ", i)})
		w.rest()
		if q := w.log.Fold().State.Messages; len(q) > 0 {
			t.Fatalf("round %d: the engine rests and %q waits", i, q[0].Text)
		}
		await(w, "the second answer", ends)
	}
}

func TestWhatCannotBeDoneIsRefusedWithItsReason(t *testing.T) {
	w := newWorld(t, script())
	for _, c := range []struct {
		command command.Command
		want    error
	}{
		{command.SubmitMessage{Text: " \n"}, engine.ErrEmptyMessage},
		{command.Continue{}, engine.ErrNothingToDo},
		{command.Interrupt{}, engine.ErrNothingToDo},
		{command.TakeBack{QueuedEventID: "x"}, engine.ErrNothingQueued},
		{command.PermissionResponse{RequestID: "x", Decision: command.Once}, engine.ErrNotAsked},
		{command.PermissionResponse{RequestID: "x", Decision: command.Once, EditedInput: []byte("[")}, engine.ErrNotAnObject},
		{command.AnswerQuestion{QuestionID: "x"}, engine.ErrNotAsked},
		{command.Background{}, engine.ErrNothingRuns},
	} {
		if err := w.Dispatch(c.command); !errors.Is(err, c.want) {
			t.Errorf("%T: %v, want %v", c.command, err, c.want)
		}
	}
	if err := w.Dispatch(command.SetMode{Mode: "yolo"}); err == nil || !strings.Contains(err.Error(), "accept-edits") {
		t.Errorf("a mode that is not there: %v", err)
	}
	closed := w.Engine
	w.stop()
	if err := closed.Dispatch(command.SubmitMessage{Text: "hello"}); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	<-closed.Idle()
}

func TestTheTiersAreRecordedOnceAndAResumedSessionSendsTheSameBytes(t *testing.T) {
	w := newWorld(t, script(turn(call("t1", "extra", `{}`)), turn(fakeapi.Text("One.")), turn(call("t2", "extra", `{}`)), turn(fakeapi.Text("Two."))),
		own("extra", func(context.Context, *tool.Env, map[string]any) (tool.Result, error) {
			return tool.Result{Text: "here"}, nil
		}))
	w.say("first")
	w.resume(func(o *engine.Options) {
		o.Tools = o.Tools[:3]                       // a binary that lost tools
		o.SessionTier = "instructions that are new" // since the session began
	})
	w.say("second")
	w.completed()
	if n := len(facts[event.TierRecorded](w)); n != 2 {
		t.Errorf("%d tiers, want tools and static", n)
	}
	all := w.asked()
	head := func(r *fakeapi.Request) string {
		before, _, _ := strings.Cut(string(r.Body), `"messages"`)
		return before
	}
	if head(all[0]) != head(all[3]) {
		t.Error("tools or tiers changed on resume")
	}
	lost := only[event.ToolFailed](w)
	if lost.ToolUseID != "t2" || lost.ErrorKind != event.ToolNotFound || !strings.Contains(lost.ModelText, "read, write, edit") {
		t.Errorf("the lost tool answered %+v", lost)
	}
}

func TestTheWorldIsNotedOnceAndAgainWhenItChanged(t *testing.T) {
	w := newWorld(t, fakeapi.Options{Responder: func(int, *fakeapi.Request) fakeapi.Turn { return turn(fakeapi.Text("Yes.")) }})
	w.say("first")
	w.wantLast(`user: environment "first"`)
	w.say("second")
	w.wantLast(`user: "second"`)
	w.resume()
	w.say("third")
	w.wantLast(`user: "third"`)

	git(t, w.dir, "init", "-q", "-b", "main")
	w.resume()
	w.say("fourth")
	w.wantLast(`user: environment "fourth"`)
	notes := facts[event.ContextNoted](w)
	if len(notes) != 2 || !strings.Contains(notes[0].Text, w.o.Workspace.Cwd()) || !strings.Contains(notes[1].Text, "git: main") {
		t.Errorf("notes %+v", notes)
	}
	git(t, w.dir, "checkout", "-q", "-b", "feature")
	w.say("fifth")
	w.wantLast(`user: environment "fifth"`)
}

func TestAWordSteersATaskThatAResumedSessionHasNotGoneOnWith(t *testing.T) {
	w := newWorld(t, script(
		fakeapi.Turn{Blocks: []fakeapi.Block{fakeapi.Text("One."), fakeapi.Text("Two.")}, StallAfterEvents: 7}, turn(fakeapi.Text("Done."))))
	settled := heard[event.ModelTextBlockCompleted](w)
	w.do(command.SubmitMessage{Text: "begin"})
	await(w, "the first block", settled)
	w.resume()
	w.do(command.Steer{Text: "shorter"})
	w.rest()
	w.completed()
	if last := w.last(); !strings.Contains(last, "shorter") {
		t.Errorf("the model was told %s", last)
	}
}

func TestAPictureOfAQueuedMessageReachesTheModel(t *testing.T) {
	started := make(chan string, 1)
	w := newWorld(t, script(turn(call("t1", "held", `{}`)), turn(fakeapi.Text("One.")), turn(fakeapi.Text("Two."))), own("held",
		func(ctx context.Context, _ *tool.Env, _ map[string]any) (tool.Result, error) {
			started <- "held"
			return tool.Result{Text: "ok"}, nil
		}))
	sha, err := w.log.PutBlob([]byte("\x89PNG\r\n\x1a\n0000IHDR"))
	if err != nil {
		t.Fatal(err)
	}
	w.do(command.SubmitMessage{Text: "begin"})
	w.do(command.SubmitMessage{Text: "look", Images: []event.Media{{MediaType: "image/png", SHA256: sha}}})
	await(w, "the call", started)
	w.rest()
	w.completed()
	pictures := 0
	for _, b := range w.log.Fold().History.Blocks() {
		if b.Kind == fold.ImageBlock {
			pictures++
		}
	}
	if pictures != 1 {
		t.Errorf("%d pictures in the history", pictures)
	}
}
