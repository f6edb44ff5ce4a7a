package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/khaelor/khaelor/internal/workspace"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("HOLD_LOCK"); path != "" {
		holdLock(path)
		return
	}
	if os.Getenv("HIDE") != "" {
		hide()
		return
	}
	if os.Getenv("ORPHANS") != "" {
		orphans()
		return
	}
	goleak.VerifyTestMain(m)
}

// run fails the test when the command cannot be run to its end in 20 s: what
// hangs here would hang for minutes.
func run(t *testing.T, ws *workspace.Local, cmd workspace.Command) workspace.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r, err := ws.Exec(ctx, cmd)
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	return r
}

func start(t *testing.T, ws *workspace.Local, cmd workspace.Command) *workspace.Proc {
	t.Helper()
	p, err := workspace.Start(ws, cmd)
	must(t, err)
	t.Cleanup(p.Kill)
	return p
}

// pids reads the process ids that a command printed, one a line.
func pids(t *testing.T, output string) []int {
	t.Helper()
	var ids []int
	for line := range strings.Lines(output) {
		if id, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		t.Fatalf("no process id in %q", output)
	}
	return ids
}

// alive is false for what is dead or only waits to be reaped by its new parent.
func alive(id int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	if err != nil {
		return false
	}
	_, state, _ := bytes.Cut(stat, []byte(") "))
	return !bytes.HasPrefix(state, []byte("Z"))
}

func TestAChildLeftBehindDoesNotHoldTheCommand(t *testing.T) {
	t.Parallel()
	ws := open(t, t.TempDir())
	for _, line := range []string{
		"sleep 300 & echo $!; echo done",
		"(while true; do echo x; sleep 1; done) & echo $!; echo done",
		"sleep 300 </dev/null >/dev/null 2>&1 & echo $!; echo done",
		"timeout 300 sleep 300 & echo $!; echo done",
		"setsid sleep 300 & echo $!; echo done; sleep 0.2; exec sleep 0.1", // a daemon, found by its mark
		"setsid sleep 300 </dev/null >/dev/null 2>&1 & echo $!; echo done; sleep 0.2",
		"(setsid sh -c '(echo $$; exec sleep 300) &' &) >/dev/null; echo $$; echo done; sleep 0.2",
	} {
		r := run(t, ws, workspace.Command{Line: line})
		if r.ExitCode != 0 || !strings.Contains(r.Output.String(), "done\n") {
			t.Errorf("%s: exit code %d, output %q", line, r.ExitCode, r.Output.String())
		}
		if len(r.Left) == 0 {
			t.Errorf("%s: no child was noticed", line)
		}
		for _, id := range append(pids(t, r.Output.String()), r.Left...) {
			if alive(id) {
				t.Errorf("%s: %d lives on", line, id)
			}
		}
	}
}

func TestALeftChildLivesUntilTheProcIsKilled(t *testing.T) {
	ws := open(t, t.TempDir())
	var mu sync.Mutex
	var seen bytes.Buffer
	more := make(chan struct{}, 100)
	p := start(t, ws, workspace.Command{
		Line: "mkfifo go; (read x < go; echo late; sleep 300) & echo $!",
		OnOutput: func(_ workspace.Stream, chunk []byte) {
			mu.Lock()
			defer mu.Unlock()
			seen.Write(chunk)
			more <- struct{}{}
		},
	})
	r, err := p.Wait(context.Background())
	must(t, err)
	if len(r.Left) == 0 {
		t.Fatal("no child was noticed")
	}
	<-more
	must(t, os.WriteFile(filepath.Join(ws.Cwd(), "go"), []byte("\n"), 0))
	<-more
	mu.Lock()
	if !strings.HasSuffix(seen.String(), "late\n") {
		t.Errorf("after the exit came %q", seen.String())
	}
	mu.Unlock()
	select {
	case <-p.Gone():
		t.Error("gone, with a child alive")
	default:
	}
	p.Kill()
	for _, id := range r.Left {
		if alive(id) {
			t.Errorf("%d lives on", id)
		}
	}
}

func TestGoneFollowsTheLastChild(t *testing.T) {
	t.Parallel()
	ws := open(t, t.TempDir())
	p := start(t, ws, workspace.Command{Line: "sleep 1 >/dev/null 2>&1 & true", Timeout: 500 * time.Millisecond})
	r, err := p.Wait(context.Background())
	if err != nil || len(r.Left) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	<-p.Gone() // the time limit is the command's alone
	if p.Age() < 900*time.Millisecond {
		t.Errorf("the child was stopped after %s", p.Age())
	}
	if alive(r.Left[0]) {
		t.Error("the child lives on")
	}
}

func TestNothingWaitsForInput(t *testing.T) {
	ws := open(t, t.TempDir())
	for line, want := range map[string]string{
		"cat":                        "",
		"read x; echo got:$x":        "got:\n",
		"read x < /dev/tty; echo $?": "1\n",
		"tty":                        "not a tty\n",
		"read -r _ _ _ _ group session _ < /proc/$$/stat; echo $((group-$$)) $((session-$$))": "0 0\n",
		"git status 2>&1 | wc -l; cd": "1\n",
	} {
		r := run(t, ws, workspace.Command{Line: line, Timeout: 10 * time.Second})
		if r.TimedOut || !strings.HasSuffix(r.Output.String(), want) {
			t.Errorf("%s: %q, %+v", line, r.Output.String(), r)
		}
	}
}

// Bash 3. The first two lines are the case's; builtin tests what is said.
func TestATimeoutEndsTheFamily(t *testing.T) {
	t.Parallel()
	for _, line := range []string{ // each prints the ids of its family
		`echo $$; sh -c 'echo $$; sleep 300 & echo $!; sleep 300'`,
		`echo $$; mkfifo q; (while true; do echo c; sleep 1; done) > q & echo $!; cat q`,
		`echo $$; timeout 300 sh -c 'echo $$; sleep 300'`,
		`echo $$; set -m; sleep 300 & echo $!; sleep 300`,
		`echo $$; sleep 300 & echo $!; kill -STOP $!; wait`,
		`echo $$; setsid sh -c 'echo $$; sleep 300'; true`,
		`echo $$; sh -c 'setsid sh -c "echo \$\$; sleep 300; true"; true'; true`,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			ws := open(t, t.TempDir())
			r := run(t, ws, workspace.Command{Line: line, Timeout: time.Second})
			if !r.TimedOut || !r.Stopped || r.ExitCode < 128 {
				t.Errorf("%s: %+v", line, r)
			}
			for _, id := range pids(t, r.Output.String()) {
				if alive(id) {
					t.Errorf("%s: %d lives on", line, id)
				}
			}
		})
	}
}

func TestWhoIgnoresSIGTERMIsKilled(t *testing.T) {
	t.Parallel()
	ws := open(t, t.TempDir())
	r := run(t, ws, workspace.Command{Line: "trap '' TERM; echo $$; while true; do sleep 1; done", Timeout: 100 * time.Millisecond})
	if r.ExitCode != 137 || r.Signal != "SIGKILL" || r.Duration < workspace.Grace {
		t.Errorf("%+v", r)
	}
}

func TestATimeoutIsReportedWhenNobodyIsLeft(t *testing.T) {
	t.Parallel()
	ws := open(t, t.TempDir())
	for _, line := range []string{
		"(trap '' TERM; echo $BASHPID; while true; do sleep 1; done) & wait",
		`sh -c "setsid sh -c \"trap '' TERM; echo \\\$\\\$; while true; do sleep 1; done\"; true"; true`,
	} {
		p := start(t, ws, workspace.Command{Line: line, Timeout: 300 * time.Millisecond})
		r, err := p.Wait(context.Background())
		if err != nil || !r.TimedOut || len(r.Left) > 0 {
			t.Errorf("%s: %+v, %v", line, r, err)
		}
		for _, id := range pids(t, r.Output.String()) {
			if alive(id) {
				t.Errorf("%s: %d lives on", line, id)
			}
		}
	}
}

func TestASlowTakerMissesNothing(t *testing.T) {
	t.Parallel()
	ws := open(t, t.TempDir())
	slow := make(chan struct{})
	timer := time.AfterFunc(600*time.Millisecond, func() { close(slow) })
	defer timer.Stop()
	r := run(t, ws, workspace.Command{
		Line: "echo first; sleep 0.1; head -c 60000 /dev/zero", OnOutput: func(workspace.Stream, []byte) { <-slow },
	})
	if r.Output.Total != 60006 {
		t.Errorf("%d bytes came", r.Output.Total)
	}
}

func TestWhoEndsOnSIGTERMMayTidyUp(t *testing.T) {
	ws := open(t, t.TempDir())
	ready := make(chan struct{}, 10)
	p := start(t, ws, workspace.Command{
		Line:     "trap 'echo tidy; exit 7' TERM; echo ready; while true; do sleep 0.05; done",
		OnOutput: func(workspace.Stream, []byte) { ready <- struct{}{} },
	})
	<-ready
	p.Kill()
	r, err := p.Wait(context.Background())
	if err != nil || r.ExitCode != 7 || !strings.HasSuffix(r.Output.String(), "tidy\n") || !r.Stopped || r.TimedOut {
		t.Errorf("%+v %q, %v", r, r.Output.String(), err)
	}
}

func TestExitCodesAreTheShells(t *testing.T) {
	ws := open(t, t.TempDir())
	put(t, filepath.Join(ws.Cwd(), "notexec"), "x", 0o644)
	for line, want := range map[string]struct {
		code   int
		signal string
	}{
		"kill -9 $$":                     {137, "SIGKILL"},
		"nosuchcmd":                      {127, ""},
		"./notexec":                      {126, ""},
		"exit 300":                       {44, ""},
		"true":                           {0, ""},
		"sh -c 'exit 3' | tail -1":       {0, ""},
		"set -o pipefail; false | cat":   {1, ""},
		"yes | head -1":                  {0, ""},
		"kill -TERM $$; sleep 5; exit 2": {143, "SIGTERM"},
	} {
		r := run(t, ws, workspace.Command{Line: line})
		if r.ExitCode != want.code || r.Signal != want.signal {
			t.Errorf("%s: %d %q, not %v", line, r.ExitCode, r.Signal, want)
		}
	}
}

func TestLargeOutputIsCountedAndCut(t *testing.T) {
	ws := open(t, t.TempDir())
	var seen int64
	r := run(t, ws, workspace.Command{
		Line: "echo first; yes | head -c 20000000; echo last", MaxOutput: 1000,
		OnOutput: func(_ workspace.Stream, chunk []byte) { seen += int64(len(chunk)) },
	})
	if r.Output.Total != 20000011 || seen != r.Output.Total {
		t.Errorf("counted %d, saw %d", r.Output.Total, seen)
	}
	if len(r.Output.Head) != 500 || len(r.Output.Tail) != 500 || r.Output.Omitted() != r.Output.Total-1000 {
		t.Errorf("kept %d and %d", len(r.Output.Head), len(r.Output.Tail))
	}
	if !bytes.HasPrefix(r.Output.Head, []byte("first\n")) || !bytes.HasSuffix(r.Output.Tail, []byte("\nlast\n")) {
		t.Errorf("%q … %q", r.Output.Head, r.Output.Tail)
	}
	r = run(t, ws, workspace.Command{Line: "printf 0123456789", MaxOutput: 10})
	if r.Output.String() != "0123456789" || r.Output.Omitted() != 0 || r.Output.Tail != nil {
		t.Errorf("what just fits was cut: %+v", r.Output)
	}
}

func TestOutputComesAsItIsMade(t *testing.T) {
	ws := open(t, t.TempDir())
	first := make(chan struct{})
	var once sync.Once
	p := start(t, ws, workspace.Command{
		Line: "echo now; read x; echo $x", Interactive: true,
		OnOutput: func(workspace.Stream, []byte) { once.Do(func() { close(first) }) },
	})
	<-first
	must(t, p.Write(context.Background(), []byte("typed\n")))
	r, err := p.Wait(context.Background())
	if err != nil || r.Output.String() != "now\ntyped\n" {
		t.Errorf("%q, %v", r.Output.String(), err)
	}
	<-p.Gone()
	if err := p.Write(context.Background(), []byte("x")); err == nil {
		t.Error("a dead process took input")
	}
}

func TestWritingToWhoDoesNotReadEnds(t *testing.T) {
	ws := open(t, t.TempDir())
	p := start(t, ws, workspace.Command{Line: "sleep 300", Interactive: true})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := p.Write(ctx, make([]byte, 1<<20)); err == nil || !strings.Contains(err.Error(), "does not read") {
		t.Errorf("write: %v", err)
	}
}

func TestWaitingMayEndBeforeTheProcess(t *testing.T) {
	ws := open(t, t.TempDir())
	p := start(t, ws, workspace.Command{Line: "echo a; read x; echo b", Interactive: true})
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := p.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("wait: %v", err)
	}
	var all bytes.Buffer
	p.Redirect(func(stdout, _ workspace.Capture) workspace.OutputFunc {
		all.Write(stdout.Bytes())
		return func(_ workspace.Stream, chunk []byte) { all.Write(chunk) }
	})
	must(t, p.Write(context.Background(), []byte("\n")))
	<-p.Gone()
	if all.String() != "a\nb\n" {
		t.Errorf("handed over: %q", all.String())
	}
	if r, err := p.Wait(context.Background()); err != nil || r.Output.Total != 0 {
		t.Errorf("kept after the handing over: %q, %v", r.Output.String(), err)
	}
}

func TestADeadDirectoryIsNamed(t *testing.T) {
	ws := open(t, t.TempDir())
	must(t, ws.MkdirAll("w"))
	run(t, ws, workspace.Command{Line: "rm -rf ../w", Cwd: "w"})
	_, err := ws.Exec(context.Background(), workspace.Command{Line: "echo hi", Cwd: "w"})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "w") {
		t.Errorf("in the dead directory: %v", err)
	}
	if r := run(t, ws, workspace.Command{Line: "pwd; echo $PWD"}); r.Output.String() != ws.Cwd()+"\n"+ws.Cwd()+"\n" {
		t.Errorf("without: %q", r.Output.String())
	}
	put(t, filepath.Join(ws.Cwd(), "f"), "", 0o644)
	if _, err := ws.Exec(context.Background(), workspace.Command{Line: "true", Cwd: "f"}); !errors.Is(err, workspace.ErrNotDir) {
		t.Errorf("in a file: %v", err)
	}
}

func TestAForbiddenDirectoryIsNamed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may enter every directory")
	}
	ws := open(t, t.TempDir())
	must(t, ws.MkdirAll("closed"))
	must(t, os.Chmod(filepath.Join(ws.Cwd(), "closed"), 0))
	_, err := ws.Exec(context.Background(), workspace.Command{Line: "true", Cwd: "closed"})
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "closed") || strings.Contains(err.Error(), "sh:") {
		t.Errorf("in a closed directory: %v", err)
	}
}

func TestAMissingProgramIsSaid(t *testing.T) {
	ws := open(t, t.TempDir())
	if _, err := ws.Exec(context.Background(), workspace.Command{Argv: []string{"no-such-program"}}); !errors.Is(err, workspace.ErrNoProgram) {
		t.Errorf("run: %v", err)
	}
	if _, err := workspace.LookPath(ws, "no-such-program"); !errors.Is(err, workspace.ErrNoProgram) {
		t.Errorf("look: %v", err)
	}
	if _, err := ws.Exec(context.Background(), workspace.Command{Line: ": " + strings.Repeat("x", 1<<20)}); !errors.Is(err, workspace.ErrTooLong) {
		t.Errorf("long line: %v", err)
	}
	if _, err := ws.Exec(context.Background(), workspace.Command{}); err == nil {
		t.Error("an empty command ran")
	}
}

func TestNoZombiesAndNoOpenPipes(t *testing.T) {
	ws := open(t, t.TempDir())
	before := openFiles(t)
	for range 50 {
		run(t, ws, workspace.Command{Line: "true &"})
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
	if err == nil && len(bytes.TrimSpace(children)) > 0 {
		t.Errorf("children remain: %s", children)
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d files were open before, %d after", before, after)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc here:", err)
	}
	return len(entries)
}
