package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAFullDiskIsSaidOnceAndASessionGoesOnWhenThereIsSpace is case Sessions 4:
// the state folder is on a small file system, which the model's command fills.
func TestAFullDiskIsSaidOnceAndASessionGoesOnWhenThereIsSpace(t *testing.T) {
	p := newPlace(t, `{"turns": [
		{"blocks": [{"type": "tool_use", "name": "bash", "input": {"command": "head -c 2000000 /dev/zero >../disk/fill; seq 3000"}}]},
		{"expect": ["look before repeating it"], "blocks": [{"type": "text", "text": "I go on."}]}
	]}`)
	disk := filepath.Join(filepath.Dir(p.repo), "disk")
	p.state = filepath.Join(disk, "state")
	p.environ = append(p.environ, "KHAELOR_HOME="+p.state)
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	wantFull := func(args ...string) (id string) {
		t.Helper()
		cmd := p.command(append(args, "--permission-mode", "bypass", "--output-format", "json")...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, _ := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); code != 1 {
			t.Errorf("exit code %d, want 1", code)
		}
		if n := strings.Count(stderr.String(), "free some space and go on"); n != 1 {
			t.Errorf("the remedy is told %d times:\n%s", n, stderr.String())
		}
		var r struct{ SessionID, Outcome, Error string }
		if err := json.Unmarshal(out, &r); err != nil || r.Outcome != "failed" || !strings.Contains(r.Error, "no space left") {
			t.Errorf("%v: %s", err, out)
		}
		return r.SessionID
	}
	id := wantFull("-p", "begin")
	if log := p.onlyLog(); filepath.Base(log) != id+".jsonl" {
		t.Errorf("the result names session %q, the log is %s", id, log)
	}
	if got := wantFull("-p", "another one"); got != "" {
		t.Errorf("a session %q that cannot be written is offered", got)
	}
	if err := os.Remove(filepath.Join(disk, "fill")); err != nil {
		t.Fatal(err)
	}
	cmd := p.command("-p", "-c")
	if out, _ := cmd.Output(); cmd.ProcessState.ExitCode() != 4 || !strings.Contains(string(out), "I go on.") {
		t.Errorf("exit code %d:\n%s", cmd.ProcessState.ExitCode(), out)
	}
	if out := p.says("sessions", "check", id); !strings.HasSuffix(out, " ok\n") {
		t.Errorf("check: %s", out)
	}
}
