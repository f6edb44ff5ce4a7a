package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/workspace"
)

// A state folder behind a link is one that the permission to read knows too.
func TestSpilledTextsAreTheUsersAloneAndCanonical(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(root, "link")
	if err := os.Mkdir(filepath.Join(root, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", link); err != nil {
		t.Fatal(err)
	}
	home, err := workspace.OpenDir(link)
	if err != nil {
		t.Fatal(err)
	}
	defer home.Close()
	ws, err := workspace.NewLocal(root)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	p := &project{app: &App{Clock: clock.System()}, ws: ws, home: home}
	store, err := p.spills("session")
	if err != nil {
		t.Fatal(err)
	}
	file, err := store.Keep("text")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(file, filepath.Join(root, "real", "spill", "session")+"/") {
		t.Errorf("the file is %s", file)
	}
	for path, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700, filepath.Dir(filepath.Dir(file)): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}
