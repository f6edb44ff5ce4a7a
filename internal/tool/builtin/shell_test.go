package builtin

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/event"
)

// Bash 14: nothing persists, and a result says so when the next call would
// surprise.
func TestWhatDoesNotLastIsSaid(t *testing.T) {
	p := newProject(t, map[string]string{"sub/deep/f": "", "other/f": "", "env.sh": "export A=1\n"})
	must(t, os.Symlink("sub", filepath.Join(p.dir, "link")))
	const moved, both = "cd lasts for this call only", "cd and variables last for this call only"
	const set, settings, bothSettings = "variables last for this call only", "shell settings last for this call only", "cd and shell settings last for this call only"
	for line, want := range map[string]string{
		"cd sub": moved, "cd sub && ls": moved, "cd sub; cd deep": moved, "cd sub || exit 1": moved, "cd /": moved, "cd": moved, "cd ~": moved,
		"cd link": moved, "pushd sub >/dev/null": moved, "{ cd sub; }": moved, "cd -- sub": moved, "cd -P sub": moved, "cd 'sub'": moved,
		`cd "$PWD/sub"`: moved, "cd sub\nmake 2>/dev/null; true": moved, "cd sub && cd - >/dev/null && cd other": moved,
		"cd .": "", "cd sub && cd ..": "", "cd sub; cd - >/dev/null": "", "cd " + p.dir + " && echo hi": "", "cd " + p.dir + "/": "", "cd '" + p.dir + "'": "",
		"(cd sub)": "", "(cd sub && ls)": "", "cd sub | cat": "", "echo x | cd sub": "", "cd sub &": "", "f() { cd sub; }": "", "echo cd sub": "",
		"pushd sub >/dev/null; popd >/dev/null": "", "cd link/..": "", "$(echo cd sub)": "", "for d in sub; do (cd $d); done": "", "git -C sub version >/dev/null": "",
		"export A=1": set, "A=1": set, "export A=1 B=2; declare -x C": set, "unset A": set,
		"source env.sh": settings, ". ./env.sh": settings, "set -e": settings, "alias x=y": settings, "umask 077": settings, "A=1; alias x=y; B=2": settings,
		"cd nope; pwd": "", "cd nope": "", "cd env.sh": "", "cd nope; cd sub": moved, "cd sub; cd nope; true": moved, "cd sub && cd nope; cd ..": "", "pushd nope; popd": "", "cd /nope": "",
		"export A=1; echo $A": "", "A=1 true": "", "set -e; true": "", "source env.sh && echo $A": "", "echo hi": "",
		"cd sub; export A=1": both, "source env.sh && cd sub": bothSettings, "cd sub; A=1 true": moved,
		"cd 'unterminated": "", // bash says what is wrong
	} {
		file := parseLine(line)
		if got := unkept(p.ws, file, p.dir); got != want {
			t.Errorf("%s: %q, not %q", line, got, want)
		}
		if want != "" {
			r := p.bash(line)
			if !strings.HasSuffix(r.Text, "["+want+"]") || strings.Count(r.Text, "this call only") != 1 {
				t.Errorf("%s: the result is %q", line, r.Text)
			}
		}
	}
	equal(t, p.bash("pwd; echo [$A]").Text, p.dir+"\n[]\n")
	sub := filepath.Join(p.dir, "sub")
	equal(t, p.done(bash(t.Context(), p.env, bashInput{Command: "cd " + sub + " && pwd", Cwd: "sub"})).Text, sub+"\n")
	equal(t, p.done(bash(t.Context(), p.env, bashInput{Command: "cd .. && pwd", Cwd: "link"})).Text, p.dir+"\n["+moved+"]")
	equal(t, p.bash("cd sub; false").Text, "[exit code 1; "+moved+"]")
}

// Bash 2: there is no input, for whoever wants some.
func TestTheInputIsEmpty(t *testing.T) {
	p := newProject(t, nil)
	begun := time.Now()
	for line, want := range map[string]string{
		"cat": "", "read x; echo got:$x": "got:\n", "cat -; cat /dev/stdin": "", "while read l; do echo $l; done; echo over": "over\n",
		"python3 -c 'input()' 2>&1 | tail -1": "EOFError: EOF when reading a line\n", "wc -c": "0\n", "read x </dev/tty || echo none": "none\n",
	} {
		r := p.bash(line)
		if !strings.HasSuffix(r.Text, want) {
			t.Errorf("%s: %q", line, r.Text)
		}
	}
	if took := time.Since(begun); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

// Bash 12 and 13. The rule: the exit code is the shell's own. Of a pipe that is
// its last member's, unless the line says pipefail or shows PIPESTATUS; so a
// result without a note says nothing of success. SIGPIPE is no failure.
func TestTheExitCodeIsTheShells(t *testing.T) {
	p := newProject(t, map[string]string{"notexec": "x", "f": ""})
	for line, want := range map[string]struct {
		exit int
		text string
	}{
		`sh -c "echo FAIL; exit 3" | tail -1`:                  {0, "FAIL\n"},
		`set -o pipefail; sh -c "echo FAIL; exit 3" | tail -1`: {3, "FAIL\n[exit code 3]"},
		`sh -c "exit 3" | cat; echo ${PIPESTATUS[0]}`:          {0, "3\n"},
		"yes | head -1":               {0, "y\n"},
		"grep nothing f; echo ok":     {0, "ok\n"},
		"grep nothing f":              {1, "[exit code 1]"},
		"kill -9 $$":                  {137, "[killed by SIGKILL, exit code 137]"},
		"kill -TERM $$; sleep 5":      {143, "[killed by SIGTERM, exit code 143]"},
		"sh -c 'kill -9 $$'; exit $?": {137, "[exit code 137]"},
		"exit 300":                    {44, "[exit code 44]"},
		"exit -1":                     {255, "[exit code 255]"},
		"nosuchcmd 2>/dev/null":       {127, "[exit code 127]"},
		"./notexec 2>/dev/null":       {126, "[exit code 126]"},
		"./gone 2>/dev/null":          {127, "[exit code 127]"},
		"false || true":               {0, ""},
		"(exit 7)":                    {7, "[exit code 7]"},
		"true":                        {0, ""},
	} {
		r := p.bash(line)
		if *r.UI.ExitCode != want.exit || !strings.HasSuffix(r.Text, want.text) || strings.Contains(strings.ToLower(r.Text+r.UI.Summary), "succe") {
			t.Errorf("%s: %d, %q, %q", line, *r.UI.ExitCode, r.Text, r.UI.Summary)
		}
	}
}

// Bash 1: whoever is left in the background holds nobody, and is named; later
// calls work.
func TestEveryChildLeftBehindIsNamed(t *testing.T) {
	p := newProject(t, nil)
	for n, line := range []string{
		"sleep 300 & echo done", "(while true; do echo x; sleep 1; done) & echo done", "sleep 300 </dev/null >/dev/null & echo done",
		"nohup sleep 300 >/dev/null 2>&1 & echo done", "setsid sleep 300 </dev/null >/dev/null 2>&1 & echo done", "(setsid sh -c 'sleep 300 &' &) ; echo done; sleep 0.3",
	} {
		begun := time.Now()
		r := p.bash(line)
		id := "p" + string(rune('1'+n))
		if !strings.Contains(r.Text, "done\n") || !strings.HasSuffix(r.Text, "[a child still runs, in the background as process "+id+"]") || *r.UI.ExitCode != 0 {
			t.Errorf("%s: %q", line, r.Text)
		}
		if took := time.Since(begun); took > 15*time.Second {
			t.Errorf("%s: %s", line, took)
		}
		equal(t, p.bash("echo later").Text, "later\n")
		equal(t, p.process(processInput{Action: "stop", ID: id}), id+" stopped")
	}
}

// Who loses even his mark holds nobody either.
func TestAStrangerWhoHoldsTheOutputHoldsNobody(t *testing.T) {
	p := newProject(t, nil)
	equal(t, p.bash("env -i setsid sh -c 'echo $$ >pid; exec sleep 300' & until [ -s pid ]; do :; done; echo done").Text, "done\n")
	pid, err := strconv.Atoi(strings.TrimSpace(p.content("pid")))
	must(t, err, syscall.Kill(pid, syscall.SIGKILL))
}

// Bash 9, second half: a git worktree that is removed is a folder that is gone.
func TestARemovedWorktreeHarmsOneCallOnly(t *testing.T) {
	p := newProject(t, nil)
	p.bash("git init -q && git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m one && git worktree add -q w")
	equal(t, p.done(bash(t.Context(), p.env, bashInput{Command: "git worktree remove --force ../w", Cwd: "w"})).Text, "")
	_, err := bash(t.Context(), p.env, bashInput{Command: "echo hi", Cwd: "w"})
	p.refused(err, event.ToolNotFound, "there is no folder", "/w", "Nothing was run")
	equal(t, p.bash("echo hi; git worktree list | wc -l").Text, "hi\n1\n")
}

// Bash 15.
func TestManyCommandsLeaveNoZombies(t *testing.T) {
	p := newProject(t, nil)
	for range 200 {
		p.bash("true &")
	}
	must(t, p.env.Processes.StopAll(t.Context()))
	var status syscall.WaitStatus
	if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); err != syscall.ECHILD && pid != 0 {
		t.Errorf("child %d was not waited for (%v)", pid, err)
	}
}

func TestBackgroundProcessesMayHaveATerminal(t *testing.T) {
	p := newProject(t, nil)
	line := `python3 -c 'import sys, os; print(sys.stdin.isatty(), sys.stdout.isatty(), os.get_terminal_size(), os.environ["TERM"]); print("got", input("name? "))'`
	p.process(processInput{Action: "start", Command: line})
	p.env.Limits.ProcessTTY = true
	p.process(processInput{Action: "start", Command: line})
	p.waitFor("p2", "True True os.terminal_size(columns=120, lines=40) dumb\nname? \n[p2 running; next offset 62]")
	equal(t, p.process(processInput{Action: "write", ID: "p2", Input: "it\n"}), "wrote 3 bytes to p2")
	p.waitFor("p2", "got it\n")
	p.process(processInput{Action: "start", Command: "stty -a | head -1; sleep 300 & read x </dev/tty; echo $x; sleep 300"})
	p.waitFor("p3", "speed 38400 baud; rows 40; columns 120; line = 0;\n[")
	p.process(processInput{Action: "write", ID: "p3", Input: "from the terminal\n"})
	p.waitFor("p3", "from the terminal\n[")
	equal(t, p.process(processInput{Action: "stop", ID: "p3"}), "p3 stopped")
	p.waitForEnd("p1")
	if got := p.process(processInput{Action: "read", ID: "p1"}); !strings.HasPrefix(got, "False False") && !strings.Contains(got, "OSError") {
		t.Errorf("without a terminal: %q", got)
	}
}
