package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// terminal is the program on a terminal of its own.
type terminal struct {
	t      *testing.T
	cmd    *exec.Cmd
	tty    *os.File
	output chan []byte // closed when the program let go of the terminal
	screen []byte      // what it wrote and expect has not passed yet
	whole  bytes.Buffer
}

// start runs the program on a new terminal, whose session it leads.
func (p *place) start(args ...string) *terminal {
	p.t.Helper()
	w := &terminal{t: p.t, cmd: p.command(args...), output: make(chan []byte)}
	tty, err := pty.StartWithSize(w.cmd, &pty.Winsize{Rows: 24, Cols: 200})
	if err != nil {
		p.t.Fatal(err)
	}
	w.tty = unblocked(p.t, tty)
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.read()
	}()
	p.t.Cleanup(func() {
		_ = w.cmd.Process.Kill() // most have ended
		_ = w.tty.Close()
		for range w.output {
		}
		<-done
	})
	return w
}

// unblocked lets a read that waits end when the terminal is closed, and so the
// closing happen at once.
func unblocked(t *testing.T, tty *os.File) *os.File {
	t.Helper()
	fd, err := syscall.Dup(int(tty.Fd()))
	if err == nil {
		err = errors.Join(syscall.SetNonblock(fd, true), tty.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "terminal")
}

func (w *terminal) read() {
	defer close(w.output)
	for {
		buf := make([]byte, 4096)
		n, err := w.tty.Read(buf)
		if n > 0 {
			w.output <- buf[:n]
		}
		if err != nil {
			return
		}
	}
}

// expect waits until the program has written what the pattern says.
func (w *terminal) expect(pattern string) {
	w.t.Helper()
	wanted := regexp.MustCompile(pattern)
	late := time.After(patience)
	for {
		if at := wanted.FindIndex(w.screen); at != nil {
			w.screen = w.screen[at[1]:]
			return
		}
		select {
		case more, ok := <-w.output:
			if !ok {
				w.t.Fatalf("the program ended without %q:\n%s", pattern, w.whole.String())
			}
			w.whole.Write(more)
			w.screen = append(w.screen, more...)
		case <-late:
			w.t.Fatalf("no %q within %s:\n%s", pattern, patience, w.whole.String())
		}
	}
}

func (w *terminal) send(text string) {
	w.t.Helper()
	if _, err := w.tty.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
}

// hangUp closes the terminal, as a user does who closes the window.
func (w *terminal) hangUp() {
	if err := w.tty.Close(); err != nil {
		w.t.Fatal(err)
	}
}

// ends waits for the end of the program and checks its exit code.
func (w *terminal) ends(code int) {
	w.t.Helper()
	late := time.AfterFunc(patience, func() { _ = w.cmd.Process.Kill() })
	for more := range w.output {
		w.whole.Write(more)
	}
	err := w.cmd.Wait()
	late.Stop()
	if got := w.cmd.ProcessState.ExitCode(); got != code {
		w.t.Errorf("exit code %d (%v), want %d:\n%s", got, err, code, w.whole.String())
	}
	if strings.Contains(w.whole.String(), "<nil>") {
		w.t.Errorf("an error that is none was shown:\n%s", w.whole.String())
	}
}

// TestTheEndOfATerminalEndsTheProgramInOrder is cases Terminal 6 and
// Processes 2: wherever the program waits, the log is closed first.
func TestTheEndOfATerminalEndsTheProgramInOrder(t *testing.T) {
	look := `{"type": "tool_use", "name": "glob", "input": {"pattern": "*"}}`
	places := map[string]struct {
		script, waits, log string
		rule               string
	}{
		"idle": {
			script: `{"turns": [{"blocks": [{"type": "text", "text": "Hello."}]}]}`,
			waits:  `(?s)Hello\..*— 1 call ·.*› `, log: "task.completed",
		},
		"an answer arrives": {
			script: `{"turns": [{"stall_after_events": 4, "blocks": [{"type": "text", "text": "Hello."}]}]}`,
			waits:  `Hello\.`, log: "model.request-started",
		},
		"a command runs": {
			script: `{"turns": [{"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": "sleep 600"}}]}]}`,
			rule:   "process.execute(sleep *)", log: "tool.cancelled .*shutdown",
		},
		"a permission is asked for": {
			script: `{"turns": [{"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": "touch made"}}]}]}`,
			waits:  `(?s)Allow this\?.*touch made.*\? `, log: "tool.cancelled .*shutdown",
		},
		"the model asks": {
			script: `{"turns": [{"blocks": [{"type": "tool_use", "name": "ask_user", "input": {"question": "Which colour?"}}]}]}`,
			waits:  `(?s)Which colour\?.*\? `, log: "tool.cancelled .*shutdown",
		},
		"a doom loop is asked about": {
			script: `{"turns": [{"blocks": [` + look + `]}, {"blocks": [` + look + `]}, {"blocks": [` + look + `]}]}`,
			waits:  `(?s)Go on\?.*\? `, log: "user.question-asked",
		},
	}
	ways := map[string]func(*terminal){
		"SIGTERM":           func(w *terminal) { _ = w.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":            func(w *terminal) { _ = w.cmd.Process.Signal(syscall.SIGHUP) },
		"a closed terminal": (*terminal).hangUp,
	}
	for name, at := range places {
		for way, end := range ways {
			t.Run(name+", "+way, func(t *testing.T) {
				p := newPlace(t, at.script)
				args := []string{"begin"}
				if at.rule != "" {
					args = append(args, "--allow", at.rule)
				}
				w := p.start(args...)
				if at.waits != "" {
					w.expect(at.waits)
				} else {
					p.awaitFact("tool.started")
				}
				end(w)
				w.ends(143)
				if out := p.says("sessions", "check", "newest"); !strings.HasSuffix(out, " ok\n") || strings.Contains(out, "note:") {
					t.Errorf("the log: %s", out)
				}
				if out := p.says("sessions", "replay", "newest"); !regexp.MustCompile(at.log).MatchString(out) {
					t.Errorf("no %s in\n%s", at.log, out)
				}
				p.wantClosed()
			})
		}
	}
}

func TestCtrlCAtAQuestionRefusesAndStaysInTheSession(t *testing.T) {
	p := newPlace(t, `{"turns": [
		{"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": "touch made"}}]},
		{"expect": ["Cancelled: the user interrupted", "and now"], "blocks": [{"type": "text", "text": "I am here."}]}
	]}`)
	w := p.start("begin")
	w.expect(`(?s)Allow this\?.*touch made.*\? `)
	w.send("\x03")
	w.expect(`(?s)interrupted.*› `)
	w.send("and now\r")
	w.expect(`(?s)I am here\..*› `)
	w.send("\x03")
	w.expect(`(?s)Ctrl-C again leaves.*› `)
	w.send("/exit\r")
	w.expect(`continue with: khaelor -r 0`)
	w.ends(0)
	if _, err := os.Stat(filepath.Join(p.repo, "made")); err == nil {
		t.Error("the command ran")
	}
}

func TestTwoCtrlCAndAnEndOfInputLeave(t *testing.T) {
	for _, keys := range []string{"\x03\x03", "\x04"} {
		p := newPlace(t, `{"turns": [{"repeat": -1, "blocks": [{"type": "text", "text": "Hello."}]}]}`)
		w := p.start()
		w.expect(`› `)
		for i := range keys {
			w.send(keys[i : i+1])
			if i+1 < len(keys) {
				w.expect(`(?s)Ctrl-C again leaves.*› `)
			}
		}
		w.ends(0)
	}
}

// TestAQuestionFromBeforeACrashStandsInNobodysWay answers the question that is
// asked again, not the one that nobody waits for.
func TestAQuestionFromBeforeACrashStandsInNobodysWay(t *testing.T) {
	p := newPlace(t, `{"turns": [{"repeat": 3, "blocks": [{"type": "tool_use", "name": "glob", "input": {"pattern": "*"}}]}]}`)
	w := p.start("begin")
	w.expect(`(?s)Go on\?.*\? `)
	if err := w.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	w.ends(-1)
	w = p.start("-c")
	w.expect(`(?s)unfinished; /continue.*› `)
	w.send("/continue\r")
	w.expect(`(?s)Go on\?.*\? `)
	w.send("stop\r")
	w.expect(`(?s)stopped by the user.*› `)
	w.send("\x04")
	w.ends(0)
}

func TestAModeBeforeTheFirstMessageIsCheckedAndHolds(t *testing.T) {
	p := newPlace(t, `{"turns": [
		{"blocks": [{"type": "tool_use", "name": "write", "input": {"path": "made.md", "content": "x\n"}}]},
		{"blocks": [{"type": "text", "text": "Written."}]}
	]}`)
	w := p.start()
	w.expect(`› `)
	w.send("/mode anything\r")
	w.expect(`(?s)/mode.*accept-edits.*› `)
	w.send("/mode acceptEdits\r")
	w.expect(`(?s)mode: accept-edits.*› `)
	w.send("begin\r")
	w.expect(`(?s)Written\..*› `)
	w.send("/exit\r")
	w.ends(0)
}

// TestWhatWasTypedBeforeAQuestionDoesNotAnswerIt types ahead, at the first
// question, a line and half a line that would allow the second.
func TestWhatWasTypedBeforeAQuestionDoesNotAnswerIt(t *testing.T) {
	p := newPlace(t, `{"turns": [
		{"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": "touch one"}}]},
		{"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": "touch two"}}]},
		{"expect": ["not that one"], "blocks": [{"type": "text", "text": "Very well."}]}
	]}`)
	w := p.start("begin")
	w.expect(`(?s)Allow this\?.*touch one.*\? `)
	w.send("YES\ry\ry")
	w.expect(`(?s)Allow this\?.*touch two.*\n\? `)
	w.send("\r")
	w.expect(`(?s)Allow this\?.*touch two.*\n\? `)
	w.send("not that one\r")
	w.expect(`(?s)Very well\..*› `)
	w.send("/exit\r")
	w.ends(0)
	for name, want := range map[string]bool{"one": true, "two": false} {
		if _, err := os.Stat(filepath.Join(p.repo, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAPermissionQuestionExplainsItselfAndLetsCommandsThrough(t *testing.T) {
	p := newPlace(t, `{"turns": [
		{"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": "touch one"}}]},
		{"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": "touch one"}}]},
		{"blocks": [{"type": "text", "text": "Twice."}]}
	]}`)
	w := p.start("begin")
	question := `(?s)Allow this\?.*touch one.*\n\? `
	w.expect(question)
	w.send("?\r")
	w.expect(`(?s)until the session ends`)
	w.expect(question)
	w.send("/mode\r")
	w.expect(`mode: default`)
	w.expect(question)
	w.send("/nothing of this\r")
	w.expect(`There is no /nothing`)
	w.expect(question)
	w.send("session\r")
	w.expect(`(?s)Twice\..*› `)
	w.send("/exit\r")
	w.ends(0)
}

func TestCommandsWorkWhileATaskRuns(t *testing.T) {
	p := newPlace(t, `{"turns": [{"stall_after_events": 4, "blocks": [{"type": "text", "text": "Hello."}]}]}`)
	w := p.start("begin")
	w.expect(`Hello\.`)
	w.send("use tabs\r")
	w.expect(`\(queued; the model gets it at the next step\)`)
	for _, c := range [][2]string{
		{"/COST", `cost (unknown|\$)`},
		{"/mode plan", `mode: plan`},
		{"/rename Tabs  here", `title: Tabs  here`},
		{"/continue", `being worked on`},
		{"/usgae", `(?s)There is no /usgae.*nearest commands are /usage, `},
		{"/mod", `nearest commands are /model, /mode, `},
		{"/tmp/notes is the file", `\(queued; the model gets it at the next step\)`},
	} {
		w.send(c[0] + "\r")
		w.expect(c[1])
	}
	w.send("/exit\r")
	w.expect(`continue with: khaelor -r 0`)
	w.ends(0)
	if out := p.says("sessions", "replay", "newest"); strings.Count(out, "user.steering-queued") != 2 {
		t.Errorf("not two words for the model:\n%s", out)
	}
	p.wantClosed()
}

func TestCtrlCClearsADraftAndALineEndsTheWarning(t *testing.T) {
	p := newPlace(t, `{"turns": [{"expect": ["kept"], "blocks": [{"type": "text", "text": "Hello."}]}]}`)
	w := p.start()
	w.expect(`› `)
	w.send("a draft\x03")
	w.expect(`(?s)Ctrl-C again leaves.*› `)
	w.send("kept\r")
	w.expect(`(?s)Hello\..*› `)
	w.send("\x03")
	w.expect(`(?s)Ctrl-C again leaves.*› `)
	w.send("\r")
	w.expect(`› `)
	w.send("\x03")
	w.expect(`(?s)Ctrl-C again leaves.*› `)
	w.send("\x03")
	w.ends(0)
	if out := p.says("sessions", "show", "newest"); strings.Contains(out, "draft") {
		t.Errorf("the draft was sent:\n%s", out)
	}
}

// TestTheUserAnswersTheModelAndSeesItsTaskList walks through one question of
// each kind.
func TestTheUserAnswersTheModelAndSeesItsTaskList(t *testing.T) {
	p := newPlace(t, `{"turns": [
		{"blocks": [
			{"type": "tool_use", "name": "todo", "input": {"items": [{"text": "ask", "status": "active"}, {"text": "build", "status": "pending"}]}},
			{"type": "tool_use", "name": "ask_user", "input": {"question": "Which colour?", "options": ["red", "green", "blue"]}}
		]},
		{"expect": ["0 of 2 done", "green"], "blocks": [
			{"type": "tool_use", "name": "ask_user", "input": {"question": "Which parts?", "options": ["roof", "door", "wall"], "multiple": true}}
		]},
		{"expect": ["wall\\nroof"], "blocks": [
			{"type": "tool_use", "name": "ask_user", "input": {"question": "What name?"}}
		]},
		{"expect": ["call it Ada"], "blocks": [
			{"type": "tool_use", "name": "todo", "input": {"items": [{"text": "ask", "status": "done"}, {"text": "build", "status": "active"}]}}
		]},
		{"blocks": [{"type": "text", "text": "It is built."}]}
	]}`)
	w := p.start("build it")
	w.expect(`(?s)\[>\] ask.*\[ \] build.*Which colour\?.*1  red.*2  green.*3  blue.*a number, or words.*\? `)
	w.send("2\r")
	w.expect(`(?s)Which parts\?.*3  wall.*numbers such as 1,3.*\? `)
	w.send("3,1\r")
	w.expect(`(?s)What name\?.*\? `)
	w.send("call it Ada\r")
	w.expect(`(?s)\[x\] ask.*\[>\] build.*1 of 2 done.*It is built\..*› `)
	w.send("/exit\r")
	w.ends(0)
	if out := p.says("sessions", "check", "newest"); !strings.HasSuffix(out, " ok\n") {
		t.Errorf("check: %s", out)
	}
}

// TestCtrlCAtAQuestionOfTheModelEndsItsCall is the same for a question as for a
// permission, and the question is not asked again.
func TestCtrlCAtAQuestionOfTheModelEndsItsCall(t *testing.T) {
	p := newPlace(t, `{"turns": [
		{"blocks": [{"type": "tool_use", "name": "ask_user", "input": {"question": "Which colour?"}}]},
		{"expect": ["Cancelled: the user interrupted", "any colour"], "blocks": [{"type": "text", "text": "I take red."}]}
	]}`)
	w := p.start("begin")
	w.expect(`(?s)Which colour\?.*\? `)
	w.send("\x03")
	w.expect(`(?s)interrupted.*› `)
	w.send("any colour\r")
	w.expect(`(?s)I take red\..*› `)
	w.send("/exit\r")
	w.ends(0)
}
