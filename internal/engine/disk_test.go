package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/disk"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
	"github.com/khaelor/khaelor/internal/session"
)

var interrupt = command.Interrupt{}

func submit(text string) command.SubmitMessage { return command.SubmitMessage{Text: text} }

// TestAFullDiskStopsTheEngineBeforeAnythingRunsUnrecorded fills the disk
// after each number of facts, and goes on once there is space again.
func TestAFullDiskStopsTheEngineBeforeAnythingRunsUnrecorded(t *testing.T) {
	for n := 0; ; n++ {
		if whole := fillAfter(t, n); whole {
			if n < 12 {
				t.Fatalf("the task has only %d appends", n)
			}
			return
		}
	}
}

// fillAfter lets n more facts be written. It returns true when the task needs
// no more than that.
func fillAfter(t *testing.T, n int) (whole bool) {
	t.Run(fmt.Sprint(n), func(t *testing.T) {
		w := newWorld(t, fakeapi.Options{Responder: func(_ int, req *fakeapi.Request) fakeapi.Turn {
			if req.Messages[len(req.Messages)-1].Parts[0].Type == "tool_result" {
				return turn(fakeapi.Text("Done."))
			}
			return turn(fakeapi.Think("hm"), fakeapi.Text("Running."), fakeapi.Call("bash", `{"command":"echo x >> ran"}`))
		}})
		w.disk.FailAppendAfter(n, disk.ErrNoSpace, n%5)
		refused := w.Dispatch(submit("begin"))
		w.rest()
		err := refused
		if err == nil {
			err = w.Err()
		}
		if whole = err == nil; whole {
			w.completed()
			return
		}
		var failed *session.WriteError
		if !errors.As(err, &failed) || !errors.Is(err, disk.ErrNoSpace) {
			t.Fatalf("stopped by %v", err)
		}
		if refused == nil {
			if again := w.Dispatch(submit("hello?")); !errors.As(again, &failed) {
				t.Errorf("after the stop: %v", again)
			}
		}
		if requests, recorded := len(w.asked()), len(facts[event.ModelRequestStarted](w)); requests > recorded {
			t.Errorf("%d requests were sent, %d are recorded", requests, recorded)
		}
		if ran, recorded := w.exists("ran"), len(facts[event.ToolStarted](w)) > 0; ran && !recorded {
			t.Error("a tool ran unrecorded")
		}

		w.disk.FailAppendAfter(0, nil, 0)
		w.resume()
		if w.log.Fold().State.Task.Open {
			w.do(command.Continue{})
			w.rest()
		} else {
			w.say("begin")
		}
		w.completed()
	})
	return whole
}
