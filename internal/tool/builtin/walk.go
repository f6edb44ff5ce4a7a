package builtin

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/khaelor/khaelor/internal/ignore"
	"github.com/khaelor/khaelor/internal/workspace"
)

// The names of ignore files, and of the folder that makes a repository.
const (
	gitFolder  = ".git"
	gitIgnore  = ".gitignore"
	ownIgnore  = ".khaelorignore"
	gitExclude = "info/exclude"
)

// found is a file that a walk comes by.
type found struct {
	rel    string // path below the walk's root
	entry  fs.DirEntry
	folder *workspace.Folder // that holds it
	hidden bool              // it or a folder on the way begins with a dot
}

// path is the canonical path.
func (f found) path() string { return filepath.Join(f.folder.Path(), f.entry.Name()) }

// open opens the file, when it is one.
func (f found) open() (*workspace.FolderFile, error) { return f.folder.Open(f.entry.Name()) }

// walk goes through a folder in the order of names, without following links,
// and leaves out what is ignored, hidden unless wanted, and git's own folder.
// What lies in a repository within the folder is judged by that one's rules.
type walk struct {
	hidden bool // hidden files and folders, too
	depth  int  // of folders to enter; 0 is no limit
	visit  func(found) error
	unread int // folders that could not be read
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// run walks a folder given by its canonical path.
func (w *walk) run(ctx context.Context, ws workspace.Workspace, root string) error {
	folder, err := workspace.OpenFolder(ws, root)
	if err != nil {
		return err
	}
	defer folder.Close()
	return w.folder(ctx, folder, "", rulesAbove(ws, root), false)
}

func (w *walk) folder(ctx context.Context, dir *workspace.Folder, rel string, rules ignore.Rules, hidden bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	entries, err := dir.ReadDir()
	if err != nil {
		w.unread++
		return nil
	}
	rules = rulesIn(dir, entries, rules, rel == "")
	for _, e := range entries {
		f := found{rel: rel + e.Name(), entry: e, folder: dir, hidden: hidden || e.Name()[0] == '.'}
		if e.Name() == gitFolder || f.hidden && !w.hidden || rules.Ignored(dir.Path(), e.Name(), e.IsDir()) {
			continue
		}
		if !e.IsDir() {
			err = w.visit(f)
		} else if w.depth == 0 || strings.Count(f.rel, "/") < w.depth-1 {
			err = w.enter(ctx, f, rules)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) enter(ctx context.Context, f found, rules ignore.Rules) error {
	sub, err := f.folder.Folder(f.entry.Name())
	if err != nil {
		w.unread++
		return nil
	}
	defer sub.Close()
	return w.folder(ctx, sub, f.rel+"/", rules, f.hidden)
}

// rulesIn adds a folder's own ignore files.
func rulesIn(dir *workspace.Folder, entries []fs.DirEntry, rules ignore.Rules, root bool) ignore.Rules {
	if !root && has(entries, gitFolder) {
		rules.Git = nil
	}
	for _, name := range []string{gitIgnore, ownIgnore} {
		if !has(entries, name) {
			continue
		}
		f, err := dir.Open(name)
		if err != nil {
			continue
		}
		data, err := io.ReadAll(f)
		_ = f.Close() // read only: nothing can be lost
		if err == nil {
			rules = rules.And(name == ownIgnore, ignore.Parse(dir.Path(), data))
		}
	}
	return rules
}

func has(entries []fs.DirEntry, name string) bool {
	_, ok := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, name string) int {
		return strings.Compare(e.Name(), name)
	})
	return ok
}

// rulesAbove are the ignore rules in force at a folder before its own: those
// of the repository it lies in, else those from the working directory on. None
// are when they would ignore the folder itself: it was asked for by name.
func rulesAbove(ws workspace.Workspace, root string) ignore.Rules {
	var chain []string // from the outermost folder to root
	inRepository := false
	for dir := root; !inRepository; dir = filepath.Dir(dir) {
		chain = append(chain, dir)
		_, err := workspace.Stat(ws, filepath.Join(dir, gitFolder))
		inRepository = err == nil
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if !inRepository {
		chain = slices.DeleteFunc(chain, func(dir string) bool {
			return filepath.IsAbs(LogPath(ws.Cwd(), dir))
		})
	}
	slices.Reverse(chain)
	var rules ignore.Rules
	for i, dir := range chain {
		if i > 0 && rules.Ignored(filepath.Dir(dir), filepath.Base(dir), true) {
			return ignore.Rules{}
		}
		if i == 0 && inRepository {
			rules = with(ws, rules, dir, filepath.Join(gitFolder, gitExclude), false)
		}
		if dir != root {
			rules = with(ws, with(ws, rules, dir, gitIgnore, false), dir, ownIgnore, true)
		}
	}
	return rules
}

// rulesAt are the rules in force in a folder, its own included.
func rulesAt(ws workspace.Workspace, root string) ignore.Rules {
	return with(ws, with(ws, rulesAbove(ws, root), root, gitIgnore, false), root, ownIgnore, true)
}

// with adds a file, when it is there.
func with(ws workspace.Workspace, g ignore.Rules, dir, name string, own bool) ignore.Rules {
	data, err := ws.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return g
	}
	return g.And(own, ignore.Parse(dir, data))
}
