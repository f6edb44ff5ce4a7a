// Package disktest is what every disk.Dir must do.
//
// Run is called by the tests of each implementation; it knows nothing but the
// interface. What survives a power loss is for memdisk's own tests, as no real
// disk loses power on request.
package disktest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/disk"
)

// Run checks an implementation. open makes an empty folder.
func Run(t *testing.T, open func(t *testing.T) disk.Dir) {
	for name, check := range map[string]func(*testing.T, disk.Dir){
		"what is written is read":                 writtenIsRead,
		"what is appended comes after the rest":   appends,
		"truncating cuts, and appending goes on":  truncates,
		"two handles append to one file":          twoHandles,
		"a missing file does not exist":           missing,
		"a listing is sorted and goes one deep":   lists,
		"removing takes a folder with all in it":  removes,
		"a lock is held by one at a time":         locks,
		"names that leave the folder are refused": staysInside,
		"a reader keeps what it opened":           readerKeeps,
	} {
		t.Run(name, func(t *testing.T) { check(t, open(t)) })
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, d disk.Dir, name, text string) {
	t.Helper()
	must(t, d.WriteFile(name, []byte(text)))
}

func wants(t *testing.T, d disk.Dir, name, want string) {
	t.Helper()
	f, err := d.Open(name)
	must(t, err)
	got, err := io.ReadAll(f)
	must(t, errors.Join(err, f.Close()))
	if string(got) != want {
		t.Errorf("%s holds %q, not %q", name, got, want)
	}
}

func openAppend(t *testing.T, d disk.Dir, name string) disk.File {
	t.Helper()
	f, err := d.OpenAppend(name)
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	return f
}

func writtenIsRead(t *testing.T, d disk.Dir) {
	for _, text := range []string{"first", "second, longer", "", "3"} {
		write(t, d, "a/b/f", text)
		wants(t, d, "a/b/f", text)
	}
}

func appends(t *testing.T, d disk.Dir) {
	write(t, d, "log", "old\n")
	f := openAppend(t, d, "log")
	must(t, f.Append([]byte("one\n")))
	must(t, f.Append(nil))
	must(t, f.Append([]byte("two\n")))
	must(t, f.Sync())
	wants(t, d, "log", "old\none\ntwo\n")
	if size, err := f.Size(); err != nil || size != 12 {
		t.Errorf("size is %d, %v", size, err)
	}
	openAppend(t, d, "new/folder/log")
	wants(t, d, "new/folder/log", "")
}

func truncates(t *testing.T, d disk.Dir) {
	f := openAppend(t, d, "log")
	must(t, f.Append([]byte("whole\ntorn")))
	must(t, f.Truncate(6))
	must(t, f.Append([]byte("next\n")))
	wants(t, d, "log", "whole\nnext\n")
}

func twoHandles(t *testing.T, d disk.Dir) {
	one, two := openAppend(t, d, "log"), openAppend(t, d, "log")
	must(t, one.Append([]byte("1")))
	must(t, two.Append([]byte("2")))
	must(t, one.Append([]byte("3")))
	wants(t, d, "log", "123")
}

func missing(t *testing.T, d disk.Dir) {
	if _, err := d.Open("nope"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open: %v", err)
	}
	if err := d.Remove("nope"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("remove: %v", err)
	}
	if entries, err := d.List("nope"); err != nil || len(entries) != 0 {
		t.Errorf("list: %v, %v", entries, err)
	}
}

func lists(t *testing.T, d disk.Dir) {
	for _, name := range []string{"b", "a", "sub/deep/f", "sub/x"} {
		write(t, d, name, name)
	}
	for folder, want := range map[string]string{"": "a:1 b:1 sub/", "sub": "sub/deep/ sub/x:5", "sub/deep": "sub/deep/f:10"} {
		entries, err := d.List(folder)
		must(t, err)
		var got []string
		for _, e := range entries {
			if e.ModTime.IsZero() {
				t.Errorf("%s has no time", e.Name)
			}
			if e.IsDir {
				got = append(got, e.Name+"/")
			} else {
				got = append(got, fmt.Sprintf("%s:%d", e.Name, e.Size))
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q lists %q, not %q", folder, text, want)
		}
	}
}

func removes(t *testing.T, d disk.Dir) {
	for _, name := range []string{"sub/deep/f", "sub/x", "subx"} {
		write(t, d, name, "")
	}
	must(t, d.Remove("sub"))
	must(t, d.Remove("subx"))
	if entries, err := d.List(""); err != nil || len(entries) != 0 {
		t.Errorf("%v remain, %v", entries, err)
	}
}

func locks(t *testing.T, d disk.Dir) {
	lock, err := d.Lock("sub/log.lock")
	must(t, err)
	if _, err := d.Lock("sub/log.lock"); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("second lock: %v", err)
	}
	other, err := d.Lock("sub/other.lock")
	must(t, err)
	must(t, other.Unlock())
	must(t, lock.Unlock())
	lock, err = d.Lock("sub/log.lock")
	must(t, err)
	must(t, lock.Unlock())
}

func staysInside(t *testing.T, d disk.Dir) {
	for _, name := range []string{"../f", "a/../../f", "/etc/f", ""} {
		if err := d.WriteFile(name, nil); err == nil {
			t.Errorf("wrote %q", name)
		}
		if _, err := d.OpenAppend(name); err == nil {
			t.Errorf("opened %q", name)
		}
		if err := d.Remove(name); err == nil {
			t.Errorf("removed %q", name)
		}
		if _, err := d.Lock(name); err == nil {
			t.Errorf("locked %q", name)
		}
	}
}

func readerKeeps(t *testing.T, d disk.Dir) {
	write(t, d, "f", "before")
	f, err := d.Open("f")
	must(t, err)
	write(t, d, "f", "after")
	got, err := io.ReadAll(f)
	must(t, errors.Join(err, f.Close()))
	if string(got) != "before" {
		t.Errorf("the open file now reads %q", got)
	}
}
