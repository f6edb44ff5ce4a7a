package engine_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
)

// reopen ends the program and opens its log again, without an engine.
func (w *world) reopen() {
	w.Helper()
	w.stop()
	log, err := w.store.Open(w.log.ID())
	if err != nil {
		w.Fatal(err)
	}
	w.log = log
}

// dies makes the log one of a program that was killed in the middle of a call,
// after do had happened, and starts the next program on it.
func (w *world) dies(tool, input string, do func()) {
	w.Helper()
	w.reopen()
	for _, f := range []event.Fact{
		event.UserMessageCreated{Text: "begin"},
		event.ModelRequestStarted{RequestID: "r", Model: "test-model", Purpose: event.PurposeMain},
		event.ToolRequested{RequestID: "r", ToolUseID: "cut", ToolName: tool, Input: json.RawMessage(input)},
		event.ModelResponseCompleted{RequestID: "r", StopReason: event.StopToolUse},
		event.ToolApproved{ToolUseID: "cut", Via: event.ViaPolicy},
		event.ToolStarted{ToolUseID: "cut", ToolName: tool},
	} {
		if _, err := w.log.Publish(f); err != nil {
			w.Fatal(err)
		}
	}
	do()
	if err := w.log.Close(); err != nil {
		w.Fatal(err)
	}
	log, err := w.store.Open(w.log.ID())
	if err != nil {
		w.Fatal(err)
	}
	w.log = log
	w.start()
}

func touch(t *testing.T, name string, at time.Time) {
	t.Helper()
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestWhatACrashCutOffIsRecordedAndTheTaskIsNotVerified(t *testing.T) {
	old := time.Now().Add(-time.Hour)
	for _, c := range []struct {
		name, tool, input string
		content           string // of a.go after the crash; "" as it was
		want, issue       string
	}{
		{"a command", "bash", `{"command":"echo x >> a.go"}`, "package a\nx\n", "cut exec a.go", "a call was cut off by a crash"},
		{"a command that changed nothing yet", "bash", `{"command":"echo x >> a.go"}`, "", "", "a call was cut off by a crash"},
		{"an edit", "edit", `{"path":"a.go","old_string":"a","new_string":"b"}`, "package b\n", "cut edit a.go", "code was changed"},
		{"a write", "write", `{"path":"sub/../a.go","content":"package b\n"}`, "package b\n", "cut write a.go", "code was changed"},
		{"a write that was not made yet", "write", `{"path":"a.go","content":"package b\n"}`, "", "", "a call was cut off by a crash"},
	} {
		for how, first := range map[string]command.Command{"continued": command.Continue{}, "with another message": submit("go on")} {
			t.Run(c.name+", "+how, func(t *testing.T) {
				w := newWorld(t, script(turn(fakeapi.Text("Done."))))
				w.file("a.go", "package a\n")
				w.file("sub/b.go", "package b\n")
				git(t, w.dir, "init", "-q", "-b", "main")
				git(t, w.dir, "add", ".")
				git(t, w.dir, "commit", "-q", "-m", "first")
				for _, name := range []string{"a.go", "sub/b.go"} {
					touch(t, filepath.Join(w.dir, name), old)
				}
				w.dies(c.tool, c.input, func() {
					if c.content != "" {
						w.file("a.go", c.content)
					}
				})
				if got := changed(w); got != c.want {
					t.Errorf("changed: %q, want %q", got, c.want)
				}
				w.do(first)
				w.rest()
				w.completed()
				e := only[event.TaskCompleted](w).Evidence
				if len(e.UnresolvedIssues) == 0 || !strings.HasPrefix(e.UnresolvedIssues[len(e.UnresolvedIssues)-1], c.issue) {
					t.Errorf("issues %q", e.UnresolvedIssues)
				}
				if c.want != "" && strings.Join(e.ChangedFiles, " ") != "a.go" {
					t.Errorf("the evidence names %q", e.ChangedFiles)
				}
				w.resume()
				if got := changed(w); got != c.want {
					t.Errorf("the next program finds %q", got)
				}
			})
		}
	}
}

func TestProcessesOfAProgramThatDiedAreGivenUpAndTheModelIsTold(t *testing.T) {
	w := newWorld(t, script(turn(call("t1", "process", `{"action":"start","command":"exec sleep 300"}`)), turn(fakeapi.Text("I see."))))
	w.reopen()
	orphan := exec.Command("sleep", "300")
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	for i, pid := range []int{ended.Process.Pid, orphan.Process.Pid} {
		f := event.ProcessStarted{ProcessID: fmt.Sprintf("p%d", i+1), PID: pid, Command: "serve " + strings.Repeat("x", 1000)}
		if _, err := w.log.Publish(f); err != nil {
			t.Fatal(err)
		}
	}
	w.start()
	for i, p := range facts[event.ProcessExited](w) {
		if p.ProcessID != fmt.Sprintf("p%d", i+1) || p.Cause != event.Crashed || p.ExitCode != nil {
			t.Errorf("recorded %+v", p)
		}
	}
	note := only[event.ContextNoted](w).Text
	if !strings.Contains(note, "…` is gone\n") || !strings.Contains(note, fmt.Sprintf("may still be running as pid %d]", orphan.Process.Pid)) || len(note) > 800 {
		t.Errorf("the model is told %q", note)
	}
	if !alive(orphan.Process.Pid) {
		t.Error("a process that may be somebody else's was stopped")
	}
	w.say("begin")
	w.completed()
	if len(facts[event.ProcessStarted](w)) != 3 || facts[event.ProcessStarted](w)[2].ProcessID != "p3" {
		t.Errorf("started %+v", facts[event.ProcessStarted](w))
	}
	if err := orphan.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = orphan.Wait() // it was killed
	w.resume()
	if n := len(facts[event.ContextNoted](w)); n != 2 { // and one of the world
		t.Errorf("%d notes", n)
	}
}
