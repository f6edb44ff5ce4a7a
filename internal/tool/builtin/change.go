package builtin

import (
	"fmt"

	"github.com/khaelor/khaelor/internal/diff"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
)

// change is a new content for a file.
type change struct {
	target        target
	operation     event.FileOperation
	exists        bool
	before, after []byte
	was, is       string // the contents as text, for the diff
}

// apply writes the content. Both contents are kept first, so that whatever
// happens the change can be undone.
func (c change) apply(env *tool.Env) (event.FileModified, error) {
	fact := event.FileModified{Path: c.target.shown, Operation: c.operation}
	var err error
	if c.exists {
		if fact.BeforeSHA256, err = env.PutBlob(c.before); err != nil {
			return fact, fmt.Errorf("keep %s: %w", c.target.shown, err)
		}
	}
	if fact.AfterSHA256, err = env.PutBlob(c.after); err != nil {
		return fact, fmt.Errorf("keep %s: %w", c.target.shown, err)
	}
	if err := env.Workspace.WriteFile(c.target.Path.Path, c.after); err != nil {
		return fact, failure(err, c.target.shown)
	}
	fact.Diff, fact.DiffStats = diff.Unified([]byte(event.Text(c.was)), []byte(event.Text(c.is)))
	return fact, nil
}

// counted is how stats look to a reader.
func counted(s event.DiffStats) string { return fmt.Sprintf("+%d -%d", s.Added, s.Removed) }

// changed is the result of a change.
func changed(text, verb string, fact event.FileModified) tool.Result {
	return tool.Result{
		Text: text,
		UI: event.ToolUI{
			Kind: event.UIEdit, Summary: verb + " " + fact.Path + " " + counted(fact.DiffStats), DiffStats: &fact.DiffStats,
		},
		Facts: []event.Fact{fact},
	}
}
