package builtin

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/excerpt"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/wording"
	"github.com/khaelor/khaelor/internal/workspace"
)

//go:embed write.md
var writeDoc string

type writeInput struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
}

func writeTool() tool.Tool {
	return tool.Define(tool.Spec[writeInput]{
		Name: "write", Doc: writeDoc, Kind: event.UIEdit,
		Schema: `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`,
		Needs:  func(env *tool.Env, in writeInput) (tool.Need, error) { return pathNeed(env, in.Path, true) },
		Run:    write,
	})
}

func write(_ context.Context, env *tool.Env, in writeInput) (tool.Result, error) {
	if in.Content == nil {
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "content is missing.")
	}
	if strings.HasSuffix(in.Path, "/") {
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "%s is a directory by its name; add the name of the file.", in.Path)
	}
	t, err := locate(env, in.Path, true)
	if err != nil {
		return tool.Result{}, err
	}
	if err := throughNothing(env, t.Given); err != nil {
		return tool.Result{}, err
	}
	info, err := workspace.Stat(env.Workspace, t.Path.Path)
	if err == nil && info.IsRegular && info.Size > editLimit { // no read has told the model all of it
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "%s has %d bytes; files over %d are replaced with bash.", t.shown, info.Size, editLimit)
	}
	c := change{target: t, operation: event.FileWritten, exists: true, after: []byte(*in.Content), is: *in.Content}
	c.before, err = env.Workspace.ReadFile(t.Path.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.exists = false
	case err != nil:
		return tool.Result{}, failure(err, t.shown)
	default:
		if err := fresh(env, t, c.before); err != nil {
			return tool.Result{}, err
		}
	}
	c.was = string(c.before)
	if c.exists && c.was == c.is {
		return tool.Result{
			Text: t.shown + " already has exactly this content; nothing was written",
			UI:   event.ToolUI{Kind: event.UIEdit, Summary: "Write " + t.shown + " (no change)", DiffStats: &event.DiffStats{}},
		}, nil
	}
	fact, err := c.apply(env)
	if err != nil {
		return tool.Result{}, err
	}
	text := "wrote " + t.shown + " (" + counted(fact.DiffStats) + ")"
	if !c.exists {
		text = "wrote " + t.shown + " (new, " + wording.Count(fact.DiffStats.Added, "line") + ")"
		if name := reservedIn(t.shown); name != "" {
			text += fmt.Sprintf("; Windows cannot have the name %q", name)
		}
	}
	return changed(text, "Write", fact), nil
}

// throughNothing refuses a path with a link to what does not exist: the model
// means the link, and nobody has said that its target may come to be.
func throughNothing(env *tool.Env, given string) error {
	for path := given; path != ""; path = path[:max(0, strings.LastIndexByte(path, '/'))] {
		place, err := workspace.Resolve(env.Workspace, path)
		if err == nil && place.Dangling {
			target := excerpt.LogPath(env.Workspace.Cwd(), place.Path)
			return tool.Errorf(event.ToolInvalidInput,
				"%s is a link to %s, which does not exist; nothing was written. Write %s itself, or remove the link.", path, target, target)
		}
	}
	return nil
}

// fresh refuses to replace content that the model has not seen. What it saw
// and what is there are compared by content: a touch is no change.
func fresh(env *tool.Env, t target, content []byte) error {
	seen, ok := env.Seen(t.shown)
	if !ok {
		return tool.Errorf(event.ToolStale, "%s exists and you have not read it. Read it first, or change it with edit.", t.shown)
	}
	sum := sha256.Sum256(content)
	if seen.SHA256 != hex.EncodeToString(sum[:]) {
		return tool.Errorf(event.ToolStale, "%s has changed since you last saw it. Read it again, or change it with edit.", t.shown)
	}
	return nil
}
