package builtin

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
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
