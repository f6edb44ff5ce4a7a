package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/khaelor/khaelor/internal/wording"
	"github.com/khaelor/khaelor/internal/workspace"
)

// maxContext is how many lines of context are worth having around a match.
const maxContext = 50

// Query is what to search for in files.
type Query struct {
	Pattern *Pattern
	Filter  Filter
	Mode    Mode
	Context int // lines around one that fits, in the mode content
}

func (t Tree) report(q Query) *report {
	return &report{matcher: q.Pattern.matcher(), reader: lineReader{decode: q.Pattern.wide}, mode: q.Mode, context: min(max(q.Context, 0), maxContext), room: t.Room}
}

// hit is a file with lines that fit.
type hit struct {
	rel   string
	lines int
}

// sweep counts what fits in all files of a tree. What is shown of them is read
// once more: it is little, and which files it comes from is known only when
// they are in order.
type sweep struct {
	tree  Tree
	query Query

	mutex                        sync.Mutex
	hits                         []hit
	long, asking, hidden, unread atomic.Int64 // files that were not searched
}

// Grep searches the files of a folder.
func (t Tree) Grep(ctx context.Context, q Query) (Result, error) {
	s := &sweep{tree: t, query: q}
	w := &walk{workspace: t.Workspace, root: t.Root, hidden: q.Filter.dotted(), visitor: func() func(entry) { return s.visitor(ctx) }}
	if err := w.run(ctx); err != nil {
		return Result{}, err
	}
	order(s.hits)
	r := t.report(q)
	if err := s.show(ctx, r); err != nil {
		return Result{}, err
	}
	r.end()
	if left := s.hidden.Load() + w.passed.Load(); left > 0 && r.files == 0 {
		notes(&r.text, note{left, "hidden or ignored entry", "not searched; give one as path to search it"})
	}
	notes(&r.text, note{s.long.Load(), "file", fmt.Sprintf("not searched, with a line over %d MB", longestLine>>20)},
		note{s.asking.Load(), "file", "not searched: reading needs permission; name one as path to ask"},
		note{s.unread.Load(), "file", "could not be read"}, note{w.unread.Load(), "folder", "could not be read"})
	return Result{Text: r.text.String(), Files: r.files, Lines: r.lines}, nil
}

// note is something left out, unless there is none.
type note struct {
	n    int64
	noun string
	says string
}

func notes(w io.Writer, list ...note) {
	for _, n := range list {
		if n.n > 0 {
			fmt.Fprintf(w, "[%s %s]\n", wording.Count(int(n.n), n.noun), n.says)
		}
	}
}

// visitor searches files for one goroutine.
func (s *sweep) visitor(ctx context.Context) func(entry) {
	m := s.query.Pattern.matcher()
	reader := lineReader{decode: s.query.Pattern.wide}
	lines := 0
	count := func(text []byte, _ int) int {
		if s.query.Mode == Files && lines > 0 {
			return len(text)
		}
		m.lines(text, func(int, int) bool {
			lines++
			return s.query.Mode != Files
		})
		return len(text)
	}
	return func(e entry) {
		if !s.wanted(e) {
			return
		}
		f, err := e.dir.open.Open(e.name)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				s.unread.Add(1)
			}
			return
		}
		defer f.Close()
		lines = 0
		err = reader.read(ctx, f, f.Size(), count)
		switch {
		case errors.Is(err, errLongLine):
			s.long.Add(1)
		case err == nil && lines > 0:
			s.mutex.Lock()
			s.hits = append(s.hits, hit{e.rel(), lines})
			s.mutex.Unlock()
		case err != nil && err != errBinary && ctx.Err() == nil:
			s.unread.Add(1)
		}
	}
}

// wanted reports a file to search, and counts what is left out.
func (s *sweep) wanted(e entry) bool {
	switch {
	case e.ignored, e.hidden && !s.query.Filter.dotted():
		if e.name != gitIgnore && e.name != ownIgnore {
			s.hidden.Add(1)
		}
		return false
	case !e.kind.IsRegular(), !s.query.Filter.fits(e):
		return false
	case s.tree.Skip != nil && s.tree.Skip(e.path()):
		s.asking.Add(1)
		return false
	}
	return true
}

// show turns counts into what the mode asks for.
func (s *sweep) show(ctx context.Context, r *report) error {
	var dir *workspace.Folder
	var opened string
	defer func() {
		if dir != nil {
			_ = dir.Close() // a folder handle; nothing was written through it
		}
	}()
	for _, h := range s.hits {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		full := joined(s.tree.Root, h.rel)
		if r.mode != Content || r.full {
			r.count(s.name(r, full), h.lines)
			continue
		}
		folder, name := path.Split(full)
		if dir == nil || folder != opened {
			next, err := workspace.OpenFolder(s.tree.Workspace, path.Clean(folder))
			if err != nil {
				continue // gone meanwhile
			}
			if dir != nil {
				_ = dir.Close()
			}
			dir, opened = next, folder
		}
		if f, err := dir.Open(name); err == nil {
			_ = r.content(ctx, s.name(r, full), f, f.Size()) // what is gone meanwhile does not count
			_ = f.Close()
		}
	}
	return nil
}

// name is not worth making when there is no room for it.
func (s *sweep) name(r *report, full string) string {
	if r.full {
		return ""
	}
	return wording.Name(s.tree.Name(full))
}

// GrepFile searches one file, whatever rules or its name say.
func (t Tree) GrepFile(ctx context.Context, q Query) (Result, error) {
	f, err := workspace.Open(t.Workspace, t.Root)
	if err != nil {
		return Result{}, err
	}
	defer f.Close()
	r := t.report(q)
	r.reader.decode = true
	shown := wording.Name(t.Name(t.Root))
	if q.Mode == Content {
		err = r.content(ctx, shown, f, f.Info().Size)
	} else {
		lines := 0
		err = r.reader.read(ctx, f, f.Info().Size, func(text []byte, _ int) int {
			r.matcher.lines(text, func(int, int) bool { lines++; return true })
			return len(text)
		})
		if err == nil && lines > 0 {
			r.count(shown, lines)
		}
	}
	switch {
	case errors.Is(err, errBinary):
		return Result{Text: fmt.Sprintf("[%s is a binary file; not searched]\n", shown)}, nil
	case errors.Is(err, errLongLine):
		return Result{Text: fmt.Sprintf("[%s has a line over %d MB; not searched]\n", shown, longestLine>>20)}, nil
	case err != nil:
		return Result{}, err
	}
	r.end()
	return Result{Text: r.text.String(), Files: r.files, Lines: r.lines}, nil
}

// order sorts by the names on the way, as a walk in the order of names would
// come by.
func order(hits []hit) {
	slices.SortFunc(hits, func(a, b hit) int { return comparePaths(a.rel, b.rel) })
}

// comparePaths compares as if a slash came before every other byte.
func comparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] == b[i] {
			continue
		}
		switch {
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		}
		return cmp.Compare(a[i], b[i])
	}
	return cmp.Compare(len(a), len(b))
}
