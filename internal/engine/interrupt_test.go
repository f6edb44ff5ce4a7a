package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/khaelor/khaelor/internal/bus"
	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/tool"
)

// stuck is a tool that runs until its call is cancelled.
func stuck(started chan<- string) func(*engine.Options) {
	return own("stuck", func(ctx context.Context, env *tool.Env, _ map[string]any) (tool.Result, error) {
		started <- env.ToolUseID
		<-ctx.Done()
		return tool.Result{Text: "half"}, ctx.Err()
	})
}

func TestAnInterruptInTheSecondOfThreeCallsGivesEachItsResultInOrder(t *testing.T) {
	started := make(chan string, 1)
	w := newWorld(t, script(
		turn(call("t1", "read", `{"path":"a.txt"}`), call("t2", "stuck", `{}`), bash("t3", "touch ran")),
		turn(fakeapi.Text("Fine.")),
	), stuck(started))
	w.file("a.txt", "hello\n")
	w.do(command.SubmitMessage{Text: "begin"})
	await(w, "the second call", started)
	w.do(command.Interrupt{})
	w.rest()
	if got := only[event.Interrupted](w).PendingToolUseIDs; strings.Join(got, " ") != "t2 t3" {
		t.Errorf("pending %v", got)
	}
	if _, ok := w.outcome().(event.Interrupted); !ok {
		t.Errorf("the task ended as %+v", w.outcome())
	}
	w.say("something else")
	w.completed()
	w.wantLast(`user: t1="hello\n" t2="[Cancelled: the user interrupted.]\nOutpu" t3="[Cancelled: the user interrupted.]" "something else"`)
	if got := facts[event.ToolCancelled](w)[0]; got.Reason != event.CancelInterrupted || !strings.Contains(got.ModelText, "half") {
		t.Errorf("the call that ran: %+v", got)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "ran")); err == nil {
		t.Error("the third call ran after the interrupt")
	}
}

func TestAnInterruptWhileTheAnswerArrivesKeepsWhatWasSeen(t *testing.T) {
	for _, c := range []struct {
		name   string
		blocks []fakeapi.Block
		after  int // events, then silence
		want   string
	}{
		{"in thinking", []fakeapi.Block{fakeapi.Think("hm")}, 4, ""},
		{"after a text", []fakeapi.Block{fakeapi.Text("One."), fakeapi.Text("Two.")}, 7, `assistant: "One."`},
		{"after a call", []fakeapi.Block{fakeapi.Think("hm"), call("t1", "read", `{"path":"a"}`), fakeapi.Text("Two.")}, 12, `assistant: thinking tool_use`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, script(fakeapi.Turn{Blocks: c.blocks, StallAfterEvents: c.after}, turn(fakeapi.Text("Fine."))))
			// What settled before the silence is awaited, then the user has enough.
			seen := 0
			wait := make(chan struct{})
			count := func() {
				if seen++; seen == strings.Count(c.want, " ")+1 {
					close(wait)
				}
			}
			bus.OnNotice(w.log.Bus(), func(_ event.Live, n event.ModelTextDelta) {
				if n.Text != "One." {
					count()
				}
			})
			bus.OnNotice(w.log.Bus(), func(event.Live, event.ModelThinkingDelta) { count() })
			bus.OnNotice(w.log.Bus(), func(_ event.Live, n event.ToolInputDelta) {
				if n.PartialJSON != "" {
					count()
				}
			})
			if c.name == "after a text" {
				seen = 1
			}
			w.do(command.SubmitMessage{Text: "begin"})
			await(w, "the silence", wait)
			w.do(command.Interrupt{})
			w.rest()
			if f := only[event.ModelRequestFailed](w); f.Kind != event.ErrorCancelled {
				t.Errorf("the request ended as %+v", f)
			}
			w.say("go on")
			w.completed()
			all := w.asked()
			var spoken []string
			for _, m := range all[len(all)-1].Messages {
				if m.Role == "assistant" {
					spoken = append(spoken, brief(m))
				}
			}
			if got := strings.Join(spoken, "; "); got != c.want {
				t.Errorf("the assistant had said %s, want %s", got, c.want)
			}
		})
	}
}

// alive says whether a process is there and no zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return syscall.Kill(pid, 0) == nil && !os.IsNotExist(err)
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

func pidIn(w *world, name string) int {
	w.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(w.content(name)))
	if err != nil {
		w.Fatal(err)
	}
	return pid
}

// Bash 4.
func TestAnInterruptLeavesNoChildOfACommand(t *testing.T) {
	w := newWorld(t, script(turn(bash("t1", `sleep 300 & echo $! > pid; echo ready; wait`)), turn(fakeapi.Text("Fine."))))
	output := noticed[event.ToolOutput](w)
	w.do(command.SubmitMessage{Text: "begin"})
	await(w, "the command", output)
	pid := pidIn(w, "pid")
	if !alive(pid) {
		t.Fatal("the child was never there")
	}
	w.do(command.Interrupt{})
	w.rest()
	if alive(pid) {
		t.Errorf("process %d still runs", pid)
	}
	w.say("and now?")
	w.wantLast(`user: t1="[Cancelled: the user interrupted.]\nOutpu" "and now?"`)
	if got := only[event.ToolCancelled](w).ModelText; !strings.Contains(got, "ready") {
		t.Errorf("the output until then is not told: %q", got)
	}
}

// Processes 3.
func TestAnInterruptSparesBackgroundProcessesAndStopEndsThem(t *testing.T) {
	started := make(chan string, 1)
	w := newWorld(t, script(
		turn(call("t1", "process", `{"action":"start","command":"sleep 300 & echo $! > child; echo $$ > pid; wait"}`)),
		turn(call("t2", "stuck", `{}`)),
		turn(call("t3", "process", `{"action":"stop","id":"p1"}`)),
		turn(fakeapi.Text("Stopped.")),
	), stuck(started))
	w.do(command.SubmitMessage{Text: "serve"})
	await(w, "the second call", started)
	for {
		if child, err := os.ReadFile(filepath.Join(w.dir, "pid")); err == nil && len(child) > 0 {
			break
		}
	}
	w.do(command.Interrupt{})
	w.rest()
	if !alive(pidIn(w, "pid")) || !alive(pidIn(w, "child")) || len(facts[event.ProcessExited](w)) > 0 {
		t.Fatal("the interrupt ended the background process")
	}
	w.say("stop it")
	w.completed()
	if alive(pidIn(w, "pid")) || alive(pidIn(w, "child")) {
		t.Error("after stop something of it still runs")
	}
	if got := only[event.ProcessExited](w); got.Cause != event.StoppedByTool {
		t.Errorf("it ended as %+v", got)
	}
}

func TestCloseEndsBackgroundProcesses(t *testing.T) {
	w := newWorld(t, script(
		turn(call("t1", "process", `{"action":"start","command":"exec sleep 300"}`)), turn(fakeapi.Text("Runs."))))
	w.say("serve")
	pid := only[event.ProcessStarted](w).PID
	if !alive(pid) {
		t.Fatal("it does not run")
	}
	w.stop()
	if alive(pid) {
		t.Error("it outlived the engine")
	}
	if got := only[event.ProcessExited](w); got.Cause != event.EndedByUs {
		t.Errorf("it ended as %+v", got)
	}
}

func TestCloseDuringACallLeavesTheTaskOpenAndContinueFinishesIt(t *testing.T) {
	started := make(chan string, 1)
	w := newWorld(t, script(turn(call("t1", "stuck", `{}`), call("t2", "stuck", `{}`)), turn(fakeapi.Text("Done."))), stuck(started))
	w.do(command.SubmitMessage{Text: "begin"})
	await(w, "the call", started)
	w.resume()
	if s := w.log.Fold().State; !s.Task.Open || len(s.Calls) > 0 {
		t.Fatalf("after the close: %+v", s)
	}
	for _, c := range facts[event.ToolCancelled](w) {
		if c.Reason != event.CancelShutdown {
			t.Errorf("closed as %+v", c)
		}
	}
	w.do(command.Continue{})
	w.rest()
	w.completed()
	w.wantLast(`user: t1="[Cancelled: KHAELOR was shut down.]\nOutp" t2="[Cancelled: KHAELOR was shut down.]"`)
}

func TestCloseDuringAnAnswerLeavesTheTaskOpenAndContinueFinishesIt(t *testing.T) {
	w := newWorld(t, script(fakeapi.Turn{Blocks: []fakeapi.Block{fakeapi.Text("One."), fakeapi.Text("Two.")}, StallAfterEvents: 7}, turn(fakeapi.Text("Done."))))
	settled := heard[event.ModelTextBlockCompleted](w)
	w.do(command.SubmitMessage{Text: "begin"})
	await(w, "the first block", settled)
	w.resume()
	if s := w.log.Fold().State; !s.Task.Open || s.Request.Failure.Kind != event.ErrorCancelled {
		t.Fatalf("after the close: %+v", s)
	}
	w.do(command.Continue{})
	w.rest()
	w.completed()
	blocks := w.log.Fold().History.Blocks()
	if n := len(blocks); n < 4 || blocks[n-3].Text != "One." || blocks[n-2].Role != fold.User {
		t.Errorf("history %+v", blocks)
	}
}

// A message between the blocks of an answer would part its thinking from its
// calls, which the service refuses for ever.
func TestAMessageRightAfterAnInterruptEntersBehindTheAnswer(t *testing.T) {
	w := newWorld(t, script(
		turn(fakeapi.Think("hm"), fakeapi.Text("One."), call("t1", "read", `{"path":"a"}`)),
		turn(fakeapi.Text("Fine.")), turn(fakeapi.Text("Later."))))
	bus.On(w.log.Bus(), func(_ event.Record, _ event.ModelThinkingBlockCompleted) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.do(command.QueueMessage{Text: "later"})
			w.do(command.Interrupt{})
			w.do(command.SubmitMessage{Text: "rather this"})
		}()
		<-done // the answer goes on behind this handler
	})
	w.do(command.SubmitMessage{Text: "begin"})
	w.rest()
	w.completed()
	w.wantLast(`user: "later"`)
	blocks := w.log.Fold().History.Blocks()
	i := slices.IndexFunc(blocks, func(b fold.Block) bool { return b.Text == "rather this" })
	if i < 0 || blocks[i+1].Text != "Fine." {
		t.Errorf("something of the interrupted answer stands behind the message: %+v", blocks)
	}
	if got := facts[event.TaskCompleted](w); len(got) != 2 || got[0].Evidence.Objective != "rather this" {
		t.Errorf("tasks %+v", got)
	}
}

func TestAMessageRightAfterAnInterruptIsAnswered(t *testing.T) {
	started := make(chan string, 1)
	w := newWorld(t, script(turn(call("t1", "stuck", `{}`)), turn(fakeapi.Text("Fine."))), stuck(started))
	w.do(command.SubmitMessage{Text: "begin"})
	await(w, "the call", started)
	w.do(command.Interrupt{})
	w.do(command.SubmitMessage{Text: "rather this"})
	w.rest()
	w.completed()
	w.wantLast(`user: t1="[Cancelled: the user interrupted.]\nOutpu" "rather this"`)
}

func TestWhatIsQueuedAtAnInterruptWaitsForTheUser(t *testing.T) {
	started := make(chan string, 1)
	w := newWorld(t, script(turn(call("t1", "stuck", `{}`)), turn(fakeapi.Text("Fine.")), turn(fakeapi.Text("Later."))), stuck(started))
	w.do(command.SubmitMessage{Text: "begin"})
	await(w, "the call", started)
	w.do(command.QueueMessage{Text: "later"})
	w.do(command.Interrupt{})
	w.rest()
	if n := len(w.asked()); n != 1 || len(w.log.Fold().State.Messages) != 1 {
		t.Fatalf("%d requests, %+v", n, w.log.Fold().State.Messages)
	}
	w.say("now")
	w.completed()
	w.wantLast(`user: "later"`)
}
