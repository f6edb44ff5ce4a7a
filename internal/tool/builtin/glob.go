package builtin

import (
	"context"
	_ "embed"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/excerpt"
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
	switch pattern {
	case ".", "..":
		base, pattern = path.Join(base, pattern), "**"
	case "":
		pattern = "**"
	}
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
		found, err = named(ctx, env, t, pattern, found)
	}
	switch {
	case err != nil:
		return tool.Result{}, searchFailure(ctx, err, t)
	case found.Files == 0 && len(search.Globs(in.Pattern)) > 1:
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "pattern is one glob; write a list as {%s}.", strings.Join(search.Globs(in.Pattern), ","))
	}
	return searched("Files "+strconv.Quote(in.Pattern), found.Text, found.Files, "file"), nil
}

// named is the file that a pattern names when its wildcards are taken as they
// are, or what is in such a folder: both are meant even if hidden or ignored.
func named(ctx context.Context, env *tool.Env, folder target, pattern string, nothing search.Result) (search.Result, error) {
	path := path.Join(folder.Path.Path, pattern)
	info, err := workspace.Stat(env.Workspace, path)
	switch {
	case err != nil || slices.Contains(strings.Split(pattern, "/"), "..") || env.Withheld != nil && env.Withheld(path):
		return nothing, nil
	case info.IsDir:
		folder.Path.Path = path
		return tree(env, folder).List(ctx, "**", false)
	}
	return search.Result{Text: wording.Name(excerpt.LogPath(env.Workspace.Cwd(), path)) + "\n", Files: 1}, nil
}
