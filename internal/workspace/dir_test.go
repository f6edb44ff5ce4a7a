package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/khaelor/khaelor/internal/disk"
	"github.com/khaelor/khaelor/internal/disk/disktest"
	"github.com/khaelor/khaelor/internal/workspace"
)

func openDir(t *testing.T, path string) *workspace.Dir {
	t.Helper()
	d, err := workspace.OpenDir(path)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

func TestDirIsADir(t *testing.T) {
	disktest.Run(t, func(t *testing.T) disk.Dir { return openDir(t, t.TempDir()) })
}

func TestStateIsTheUsersAloneUnderAnyUmask(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o277} {
		path := filepath.Join(t.TempDir(), "home")
		must(t, os.Mkdir(path, 0o755))
		old := syscall.Umask(umask)
		defer syscall.Umask(old)
		d := openDir(t, path)
		must(t, d.WriteFile("a/b/file", nil))
		f, err := d.OpenAppend("c/log")
		must(t, err)
		must(t, f.Close())
		lock, err := d.Lock("d/lock")
		must(t, err)
		must(t, lock.Unlock())
		must(t, filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
			must(t, err)
			info, err := e.Info()
			must(t, err)
			if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[e.IsDir()]; info.Mode().Perm() != want {
				t.Errorf("umask %o: %s has mode %v", umask, name, info.Mode())
			}
			return nil
		}))
		syscall.Umask(old)
	}
}

func TestAForeignStateFolderIsRefused(t *testing.T) {
	path := t.TempDir()
	if err := os.Chown(path, 1234, 1234); err != nil {
		t.Skip("only the superuser gives folders away:", err)
	}
	if _, err := workspace.OpenDir(path); !errors.Is(err, workspace.ErrNotOwner) {
		t.Errorf("open: %v", err)
	}
}

func TestHalfWrittenFilesAreNotListed(t *testing.T) {
	path := t.TempDir()
	put(t, filepath.Join(path, ".khaelor-tmp-1-1"), "half", 0o600)
	d := openDir(t, path)
	must(t, d.WriteFile("f", nil))
	if entries, err := d.List(""); err != nil || len(entries) != 1 || entries[0].Name != "f" {
		t.Errorf("%v, %v", entries, err)
	}
}

// holdLock is the other process that holds a lock; see TestMain.
func holdLock(path string) {
	d, err := workspace.OpenDir(path)
	if err == nil {
		_, err = d.Lock("lock")
	}
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString("held\n")
	os.Stdin.Read(make([]byte, 1)) // until the pipe closes or the signal comes
}

func TestALockNamesItsHolderAndDiesWithIt(t *testing.T) {
	path := t.TempDir()
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), "HOLD_LOCK="+path)
	in, err := other.StdinPipe()
	must(t, err)
	defer in.Close()
	out, err := other.StdoutPipe()
	must(t, err)
	must(t, other.Start())
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	d := openDir(t, path)
	var held *workspace.LockedError
	if _, err := d.Lock("lock"); !errors.As(err, &held) || !errors.Is(err, disk.ErrLocked) || held.PID != other.Process.Pid {
		t.Errorf("lock: %v", err)
	}
	must(t, other.Process.Kill())
	_ = other.Wait() // it was killed
	lock, err := d.Lock("lock")
	must(t, err)
	must(t, lock.Unlock())
}
