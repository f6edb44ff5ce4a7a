package repo

import (
	"os"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// crash is a session that died: what the log knows, and since when nobody has
// looked.
type crash struct {
	session
	log   fold.Changes
	since time.Time
}

// crashed is a session in a place whose files are all old.
func crashed(p place, facts ...event.Fact) crash {
	c := crash{session: track(p), since: time.Now()}
	if b, ok := p.open().Baseline(p.t.Context()); ok {
		facts = append([]event.Fact{event.BaselineRecorded{Baseline: b}}, facts...)
	}
	for i, f := range facts {
		c.log = c.log.Apply(event.Record{Seq: int64(i + 1), Fact: f})
	}
	for _, name := range []string{"a.txt", "dirty.txt", "old.txt", "read.txt"} {
		old := c.since.Add(-time.Hour)
		_ = os.Chtimes(p.path(name), old, old) // not all are in every place
	}
	return c
}

func (c crash) missed(only string) map[string]event.FileModified {
	changed := map[string]event.FileModified{}
	for _, m := range c.tracker.Missed(c.t.Context(), c.since, c.log, only) {
		changed[m.Path] = m
	}
	return changed
}

// used is a repository with a dirty file, an untracked one, one that the log
// knows and one that is in nobody's way.
func used(t *testing.T) place {
	p := repository(t)
	p.write(".gitignore", "*.log\n")
	p.write("dirty.txt", "1\n")
	p.write("read.txt", "read\n")
	p.write("gone.txt", "bye\n")
	p.git("add", ".")
	p.git("commit", "-qm", "second")
	p.write("dirty.txt", "1\nuser\n")
	p.write("old.txt", "user\n")
	return p
}

func TestWhatACommandChangedBeforeACrashIsFound(t *testing.T) {
	c := crashed(used(t), event.FileRead{Path: "read.txt", SHA256: sha("read\n")}, event.FileModified{Path: "dirty.txt", AfterSHA256: sha("1\nuser\n")})
	if got := c.missed(""); len(got) != 0 {
		t.Fatalf("nothing happened, and found %v", got)
	}
	c.write("a.txt", "one\n2\n")
	c.write("dirty.txt", "1\nuser\nours\n")
	c.write("old.txt", "user\nours\n")
	c.write("sub/new.txt", "new\n")
	c.write("x.log", "ignored\n")
	_ = os.Remove(c.path("gone.txt"))
	c.touch("read.txt")
	changed := c.missed("")
	for name, want := range map[string]event.FileModified{
		"a.txt":       {BeforeSHA256: sha("one\ntwo\n"), AfterSHA256: sha("one\n2\n"), DiffStats: event.DiffStats{Added: 1, Removed: 1}},
		"dirty.txt":   {AfterSHA256: sha("1\nuser\nours\n")}, // its content is no longer kept
		"old.txt":     {AfterSHA256: sha("user\nours\n")},
		"sub/new.txt": {AfterSHA256: sha("new\n"), DiffStats: event.DiffStats{Added: 1}},
		"gone.txt":    {BeforeSHA256: sha("bye\n"), DiffStats: event.DiffStats{Removed: 1}},
	} {
		got := changed[name]
		if got.Operation != event.FileExecuted || got.BeforeSHA256 != want.BeforeSHA256 || got.AfterSHA256 != want.AfterSHA256 || got.DiffStats != want.DiffStats {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if len(changed) != 5 {
		t.Errorf("found %d files", len(changed))
	}
}

func TestTheLastRecordedContentIsWhatAFileHeldBefore(t *testing.T) {
	c := crashed(used(t))
	ours, err := c.tracker.put([]byte("ours\n"))
	if err != nil {
		t.Fatal(err)
	}
	c.log = c.log.Apply(event.Record{Seq: 9, Fact: event.FileModified{Path: "a.txt", AfterSHA256: ours}})
	c.write("a.txt", "ours\nmore\n")
	if m := c.only(c.missed("a.txt"), "a.txt"); m.BeforeSHA256 != ours || m.DiffStats != (event.DiffStats{Added: 1}) {
		t.Errorf("found %+v", m)
	}
}

func TestOfOneFileNothingElseIsFound(t *testing.T) {
	c := crashed(used(t))
	c.write("a.txt", "x\n")
	c.write("x.log", "x\n")
	c.none(c.missed("old.txt"))
	c.none(c.missed("none.txt"))
	c.only(c.missed("a.txt"), "a.txt")
	c.only(c.missed("x.log"), "x.log") // a tool may change what git ignores
	outside := folder(t)
	outside.write("f", "x\n")
	if m := c.only(c.missed(outside.path("f")), outside.path("f")); m.AfterSHA256 != sha("x\n") || m.DiffStats != (event.DiffStats{}) {
		t.Errorf("found %+v", m)
	}
}

func TestAfterACrashGitLooksThroughALargeTree(t *testing.T) {
	p := crowded(t)
	c := crashed(p)
	c.tracker.most = few
	c.write("a.txt", "one\n2\n")
	_ = os.Remove(c.path("gone.txt"))
	changed := c.missed("")
	if len(changed) != 2 || changed["a.txt"].BeforeSHA256 != sha("one\ntwo\n") || changed["gone.txt"].BeforeSHA256 != sha("bye\n") {
		t.Errorf("found %+v", changed)
	}
}

func TestAfterACrashInAPlainFolderLateFilesAreFound(t *testing.T) {
	p := folder(t)
	p.write("a.txt", "one\n")
	p.write("old.txt", "one\n")
	c := crashed(p)
	c.write("a.txt", "two\n")
	if m := c.only(c.missed(""), "a.txt"); m.BeforeSHA256 != "" || m.AfterSHA256 != sha("two\n") || m.Diff != "" {
		t.Errorf("found %+v", m)
	}
}
