package memdisk_test

import (
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/khaelor/khaelor/internal/disk"
	"github.com/khaelor/khaelor/internal/disk/disktest"
	"github.com/khaelor/khaelor/internal/disk/memdisk"
)

func TestMemdiskIsADir(t *testing.T) {
	disktest.Run(t, func(*testing.T) disk.Dir { return memdisk.New() })
}

type tester interface {
	Helper()
	Fatal(...any)
}

func must(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t tester, d disk.Dir, name string) string {
	t.Helper()
	f, err := d.Open(name)
	must(t, err)
	data, err := io.ReadAll(f)
	must(t, err)
	return string(data)
}

func TestOnlyWhatWasSyncedSurvives(t *testing.T) {
	d := memdisk.New()
	f, err := d.OpenAppend("log")
	must(t, err)
	must(t, f.Append([]byte("kept\n")))
	must(t, f.Sync())
	must(t, f.Append([]byte("lost\n")))
	must(t, d.WriteFile("meta", []byte("whole")))
	if got := read(t, d.PowerLoss(), "log"); got != "kept\n" {
		t.Errorf("found %q", got)
	}
	if got := read(t, d.PowerLossKeeping(2), "log"); got != "kept\nlo" {
		t.Errorf("found %q of a torn line", got)
	}
	if got := read(t, d.PowerLoss(), "meta"); got != "whole" {
		t.Errorf("a written file holds %q", got)
	}
	must(t, f.Truncate(2))
	if got := read(t, d.PowerLossKeeping(9), "log"); got != "kept\n" {
		t.Errorf("an unsynced cut left %q", got)
	}
	if got := read(t, d, "log"); got != "ke" {
		t.Errorf("the disk that kept its power holds %q", got)
	}
}

func TestAppendsFailOnRequest(t *testing.T) {
	d := memdisk.New()
	f, err := d.OpenAppend("log")
	must(t, err)
	d.FailAppendAfter(1, disk.ErrNoSpace, 3)
	must(t, f.Append([]byte("one\n")))
	for range 2 {
		if err := f.Append([]byte("two\n")); !errors.Is(err, disk.ErrNoSpace) {
			t.Fatal(err)
		}
	}
	if got := read(t, d, "log"); got != "one\ntwo" {
		t.Errorf("the file holds %q", got)
	}
	must(t, f.Truncate(4))
	d.FailAppendAfter(0, nil, 0)
	must(t, f.Append([]byte("three\n")))
	if got := read(t, d, "log"); got != "one\nthree\n" {
		t.Errorf("after the repair the file holds %q", got)
	}
}

// TestLossIsAPrefix plays appends, cuts and syncs in any order against two
// plain strings.
func TestLossIsAPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := memdisk.New()
		f, err := d.OpenAppend("log")
		must(t, err)
		var live, synced string
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				must(t, f.Sync())
				synced = live
			case 1:
				live = live[:rapid.IntRange(0, len(live)).Draw(t, "cut")]
				must(t, f.Truncate(int64(len(live))))
			default:
				text := rapid.StringN(0, 5, -1).Draw(t, "text")
				live += text
				must(t, f.Append([]byte(text)))
			}
			if got := read(t, d, "log"); got != live {
				t.Fatalf("holds %q, not %q", got, live)
			}
			if got := read(t, d.PowerLoss(), "log"); got != synced {
				t.Fatalf("found %q, not %q", got, synced)
			}
		}
	})
}
