package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/workspace"
)

func TestBashGivesOutputAndExitCode(t *testing.T) {
	p := newProject(t, map[string]string{"sub/f": "", "notexec": "x"})
	tests := map[string]struct {
		command, want string
		exit          int
	}{
		"output":          {"echo hi", "hi\n", 0},
		"nothing":         {"true", "", 0},
		"both streams":    {"echo out; echo err >&2; echo out", "out\nerr\nout\n", 0},
		"exit code":       {"echo no; exit 3", "no\n[exit code 3]", 3},
		"no line feed":    {"printf x; false", "x\n[exit code 1]", 1},
		"large exit code": {"exit 300", "[exit code 44]", 44},
		"signal":          {"kill -9 $$", "[killed by SIGKILL, exit code 137]", 137},
		"pipe":            {`sh -c "echo FAIL; exit 3" | tail -1`, "FAIL\n", 0},
		"no reader":       {"yes | head -1", "y\n", 0},
		"input is empty":  {"cat; read x; echo got:$x", "got:\n", 0},
		"colours":         {`printf "\033[31mred\033[0m\n\033]0;title\007"`, "red\n", 0},
		"progress":        {`for i in $(seq 500); do printf "\r%d%%" $i; done`, "500%", 0},
		"invalid UTF-8":   {`printf 'a\xff\xfeb'`, "a\uFFFD\uFFFDb", 0},
		"NUL":             {`printf 'a\0b'`, "a␀b", 0},
		"no persistence":  {"cd sub; export A=1", "[cd and variables last for this call only]", 0},
		"afterwards":      {"basename $PWD; echo [$A]", filepath.Base(p.dir) + "\n[]\n", 0},
	}
	for _, name := range []string{"no persistence"} {
		p.bash(tests[name].command)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := p.bash(tt.command)
			equal(t, r.Text, tt.want)
			if *r.UI.ExitCode != tt.exit {
				t.Errorf("the exit code is %d, want %d", *r.UI.ExitCode, tt.exit)
			}
		})
	}
	for command, exit := range map[string]int{"nosuchcmd": 127, "./notexec": 126} {
		if r := p.bash(command); *r.UI.ExitCode != exit || !strings.Contains(r.Text, strings.TrimPrefix(command, "./")+": ") {
			t.Errorf("got %q", r.Text)
		}
	}
	equal(t, p.bash("echo one\necho two").UI.Summary, "$ echo one … · exit 0")
}

// Bash 10: the output and the exit code are those of the text given to bash by hand.
func TestBashRunsTheTextItWasGiven(t *testing.T) {
	p := newProject(t, nil)
	commands := strings.Split(shared(t, "cases", "files", "shell_commands.txt"), "\n----\n")
	commands = append(commands, "echo '!!' | cat -A; exit 7", "printf '%s\\n' \\\\ '\\' \"\\\\\" $'\\x41'", "cat <<-'E'\n\ta\\b $x\n\tE\necho >&2 err", "echo a >f; cat f 2>&1\n# a comment\n", "{ echo x; }>g;cat<g")
	for _, command := range commands {
		byHand := exec.Command("bash", "-c", command)
		byHand.Dir = p.dir
		want, _ := byHand.CombinedOutput() // the exit code is compared
		text, exit := string(want), byHand.ProcessState.ExitCode()
		if exit != 0 {
			text += fmt.Sprintf("[exit code %d]", exit)
		}
		r := p.bash(command)
		if r.Text != text || *r.UI.ExitCode != exit {
			t.Errorf("%s\ngot  %q, %d\nwant %q, %d", command, r.Text, *r.UI.ExitCode, text, exit)
		}
	}
}

func TestBashShowsOutputAsItComes(t *testing.T) {
	p := newProject(t, nil)
	p.bash(`printf '\033[1mbo'; printf 'ld\033[0m\n'`)
	equal(t, p.output.String(), "bold\n")
}

// Bash 3: the text of the result; workspace tests the families.
func TestATimeoutEndsTheWholeFamily(t *testing.T) {
	p := newProject(t, nil)
	_, err := bash(t.Context(), p.env, bashInput{
		Command: `echo before; sh -c "sleep 300 & echo \$! > child; sleep 300"`, TimeoutMS: 300,
	})
	p.refused(err, event.ToolTimeout, "before", "300")
	gone(t, p.content("child"))
}

func TestATimeoutWithoutOutputSaysSo(t *testing.T) {
	p := newProject(t, nil)
	_, err := bash(t.Context(), p.env, bashInput{Command: "sleep 300", TimeoutMS: 100})
	p.refused(err, event.ToolTimeout, "Stopped with all its children after timeout_ms, 100. There was no output.")
	if strings.Contains(err.Error(), "until then") {
		t.Errorf("got %v", err)
	}
}

// gone checks that a process does not live.
func gone(t *testing.T, pid string) {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strings.TrimSpace(pid) + "/stat")
	if err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("process %s lives: %s", pid, stat)
	}
}

func TestAnInterruptEndsTheCommand(t *testing.T) {
	p := newProject(t, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	p.env.Output = func(string) { cancel(tool.ErrInterrupted) }
	r, err := bash(ctx, p.env, bashInput{Command: "echo $$; sleep 300"})
	if !errors.Is(err, tool.ErrInterrupted) {
		t.Errorf("got %v", err)
	}
	gone(t, r.Text)
}

func TestALongCommandGoesOnInTheBackground(t *testing.T) {
	p := newProject(t, nil)
	p.env.Limits.BashTimeoutMS = 100
	r := p.bash("echo begun; read -t 300 < <(sleep 300); echo never")
	equal(t, r.Text, "begun\n[still running, now in the background as process p1]")
	if r.UI.ExitCode != nil {
		t.Errorf("it has no exit code yet, but %d", *r.UI.ExitCode)
	}
	equal(t, p.process(processInput{Action: "stop", ID: "p1"}), "p1 stopped")
}

func TestTheUserSendsACommandToTheBackground(t *testing.T) {
	p := newProject(t, nil)
	background := make(chan struct{})
	p.env.Background = background
	p.env.Output = func(string) { close(background) }
	if r := p.bash("echo begun; sleep 300"); !strings.Contains(r.Text, "process p1") {
		t.Errorf("got %q", r.Text)
	}
}

func TestAChildLeftBehindIsKept(t *testing.T) {
	p := newProject(t, nil)
	for n, command := range []string{
		"sleep 300 & echo done", "sleep 300 </dev/null >/dev/null 2>&1 & echo done",
	} {
		r := p.bash(command)
		equal(t, r.Text, fmt.Sprintf("done\n[a child still runs, in the background as process p%d]", n+1))
		if *r.UI.ExitCode != 0 {
			t.Errorf("the exit code is %d", *r.UI.ExitCode)
		}
	}
}

func TestBashRefusesWhatCannotRun(t *testing.T) {
	p := newProject(t, map[string]string{"f": "", "w/x": ""})
	tests := map[string]struct {
		in   bashInput
		kind event.ToolErrorKind
		says string
	}{
		"nothing":       {bashInput{Command: " \n"}, event.ToolInvalidInput, "missing"},
		"NUL":           {bashInput{Command: "echo \x00"}, event.ToolInvalidInput, "NUL"},
		"too long":      {bashInput{Command: "x", TimeoutMS: 600_001}, event.ToolInvalidInput, "600000"},
		"negative":      {bashInput{Command: "x", TimeoutMS: -1}, event.ToolInvalidInput, "background"},
		"no folder":     {bashInput{Command: "x", Cwd: "gone"}, event.ToolNotFound, "gone"},
		"no such place": {bashInput{Command: "x", Cwd: "f"}, event.ToolInvalidInput, "not a folder"},
		"endless":       {bashInput{Command: ": " + strings.Repeat("x", 3<<20)}, event.ToolInvalidInput, "longer than the system takes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := bash(t.Context(), p.env, tt.in)
			p.refused(err, tt.kind, tt.says)
		})
	}
}

func TestAFolderThatMayNotBeEnteredIsNamed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may enter every folder")
	}
	p := newProject(t, map[string]string{"closed/f": ""})
	must(t, os.Chmod(filepath.Join(p.dir, "closed"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(p.dir, "closed"), 0o700) }) // to be removed
	_, err := bash(t.Context(), p.env, bashInput{Command: "true", Cwd: "closed"})
	p.refused(err, event.ToolExecError, "could not be started: run in", "/closed: permission denied")
	equal(t, p.bash("echo hi").Text, "hi\n")
}

func TestAFolderThatIsGoneHarmsOneCallOnly(t *testing.T) {
	p := newProject(t, map[string]string{"w/x": ""})
	r := p.done(bash(t.Context(), p.env, bashInput{Command: "basename $PWD; rm -rf ../w", Cwd: "w"}))
	equal(t, r.Text, "w\n")
	_, err := bash(t.Context(), p.env, bashInput{Command: "echo hi", Cwd: "w"})
	p.refused(err, event.ToolNotFound, "w")
	equal(t, p.bash("echo hi").Text, "hi\n")
}

func TestCommandsSeeNoSecrets(t *testing.T) {
	p := newProject(t, nil, workspace.WithEnviron([]string{
		"ANTHROPIC_API_KEY=sk-test-123", "FOO_TOKEN=xyzzy-789", "AWS_SECRET_ACCESS_KEY=hush-456", "PATH=" + os.Getenv("PATH"), "LANG=C",
	}))
	text := p.bash("env").Text
	for _, secret := range []string{"sk-test-123", "xyzzy-789", "hush-456"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s is in %s", secret, text)
		}
	}
	if !strings.Contains(text, "LANG=C") {
		t.Errorf("the rest is missing: %s", text)
	}
}

func TestACommandNeedsItsWordsAndItsFolder(t *testing.T) {
	p := newProject(t, map[string]string{"sub/f": ""})
	need, err := commandNeed(p.env, "ls", "sub")
	must(t, err)
	if need.Command != "ls" || need.Cwd != filepath.Join(p.dir, "sub") || len(need.Capabilities) != 1 {
		t.Errorf("got %+v", need)
	}
	need, err = commandNeed(p.env, "ls", "/")
	must(t, err)
	equal(t, strings.Join(need.Capabilities, " "), tool.ProcessExecute+" "+tool.OutsideProject)
}

func (p *project) process(in processInput) string {
	p.Helper()
	return p.done(runProcess(p.Context(), p.env, in)).Text
}

func TestAProcessIsStartedReadWrittenAndStopped(t *testing.T) {
	p := newProject(t, nil)
	if got := p.process(processInput{Action: "list"}); got != "no processes" {
		t.Errorf("got %q", got)
	}
	if got := p.process(processInput{Action: "start", Command: "echo ready; while read x; do echo got $x; done; echo over"}); !strings.HasPrefix(got, "started p1 (pid ") {
		t.Errorf("got %q", got)
	}
	p.waitFor("p1", "ready\n[p1 running; next offset 6]")
	equal(t, p.process(processInput{Action: "read", ID: "p1"}), "(nothing new)\n[p1 running; next offset 6]")
	equal(t, p.process(processInput{Action: "write", ID: "p1", Input: "a b\n"}), "wrote 4 bytes to p1")
	p.waitFor("p1", "got a b\n[p1 running; next offset 14]")
	zero := int64(0)
	equal(t, p.process(processInput{Action: "read", ID: "p1", Offset: &zero}), "ready\ngot a b\n[p1 running; next offset 14]")
	if got := p.process(processInput{Action: "list"}); !strings.HasPrefix(got, "p1 running, 14 bytes printed: echo ready;") {
		t.Errorf("got %q", got)
	}
	equal(t, p.process(processInput{Action: "stop", ID: "p1"}), "p1 stopped")
	beyond := int64(99)
	equal(t, p.process(processInput{Action: "read", ID: "p1", Offset: &beyond}), "(nothing new)\n[p1 stopped; next offset 14]")
}

// waitFor reads until there is something new.
func (p *project) waitFor(id, want string) {
	p.Helper()
	for range 500 {
		if got := p.process(processInput{Action: "read", ID: id}); !strings.HasPrefix(got, "(nothing new)") {
			if !strings.HasPrefix(got, want) {
				p.Errorf("got  %q\nwant %q", got, want)
			}
			return
		}
		p.bash("sleep 0.01")
	}
	p.Errorf("process %s printed nothing", id)
}

func (p *project) waitForEnd(id string) {
	for {
		if info, err := p.env.Processes.Get(id); err != nil || info.Exited != nil {
			return
		}
		p.bash("sleep 0.01")
	}
}

func TestWritingToAProcessThatEndedSaysHow(t *testing.T) {
	p := newProject(t, nil)
	for n, c := range []struct{ line, how string }{
		{"sleep 300", "stopped"}, {"exit 3", "exited with code 3"}, {"kill -9 $$", "killed by a signal"},
	} {
		id := fmt.Sprintf("p%d", n+1)
		p.process(processInput{Action: "start", Command: c.line})
		if c.how == "stopped" {
			p.process(processInput{Action: "stop", ID: id})
		}
		p.waitForEnd(id)
		_, err := runProcess(t.Context(), p.env, processInput{Action: "write", ID: id, Input: "x\n"})
		p.refused(err, event.ToolExecError, id+" takes no input any more: "+c.how+".")
	}
}

func TestAProcessThatPrintsALotIsReadInPart(t *testing.T) {
	p := newProject(t, nil)
	p.process(processInput{Action: "start", Command: "yes | head -c 5000000"})
	p.waitForEnd("p1")
	got := p.process(processInput{Action: "read", ID: "p1"})
	if len(got) > tool.ResultLimit+300 || !strings.HasPrefix(got, "[4800000 bytes before this are no longer kept]\n") ||
		!strings.HasSuffix(got, "\n[p1 exited with code 0; next offset 5000000]") {
		t.Errorf("%d bytes: %.60q … %q", len(got), got, got[len(got)-60:])
	}
}

func TestProcessRefusesWhatItDoesNotKnow(t *testing.T) {
	p := newProject(t, nil)
	_, err := runProcess(t.Context(), p.env, processInput{Action: "read", ID: "p1"})
	p.refused(err, event.ToolNotFound, "no processes")
	p.process(processInput{Action: "start", Command: "sleep 300"})
	_, err = runProcess(t.Context(), p.env, processInput{Action: "stop", ID: "p2"})
	p.refused(err, event.ToolNotFound, "There are: p1")
	_, err = runProcess(t.Context(), p.env, processInput{Action: "kill"})
	p.refused(err, event.ToolInvalidInput, "start, list, read, write or stop")
	_, err = runProcess(t.Context(), p.env, processInput{Action: "start"})
	p.refused(err, event.ToolInvalidInput, "command")
	_, err = runProcess(t.Context(), p.env, processInput{Action: "write", ID: "p1"})
	p.refused(err, event.ToolInvalidInput, "input")
}

// The tool's own time is what a turn pays for a command that takes none.
func BenchmarkTools(b *testing.B) {
	p := newProject(b, map[string]string{"f": strings.Repeat("- item of the list\n", 200)})
	ctx := context.Background()
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			_, _ = read(ctx, p.env, readInput{Path: "f"})
		}
	})
	b.Run("grep", func(b *testing.B) {
		for b.Loop() {
			_, _ = grep(ctx, p.env, grepInput{Pattern: "item", Path: "f"})
		}
	})
	b.Run("glob", func(b *testing.B) {
		for b.Loop() {
			_, _ = glob(ctx, p.env, globInput{Pattern: "**/*.go"})
		}
	})
	b.Run("bash", func(b *testing.B) {
		for b.Loop() {
			_, _ = bash(ctx, p.env, bashInput{Command: "cat f"})
		}
	})
}
