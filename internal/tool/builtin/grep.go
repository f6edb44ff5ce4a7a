package builtin

import (
	"context"
	_ "embed"
	"errors"
	"strconv"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/excerpt"
	"github.com/khaelor/khaelor/internal/search"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/wording"
	"github.com/khaelor/khaelor/internal/workspace"
)

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
	q, err := in.query()
	if err != nil {
		return tool.Result{}, err
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
	find := tree(env, t).GrepFile
	if info.IsDir {
		find = tree(env, t).Grep
		q.Filter, err = filter(env, in.Glob, t)
	}
	if err != nil {
		return tool.Result{}, err
	}
	found, err := find(ctx, q)
	if err != nil {
		return tool.Result{}, searchFailure(ctx, err, t)
	}
	count, noun := found.Lines, "match"
	if q.Mode == search.Files {
		count, noun = found.Files, "file"
	}
	return searched("Search "+strconv.Quote(firstLine(in.Pattern)), found.Text, count, noun), nil
}

// query is what to search for, but for the filter.
func (in grepInput) query() (search.Query, error) {
	q := search.Query{Mode: search.Mode(in.Mode), Context: in.Context}
	switch q.Mode {
	case "":
		q.Mode = search.Content
	case search.Content, search.Files, search.Count:
	default:
		return q, tool.Errorf(event.ToolInvalidInput, "mode is content, files or count, not %q.", in.Mode)
	}
	if in.Context < 0 {
		return q, tool.Errorf(event.ToolInvalidInput, "context is a number of lines and cannot be negative.")
	}
	if in.Pattern == "" {
		return q, tool.Errorf(event.ToolInvalidInput, "pattern is missing.")
	}
	var err error
	q.Pattern, err = search.Compile(in.Pattern)
	if bad := (&search.PatternError{}); errors.As(err, &bad) {
		return q, tool.Errorf(event.ToolInvalidInput,
			"pattern is not a regular expression (RE2): %s. Put \\ before a character that is meant literally.", bad.Reason)
	}
	return q, err
}

func badGlob(glob string) error {
	return tool.Errorf(event.ToolInvalidInput, "%q is not a glob: a [ or { is not closed, or a \\ stands at its end.", glob)
}

// tree is what a call may search.
func tree(env *tool.Env, root target) search.Tree {
	cwd := env.Workspace.Cwd()
	return search.Tree{
		Workspace: env.Workspace, Root: root.Path.Path, Room: tool.ResultLimit,
		Skip: env.Withheld,
		Name: func(path string) string { return excerpt.LogPath(cwd, path) },
	}
}

// searchFailure is why a search did not end; that it was to stop is no failure.
func searchFailure(ctx context.Context, err error, root target) error {
	if ctx.Err() != nil {
		return err
	}
	return failure(err, root.shown)
}

// searched is the result of a search.
func searched(what, text string, count int, noun string) tool.Result {
	return tool.Result{Text: text, UI: event.ToolUI{
		Kind: event.UISearch, MatchCount: &count, Summary: what + " · " + wording.Count(count, noun),
	}}
}
