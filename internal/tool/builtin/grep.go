package builtin

import (
	"context"
	_ "embed"
	"errors"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/wording"
	"github.com/khaelor/khaelor/internal/workspace"
)

// The modes of a search.
const (
	modeContent = "content"
	modeFiles   = "files"
	modeCount   = "count"
)

// ripgrepFrom is how many files a tree must have before starting ripgrep is
// quicker than going on.
const ripgrepFrom = 600

// maxContext is how many lines of context are worth having around a match.
const maxContext = 50

//go:embed grep.md
var grepDoc string

type grepInput struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Glob    string `json:"glob"`
	Mode    string `json:"mode"`
	Context int    `json:"context"`
}

func grepTool() tool.Tool {
	return tool.Define(tool.Spec[grepInput]{
		Name: "grep", Doc: grepDoc, Kind: event.UISearch,
		Schema: `{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string"},"glob":{"type":"string"},"mode":{"enum":["content","files","count"]},"context":{"type":"integer"}},"required":["pattern"]}`,
		Needs: func(env *tool.Env, in grepInput) (tool.Need, error) {
			return pathNeed(env, orHere(in.Path), false)
		},
		Run: grep,
	})
}

// orHere is the path given, or the working directory.
func orHere(given string) string {
	if given == "" {
		return "."
	}
	return given
}

func grep(ctx context.Context, env *tool.Env, in grepInput) (tool.Result, error) {
	p, err := compilePattern(in.Pattern)
	if err != nil {
		return tool.Result{}, err
	}
	switch in.Mode {
	case "":
		in.Mode = modeContent
	case modeContent, modeFiles, modeCount:
	default:
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "mode is content, files or count, not %q.", in.Mode)
	}
	t, err := locate(env, orHere(in.Path), false)
	if err != nil {
		return tool.Result{}, err
	}
	info, err := workspace.Stat(env.Workspace, t.Path.Path)
	switch {
	case err != nil && !t.Exists:
		return tool.Result{}, missing(env, t)
	case err != nil:
		return tool.Result{}, failure(err, t.shown)
	}
	s := &search{env: env, root: t, pattern: p, input: in}
	if s.filter, err = newGlobFilter(in.Glob, t.shown); err != nil {
		return tool.Result{}, err
	}
	if !info.IsDir {
		return s.oneFile()
	}
	return s.tree(ctx)
}

// search is one call of grep.
type search struct {
	env     *tool.Env
	root    target
	pattern *pattern
	filter  *globFilter
	input   grepInput
}

func (s *search) newMatches() *matches {
	return newMatches(s.pattern, s.input.Mode, min(max(s.input.Context, 0), maxContext))
}

// shown is how a file below the root is called.
func (s *search) shown(rel string) string {
	return wording.Name(LogPath(s.env.Workspace.Cwd(), filepath.Join(s.root.Path.Path, rel)))
}

func (s *search) oneFile() (tool.Result, error) {
	f, err := workspace.Open(s.env.Workspace, s.root.Path.Path)
	if err != nil {
		return tool.Result{}, failure(err, s.root.shown)
	}
	defer f.Close()
	m := s.newMatches()
	if err := m.file(wording.Name(s.root.shown), f, f.Info().Size); err != nil {
		return tool.Result{}, failure(err, s.root.shown)
	}
	return s.result(m), nil
}

// tree searches a folder. It begins by itself: most trees are searched in less
// time than it takes to start a program. What either way finds is the same.
func (s *search) tree(ctx context.Context) (tool.Result, error) {
	ws := s.env.Workspace
	program, err := workspace.LookPath(ws, "rg")
	if err != nil || rulesAt(ws, s.root.Path.Path).KeepsIgnored() {
		m, err := s.walk(ctx, 0)
		return s.result(m), err
	}
	m, err := s.walk(ctx, ripgrepFrom)
	if !errors.Is(err, errEnough) {
		return s.result(m), err
	}
	files, err := ripgrep(ctx, ws, program, s.root.Path.Path, s.pattern, s.filter)
	if err != nil && ctx.Err() == nil {
		m, err = s.walk(ctx, 0) // ripgrep is a convenience
		return s.result(m), err
	}
	if err != nil {
		return tool.Result{}, err
	}
	return s.result(s.show(files)), nil
}

// walk searches with our own engine, and gives up with errEnough after some
// number of files, 0 being none.
func (s *search) walk(ctx context.Context, atMost int) (*matches, error) {
	m := s.newMatches()
	files := 0
	w := walk{visit: func(f found) error {
		if files++; files == atMost {
			return errEnough
		}
		if !f.entry.Type().IsRegular() || !s.filter.fits(f.rel) {
			return nil
		}
		open, err := f.open()
		if err != nil {
			return nil // gone or not readable: as ripgrep has it
		}
		defer open.Close()
		_ = m.file(s.shown(f.rel), open, open.Size())
		return nil
	}}
	err := w.run(ctx, s.env.Workspace, s.root.Path.Path)
	m.unread = w.unread
	return m, err
}

// show turns counts into what the mode asks for.
func (s *search) show(files []countedFile) *matches {
	m := s.newMatches()
	for _, f := range files {
		if s.input.Mode != modeContent || m.full {
			m.count(s.shown(f.rel), f.lines)
			continue
		}
		open, err := workspace.Open(s.env.Workspace, filepath.Join(s.root.Path.Path, f.rel))
		if err != nil {
			continue
		}
		_ = m.file(s.shown(f.rel), open, open.Info().Size)
		_ = open.Close() // read only: nothing can be lost
	}
	return m
}

func (s *search) result(m *matches) tool.Result {
	count, noun := m.lines, "match"
	if s.input.Mode == modeFiles {
		count, noun = m.files, "file"
	}
	return tool.Result{
		Text: m.result(),
		UI: event.ToolUI{
			Kind: event.UISearch, MatchCount: &count,
			Summary: "Search " + strconv.Quote(firstLine(s.input.Pattern)) + " · " + wording.Count(count, noun),
		},
	}
}

// globFilter is a glob that files have to fit. Without a slash it is about
// their names, with one about their paths below the folder searched or the
// working directory; with ! in front it leaves out what fits.
type globFilter struct {
	glob   string
	not    bool
	prefix string // the folder searched, below the working directory
}

func newGlobFilter(glob, root string) (*globFilter, error) {
	f := &globFilter{}
	f.glob, f.not = strings.CutPrefix(glob, "!")
	f.glob = strings.TrimPrefix(strings.TrimPrefix(f.glob, "./"), "/")
	if root != "." && !filepath.IsAbs(root) {
		f.prefix = root
	}
	return f, validGlob(f.glob)
}

func validGlob(glob string) error {
	if !doublestar.ValidatePattern(glob) {
		return tool.Errorf(event.ToolInvalidInput, "%q is not a glob: a [ or { is not closed, or a \\ stands at its end.", glob)
	}
	return nil
}

func (f *globFilter) fits(rel string) bool {
	switch {
	case f.glob == "":
		return true
	case !strings.Contains(f.glob, "/"):
		return doublestar.MatchUnvalidated(f.glob, path.Base(rel)) != f.not
	}
	fits := doublestar.MatchUnvalidated(f.glob, rel) ||
		f.prefix != "" && doublestar.MatchUnvalidated(f.glob, path.Join(f.prefix, rel))
	return fits != f.not
}
