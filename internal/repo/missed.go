package repo

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// clockTick is by how much the time of a file may lag behind the clock: one
// tick of a system that counts a hundred a second, and one to be safe.
const clockTick = 20 * time.Millisecond

// Missed says what was changed since a moment after which nobody looked, as
// facts to log: the program died. Only names the one file that can have been
// changed, "" is all below the base.
//
// Files whose content is the last that the log knows are left out. Of a file
// that the log does not know the last commit says what it held, if it was clean
// in the baseline. Who changed a file in that time nobody can tell.
func (t *Tracker) Missed(ctx context.Context, since time.Time, log fold.Changes, only string) []event.FileModified {
	m := missed{Tracker: t.repo.Track(t.put, t.blob), since: since.Add(-clockTick), log: log}
	m.most = t.most
	names := []string{only}
	if only == "" {
		names = m.touched(ctx)
	}
	var facts []event.FileModified
	for _, name := range names {
		if f, changed := m.change(ctx, name); changed {
			facts = append(facts, f)
		}
	}
	return facts
}

// missed looks at files with no other past than the log's.
type missed struct {
	*Tracker
	since time.Time
	log   fold.Changes
}

// touched are the files that have a late time, or are gone from a folder that
// has one.
func (m *missed) touched(ctx context.Context) []string {
	m.skip = m.ignoredFolders(ctx)
	files := m.scan(ctx).files
	if st, err := m.repo.status(ctx, "--no-renames"); err == nil && !m.sparse {
		for _, p := range st.dirty {
			if name, ok := m.fromBase(p); ok && m.now(name) == gone {
				files[name] = gone
			}
		}
	}
	var names []string
	for name, s := range files {
		if s == gone {
			s = m.now(path.Dir(name))
		}
		if s.mtime >= m.since.UnixNano() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	ignored := m.ignored(ctx, names)
	if m.repo.silent.Load() {
		return nil // what git ignores would be among them
	}
	return slices.DeleteFunc(names, func(name string) bool { return ignored[name] })
}

// change compares a file with what the log says of it.
func (m *missed) change(ctx context.Context, name string) (event.FileModified, bool) {
	now := m.now(name)
	last, known := m.log.Latest(name)
	existed := !known || last.SHA256 != ""
	switch {
	case now != gone && now.mtime < m.since.UnixNano():
		return event.FileModified{}, false
	case known && existed:
		m.known[name] = last.SHA256
	case known:
	case !path.IsAbs(name) && m.wasClean(name):
		_, existed = m.repo.committed(ctx, "HEAD", m.rootPath(name))
	default:
		m.dirty[name] = true // and what it held is not known
	}
	if now == gone && !existed {
		return event.FileModified{}, false
	}
	f, changed := m.fact(ctx, name, existed)
	return f, changed && !(known && f.AfterSHA256 == last.SHA256)
}

// wasClean says that a file was as in the last commit, or not there, when the
// baseline was recorded.
func (m *missed) wasClean(name string) bool {
	if owner, _ := m.owner(name); m.log.Baseline == nil || owner.root == "" || owner != m.repo {
		return false
	}
	there := m.rootPath(name)
	for _, list := range [][]string{m.log.Baseline.DirtyFiles, m.log.Baseline.UntrackedFiles} {
		for _, p := range list {
			cut := strings.HasPrefix(p, andMore) && len(list) > mostNames
			if cut || p == there || strings.HasSuffix(p, "/") && strings.HasPrefix(there, p) {
				return false
			}
		}
	}
	return true
}
