package repo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path"
	"slices"

	"github.com/khaelor/khaelor/internal/diff"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/workspace"
)

// Bounds of what is watched. A larger tree, or a larger file, is not: looking
// would cost more than the command that is looked after.
const (
	maxEntries = 20_000
	maxContent = 4 << 20   // bytes of a file whose content is kept
	maxHeld    = 8 << 20   // bytes of all contents that are held in memory
	maxHeldOne = 256 << 10 // bytes of one of them
)

// Tracker notices which files a command changed. Begin looks before it,
// Changed after it. It is not safe for concurrent use.
//
// What a file held before is known from what we last saw of it, from the last
// commit when it was clean, or because it was held in memory: that is done for
// files that differ from the last commit, or were changed by others while we
// looked away.
type Tracker struct {
	repo *Repo
	put  func([]byte) (string, error)
	blob func(string) ([]byte, error)

	skip   map[string]bool // folders that git ignores
	seen   map[string]stamp
	nested map[string]*Repo  // repositories inside, by folder
	known  map[string]string // SHA-256 of what we last knew of a file
	held   map[string][]byte
	space  int             // bytes that may still be held
	dirty  map[string]bool // not as in the last commit; a folder ends in a slash
	off    bool            // the tree is too large
}

// Track makes a tracker that keeps contents through put and finds them
// through blob.
func (r *Repo) Track(put func([]byte) (string, error), blob func(string) ([]byte, error)) *Tracker {
	return &Tracker{
		repo: r, put: put, blob: blob, space: maxHeld,
		nested: map[string]*Repo{}, known: map[string]string{}, held: map[string][]byte{}, dirty: map[string]bool{},
	}
}

// base is the folder that is watched: the working directory, so that logged
// paths are relative to it.
func (t *Tracker) base() string { return t.repo.ws.Cwd() }

// Begin remembers how the files stand.
func (t *Tracker) Begin(ctx context.Context) {
	if t.off {
		return
	}
	first := t.skip == nil
	if first {
		t.skip = t.ignoredFolders(ctx)
	}
	before := t.seen
	if t.seen = t.scan(ctx); t.off {
		return
	}
	if first {
		t.markDirty(ctx)
	}
	for _, name := range slices.Sorted(maps.Keys(t.seen)) {
		if old, ok := before[name]; !first && (!ok || old != t.seen[name]) {
			t.foreign(name)
		}
		if owner, _ := t.owner(name); first && (owner.root == "" || t.unclean(name)) {
			t.hold(name)
		}
	}
}

// foreign takes note that somebody else changed a file.
func (t *Tracker) foreign(name string) {
	t.forget(name)
	t.dirty[name] = true
	t.hold(name)
}

func (t *Tracker) forget(name string) {
	delete(t.known, name)
	t.space += len(t.held[name])
	delete(t.held, name)
}

func (t *Tracker) hold(name string) {
	if size := t.seen[name].size; size > maxHeldOne || size > int64(t.space) {
		return
	}
	if data, ok := t.content(name); ok {
		t.held[name] = data
		t.space -= len(data)
	}
}

// Know takes note of a change that a file tool reported.
func (t *Tracker) Know(m event.FileModified) {
	if path.IsAbs(m.Path) {
		return // not below the base
	}
	t.forget(m.Path)
	t.known[m.Path] = m.AfterSHA256
	if t.seen == nil {
		return
	}
	if s, ok := t.stamp(m.Path); ok {
		t.seen[m.Path] = s
	} else {
		delete(t.seen, m.Path)
	}
}

// Changed says what is different since Begin, as facts to log.
func (t *Tracker) Changed(ctx context.Context) []event.FileModified {
	if t.off || t.seen == nil {
		return nil
	}
	now := t.scan(ctx)
	if t.off {
		return nil
	}
	var paths []string
	for p, s := range now {
		if old, ok := t.seen[p]; !ok || old != s {
			paths = append(paths, p)
		}
	}
	for p := range t.seen {
		if _, ok := now[p]; !ok {
			paths = append(paths, p)
		}
	}
	before := t.seen
	t.seen = now
	slices.Sort(paths)
	return t.facts(ctx, paths, before)
}

func (t *Tracker) facts(ctx context.Context, paths []string, before map[string]stamp) []event.FileModified {
	ignored := t.ignored(ctx, paths)
	var facts []event.FileModified
	for _, p := range paths {
		if ignored[p] {
			continue
		}
		_, existed := before[p]
		if m, changed := t.fact(ctx, p, existed); changed {
			facts = append(facts, m)
		}
	}
	return facts
}

// fact compares one file with what it was. Where nobody knows what it was,
// the fact has no diff and no count of lines.
func (t *Tracker) fact(ctx context.Context, name string, existed bool) (event.FileModified, bool) {
	m := event.FileModified{Path: event.Text(name), Operation: event.FileExecuted}
	after, kept := t.content(name)
	var old []byte
	oldKnown := !existed
	if existed {
		old, oldKnown = t.before(ctx, name)
	}
	if existed && oldKnown {
		m.BeforeSHA256 = t.keep(old)
	}
	if kept {
		m.AfterSHA256 = t.keep(after)
	}
	t.forget(name)
	t.known[name] = m.AfterSHA256
	if existed && kept && m.BeforeSHA256 == m.AfterSHA256 && oldKnown {
		return m, false // touched, not changed
	}
	_, there := t.stamp(name)
	if oldKnown && (kept || !there) {
		m.Diff, m.DiffStats = diff.Unified(old, after)
	}
	return m, true
}

func (t *Tracker) before(ctx context.Context, name string) ([]byte, bool) {
	if data, ok := t.held[name]; ok {
		return data, true
	}
	if sha, ok := t.known[name]; ok {
		data, err := t.blob(sha) // none is kept of a file that was too large
		return data, err == nil
	}
	owner, there := t.owner(name)
	if owner.root == "" || t.unclean(name) {
		return nil, false
	}
	return owner.committed(ctx, there)
}

func (t *Tracker) keep(data []byte) string {
	if sha, err := t.put(data); err == nil {
		return sha
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// content is what a file holds, unless it is gone or too large to keep.
func (t *Tracker) content(name string) ([]byte, bool) {
	info, err := workspace.Stat(t.repo.ws, name)
	if err != nil || !info.IsRegular || info.Size > maxContent {
		return nil, false
	}
	data, err := t.repo.ws.ReadFile(name)
	return data, err == nil
}
