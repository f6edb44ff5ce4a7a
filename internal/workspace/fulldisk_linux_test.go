package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/khaelor/khaelor/internal/disk"
)

func TestAWriteThatFailsLeavesTheOldFile(t *testing.T) {
	dir := smallDisk(t)
	ws := open(t, dir)
	must(t, ws.WriteFile("f", []byte("old")))
	must(t, ws.WriteFile("twin", []byte("old")))
	must(t, os.Link(filepath.Join(dir, "twin"), filepath.Join(dir, "twin2")))
	for _, name := range []string{"f", "twin", "new"} {
		if err := ws.WriteFile(name, make([]byte, 1<<20)); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("write %s: %v", name, err)
		}
	}
	if content(t, filepath.Join(dir, "f")) != "old" || content(t, filepath.Join(dir, "twin")) != "old" {
		t.Error("the old content is lost")
	}
	holdsOnly(t, dir, "f", "twin", "twin2")
}

// smallDisk is a file system of 64 KiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("a full disk needs the right to mount:", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	return dir
}

func TestAFullDiskIsSaidAndLeavesNoTornLine(t *testing.T) {
	d := openDir(t, smallDisk(t))
	f, err := d.OpenAppend("log")
	must(t, err)
	defer f.Close()
	line := []byte(strings.Repeat("x", 9999) + "\n")
	for err == nil {
		err = f.Append(line)
	}
	if !errors.Is(err, disk.ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("append: %v", err)
	}
	if size, err := f.Size(); err != nil || size == 0 || size%10000 != 0 {
		t.Errorf("the log has %d bytes, %v", size, err)
	}
	if err := d.WriteFile("meta", line); !errors.Is(err, disk.ErrNoSpace) {
		t.Errorf("write: %v", err)
	}
	if entries, err := d.List(""); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestAReadOnlyFolderIsSaid(t *testing.T) {
	path := smallDisk(t)
	d := openDir(t, path)
	must(t, d.WriteFile("f", []byte("kept")))
	must(t, syscall.Mount("", path, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	if err := d.WriteFile("f", nil); !errors.Is(err, disk.ErrReadOnly) {
		t.Errorf("write: %v", err)
	}
	if _, err := d.OpenAppend("log"); !errors.Is(err, disk.ErrReadOnly) {
		t.Errorf("open: %v", err)
	}
	if got := content(t, filepath.Join(path, "f")); got != "kept" {
		t.Errorf("the file holds %q", got)
	}
}
