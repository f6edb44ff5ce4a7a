package repo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/khaelor/khaelor/internal/diff"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/workspace"
)

// Bounds of what is watched. A larger tree, or a larger file, is not: looking
// would cost more than the command that is looked after.
const (
	maxEntries = 20_000
	maxContent = 4 << 20 // bytes of a file whose content is kept
)

// Tracker notices which files a command changed. Begin looks before it,
// Changed after it. It is not safe for concurrent use.
type Tracker struct {
	repo *Repo
	put  func([]byte) (string, error)
	blob func(string) ([]byte, error)

	skip  map[string]bool // folders that git ignores, relative to the base
	seen  map[string]stamp
	known map[string]string // SHA-256 of what we last knew of a file
	dirty map[string]bool   // changed before us: the last commit does not say how it was
	off   bool              // the tree is too large
}

// stamp is what a file's content is recognised by without reading it.
type stamp struct {
	size  int64
	mtime int64
}

// Track makes a tracker that keeps contents through put and finds them
// through blob.
func (r *Repo) Track(put func([]byte) (string, error), blob func(string) ([]byte, error)) *Tracker {
	return &Tracker{repo: r, put: put, blob: blob, known: map[string]string{}}
}

// base is the folder that is watched: the working directory, so that logged
// paths are relative to it.
func (t *Tracker) base() string { return t.repo.ws.Cwd() }

// Begin remembers how the files stand.
func (t *Tracker) Begin(ctx context.Context) {
	if t.off {
		return
	}
	if t.skip == nil {
		t.skip = t.ignoredFolders(ctx)
		t.dirty = t.dirtyFiles(ctx)
	}
	t.seen = t.scan()
}

// Know takes note of a change that a file tool reported.
func (t *Tracker) Know(m event.FileModified) {
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
	now := t.scan()
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
	ignored := t.repo.ignored(ctx, t.fromRoot(paths))
	var facts []event.FileModified
	for _, p := range paths {
		if ignored[t.rootPath(p)] {
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

// before is what a file held: as we last knew it, else as it was committed,
// unless it was changed since.
func (t *Tracker) before(ctx context.Context, name string) ([]byte, bool) {
	if sha, ok := t.known[name]; ok && sha != "" {
		data, err := t.blob(sha)
		return data, err == nil
	}
	if t.repo.root == "" || t.dirty[t.rootPath(name)] {
		return nil, false
	}
	return t.repo.committed(ctx, t.rootPath(name))
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

func (t *Tracker) stamp(name string) (stamp, bool) {
	info, err := workspace.Stat(t.repo.ws, name)
	return stamp{size: info.Size, mtime: info.ModTime.UnixNano()}, err == nil
}

// scan stamps every regular file below the base. Links are not followed.
func (t *Tracker) scan() map[string]stamp {
	found := make(map[string]stamp, len(t.seen))
	t.scanFolder("", found)
	if len(found) > maxEntries {
		t.off = true
	}
	return found
}

func (t *Tracker) scanFolder(folder string, found map[string]stamp) {
	entries, err := workspace.ReadDir(t.repo.ws, path.Join(".", folder))
	if err != nil || len(found) > maxEntries {
		return
	}
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
		switch {
		case entry.IsDir():
			if entry.Name() != ".git" && entry.Name() != ".khaelor" && !t.skip[name] {
				t.scanFolder(name, found)
			}
		case entry.Type() == 0:
			if info, err := entry.Info(); err == nil && !t.skip[name] {
				found[name] = stampOf(info)
			}
		}
	}
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{size: info.Size(), mtime: info.ModTime().UnixNano()}
}

// ignoredFolders are the folders below the base that git ignores as a whole.
func (t *Tracker) ignoredFolders(ctx context.Context) map[string]bool {
	skip := map[string]bool{}
	if t.repo.root == "" {
		return skip
	}
	out, err := t.repo.git(ctx, nil, "ls-files", "-o", "-i", "--exclude-standard", "--directory", "-z")
	if err != nil {
		return skip
	}
	for p := range strings.SplitSeq(string(out), "\x00") {
		if rel, ok := t.fromBase(strings.TrimSuffix(p, "/")); ok {
			skip[rel] = true
		}
	}
	return skip
}

func (t *Tracker) dirtyFiles(ctx context.Context) map[string]bool {
	dirty := map[string]bool{}
	b, _ := t.repo.Baseline(ctx)
	for _, p := range slices.Concat(b.DirtyFiles, b.UntrackedFiles) {
		dirty[p] = true
	}
	return dirty
}

// rootPath is a path relative to the base as git names it, relative to the
// root of the working tree.
func (t *Tracker) rootPath(name string) string {
	if t.repo.root == "" {
		return name
	}
	return path.Join(strings.TrimPrefix(strings.TrimPrefix(t.base(), t.repo.root), "/"), name)
}

func (t *Tracker) fromRoot(names []string) []string {
	rooted := make([]string, len(names))
	for i, n := range names {
		rooted[i] = t.rootPath(n)
	}
	return rooted
}

// fromBase is a path relative to the root as we name it, relative to the base.
func (t *Tracker) fromBase(name string) (string, bool) {
	prefix := strings.TrimPrefix(strings.TrimPrefix(t.base(), t.repo.root), "/")
	if prefix == "" {
		return name, name != ""
	}
	return strings.CutPrefix(name, prefix+"/")
}
