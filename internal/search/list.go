package search

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/khaelor/khaelor/internal/wording"
)

// listedFiles is how many files a result names.
const listedFiles = 200

// listing collects the files that fit a pattern.
type listing struct {
	tree Tree
	glob *Glob

	mutex                   sync.Mutex
	files                   []listed
	hidden, ignored, asking atomic.Int64 // files that fit and are left out
}

// listed is a file and when it was changed last, in nanoseconds since 1970.
type listed struct {
	entry
	changed int64
}

// List names the files of a folder that fit a pattern, the newest first. By
// name, the pattern is about the last elements of paths, in every folder.
func (t Tree) List(ctx context.Context, pattern string, byName bool) (Result, error) {
	l := &listing{tree: t, glob: compiled(pattern, byName)}
	w := &walk{workspace: t.Workspace, root: t.Root, hidden: true, visitor: func() func(entry) { return l.visit }}
	if !byName && !strings.Contains(pattern, "**") {
		w.depth = strings.Count(pattern, "/") + 1
	}
	if err := w.run(ctx); err != nil {
		return Result{}, err
	}
	r := Result{Files: len(l.files)}
	r.Text = l.text(w.unread.Load())
	return r, nil
}

func (l *listing) visit(e entry) {
	if !e.kind.IsRegular() && e.kind&fs.ModeSymlink == 0 || !l.glob.fits(e) {
		return
	}
	switch {
	case e.ignored:
		l.ignored.Add(1)
		return
	case e.hidden && !l.glob.dotted():
		l.hidden.Add(1)
		return
	case l.tree.Skip != nil && l.tree.Skip(e.path()):
		l.asking.Add(1)
		return
	}
	changed, err := e.dir.open.ModTime(e.name)
	if err != nil {
		return // it is gone meanwhile
	}
	l.mutex.Lock()
	l.files = append(l.files, listed{e, changed.UnixNano()})
	l.mutex.Unlock()
}

// newest are the files changed last, the newest first, those of one time by
// name.
func (l *listing) newest() []listed {
	files := l.files
	if len(files) > listedFiles { // to order a hundred thousand for two hundred takes longer than the walk
		times := make([]int64, len(files))
		for i, f := range files {
			times[i] = f.changed
		}
		slices.Sort(times)
		oldest := times[len(times)-listedFiles]
		files = slices.DeleteFunc(files, func(f listed) bool { return f.changed < oldest })
	}
	slices.SortFunc(files, func(a, b listed) int {
		if c := cmp.Compare(b.changed, a.changed); c != 0 {
			return c
		}
		return comparePaths(a.rel(), b.rel())
	})
	return files[:min(len(files), listedFiles)]
}

// text lists the files.
func (l *listing) text(unread int64) string {
	all := len(l.files)
	var b strings.Builder
	for _, f := range l.newest() {
		b.WriteString(wording.Name(l.tree.Name(f.path())) + "\n")
	}
	if all == 0 {
		b.WriteString("no files fit\n")
		notes(&b, note{l.ignored.Load(), "ignored file", "left out; name one without wildcards, or its folder, to see it"})
	}
	if all > listedFiles {
		fmt.Fprintf(&b, "[the newest %d of %d; narrow the pattern or path]\n", listedFiles, all)
	}
	notes(&b, note{l.hidden.Load(), "hidden file", "left out; name the folder, or begin the name with a dot, to see them"},
		note{l.asking.Load(), "file", "left out: reading needs permission"},
		note{unread, "folder", "could not be read"})
	return b.String()
}
