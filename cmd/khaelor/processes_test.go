package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestWhatADeadProgramLeftRunningIsListed kills a program while its commands
// run, in the foreground and in the background.
func TestWhatADeadProgramLeftRunningIsListed(t *testing.T) {
	p := newPlace(t, `{"turns": [
		{"blocks": [{"type": "tool_use", "name": "process", "input": {"action": "start", "command": "sleep 611; true"}}]},
		{"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": "(setsid sleep 612 &); sleep 613"}}]}
	]}`)
	cmd := p.command("-p", "begin", "--permission-mode", "bypass")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.awaitFact("process.started")
	p.awaitMarked(4) // the shell of the background, and three that sleep
	t.Cleanup(func() {
		for _, line := range p.marked() {
			pid, _ := strconv.Atoi(strings.TrimPrefix(strings.Fields(line)[0], "/proc/"))
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	})
	session := strings.TrimSuffix(filepath.Base(p.onlyLog()), ".jsonl")
	if list := p.list(); strings.Contains(list, "orphaned") {
		t.Errorf("a living program's children are called orphans: %s", list)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	list := p.list()
	stops := regexp.MustCompile(`(?m)^orphaned \(session `+session+` is gone\): .*; stop it with: kill -- -(\d+)$`).FindAllStringSubmatch(list, -1)
	if len(stops) != 3 || !strings.Contains(list, ": sleep 611; true; stop") || !strings.Contains(list, "sleep 612; stop") || !strings.Contains(list, "sleep 613; stop") {
		t.Errorf("the list is\n%s", list)
	}
	elsewhere := *p
	elsewhere.repo = t.TempDir()
	if list := elsewhere.list(); strings.Contains(list, "orphaned") {
		t.Errorf("another project lists\n%s", list)
	}
	for _, stop := range stops {
		group, _ := strconv.Atoi(stop[1])
		if err := syscall.Kill(-group, syscall.SIGKILL); err != nil {
			t.Errorf("stop %d: %v", group, err)
		}
	}
	p.awaitMarked(0)
	if list := p.list(); list != "no processes" {
		t.Errorf("afterwards: %s", list)
	}
}

// put writes a file of the project.
func (p *place) put(name, content string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.repo, name), []byte(content+"\n"), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// awaitMarked waits until so many processes of this place run, at least; 0 is
// until none does.
func (p *place) awaitMarked(want int) {
	p.t.Helper()
	for late := time.Now().Add(patience); time.Now().Before(late); {
		if n := len(p.marked()); n >= want && want > 0 || n == want {
			return
		}
	}
	p.t.Fatalf("not %d processes within %s: %q", want, patience, p.marked())
}

// awaitFile waits until a command has made a file of the project.
func (p *place) awaitFile(name string) {
	p.t.Helper()
	for late := time.Now().Add(patience); time.Now().Before(late); {
		if _, err := os.Stat(filepath.Join(p.repo, name)); err == nil {
			return
		}
	}
	p.t.Fatalf("no file %s within %s", name, patience)
}

// list is what the model is told of processes by a program that starts now.
func (p *place) list() string {
	p.t.Helper()
	return p.tool("process", `{"action": "list"}`)
}

// tool runs one tool and returns its text.
func (p *place) tool(name, input string) string {
	p.t.Helper()
	var r struct{ ModelText string }
	if err := json.Unmarshal([]byte(p.says("tool", name, input, "--permission-mode", "bypass")), &r); err != nil {
		p.t.Fatal(err)
	}
	return r.ModelText
}

func TestAProgramInAProgramMarksItsOwn(t *testing.T) {
	p := newPlace(t, hello)
	p.put("inner", `khaelor tool bash --permission-mode bypass '{"command": "echo inner $KHAELOR_RUN $KHAELOR_SESSION"}'`)
	p.environ = append(p.environ, "KHAELOR_RUN=forged", "KHAELOR_SESSION=forged")
	out := p.tool("bash", `{"command": "echo outer $KHAELOR_RUN $KHAELOR_SESSION; sh ./inner"}`)
	marks := regexp.MustCompile(`(?:outer|inner) (\d+:\d+:\w+:\d+) (\w+)`).FindAllStringSubmatch(out, -1)
	if len(marks) != 2 || marks[0][1] == marks[1][1] || marks[0][2] == marks[1][2] {
		t.Errorf("%s", out)
	}
}

// Bash 11: neither a command nor what it reads of its parent, nor a spill, has
// the key or what is named like a secret; env.allow brings a name back, for
// commands and background processes alike.
func TestNoSecretReachesACommandOrItsSpill(t *testing.T) {
	p := newPlace(t, hello)
	p.environ = append(p.environ, "ANTHROPIC_API_KEY=sk-test-123", "FOO_TOKEN=token-4711", "AWS_SECRET_ACCESS_KEY=hush-4712", "BAR_TOKEN=allowed-4713")
	if err := os.MkdirAll(p.state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.state, "config.json"), []byte(`{"env": {"allow": ["BAR_TOKEN"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p.put("look", `env; tr '\0' '\n' </proc/$1/environ; tr '\0' ' ' </proc/$1/cmdline`)
	out := p.tool("bash", `{"command": "sh ./look $PPID"}`)
	if !strings.Contains(out, "BAR_TOKEN=allowed-4713") || !strings.Contains(out, "ANTHROPIC_API_KEY=") {
		t.Errorf("what is allowed is not there: %s", out)
	}
	out += p.tool("bash", `{"command": "for i in $(seq 50); do sh ./look $PPID; done"}`)
	if !strings.Contains(out, "read or grep ") {
		t.Errorf("nothing was spilled: %d", len(out))
	}
	files, err := filepath.Glob(filepath.Join(p.state, "*", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, _ := os.ReadFile(file) // folders are of no interest
		out += string(data)
	}
	for _, secret := range []string{"sk-test-123", "4711", "4712"} {
		if strings.Contains(out, secret) {
			t.Errorf("%s is told", secret)
		}
	}
}

// TestTheEndOfTheProgramIsTheEndOfItsProcesses is case Processes 1: whatever
// ends the program, all it started is gone within the time it takes to tell
// them twice, and the log has each exit.
func TestTheEndOfTheProgramIsTheEndOfItsProcesses(t *testing.T) {
	const background = `{"type": "tool_use", "name": "process", "input": {"action": "start", "command": "(trap '' TERM; while :; do sleep 1; done) & setsid sleep 600 & sleep 600"}},
		{"type": "tool_use", "name": "bash", "input": {"command": "setsid sleep 600 >/dev/null 2>&1 & sleep 600 & true"}}`
	for name, c := range map[string]struct {
		signal syscall.Signal // 0 is the task's own end
		code   int
	}{"the task ends": {0, 0}, "SIGTERM": {syscall.SIGTERM, 143}, "SIGHUP": {syscall.SIGHUP, 143}, "SIGINT": {syscall.SIGINT, 130}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := `{"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": "touch begun; sleep 600"}}]}`
			if c.signal == 0 {
				last = `{"blocks": [{"type": "text", "text": "Done."}]}`
			}
			p := newPlace(t, `{"turns": [{"blocks": [`+background+`]}, `+last+`]}`)
			cmd := p.command("-p", "begin", "--permission-mode", "bypass")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if c.signal != 0 {
				p.awaitFile("begun")
				if err := cmd.Process.Signal(c.signal); err != nil {
					t.Fatal(err)
				}
			}
			begun := time.Now()
			_ = cmd.Wait() // the code is compared
			if took := time.Since(begun); c.signal != 0 && took > patience/3 {
				t.Errorf("it took %s", took)
			}
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if left := p.marked(); len(left) > 0 {
				t.Errorf("left are %q", left)
			}
			if _, started, exited := p.results(); started != 2 || exited != 2 {
				t.Errorf("%d were started, %d have ended", started, exited)
			}
			p.wantClosed()
		})
	}
}
