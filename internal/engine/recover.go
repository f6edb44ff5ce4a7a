package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/excerpt"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/workspace"
)

// catchUp records what the last program could not, because it died: which
// files its last call changed, and that its background processes are no longer
// anybody's.
func (e *Engine) catchUp(ctx context.Context) error {
	s := e.o.Log.Fold()
	for _, u := range s.Runs.Unseen() {
		if !u.Crash || !slices.Contains(e.o.Log.Recovered().Cancelled, u.ToolUseID) {
			continue // an earlier program has looked
		}
		for _, m := range e.missed(ctx, s.Changes, u) {
			if err := e.publish(m); err != nil {
				return err
			}
		}
	}
	return e.giveUpProcesses(ctx, s.State.Running)
}

// missed are the changes since the call began. A file tool changes the one
// file that its input names.
func (e *Engine) missed(ctx context.Context, log fold.Changes, u fold.Unseen) []event.FileModified {
	operation, only := event.FileExecuted, ""
	switch u.Tool {
	case "write":
		operation = event.FileWritten
	case "edit":
		operation = event.FileEdited
	}
	if operation != event.FileExecuted {
		var input struct {
			Path string `json:"path"`
		}
		if json.Unmarshal(u.Input, &input) != nil {
			return nil
		}
		place, err := workspace.Resolve(e.o.Workspace, input.Path)
		if err != nil {
			return nil
		}
		only = excerpt.LogPath(e.o.Workspace.Cwd(), place.Path)
	}
	found := e.changes.Missed(ctx, time.UnixMilli(u.StartTS), log, only)
	for i := range found {
		found[i].ToolUseID, found[i].Operation = u.ToolUseID, operation
	}
	return found
}

// giveUpProcesses ends, for the log, the processes that a dead program left
// behind. One that lives on is not stopped: its number may be another's by now.
func (e *Engine) giveUpProcesses(ctx context.Context, left []event.ProcessStarted) error {
	if len(left) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("[KHAELOR ended without stopping its background processes. They cannot be read any more; process list shows those that still run and how to stop them:")
	for _, p := range left {
		if err := e.publish(event.ProcessExited{ProcessID: p.ProcessID, Cause: event.Crashed}); err != nil {
			return err
		}
		fate := "is gone"
		if e.mayRun(ctx, p.PID) {
			fate = fmt.Sprintf("may still be running as pid %d", p.PID)
		}
		fmt.Fprintf(&b, "\n%s `%s` %s", p.ProcessID, event.Clip(p.Command, shownCommand), fate)
	}
	b.WriteString("]")
	return e.publish(event.ContextNoted{Text: b.String()})
}

// mayRun says that there is a process of that number, as far as one can tell.
func (e *Engine) mayRun(ctx context.Context, pid int) bool {
	result, err := e.o.Workspace.Exec(ctx, workspace.Command{
		Line: fmt.Sprintf("kill -0 %d", pid), Cwd: e.o.Workspace.Cwd(), MaxOutput: 1 << 10,
	})
	return err != nil || result.ExitCode == 0
}

// shownCommand is how much of a command a note repeats, in characters.
const shownCommand = 200
