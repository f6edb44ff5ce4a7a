// Package repo knows the git repository that the work happens in.
//
// It reads where the repository is and what branch it is on from git's files,
// records what was changed before us (the baseline), and notices which files
// of the project a command changed (Tracker).
//
// It promises that git is only ever asked, never told: no lock is taken, and
// no program that the repository names is run — no fsmonitor, external diff,
// textconv, filter, hook or pager — and that nobody waits for a git that does
// not answer. Start reading at Open, then Baseline.
package repo

import (
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/khaelor/khaelor/internal/workspace"
)

// Repo is the repository around a workspace, if there is one.
type Repo struct {
	ws workspace.Workspace
	// root is the working tree's folder, gitDir its git folder, commonDir the
	// one that all worktrees share; "" without a repository.
	root, gitDir, commonDir string
	bare                    bool

	patience time.Duration // how long git is waited for
	silent   *atomic.Bool  // git did not answer, here or in a repository around or inside
}

// Open finds the repository that holds the workspace's directory. It reads a
// few files and runs nothing.
func Open(ws workspace.Workspace) *Repo {
	r := &Repo{ws: ws, patience: maxTime, silent: new(atomic.Bool)}
	for dir := ws.Cwd(); ; dir = path.Dir(dir) {
		if r.found(dir) || dir == path.Dir(dir) {
			return r
		}
	}
}

func (r *Repo) found(dir string) bool {
	dot := path.Join(dir, ".git")
	info, err := r.stat(dot)
	switch {
	case err == nil && info.IsDir && r.exists(path.Join(dot, "HEAD")):
		r.root, r.gitDir = dir, info.Path
	case err == nil && info.IsRegular:
		target, ok := strings.CutPrefix(r.read(dot), "gitdir: ")
		if !ok {
			return false
		}
		r.root, r.gitDir = dir, r.canonical(dir, target)
	case r.exists(path.Join(dir, "HEAD")) && r.exists(path.Join(dir, "objects")) && r.exists(path.Join(dir, "refs")):
		r.gitDir, r.bare = dir, true
	default:
		return false
	}
	r.commonDir = r.gitDir
	if common := r.read(path.Join(r.gitDir, "commondir")); common != "" {
		r.commonDir = r.canonical(r.gitDir, common)
	}
	return true
}

// canonical is a path that git wrote down, relative to base or absolute.
func (r *Repo) canonical(base, name string) string {
	if !path.IsAbs(name) {
		name = path.Join(base, name)
	}
	if place, err := workspace.Resolve(r.ws, name); err == nil {
		return place.Path
	}
	return path.Clean(name)
}

// stat follows links, as git does.
func (r *Repo) stat(name string) (workspace.FileInfo, error) {
	place, err := workspace.Resolve(r.ws, name)
	if err != nil {
		return workspace.FileInfo{}, err
	}
	return workspace.Stat(r.ws, place.Path)
}

func (r *Repo) exists(name string) bool {
	_, err := r.stat(name)
	return err == nil
}

// read is a small file's text without its last newline, "" when it cannot be
// read.
func (r *Repo) read(name string) string {
	place, err := workspace.Resolve(r.ws, name)
	if err != nil {
		return ""
	}
	data, err := r.ws.ReadFile(place.Path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// Root is the top folder of the working tree, "" without one.
func (r *Repo) Root() string { return r.root }

// Bare says that the directory is a repository without files to work on.
func (r *Repo) Bare() bool { return r.bare }

// Identity is the path that all worktrees and folders of a project share.
func (r *Repo) Identity() string {
	if r.commonDir != "" {
		return r.commonDir
	}
	return r.ws.Cwd()
}

// Head is where the working tree stands.
type Head struct {
	IsRepo bool
	Branch string // "" when detached
	Commit string // the short hash, when detached
	State  string // "rebasing", "merging" …, "" when nothing is under way
}

// String is the head as a person reads it.
func (h Head) String() string {
	s := h.Branch
	if s == "" {
		s = "detached at " + h.Commit
	}
	if h.State != "" {
		s += ", " + h.State
	}
	return s
}

// states are the files by which git knows what it is in the middle of
// (git's contrib/completion/git-prompt.sh looks at the same).
var states = []struct{ file, state string }{
	{"rebase-merge", "rebasing"},
	{"rebase-apply", "rebasing"},
	{"MERGE_HEAD", "merging"},
	{"CHERRY_PICK_HEAD", "cherry-picking"},
	{"REVERT_HEAD", "reverting"},
	{"BISECT_LOG", "bisecting"},
}

// Head reads where the working tree stands.
func (r *Repo) Head() Head {
	if r.gitDir == "" {
		return Head{}
	}
	head := r.read(path.Join(r.gitDir, "HEAD"))
	if head == "" {
		return Head{}
	}
	h := Head{IsRepo: true}
	if ref, ok := strings.CutPrefix(head, "ref: "); ok {
		h.Branch = strings.TrimPrefix(ref, "refs/heads/")
	} else {
		h.Commit = head[:min(len(head), 10)]
	}
	for _, s := range states {
		if r.exists(path.Join(r.gitDir, s.file)) {
			h.State = s.state
			break
		}
	}
	return h
}
