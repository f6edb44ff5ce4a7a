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

// Bounds of what is watched. Of a larger tree git says what is changed in it;
// where git cannot, or where that is too much, nobody looks: it would cost more
// than the command that is looked after. Nor is the content of a larger file
// kept.
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
	seen   view
	commit string            // the last one, at Begin
	nested map[string]*Repo  // repositories inside, by folder
	known  map[string]string // SHA-256 of what we last knew of a file
	held   map[string][]byte
	space  int             // bytes that may still be held
	dirty  map[string]bool // not as in the last commit; a folder ends in a slash
	most   int             // files that are looked at one by one
	sparse bool            // the tree is too large to look at each file
	blind  bool            // and git does not say what is changed, or too much is, or git is silent
}

// Track makes a tracker that keeps contents through put and finds them
// through blob.
func (r *Repo) Track(put func([]byte) (string, error), blob func(string) ([]byte, error)) *Tracker {
	return &Tracker{
		repo: r, put: put, blob: blob, space: maxHeld, most: maxEntries,
		nested: map[string]*Repo{}, known: map[string]string{}, held: map[string][]byte{}, dirty: map[string]bool{},
	}
}

// base is the folder that is watched: the working directory, so that logged
// paths are relative to it.
func (t *Tracker) base() string { return t.repo.ws.Cwd() }

// Blind says that changes by commands are not seen.
func (t *Tracker) Blind() bool { return t.blind }

// Begin remembers how the files stand.
func (t *Tracker) Begin(ctx context.Context) {
	if t.blind {
		return
	}
	first := t.skip == nil
	if first {
		t.skip = t.ignoredFolders(ctx)
	}
	before := t.seen
	t.commit = t.repo.commit(ctx)
	if t.seen = t.scan(ctx); t.blind {
		return
	}
	if !first {
		for _, name := range t.differing(before, t.seen) {
			t.foreign(name)
		}
		return
	}
	t.markDirty(ctx)
	if t.blind = t.repo.silent.Load(); t.blind {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(t.seen.files)) {
		if owner, _ := t.owner(name); owner.root == "" || t.unclean(name) {
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
	if size := t.now(name).size; size > maxHeldOne || size > int64(t.space) {
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
	if t.seen.files == nil {
		return
	}
	if s, ok := t.stamp(m.Path); ok {
		t.seen.files[m.Path] = s
	} else {
		delete(t.seen.files, m.Path)
	}
}

// Changed says what is different since Begin, as facts to log.
func (t *Tracker) Changed(ctx context.Context) []event.FileModified {
	if t.blind || t.seen.files == nil {
		return nil
	}
	before, now, commit := t.seen, t.scan(ctx), t.repo.commit(ctx)
	if t.blind {
		return nil
	}
	names := t.differing(before, now)
	if now.sparse && commit != t.commit {
		names = t.withCommitted(ctx, names, before, commit)
	}
	facts := t.facts(ctx, names, before)
	if t.repo.silent.Load() {
		t.blind = true
		return nil // what git ignores would be among them
	}
	t.seen, t.commit = now, commit
	return facts
}

// withCommitted adds the files that a command changed and committed, or got
// from another commit, so that they are as in the last commit again.
func (t *Tracker) withCommitted(ctx context.Context, names []string, before view, commit string) []string {
	moved, err := t.repo.between(ctx, t.commit, commit)
	if t.blind = err != nil || len(moved) > t.most; t.blind {
		return names
	}
	for _, p := range moved {
		name, ok := t.fromBase(p)
		if old, seen := before.files[name]; ok && (!seen || old != t.now(name)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (t *Tracker) facts(ctx context.Context, paths []string, before view) []event.FileModified {
	ignored := t.ignored(ctx, paths)
	var facts []event.FileModified
	for _, p := range paths {
		if ignored[p] {
			continue
		}
		if m, changed := t.fact(ctx, p, t.existed(ctx, p, before)); changed {
			facts = append(facts, m)
		}
	}
	return facts
}

func (t *Tracker) existed(ctx context.Context, name string, before view) bool {
	if s, seen := before.files[name]; seen || !before.sparse {
		return seen && s != gone
	}
	_, committed := t.repo.committed(ctx, t.commit, t.rootPath(name))
	return committed
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
	if owner != t.repo || t.commit == "" {
		return owner.committed(ctx, "HEAD", there)
	}
	return owner.committed(ctx, t.commit, there)
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
