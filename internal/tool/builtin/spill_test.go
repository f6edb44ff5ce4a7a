package builtin

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/workspace"
)

func TestTheSpilledOutputOfASessionIsReadWithoutAskingAndNotWritten(t *testing.T) {
	ws, err := workspace.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	spill, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := &tool.Env{Workspace: ws, SpillDir: spill}
	for _, c := range []struct {
		path    string
		write   bool
		outside bool
	}{
		{spill + "/a.txt", false, false},
		{spill + "/a.txt", true, true},
		{spill + "-other/a.txt", false, true},
		{spill + "/../a.txt", false, true},
	} {
		need, err := pathNeed(env, c.path, c.write)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(need.Capabilities, tool.OutsideProject); got != c.outside {
			t.Errorf("%s, write %v: outside the project is %v, want %v", c.path, c.write, got, c.outside)
		}
	}
}
