package repo

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/event"
)

func newTracker(r *Repo) *Tracker {
	blobs := map[string][]byte{}
	put := func(data []byte) (string, error) {
		blobs[sha(string(data))] = data
		return sha(string(data)), nil
	}
	return r.Track(put, func(sum string) ([]byte, error) {
		if data, ok := blobs[sum]; ok {
			return data, nil
		}
		return nil, os.ErrNotExist
	})
}

// session is a place with a tracker that looks at what commands do there.
type session struct {
	place
	tracker *Tracker
}

func track(p place) session { return session{p, newTracker(p.open())} }

// command is what one command does; it reports the files it changed.
func (s session) command(do func()) map[string]event.FileModified {
	s.t.Helper()
	s.tracker.Begin(s.t.Context())
	do()
	changed := map[string]event.FileModified{}
	for _, m := range s.tracker.Changed(s.t.Context()) {
		if m.Operation != event.FileExecuted {
			s.t.Errorf("%s by %s", m.Path, m.Operation)
		}
		changed[m.Path] = m
	}
	return changed
}

// touch gives a file another time, and so the look of a change.
func (s session) touch(name string) {
	s.t.Helper()
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(s.path(name), later, later); err != nil {
		s.t.Fatal(err)
	}
}

// only is the one change there is.
func (s session) only(changed map[string]event.FileModified, name string) event.FileModified {
	s.t.Helper()
	if _, ok := changed[name]; !ok || len(changed) != 1 {
		s.t.Fatalf("changed %v, want %s alone", changed, name)
	}
	return changed[name]
}

func (s session) none(changed map[string]event.FileModified) {
	s.t.Helper()
	if len(changed) != 0 {
		s.t.Errorf("changed %v", changed)
	}
}

func TestWhatACommandChangedIsReported(t *testing.T) {
	p := repository(t)
	p.write("gone.txt", "bye\n")
	p.git("add", ".")
	p.git("commit", "-qm", "second")
	s := track(p)

	m := s.only(s.command(func() { s.write("a.txt", "one\n2\n") }), "a.txt")
	if m.BeforeSHA256 != sha("one\ntwo\n") || m.AfterSHA256 != sha("one\n2\n") || m.DiffStats != (event.DiffStats{Added: 1, Removed: 1}) || !strings.Contains(m.Diff, "-two\n+2\n") {
		t.Errorf("changed %+v", m)
	}
	m = s.only(s.command(func() { s.write("a.txt", "one\n2\n3\n") }), "a.txt")
	if m.BeforeSHA256 != sha("one\n2\n") || m.DiffStats != (event.DiffStats{Added: 1}) {
		t.Errorf("changed again %+v", m)
	}
	m = s.only(s.command(func() { s.write("dir/new.txt", "new\n") }), "dir/new.txt")
	if m.BeforeSHA256 != "" || m.AfterSHA256 != sha("new\n") || m.DiffStats.Added != 1 {
		t.Errorf("new %+v", m)
	}
	m = s.only(s.command(func() { _ = os.Remove(s.path("gone.txt")) }), "gone.txt")
	if m.BeforeSHA256 != sha("bye\n") || m.AfterSHA256 != "" || m.DiffStats.Removed != 1 {
		t.Errorf("gone %+v", m)
	}
	m = s.only(s.command(func() { s.write("gone.txt", "again\n") }), "gone.txt")
	if m.BeforeSHA256 != "" || m.DiffStats != (event.DiffStats{Added: 1}) {
		t.Errorf("back %+v", m)
	}
	m = s.only(s.command(func() { s.write("a.txt", "\x00\x01") }), "a.txt")
	if m.Diff != "" || m.BeforeSHA256 != sha("one\n2\n3\n") || m.AfterSHA256 != sha("\x00\x01") {
		t.Errorf("binary %+v", m)
	}
}

func TestATouchIsNoChange(t *testing.T) {
	p := repository(t)
	p.write("b.txt", "b\n")
	p.git("add", ".")
	p.git("commit", "-qm", "second")
	p.write("b.txt", "dirty\n")
	p.write("c/untracked.txt", "mine\n")
	s := track(p)
	for _, name := range []string{"a.txt", "b.txt", "c/untracked.txt", "a.txt"} {
		s.none(s.command(func() { s.touch(name) }))
	}
	s.none(s.command(func() { s.write("a.txt", "one\ntwo\n") }))
}

func TestChangesOfTheUserAreNotOurs(t *testing.T) {
	p := repository(t)
	p.write("dirty.txt", "1\n")
	p.git("add", ".")
	p.git("commit", "-qm", "second")
	p.write("dirty.txt", "1\nuser\n") // before us
	s := track(p)
	m := s.only(s.command(func() { s.write("dirty.txt", "1\nuser\nours\n") }), "dirty.txt")
	if m.BeforeSHA256 != sha("1\nuser\n") || m.DiffStats != (event.DiffStats{Added: 1}) {
		t.Errorf("a dirty file %+v", m)
	}

	s.write("a.txt", "one\ntwo\nuser\n") // between two commands
	s.touch("a.txt")
	s.write("dirty.txt", "1\nuser\nours\nuser\n")
	s.write("theirs.txt", "user\n")
	s.none(s.command(func() {}))
	m = s.only(s.command(func() { s.write("a.txt", "one\ntwo\nuser\nours\n") }), "a.txt")
	if m.BeforeSHA256 != sha("one\ntwo\nuser\n") || m.DiffStats != (event.DiffStats{Added: 1}) {
		t.Errorf("a file the user changed meanwhile %+v", m)
	}
	m = s.only(s.command(func() { s.write("dirty.txt", "1\n") }), "dirty.txt")
	if m.DiffStats != (event.DiffStats{Removed: 3}) {
		t.Errorf("a file both changed %+v", m)
	}
	m = s.only(s.command(func() { _ = os.Remove(s.path("theirs.txt")) }), "theirs.txt")
	if m.BeforeSHA256 != sha("user\n") {
		t.Errorf("a file the user made %+v", m)
	}
}

func TestWhatAFileToolReportedIsNotReportedAgain(t *testing.T) {
	s := track(repository(t))
	s.tracker.Begin(t.Context())
	s.write("a.txt", "edited\n")
	sum, err := s.tracker.put([]byte("edited\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.tracker.Know(event.FileModified{Path: "a.txt", AfterSHA256: sum})
	s.tracker.Know(event.FileModified{Path: "/elsewhere/x", AfterSHA256: sum})
	if got := s.tracker.Changed(t.Context()); len(got) != 0 {
		t.Errorf("changed %+v", got)
	}
	m := s.only(s.command(func() { s.write("a.txt", "formatted\n") }), "a.txt")
	if m.BeforeSHA256 != sum {
		t.Errorf("changed %+v", m)
	}
}

func TestIgnoredFilesAreNotWatched(t *testing.T) {
	p := repository(t)
	p.write(".gitignore", "*.log\nbuild/\nlater/\n")
	p.write("build/old", "")
	p.write("sub/keep.txt", "")
	p.git("add", ".")
	p.git("commit", "-qm", "second")
	s := track(p)
	s.only(s.command(func() {
		s.write("x.log", "x")
		s.write("build/new", "x")
		s.write("later/new", "x")
		s.write("sub/y.log", "x")
		s.write("seen.txt", "x")
	}), "seen.txt")
	s.none(s.command(func() { s.write("later/newer", "x"); s.write(".git/x", "x"); s.write(".khaelor/x", "x") }))

	below := track(p.in("sub"))
	m := below.only(below.command(func() { below.write("keep.txt", "k\n"); below.write("z.log", "x"); s.write("a.txt", "out of sight\n") }), "keep.txt")
	if m.BeforeSHA256 != sha("") {
		t.Errorf("changed %+v", m)
	}
}

func TestAFolderThatIsNoRepositoryIsWatchedToo(t *testing.T) {
	p := folder(t)
	p.write("a.txt", "one\n")
	s := track(p)
	m := s.only(s.command(func() { s.write("a.txt", "one\ntwo\n") }), "a.txt")
	if m.BeforeSHA256 != sha("one\n") || m.DiffStats != (event.DiffStats{Added: 1}) {
		t.Errorf("changed %+v", m)
	}
	s.none(s.command(func() { s.touch("a.txt") }))
}

func TestOddFilesAreReportedWithoutAContent(t *testing.T) {
	p := repository(t)
	p.write("large.bin", "small\n")
	p.git("add", ".")
	p.git("commit", "-qm", "second")
	s := track(p)
	m := s.only(s.command(func() { s.write("large.bin", strings.Repeat("x", maxContent+1)) }), "large.bin")
	if m.AfterSHA256 != "" || m.Diff != "" || m.BeforeSHA256 != sha("small\n") {
		t.Errorf("grown %+v", m)
	}
	m = s.only(s.command(func() { s.write("large.bin", "small again\n") }), "large.bin")
	if m.BeforeSHA256 != "" || m.Diff != "" || m.AfterSHA256 != sha("small again\n") {
		t.Errorf("shrunk %+v", m)
	}
	s.none(s.command(func() {
		if err := os.Symlink("/etc", s.path("link")); err != nil {
			t.Fatal(err)
		}
	}))
	s.only(s.command(func() { s.write("l\xe9", "x") }), "l\ufffd")
}

func TestAFileOfASubmoduleIsReportedByItsOwnRepository(t *testing.T) {
	s := track(withSubmodule(t))
	changed := s.command(func() {
		s.write("sub/s.txt", "sub\nours\n")
		s.write("sub/x.log", "ignored there\n")
		s.write("a.txt", "ours\n")
	})
	if m := changed["sub/s.txt"]; len(changed) != 2 || m.BeforeSHA256 != sha("sub\n") || m.DiffStats != (event.DiffStats{Added: 1}) {
		t.Errorf("changed %+v", changed)
	}
}

func TestARepositoryThatACommandMadeIsWatched(t *testing.T) {
	s := track(repository(t))
	s.only(s.command(func() {
		s.write("inner/f.txt", "x\n")
		s.in("inner").git("init", "-q")
	}), "inner/f.txt")
	m := s.only(s.command(func() { s.write("inner/f.txt", "x\ny\n") }), "inner/f.txt")
	if m.BeforeSHA256 != sha("x\n") {
		t.Errorf("changed %+v", m)
	}
}

func TestWhatACommandChangesAndCommitsIsReported(t *testing.T) {
	s := track(repository(t))
	m := s.only(s.command(func() { s.write("a.txt", "one\n2\n"); s.git("commit", "-qam", "ours") }), "a.txt")
	if m.BeforeSHA256 != sha("one\ntwo\n") || m.DiffStats != (event.DiffStats{Added: 1, Removed: 1}) {
		t.Errorf("changed %+v", m)
	}
	s.none(s.command(func() { s.git("commit", "-q", "--allow-empty", "-m", "nothing") }))
	s.git("pack-refs", "--all")
	s.only(s.command(func() { s.write("a.txt", "one\n"); s.git("commit", "-qam", "ours") }), "a.txt")
}

// few is how many files are many in these tests.
const few = 100

// trackFew looks at few files one by one.
func trackFew(p place) session {
	s := track(p)
	s.tracker.most = few
	return s
}

// crowd fills a folder with more files than are looked at one by one.
func (p place) crowd(folder string) {
	p.t.Helper()
	if err := os.Mkdir(p.path(folder), 0o755); err != nil {
		p.t.Fatal(err)
	}
	for i := range few + 1 {
		if err := os.WriteFile(p.path(fmt.Sprintf("%s/%d", folder, i)), nil, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}

// crowded is a repository of too many files, one of which the user has changed.
func crowded(t *testing.T) place {
	p := repository(t)
	p.crowd("many")
	p.write("gone.txt", "bye\n")
	p.write("dirty.txt", "1\n")
	p.git("add", ".")
	p.git("commit", "-qm", "second")
	p.write("dirty.txt", "1\nuser\n")
	return p
}

func TestInALargeTreeGitSaysWhatACommandChanged(t *testing.T) {
	s := trackFew(crowded(t))
	changed := s.command(func() {
		s.write("a.txt", "one\n2\n")
		s.write("many/0", "x\n")
		s.write("new/file.txt", "new\n")
		s.write("dirty.txt", "1\nuser\nours\n")
		_ = os.Remove(s.path("gone.txt"))
	})
	for name, want := range map[string]struct {
		before string
		stats  event.DiffStats
	}{
		"a.txt":        {sha("one\ntwo\n"), event.DiffStats{Added: 1, Removed: 1}},
		"many/0":       {sha(""), event.DiffStats{Added: 1}},
		"new/file.txt": {"", event.DiffStats{Added: 1}},
		"dirty.txt":    {sha("1\nuser\n"), event.DiffStats{Added: 1}},
		"gone.txt":     {sha("bye\n"), event.DiffStats{Removed: 1}},
	} {
		if m := changed[name]; m.BeforeSHA256 != want.before || m.DiffStats != want.stats {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if len(changed) != 5 || s.tracker.Blind() {
		t.Errorf("changed %d files, blind %v", len(changed), s.tracker.Blind())
	}
	s.none(s.command(func() { s.touch("many/1"); s.touch("dirty.txt") }))
	s.none(s.command(func() { s.git("add", "."); s.git("commit", "-qm", "as it is") }))

	m := s.only(s.command(func() { s.write("a.txt", "3\n"); s.git("commit", "-qam", "ours") }), "a.txt")
	if m.BeforeSHA256 != sha("one\n2\n") {
		t.Errorf("changed and committed %+v", m)
	}
	m = s.only(s.command(func() {
		s.git("mv", "a.txt", "b.txt")
		s.git("mv", "b.txt", "a.txt")
		s.git("checkout", "-q", "HEAD~1", "--", "a.txt")
	}), "a.txt")
	if m.BeforeSHA256 != sha("3\n") {
		t.Errorf("brought back %+v", m)
	}
	m = s.only(s.command(func() { s.git("checkout", "-q", "HEAD", "--", "a.txt") }), "a.txt")
	if m.BeforeSHA256 != sha("one\n2\n") || m.AfterSHA256 != sha("3\n") {
		t.Errorf("reset %+v", m)
	}
}

func TestInALargeTreeChangesOfTheUserAreNotOurs(t *testing.T) {
	s := trackFew(crowded(t))
	s.none(s.command(func() {}))
	s.write("a.txt", "user\n")
	s.git("checkout", "-q", "--", "dirty.txt")
	s.none(s.command(func() {}))
	m := s.only(s.command(func() { s.write("a.txt", "user\nours\n") }), "a.txt")
	if m.BeforeSHA256 != sha("user\n") {
		t.Errorf("changed %+v", m)
	}
	m = s.only(s.command(func() { s.write("dirty.txt", "2\n") }), "dirty.txt")
	if m.BeforeSHA256 != sha("1\n") {
		t.Errorf("changed %+v", m)
	}
}

func TestATreeThatGrewTooLargeIsStillWatchedByGit(t *testing.T) {
	p := repository(t)
	p.write(".gitignore", "ignored/\n")
	s := trackFew(p)
	s.only(s.command(func() { s.crowd("ignored"); s.write("a.txt", "x\n") }), "a.txt")
	s.only(s.command(func() { s.crowd("many"); s.git("add", "many"); s.git("commit", "-qm", "many"); s.write("a.txt", "y\n") }), "a.txt")
	if !s.tracker.Blind() {
		t.Error("a commit of too many files is no reason to be blind")
	}
}

func TestWhereNobodyCanSayWhatChangedTheTrackerIsBlind(t *testing.T) {
	for name, p := range map[string]place{"no repository": folder(t), "too much is new": repository(t)} {
		s := trackFew(p)
		p.crowd("many")
		s.none(s.command(func() { s.write("a.txt", "y\n") }))
		if !s.tracker.Blind() {
			t.Errorf("%s: not blind", name)
		}
		s.none(s.command(func() { s.write("a.txt", "z\n") }))
	}
	if s := trackFew(repository(t)); len(s.command(func() { s.write("a.txt", "y\n") })) != 1 || s.tracker.Blind() {
		t.Error("blind in a small repository")
	}
}
