package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/fakeapi"
)

// patience is how long a program on a busy machine may take to say something.
const patience = 30 * time.Second

// place is where programs of one test run: a project, a state folder, a server.
type place struct {
	t           *testing.T
	repo, state string
	environ     []string
}

func newPlace(t *testing.T, script string) *place {
	t.Helper()
	dir := t.TempDir()
	p := &place{t: t, repo: filepath.Join(dir, "repo"), state: filepath.Join(dir, "state")}
	parsed, err := fakeapi.ParseScript([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	server, err := fakeapi.Start(fakeapi.Options{Script: parsed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if problems := server.Problems(); len(problems) > 0 {
			t.Errorf("fakeapi: %s", strings.Join(problems, "\n"))
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if out, err := exec.Command("git", "init", "-q", p.repo).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.environ = []string{
		"PATH=" + os.Getenv("PATH"), "TERM=xterm", "HOME=" + dir, "KHAELOR_HOME=" + p.state,
		"GORACE=atexit_sleep_ms=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"ANTHROPIC_BASE_URL=" + server.URL(), "ANTHROPIC_API_KEY=scripted-key",
	}
	return p
}

func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command("khaelor", args...)
	cmd.Dir, cmd.Env = p.repo, p.environ
	return cmd
}

// says runs the program to its end and returns what it wrote on stdout.
func (p *place) says(args ...string) string {
	p.t.Helper()
	cmd := p.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("khaelor %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

// awaitFact waits for a fact that nothing on the screen tells of.
func (p *place) awaitFact(name string) {
	p.t.Helper()
	for late := time.Now().Add(patience); time.Now().Before(late); {
		logs, _ := filepath.Glob(filepath.Join(p.state, "sessions", "*", "*.jsonl"))
		for _, log := range logs {
			if data, err := os.ReadFile(log); err == nil && bytes.Contains(data, []byte(`"type":"`+name+`"`)) {
				return
			}
		}
	}
	p.t.Fatalf("no %s within %s", name, patience)
}

// wantClosed checks that the sidecar, which closing writes, is as new as the log.
func (p *place) wantClosed() {
	p.t.Helper()
	name := p.onlyLog()
	log, err := os.Stat(name)
	if err != nil {
		p.t.Fatal(err)
	}
	meta, err := os.ReadFile(strings.TrimSuffix(name, ".jsonl") + ".meta.json")
	if want := fmt.Sprintf(`"logSize":%d}`, log.Size()); err != nil || !bytes.Contains(meta, []byte(want)) {
		p.t.Errorf("the log was not closed: %v, no %s in %s", err, want, meta)
	}
}

// onlyLog is the file of the one session there is.
func (p *place) onlyLog() string {
	p.t.Helper()
	logs, err := filepath.Glob(filepath.Join(p.state, "sessions", "*", "*.jsonl"))
	if err != nil || len(logs) != 1 {
		p.t.Fatalf("logs %v, %v", logs, err)
	}
	return logs[0]
}
