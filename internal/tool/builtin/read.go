package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/excerpt"
	"github.com/khaelor/khaelor/internal/tool"
)

//go:embed read.md
var readDoc string

type readInput struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
}

func readTool() tool.Tool {
	return tool.Define(tool.Spec[readInput]{
		Name: "read", Doc: readDoc, Kind: event.UIRead,
		Schema: `{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer"},"limit":{"type":"integer"}},"required":["path"]}`,
		Needs:  func(env *tool.Env, in readInput) (tool.Need, error) { return pathNeed(env, in.Path, false) },
		Run:    read,
	})
}

func read(_ context.Context, env *tool.Env, in readInput) (tool.Result, error) {
	if in.Offset < 0 || in.Limit < 0 {
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "offset is the first line, counted from 1, and limit the number of lines; neither can be negative.")
	}
	t, err := locate(env, in.Path, false)
	if err != nil {
		return tool.Result{}, err
	}
	e, err := excerpt.Read(env.Workspace, t.Path.Path, excerpt.Request{Name: t.shown, First: in.Offset, Limit: in.Limit})
	var refused *excerpt.Refusal
	switch {
	case errors.As(err, &refused):
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "%s", refused.Text)
	case errors.Is(err, fs.ErrNotExist):
		return tool.Result{}, missing(env, t)
	case err != nil:
		return tool.Result{}, failure(err, t.shown)
	}
	return readResult(env, t, e)
}

func readResult(env *tool.Env, t target, e excerpt.Excerpt) (tool.Result, error) {
	r := tool.Result{Text: e.Text(), UI: event.ToolUI{Kind: event.UIRead, Summary: "Read " + t.shown + " (" + e.Extent + ")"}}
	if e.Folder() {
		r.UI.Summary = "List " + t.shown + " (" + e.Extent + ")"
		return r, nil
	}
	if e.Media != nil {
		sum, err := env.PutBlob(e.Media.Data)
		if err != nil {
			return tool.Result{}, fmt.Errorf("keep %s: %w", t.shown, err)
		}
		r.Media = []event.Media{{MediaType: e.Media.Type, SHA256: sum}}
	}
	r.Facts = []event.Fact{e.Fact(t.shown)}
	return r, nil
}
