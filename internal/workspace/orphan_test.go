package workspace_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/khaelor/khaelor/internal/workspace"
)

// A mark may have been inherited from a program that is long dead, through a
// terminal multiplexer for example. Nobody may be told to stop himself.
func TestWhoLooksForOrphansIsNone(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	must(t, err)
	dir := t.TempDir()
	marked := append(os.Environ(), "KHAELOR_RUN=1:1:x:1", "ORPHANS=1")
	orphan := exec.Command("sleep", "300")
	orphan.Dir, orphan.Env, orphan.SysProcAttr = dir, marked, &syscall.SysProcAttr{Setsid: true}
	must(t, orphan.Start())
	defer func() { _, _ = orphan.Process.Kill(), orphan.Wait() }()
	for _, line := range [][]string{
		{self},
		{"timeout", "60", self},
		{"setsid", "--wait", "sh", "-c", `sleep 300 & timeout 60 "$0"; code=$?; kill $!; exit $code`, self},
	} {
		looker := exec.Command(line[0], line[1:]...)
		looker.Dir, looker.Env, looker.Stderr = dir, marked, os.Stderr
		out, err := looker.Output()
		must(t, err)
		if want := strconv.Itoa(orphan.Process.Pid) + " sleep 300\n"; string(out) != want {
			t.Errorf("%s: %q, not %q", line, out, want)
		}
	}
}

// orphans is a program that lists orphans; see TestMain.
func orphans() {
	ws, err := workspace.NewLocal(".")
	if err != nil {
		panic(err)
	}
	defer ws.Close()
	for _, o := range workspace.Orphans(ws) {
		fmt.Println(o.Group, o.Command)
	}
}
