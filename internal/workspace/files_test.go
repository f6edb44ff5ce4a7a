package workspace_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/khaelor/khaelor/internal/workspace"
	"github.com/khaelor/khaelor/internal/workspace/workspacetest"
)

func TestLocalIsAWorkspace(t *testing.T) {
	workspacetest.Run(t, func(t *testing.T) workspace.Workspace { return open(t, t.TempDir()) })
}

func open(t *testing.T, dir string, opts ...workspace.Option) *workspace.Local {
	t.Helper()
	ws, err := workspace.NewLocal(dir, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, ws.Close()) })
	return ws
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), mode))
	must(t, os.Chmod(path, mode))
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

// holdsOnly checks that a folder holds exactly these names.
func holdsOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("%s holds %q, not %q", dir, got, names)
	}
}

func TestAWriteKeepsTheMode(t *testing.T) {
	for _, umask := range []int{0o022, 0o077} {
		dir := t.TempDir()
		ws := open(t, dir)
		old := syscall.Umask(umask)
		defer syscall.Umask(old)
		for name, mode := range map[string]fs.FileMode{"run.sh": 0o755, "secret": 0o600, "shared": 0o666, "set": 0o755 | fs.ModeSetgid} {
			put(t, filepath.Join(dir, name), "old", mode.Perm())
			must(t, os.Chmod(filepath.Join(dir, name), mode))
			must(t, ws.WriteFile(name, []byte("new")))
			info, err := os.Stat(filepath.Join(dir, name))
			must(t, err)
			if info.Mode() != mode || content(t, filepath.Join(dir, name)) != "new" {
				t.Errorf("umask %o: %s has mode %v, not %v", umask, name, info.Mode(), mode)
			}
		}
		must(t, ws.WriteFile("sub/fresh", nil))
		info, err := os.Stat(filepath.Join(dir, "sub/fresh"))
		must(t, err)
		if want := fs.FileMode(0o666 &^ umask); info.Mode() != want {
			t.Errorf("umask %o: a new file has mode %v, not %v", umask, info.Mode(), want)
		}
		syscall.Umask(old)
	}
}

func TestAWriteKeepsOwnerAndAttributes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	put(t, path, "old", 0o644)
	if err := os.Chown(path, 1234, 4321); err != nil {
		t.Skip("only the superuser gives files away:", err)
	}
	if err := unix.Setxattr(path, "user.note", []byte("keep me"), 0); err != nil {
		t.Skip("no extended attributes here:", err)
	}
	must(t, open(t, dir).WriteFile("f", []byte("new")))
	info, err := os.Stat(path)
	must(t, err)
	stat := info.Sys().(*syscall.Stat_t)
	if stat.Uid != 1234 || stat.Gid != 4321 {
		t.Errorf("owner is %d:%d", stat.Uid, stat.Gid)
	}
	buf := make([]byte, 64)
	if n, err := unix.Getxattr(path, "user.note", buf); err != nil || string(buf[:n]) != "keep me" {
		t.Errorf("attribute: %q, %v", buf[:max(n, 0)], err)
	}
}

func TestAWriteGoesThroughLinks(t *testing.T) {
	dir := t.TempDir()
	ws := open(t, dir)
	put(t, filepath.Join(dir, "real.txt"), "old", 0o644)
	must(t, os.Symlink("real.txt", filepath.Join(dir, "soft")))
	must(t, os.Symlink(filepath.Join(ws.Cwd(), "real.txt"), filepath.Join(dir, "absolute")))
	must(t, os.Symlink("fresh", filepath.Join(dir, "dangling")))
	if err := ws.WriteFile("dangling", []byte("x")); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "fresh") {
		t.Errorf("writing through a link to nothing: %v", err)
	}
	must(t, os.Link(filepath.Join(dir, "real.txt"), filepath.Join(dir, "hard")))
	for name, file := range map[string]string{"soft": "real.txt", "absolute": "real.txt", "hard": "real.txt"} {
		must(t, ws.WriteFile(name, []byte("through "+name)))
		if got := content(t, filepath.Join(dir, file)); got != "through "+name {
			t.Errorf("after writing %s, %s holds %q", name, file, got)
		}
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || (name != "hard") != (info.Mode()&fs.ModeSymlink != 0) {
			t.Errorf("%s is now %v, %v", name, info.Mode(), err)
		}
	}
	holdsOnly(t, dir, "absolute", "dangling", "hard", "real.txt", "soft")
}

func TestLinksOutNeedTheirTarget(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	ws := open(t, dir)
	target := filepath.Join(outside, "target")
	put(t, target, "old", 0o644)
	must(t, os.Symlink(target, filepath.Join(dir, "link")))
	var leads *workspace.LinkError
	if err := ws.WriteFile("link", []byte("x")); !errors.As(err, &leads) || leads.Target != target {
		t.Errorf("write: %v", err)
	}
	if _, err := ws.ReadFile("link"); !errors.As(err, &leads) {
		t.Errorf("read: %v", err)
	}
	place, err := workspace.Resolve(ws, "link")
	if err != nil || place != (workspace.Place{Path: target, Exists: true, Linked: true}) {
		t.Errorf("resolve: %+v, %v", place, err)
	}
	must(t, ws.WriteFile(place.Path, []byte("decided")))
	if content(t, target) != "decided" {
		t.Error("the decided write did not arrive")
	}
	must(t, ws.WriteFile(filepath.Join(outside, "new/folder/file"), []byte("decided")))
}

func TestALinkSwappedInAfterTheDecisionIsRefused(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	ws := open(t, dir)
	must(t, ws.WriteFile("sub/f", []byte("harmless")))
	must(t, ws.WriteFile("hooks/f", []byte("executed later")))
	put(t, filepath.Join(outside, "f"), "secret", 0o644)
	place, err := workspace.Resolve(ws, "sub/f")
	must(t, err)
	must(t, os.Rename(filepath.Join(dir, "sub"), filepath.Join(dir, "was")))
	for _, target := range []string{outside, "hooks"} {
		must(t, os.Symlink(target, filepath.Join(dir, "sub")))
		var leads *workspace.LinkError
		if data, err := ws.ReadFile(place.Path); !errors.As(err, &leads) {
			t.Errorf("read through a link to %s: %q, %v", target, data, err)
		}
		if err := ws.WriteFile(place.Path, nil); !errors.As(err, &leads) {
			t.Errorf("write through a link to %s: %v", target, err)
		}
		must(t, os.Remove(filepath.Join(dir, "sub")))
	}
}

func TestResolveFollowsLinksLikeTheKernel(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	ws := open(t, dir)
	must(t, ws.WriteFile("a/b/f", nil))
	must(t, os.Symlink("a/b", filepath.Join(dir, "deep")))
	must(t, os.Symlink("loop", filepath.Join(dir, "loop")))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	must(t, os.Symlink(outside, filepath.Join(dir, "out")))
	for path, want := range map[string]workspace.Place{
		"deep/f":         {Path: dir + "/a/b/f", Inside: true, Exists: true, Linked: true},
		"deep/../x":      {Path: dir + "/a/x", Inside: true, Linked: true},
		"deep/new/../y":  {Path: dir + "/a/b/y", Inside: true, Linked: true},
		"dangling":       {Path: dir + "/nowhere", Inside: true, Linked: true, Dangling: true},
		"out/x":          {Path: outside + "/x", Linked: true},
		"./a/../a/b":     {Path: dir + "/a/b", Inside: true, Exists: true},
		dir + "-old/f":   {Path: dir + "-old/f"},
		"/":              {Path: "/", Exists: true},
		".":              {Path: dir, Inside: true, Exists: true},
		"../" + "nobody": {Path: filepath.Dir(dir) + "/nobody"},
	} {
		if got, err := ws.Resolve(path); err != nil || got != want {
			t.Errorf("%s leads to %+v, %v; not %+v", path, got, err, want)
		}
	}
	for _, path := range []string{"loop", "a/b/f/x", "", "nul\x00"} {
		if place, err := ws.Resolve(path); err == nil {
			t.Errorf("%q leads to %+v", path, place)
		}
	}
	if _, err := ws.ReadFile("dangling"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir+"/nowhere") {
		t.Errorf("reading a dangling link: %v", err)
	}
}

func TestPipesAndDevicesAreNotOpened(t *testing.T) {
	dir := t.TempDir()
	ws := open(t, dir)
	must(t, syscall.Mkfifo(filepath.Join(dir, "p"), 0o644))
	for _, path := range []string{"p", "/dev/zero"} {
		if _, err := ws.ReadFile(path); !errors.Is(err, workspace.ErrNotRegular) {
			t.Errorf("read %s: %v", path, err)
		}
		if err := ws.WriteFile(path, nil); !errors.Is(err, workspace.ErrNotRegular) {
			t.Errorf("write %s: %v", path, err)
		}
	}
	folder, err := ws.OpenFolder(".")
	must(t, err)
	defer folder.Close()
	if _, err := folder.Open("p"); !errors.Is(err, workspace.ErrNotRegular) {
		t.Errorf("open in the folder: %v", err)
	}
}

func TestAWalkStaysInTheTree(t *testing.T) {
	dir := t.TempDir()
	ws := open(t, dir)
	must(t, ws.WriteFile("b/f", []byte("found")))
	must(t, ws.WriteFile("a", nil))
	must(t, os.Symlink("/etc", filepath.Join(dir, "c")))
	top, err := ws.OpenFolder(".")
	must(t, err)
	defer top.Close()
	entries, err := top.ReadDir()
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if err != nil || len(entries) != 3 || entries[0].Name() != "a" || entries[2].Type() != fs.ModeSymlink {
		t.Errorf("listing: %v, %v", entries, err)
	}
	if _, err := top.Folder("c"); err == nil {
		t.Error("a link led out of the tree")
	}
	b, err := top.Folder("b")
	must(t, err)
	defer b.Close()
	f, err := b.Open("f")
	must(t, err)
	defer f.Close()
	if data, err := io.ReadAll(f); string(data) != "found" || err != nil || f.Size() != int64(len("found")) || b.Path() != dir+"/b" {
		t.Errorf("%q, %v, %d bytes in %s", data, err, f.Size(), b.Path())
	}
	if info, err := os.Lstat(filepath.Join(dir, "c")); err != nil || !modTime(t, top, "c").Equal(info.ModTime()) {
		t.Errorf("the link is of %v, not %v", modTime(t, top, "c"), info.ModTime())
	}
}

func modTime(t *testing.T, f *workspace.Folder, name string) time.Time {
	t.Helper()
	at, err := f.ModTime(name)
	must(t, err)
	return at
}

func TestFurtherRootsBelongToTheProject(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "repo/cmd"), 0o755))
	ws := open(t, filepath.Join(dir, "repo/cmd"), workspace.WithRoots(filepath.Join(dir, "repo")))
	must(t, ws.WriteFile("../go.mod", []byte("module x")))
	if place, err := ws.Resolve("../go.mod"); err != nil || !place.Inside || !place.Exists {
		t.Errorf("%+v, %v", place, err)
	}
	if place, err := ws.Resolve("../../other"); err != nil || place.Inside {
		t.Errorf("%+v, %v", place, err)
	}
}

func TestRemoveDeletesOneFile(t *testing.T) {
	ws := open(t, t.TempDir())
	must(t, ws.WriteFile("d/f", nil))
	if err := ws.Remove("d"); err == nil {
		t.Error("a folder with a file in it is gone")
	}
	must(t, ws.Remove("d/f"))
	must(t, ws.Remove("d"))
	holdsOnly(t, ws.Cwd())
}

// A file that says it is regular may be a queue that somebody fills.
func TestAFileThatKeepsItsReaderWaitingIsNotRegular(t *testing.T) {
	ws := open(t, t.TempDir())
	f, err := workspace.Open(ws, "/proc/self/mounts") // can be waited for, and is ready
	if err != nil {
		t.Skip("there is no /proc/self/mounts here")
	}
	defer f.Close()
	if data, err := io.ReadAll(f); err != nil || len(data) == 0 {
		t.Errorf("%d bytes of the mounts: %v", len(data), err)
	}
	queue, err := workspace.Open(ws, "/proc/kmsg")
	if err != nil {
		t.Skip("/proc/kmsg is for root")
	}
	defer queue.Close()
	if _, err := io.Copy(io.Discard, queue); !errors.Is(err, workspace.ErrNotRegular) {
		t.Errorf("reading the kernel's messages to their end: %v", err)
	}
}
