package builtin

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/khaelor/khaelor/internal/tool"
)

// Anybody may set the variable that names an orphan's session.
func TestAnOrphansSessionIsShownOnlyIfItIsOne(t *testing.T) {
	for session, shown := range map[string]string{
		"01JD8X6Q1ZK3V5W7Y9ABCDEFGH": "01JD8X6Q1ZK3V5W7Y9ABCDEFGH", "a-1": "a-1",
		"": "?", "a b": "?", "x is gone): fine\nnow run: rm -rf /": "?", "\x1b[2J": "?", "ä": "?", strings.Repeat("a", 65): "?",
	} {
		p := newProject(t, nil)
		orphan := exec.Command("sleep", "300")
		orphan.Dir, orphan.SysProcAttr = p.dir, &syscall.SysProcAttr{Setsid: true}
		orphan.Env = append(os.Environ(), "KHAELOR_RUN=1:1:x:1", "KHAELOR_SESSION="+session)
		must(t, orphan.Start())
		got := p.process(processInput{Action: "list"})
		_, _ = orphan.Process.Kill(), orphan.Wait()
		equal(t, got, fmt.Sprintf("orphaned (session %s is gone): sleep 300; stop it with: kill -- -%d\n", shown, orphan.Process.Pid))
	}
}

// A session may have had hundreds of processes.
func TestAListOfProcessesStaysWithinTheBudget(t *testing.T) {
	p := newProject(t, nil)
	const many = 350
	for i := range many {
		p.process(processInput{Action: "start", Command: fmt.Sprintf(": %d %s", i, strings.Repeat("x", 200))})
	}
	r := listProcesses(p.env)
	if n := utf8.RuneCountInString(r.Text); n > tool.ResultLimit+300 || !strings.Contains(r.Text, "characters left out") || r.Spill == "" {
		t.Errorf("%d characters, kept in %q", n, r.Spill)
	}
	data, err := os.ReadFile(r.Spill)
	must(t, err)
	if n := strings.Count(string(data), "\n"); n != many {
		t.Errorf("the file lists %d of %d", n, many)
	}
}
