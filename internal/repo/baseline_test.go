package repo

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

func TestTheBaselineIsWhatWasChangedBeforeUs(t *testing.T) {
	for _, c := range []struct {
		name             string
		change           func(p place)
		dirty, untracked []string
	}{
		{"nothing", func(place) {}, nil, nil},
		{"a dirty file", func(p place) { p.write("a.txt", "x\n") }, []string{"a.txt"}, nil},
		{"a staged file", func(p place) { p.write("b.txt", "x\n"); p.git("add", "b.txt") }, []string{"b.txt"}, nil},
		{"an untracked file and folder", func(p place) { p.write("b.txt", ""); p.write("d/e", "") }, nil, []string{"b.txt", "d/"}},
		{"an ignored file", func(p place) { p.write(".git/info/exclude", "*.log\n"); p.write("x.log", "") }, nil, nil},
		{"a file that is gone", func(p place) { _ = os.Remove(p.path("a.txt")) }, []string{"a.txt"}, nil},
		{"a renamed file", func(p place) { p.git("mv", "a.txt", "z.txt") }, []string{"z.txt"}, nil},
		{"a file renamed behind git's back", func(p place) {
			_ = os.Rename(p.path("a.txt"), p.path("long-enough.txt"))
			p.git("add", "-N", "long-enough.txt")
		}, []string{"long-enough.txt"}, nil},
		{"odd names", func(p place) { p.write("a b.txt", ""); p.write("nl\nx", ""); p.write("ü\"'", "") }, nil, []string{"a b.txt", "nl\nx", "ü\"'"}},
		{"a name that is not UTF-8", func(p place) { p.write("l\xe9", "") }, nil, []string{"l\ufffd"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := repository(t)
			c.change(p)
			before := p.git("status", "--porcelain")
			b, ok := p.open().Baseline(t.Context())
			if !ok || b.Branch != "main" || !slices.Equal(b.DirtyFiles, event.List[string](c.dirty)) || !slices.Equal(b.UntrackedFiles, event.List[string](c.untracked)) {
				t.Errorf("baseline %+v", b)
			}
			diff, _ := p.try("diff", "HEAD")
			if want := sha(diff); b.DiffHash != want {
				t.Errorf("hash %s, want that of %q", b.DiffHash, diff)
			}
			if after := p.git("status", "--porcelain"); after != before {
				t.Errorf("the state was %q and is %q", before, after)
			}
		})
	}
}

func TestARepositoryWithoutACommitHasABaseline(t *testing.T) {
	p := folder(t)
	p.git("init", "-q", "-b", "main")
	p.write("a", "")
	p.write("b", "")
	p.git("add", "a")
	b, ok := p.open().Baseline(t.Context())
	if !ok || !slices.Equal(b.DirtyFiles, event.List[string]{"a"}) || !slices.Equal(b.UntrackedFiles, event.List[string]{"b"}) || b.DiffHash != sha("") {
		t.Errorf("baseline %+v, %v", b, ok)
	}
	if _, ok := folder(t).open().Baseline(t.Context()); ok {
		t.Error("a plain folder has a baseline")
	}
}

func TestTheBaselineTakesNoLock(t *testing.T) {
	p := repository(t)
	p.write("a.txt", "one\ntwo\n") // the index would be refreshed
	before, err := os.ReadFile(p.path(".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.path(".git/index.lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := p.open().Baseline(t.Context()); !ok {
		t.Error("no baseline while another git works")
	}
	if after, err := os.ReadFile(p.path(".git/index")); err != nil || !slices.Equal(before, after) {
		t.Errorf("the index was written: %v", err)
	}
}

func TestTheListsOfABaselineAreBounded(t *testing.T) {
	p := repository(t)
	for i := range mostNames + 5 {
		p.write(fmt.Sprintf("untracked-%04d", i), "")
	}
	b, ok := p.open().Baseline(t.Context())
	if n := len(b.UntrackedFiles); !ok || n != mostNames+1 || b.UntrackedFiles[mostNames] != "… and 5 more" {
		t.Fatalf("%d untracked files, %v", n, ok)
	}
	// The tracker knows them all, so that it takes none for one of ours.
	s := track(p)
	s.none(s.command(func() {}))
	m := s.only(s.command(func() { s.write("untracked-1004", "x\n") }), "untracked-1004")
	if m.BeforeSHA256 != sha("") {
		t.Errorf("changed %+v", m)
	}
}
