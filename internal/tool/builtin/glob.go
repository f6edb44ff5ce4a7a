package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/wording"
	"github.com/khaelor/khaelor/internal/workspace"
)

// globResults is how many files a result names.
const globResults = 200

//go:embed glob.md
var globDoc string

type globInput struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

func globTool() tool.Tool {
	return tool.Define(tool.Spec[globInput]{
		Name: "glob", Doc: globDoc, Kind: event.UISearch,
		Schema: `{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string"}},"required":["pattern"]}`,
		Needs: func(env *tool.Env, in globInput) (tool.Need, error) {
			root, _ := in.split()
			return pathNeed(env, root, false)
		},
		Run: glob,
	})
}

// split takes the folders that a pattern names in front of its first wildcard
// to the path: they need not be searched for, and are meant even if ignored.
func (in globInput) split() (root, pattern string) {
	base, pattern := doublestar.SplitPattern(in.Pattern)
	if base == "." || base == "" {
		return orHere(in.Path), pattern
	}
	if path.IsAbs(base) || in.Path == "" {
		return base, pattern
	}
	return in.Path + "/" + base, pattern
}

func glob(ctx context.Context, env *tool.Env, in globInput) (tool.Result, error) {
	if in.Pattern == "" {
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "pattern is missing.")
	}
	if err := validGlob(in.Pattern); err != nil {
		return tool.Result{}, err
	}
	root, pattern := in.split()
	t, err := locate(env, root, false)
	if err != nil {
		return tool.Result{}, err
	}
	info, err := workspace.Stat(env.Workspace, t.Path.Path)
	switch {
	case err != nil && !t.Exists:
		return tool.Result{}, tool.Errorf(event.ToolNotFound, "There is no folder %s.", t.shown)
	case err != nil:
		return tool.Result{}, failure(err, t.shown)
	case !info.IsDir:
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "%s is a file, not a folder.", t.shown)
	}
	l := newListing(pattern, strings.Contains(in.Pattern, "/"))
	if err := l.run(ctx, env.Workspace, t.Path.Path); err != nil {
		return tool.Result{}, err
	}
	count := len(l.files)
	return tool.Result{
		Text: l.text(env.Workspace.Cwd()),
		UI: event.ToolUI{
			Kind: event.UISearch, MatchCount: &count,
			Summary: "Files " + strconv.Quote(in.Pattern) + " · " + wording.Count(count, "file"),
		},
	}, nil
}

// listing collects the files that fit a pattern.
type listing struct {
	walk
	pattern string
	byName  bool // a pattern without a slash is about names, in every folder
	dotted  bool // the pattern names something hidden
	files   []listed
	left    int // hidden files that fit
}

type listed struct {
	path  string // canonical
	mtime time.Time
}

func newListing(pattern string, withSlash bool) *listing {
	l := &listing{pattern: pattern, byName: !withSlash}
	l.dotted = strings.HasPrefix(pattern, ".") || strings.Contains(pattern, "/.")
	l.walk = walk{hidden: true, visit: l.file}
	if withSlash && !strings.Contains(pattern, "**") {
		l.depth = strings.Count(pattern, "/") + 1
	}
	return l
}

func (l *listing) file(f found) error {
	name := f.rel
	if l.byName {
		name = f.entry.Name()
	}
	kind := f.entry.Type()
	if !kind.IsRegular() && kind&fs.ModeSymlink == 0 || !doublestar.MatchUnvalidated(l.pattern, name) {
		return nil
	}
	if f.hidden && !l.dotted {
		l.left++
		return nil
	}
	info, err := f.entry.Info()
	if err != nil {
		return nil // it is gone meanwhile
	}
	l.files = append(l.files, listed{path: f.path(), mtime: info.ModTime()})
	return nil
}

// text lists the newest files first.
func (l *listing) text(cwd string) string {
	slices.SortStableFunc(l.files, func(a, b listed) int { return b.mtime.Compare(a.mtime) })
	var b strings.Builder
	for _, f := range l.files[:min(len(l.files), globResults)] {
		b.WriteString(wording.Name(LogPath(cwd, f.path)) + "\n")
	}
	if len(l.files) == 0 {
		b.WriteString("no files fit\n")
	}
	if len(l.files) > globResults {
		fmt.Fprintf(&b, "[the newest %d of %d; narrow the pattern or path]\n", globResults, len(l.files))
	}
	if l.left > 0 {
		fmt.Fprintf(&b, "[%s left out; name the folder, or begin the name with a dot, to see them]\n", wording.Count(l.left, "hidden file"))
	}
	if l.unread > 0 {
		fmt.Fprintf(&b, "[%s could not be read]\n", wording.Count(l.unread, "folder"))
	}
	return b.String()
}
