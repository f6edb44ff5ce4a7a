package search

import (
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

// rules are the ignore rules in force in a folder.
type rules struct {
	ignore.Rules
	// global is the user's own ignore file; it goes for every repository.
	global ignore.File
}

// and adds a file of rules.
func (r rules) and(own bool, f ignore.File) rules {
	r.Rules = r.And(own, f)
	return r
}

// in adds a folder's own ignore files. A repository within another begins anew.
func (r rules) in(ws workspace.Workspace, dir *workspace.Folder, entries []fs.DirEntry, top bool) rules {
	if !top && has(entries, gitFolder) {
		r = r.repository(ws, dir.Path())
	}
	for _, name := range []string{gitIgnore, ownIgnore} {
		if !has(entries, name) {
			continue
		}
		if data, err := readIn(dir, name); err == nil {
			r = r.and(name == ownIgnore, ignore.Parse(dir.Path(), data))
		}
	}
	return r
}

func has(entries []fs.DirEntry, name string) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
}

func readIn(dir *workspace.Folder, name string) ([]byte, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// repository is what goes for the files of a repository before its own
// .gitignore is read.
func (r rules) repository(ws workspace.Workspace, top string) rules {
	r.Git = nil
	r = r.and(false, r.global.At(top))
	data, err := read(ws, filepath.Join(commonFolder(ws, top), gitExclude))
	if err != nil {
		return r
	}
	return r.and(false, ignore.Parse(top, data))
}

// rulesAbove are the ignore rules in force at a folder before its own: those
// of the repository it lies in, else those from the working directory on. None
// are when they would ignore the folder itself: it was asked for by name.
func rulesAbove(ws workspace.Workspace, root string) rules {
	chain, inRepository := foldersAbove(ws, root)
	r := rules{global: globalRules(ws)}
	switch {
	case inRepository:
		r = r.repository(ws, chain[0])
	case len(chain) > 0:
		r = r.and(false, r.global.At(chain[0]))
	}
	for i, dir := range chain {
		if i > 0 && r.Ignored(joined(filepath.Dir(dir), ""), filepath.Base(dir), true) {
			return rules{global: r.global}
		}
		if dir != root {
			r = r.with(ws, dir, gitIgnore).with(ws, dir, ownIgnore)
		}
	}
	return r
}

// foldersAbove are the folders from a repository's top, or the working
// directory, down to root.
func foldersAbove(ws workspace.Workspace, root string) (chain []string, inRepository bool) {
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
			rest, within := strings.CutPrefix(dir, ws.Cwd())
			return !within || rest != "" && rest[0] != '/'
		})
	}
	slices.Reverse(chain)
	return chain, inRepository
}

// commonFolder is where a repository keeps its info folder: a worktree's .git
// is a file that names a folder, which names the one it shares.
func commonFolder(ws workspace.Workspace, top string) string {
	git := filepath.Join(top, gitFolder)
	text, err := ws.ReadFile(git)
	if err != nil {
		return git // a folder
	}
	own, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !ok {
		return git
	}
	own = absolute(own, top)
	common, err := read(ws, filepath.Join(own, "commondir"))
	if err != nil {
		return own // a submodule
	}
	return absolute(strings.TrimSpace(string(common)), own)
}

func absolute(path, base string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// with adds a folder's file, when it is there. As git has it, a link is none.
func (r rules) with(ws workspace.Workspace, dir, name string) rules {
	data, err := ws.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return r
	}
	return r.and(name == ownIgnore, ignore.Parse(dir, data))
}

// read reads a file wherever links lead.
func read(ws workspace.Workspace, name string) ([]byte, error) {
	place, err := workspace.Resolve(ws, name)
	if err != nil {
		return nil, err
	}
	return ws.ReadFile(place.Path)
}

// globalRules reads the user's own ignore file, which lies where the
// environment of commands says.
func globalRules(ws workspace.Workspace) ignore.File {
	home, config := workspace.Variable(ws, "HOME"), workspace.Variable(ws, "XDG_CONFIG_HOME")
	return ignore.Global("/", home, config, func(path string) ([]byte, error) { return read(ws, path) })
}
