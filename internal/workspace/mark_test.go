package workspace_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/khaelor/khaelor/internal/workspace"
)

// The marks come last in an environment, behind whatever the user has in his.
func TestAStrayChildIsFoundHoweverLargeItsEnvironment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ variables, length int }{
		{10, 100},
		{4000, 100},
		{500, 997},
		{10, 120 << 10}, // each longer than a piece of what is read
	} {
		env := []string{"PATH=" + os.Getenv("PATH")}
		for i := range c.variables {
			env = append(env, fmt.Sprintf("FILLER_%04d=%s", i, strings.Repeat("x", c.length-12)))
		}
		ws, err := workspace.NewLocal(t.TempDir(), workspace.WithEnviron(env))
		must(t, err)
		defer ws.Close()
		r := run(t, ws, workspace.Command{Line: "setsid sleep 300 </dev/null >/dev/null 2>&1 & echo $!; sleep 0.2"})
		if len(r.Left) == 0 {
			t.Errorf("%d variables of %d bytes: no child was noticed", c.variables, c.length)
		}
		for _, id := range pids(t, r.Output.String()) {
			if alive(id) {
				t.Errorf("%d variables of %d bytes: %d lives on", c.variables, c.length, id)
				must(t, syscall.Kill(id, syscall.SIGKILL))
			}
		}
	}
}
