package search

import (
	"context"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/khaelor/khaelor/internal/workspace"
)

// entry is a file that a walk comes by, or a folder it did not enter.
type entry struct {
	dir  *folder
	name string
	kind fs.FileMode // the type bits
	// why it is left out, unless it is not
	hidden  bool // it or a folder on the way begins with a dot
	ignored bool
}

// rel is the path below the walk's root.
func (e entry) rel() string { return e.dir.rel + e.name }

// path is the canonical path.
func (e entry) path() string { return joined(e.dir.open.Path(), e.name) }

// walk goes through a folder without following links. It leaves out git's own
// folders, what is ignored, and unless wanted what is hidden. What lies in a
// repository within the folder is judged by that one's rules.
type walk struct {
	workspace workspace.Workspace
	root      string
	hidden    bool // hidden folders, too
	depth     int  // of folders to enter; 0 is no limit
	// visitor makes what one goroutine does with files, in any order. Ignored
	// and hidden ones are visited too, so that they can be counted.
	visitor func() func(entry)

	unread  atomic.Int64 // folders that could not be read
	passed  atomic.Int64 // hidden and ignored folders that were not entered
	mutex   sync.Mutex
	changed sync.Cond // of the two below
	jobs    []job     // the newest first, so that few folders are open at a time
	working int
	failed  any // a panic
}

// folder is an open folder. It is closed when the last job in it is done.
type folder struct {
	open   *workspace.Folder
	rel    string // below the root: empty, or with a slash at the end
	rules  rules
	hidden bool
	depth  int
	jobs   atomic.Int64
}

func (f *folder) done() {
	if f.jobs.Add(-1) == 0 {
		_ = f.open.Close() // a folder handle; nothing was written through it
	}
}

// job is some files of a folder, or a folder in it to enter.
type job struct {
	dir   *folder
	enter string
	files []entry
}

// filesPerJob is small enough for one large folder to keep all busy.
const filesPerJob = 64

// run walks the folder.
func (w *walk) run(ctx context.Context) error {
	open, err := workspace.OpenFolder(w.workspace, w.root)
	if err != nil {
		return err
	}
	w.changed.L = &w.mutex
	top := &folder{open: open, rules: rulesAbove(w.workspace, w.root)}
	w.list(top)
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() { w.work(ctx) })
	}
	all.Wait()
	if w.failed != nil {
		panic(w.failed)
	}
	return context.Cause(ctx)
}

// work takes jobs until there are none and nobody can bring more.
func (w *walk) work(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			w.mutex.Lock()
			w.failed = p
			w.mutex.Unlock()
			w.finish()
		}
	}()
	visit := w.visitor()
	for j, ok := w.take(); ok; j, ok = w.take() {
		if ctx.Err() == nil {
			w.do(ctx, j, visit)
		}
		j.dir.done()
		w.finish()
	}
}

func (w *walk) do(ctx context.Context, j job, visit func(entry)) {
	for _, e := range j.files {
		if ctx.Err() != nil {
			return
		}
		visit(e)
	}
	if j.enter == "" {
		return
	}
	open, err := j.dir.open.Folder(j.enter)
	if err != nil {
		w.unread.Add(1)
		return
	}
	w.list(&folder{
		open: open, rel: j.dir.rel + j.enter + "/", rules: j.dir.rules, depth: j.dir.depth + 1,
		hidden: j.dir.hidden || j.enter[0] == '.',
	})
}

// take waits for a job.
func (w *walk) take() (job, bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for len(w.jobs) == 0 && w.working > 0 && w.failed == nil {
		w.changed.Wait()
	}
	last := len(w.jobs) - 1
	if last < 0 || w.failed != nil {
		return job{}, false
	}
	j := w.jobs[last]
	w.jobs[last] = job{}
	w.jobs = w.jobs[:last]
	w.working++
	return j, true
}

func (w *walk) finish() {
	w.mutex.Lock()
	w.working--
	w.mutex.Unlock()
	w.changed.Broadcast()
}

// list reads a folder and makes jobs of what is in it.
func (w *walk) list(dir *folder) {
	dir.jobs.Store(1)
	defer dir.done()
	entries, err := dir.open.ReadDir()
	if err != nil {
		w.unread.Add(1)
		return
	}
	dir.rules = dir.rules.in(w.workspace, dir.open, entries, dir.rel == "")
	jobs, files := w.sort(dir, entries)
	for len(files) > 0 {
		n := min(len(files), filesPerJob)
		jobs = append(jobs, job{dir: dir, files: files[:n]})
		files = files[n:]
	}
	dir.jobs.Add(int64(len(jobs)))
	w.mutex.Lock()
	w.jobs = append(w.jobs, jobs...)
	w.mutex.Unlock()
	w.changed.Broadcast()
}

// sort tells files from folders to enter.
func (w *walk) sort(dir *folder, entries []fs.DirEntry) (enter []job, files []entry) {
	path := joined(dir.open.Path(), "")
	files = make([]entry, 0, len(entries))
	for _, d := range entries {
		e := entry{dir: dir, name: d.Name(), kind: d.Type()}
		if e.name == gitFolder {
			continue
		}
		e.hidden = dir.hidden || e.name[0] == '.'
		e.ignored = dir.rules.Ignored(path, e.name, d.IsDir())
		switch {
		case !d.IsDir():
			files = append(files, e)
		case e.ignored || e.hidden && !w.hidden:
			w.passed.Add(1)
		case w.depth == 0 || dir.depth < w.depth-1:
			enter = append(enter, job{dir: dir, enter: e.name})
		}
	}
	return enter, files
}

// joined is filepath.Join for a clean folder and a name.
func joined(folder, name string) string {
	if strings.HasSuffix(folder, "/") {
		return folder + name
	}
	return folder + "/" + name
}
