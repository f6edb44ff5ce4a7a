package builtin

import (
	"context"
	_ "embed"
	"path"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/search"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/wording"
	"github.com/khaelor/khaelor/internal/workspace"
)

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
	if in.Path == "" || path.IsAbs(base) || base == "~" || strings.HasPrefix(base, "~/") {
		return base, pattern
	}
	return in.Path + "/" + base, pattern
}

func glob(ctx context.Context, env *tool.Env, in globInput) (tool.Result, error) {
	if in.Pattern == "" {
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "pattern is missing.")
	}
	if !doublestar.ValidatePattern(in.Pattern) {
		return tool.Result{}, badGlob(in.Pattern)
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
	found, err := tree(env, t).List(ctx, pattern, !strings.Contains(in.Pattern, "/"))
	if err != nil {
		return tool.Result{}, searchFailure(ctx, err, t)
	}
	if found.Files == 0 {
		found = named(env, t, pattern, found)
	}
	return searched("Files "+strconv.Quote(in.Pattern), found.Text, found.Files, "file"), nil
}

// named is the file that a pattern without wildcards names: it is meant even if
// it is hidden or ignored.
func named(env *tool.Env, folder target, pattern string, nothing search.Result) search.Result {
	if strings.ContainsAny(pattern, `*?[{\/`) || pattern == ".." {
		return nothing // what it leads to was not asked for
	}
	file := path.Join(folder.Path.Path, pattern)
	info, err := workspace.Stat(env.Workspace, file)
	if err != nil || info.IsDir || env.Withheld != nil && env.Withheld(file) {
		return nothing
	}
	return search.Result{Text: wording.Name(LogPath(env.Workspace.Cwd(), file)) + "\n", Files: 1}
}
