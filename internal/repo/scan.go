package repo

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/khaelor/khaelor/internal/workspace"
)

// stamp is what a file's content is recognised by without reading it.
type stamp struct {
	size  int64
	mtime int64
}

func (t *Tracker) stamp(name string) (stamp, bool) {
	info, err := workspace.Stat(t.repo.ws, name)
	return stamp{size: info.Size, mtime: info.ModTime.UnixNano()}, err == nil
}

func stampOf(info fs.FileInfo) stamp {
	return stamp{size: info.Size(), mtime: info.ModTime().UnixNano()}
}

// view is how files stood at one time, by name.
type view struct {
	files map[string]stamp
	// sparse says that files are missing that are as in the last commit.
	sparse bool
}

// gone stands for a file that git misses.
var gone = stamp{size: -1}

// scan stamps every regular file below the base, and once there are too many,
// those that git calls changed. Links are not followed. A tree that has grown
// too large may have done so in a new ignored folder.
func (t *Tracker) scan(ctx context.Context) view {
	if t.sparse {
		return t.changedFiles(ctx)
	}
	found := make(map[string]stamp, len(t.seen.files))
	t.scanFolder("", found)
	if len(found) > t.most {
		t.skip = t.ignoredFolders(ctx)
		clear(found)
		t.scanFolder("", found)
	}
	if len(found) > t.most {
		t.sparse = true
		return t.changedFiles(ctx)
	}
	return view{files: found}
}

// changedFiles stamps the files that are not as in the last commit.
func (t *Tracker) changedFiles(ctx context.Context) view {
	st, err := t.repo.status(ctx, "--untracked-files=all", "--no-renames")
	if t.blind = err != nil || len(st.dirty)+len(st.untracked) > t.most; t.blind {
		return view{}
	}
	found := map[string]stamp{}
	for _, list := range [][]string{st.dirty, st.untracked} {
		for _, p := range list {
			if name, ok := t.fromBase(p); ok && !strings.HasSuffix(name, "/") {
				found[name] = t.now(name)
			}
		}
	}
	return view{files: found, sparse: true}
}

// now is a file's stamp, gone when there is none.
func (t *Tracker) now(name string) stamp {
	if s, ok := t.stamp(name); ok {
		return s
	}
	return gone
}

// differing are the names whose files are not as they were in an earlier view.
// A name that only one of them has may be as it was, unseen.
func (t *Tracker) differing(before, now view) []string {
	var names []string
	for name, s := range now.files {
		if old, ok := before.files[name]; !ok || old != s {
			names = append(names, name)
		}
	}
	for name, old := range before.files {
		if _, ok := now.files[name]; !ok && (!now.sparse || t.now(name) != old) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (t *Tracker) scanFolder(folder string, found map[string]stamp) {
	entries, err := workspace.ReadDir(t.repo.ws, path.Join(".", folder))
	if err != nil || len(found) > t.most {
		return
	}
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
		switch {
		case entry.Name() == ".git":
			t.nest(folder)
		case entry.IsDir():
			if entry.Name() != ".khaelor" && !t.skip[name] {
				t.scanFolder(name, found)
			}
		case entry.Type() == 0:
			if info, err := entry.Info(); err == nil && !t.skip[name] {
				found[name] = stampOf(info)
			}
		}
	}
}

// nest takes note of a repository inside: a submodule, say. Of one that came
// later nothing is known.
func (t *Tracker) nest(folder string) {
	if folder == "" || t.nested[folder] != nil {
		return
	}
	inner := &Repo{ws: t.repo.ws, patience: t.repo.patience, silent: t.repo.silent}
	if inner.found(path.Join(t.base(), folder)) {
		t.nested[folder] = inner
		t.dirty[folder+"/"] = t.seen.files != nil
	}
}

// owner is the repository that a file belongs to, and its name there.
func (t *Tracker) owner(name string) (r *Repo, there string) {
	for folder := path.Dir(name); folder != "." && folder != "/"; folder = path.Dir(folder) {
		if inner := t.nested[folder]; inner != nil {
			return inner, strings.TrimPrefix(name, folder+"/")
		}
	}
	return t.repo, t.rootPath(name)
}

// ignored says which files their repositories leave out.
func (t *Tracker) ignored(ctx context.Context, names []string) map[string]bool {
	asked := map[*Repo][]string{}
	for _, name := range names {
		owner, there := t.owner(name)
		asked[owner] = append(asked[owner], there)
	}
	answers := map[*Repo]map[string]bool{}
	for owner, list := range asked {
		answers[owner] = owner.ignored(ctx, list)
	}
	ignored := map[string]bool{}
	for _, name := range names {
		owner, there := t.owner(name)
		ignored[name] = answers[owner][there]
	}
	return ignored
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

// markDirty notes which files are not as in the last commit.
func (t *Tracker) markDirty(ctx context.Context) {
	mark := func(r *Repo, name func(string) (string, bool)) {
		st, _ := r.status(ctx, "--untracked-files=normal")
		for _, list := range [][]string{st.dirty, st.untracked} {
			for _, p := range list {
				if rel, ok := name(p); ok {
					t.dirty[rel] = true
				}
			}
		}
	}
	mark(t.repo, t.fromBase)
	for folder, inner := range t.nested {
		mark(inner, func(p string) (string, bool) { return folder + "/" + p, true })
	}
}

func (t *Tracker) unclean(name string) bool {
	for folder := path.Dir(name); folder != "." && folder != "/"; folder = path.Dir(folder) {
		if t.dirty[folder+"/"] {
			return true
		}
	}
	return t.dirty[name]
}

// rootPath is a path relative to the base as git names it, relative to the
// root of the working tree.
func (t *Tracker) rootPath(name string) string {
	if t.repo.root == "" {
		return name
	}
	return path.Join(t.prefix(), name)
}

// fromBase is a path relative to the root as we name it, relative to the base.
func (t *Tracker) fromBase(name string) (string, bool) {
	if t.prefix() == "" {
		return name, name != ""
	}
	return strings.CutPrefix(name, t.prefix()+"/")
}

// prefix is the base relative to the root.
func (t *Tracker) prefix() string {
	return strings.TrimPrefix(strings.TrimPrefix(t.base(), t.repo.root), "/")
}
