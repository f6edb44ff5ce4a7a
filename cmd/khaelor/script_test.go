package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/khaelor/khaelor/internal/fakeapi"
)

func TestMain(m *testing.M) {
	testscript.Main(leakless{m}, map[string]func(){"khaelor": leaklessMain})
}

// leakless runs tests, and wants that no goroutine outlives them.
type leakless struct{ *testing.M }

func (l leakless) Run() int {
	code := l.M.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// leaklessMain is the program, which wants the same of itself: whoever stops
// waiting for what it started would lose the end of it.
func leaklessMain() {
	code := run(os.Args[1:])
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	os.Exit(code)
}

// TestScripts runs every script of testdata/script against the real program.
// Besides the commands of testscript they have
//
//	fakeapi SCRIPT [PREFIX]   start a scripted server and point the program at it
//	exits CODE COMMAND...     run a command, which must end with this very code
//	signal NAME               send TERM or INT to the commands in the background
//	ended CODE                after wait: the signalled command ended with this code
//
// and the condition [root], for permissions that do not hold for the superuser.
func TestScripts(t *testing.T) {
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("no condition is called %q", cond)
		},
		Setup: func(env *testscript.Env) error {
			env.Values[worldKey{}] = &world{t: env.T()}
			for _, v := range []string{
				"HOME=" + filepath.Join(env.WorkDir, "home"),
				"KHAELOR_HOME=" + filepath.Join(env.WorkDir, "state"),
				"GOCACHE=" + strings.TrimSpace(string(cache)),
				"GORACE=atexit_sleep_ms=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
				"ANTHROPIC_API_KEY=", "ANTHROPIC_AUTH_TOKEN=", "ANTHROPIC_BASE_URL=",
			} {
				name, value, _ := strings.Cut(v, "=")
				env.Setenv(name, value)
			}
			return os.Mkdir(filepath.Join(env.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fakeapi": startFakeAPI, "exits": exits, "signal": sendSignal, "ended": ended,
		},
	})
}

type worldKey struct{}

// world is what one script has started.
type world struct {
	t         testscript.T
	signalled []*exec.Cmd
}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

// startFakeAPI fails the script at its end when the server saw anything that
// its script does not have.
func startFakeAPI(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: fakeapi SCRIPT [PREFIX]")
	}
	script, err := fakeapi.ParseScript([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	prefix := ""
	if len(args) == 2 {
		prefix = args[1]
	}
	server, err := fakeapi.Start(fakeapi.Options{
		Script: script, Prefix: prefix, Vars: map[string]string{"work": ts.Getenv("WORK")},
	})
	ts.Check(err)
	ts.Setenv("ANTHROPIC_BASE_URL", server.URL())
	ts.Setenv("ANTHROPIC_API_KEY", "scripted-key")
	ts.Defer(func() {
		problems := server.Problems()
		if err := server.Close(); err != nil {
			problems = append(problems, err.Error())
		}
		if len(problems) > 0 {
			worldOf(ts).t.Log("fakeapi " + args[0] + ":\n  " + strings.Join(problems, "\n  "))
			worldOf(ts).t.FailNow()
		}
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := err.(*exec.ExitError); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
	if got != want {
		ts.Fatalf("%s ended with code %d, want %d", args[1], got, want)
	}
}

func sendSignal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]os.Signal{"TERM": syscall.SIGTERM, "INT": os.Interrupt}
	if neg || len(args) != 1 || signals[args[0]] == nil {
		ts.Fatalf("usage: signal TERM|INT")
	}
	w := worldOf(ts)
	w.signalled = slices.Clone(ts.BackgroundCmds())
	for _, cmd := range w.signalled {
		ts.Check(cmd.Process.Signal(signals[args[0]]))
	}
}

func ended(ts *testscript.TestScript, neg bool, args []string) {
	w := worldOf(ts)
	if neg || len(args) != 1 || len(w.signalled) == 0 {
		ts.Fatalf("usage: ended CODE, after signal and wait")
	}
	for _, cmd := range w.signalled {
		if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != args[0] {
			ts.Fatalf("%s ended with code %s, want %s", filepath.Base(cmd.Path), got, args[0])
		}
	}
}
