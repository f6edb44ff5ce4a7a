package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/kernel"
)

// recordTiers keeps each tier as it will be sent. What is recorded already
// holds, and after the first request what is not recorded is not there, so
// that a resumed session sends the same bytes.
func (e *Engine) recordTiers() error {
	if e.o.Log.Fold().State.Request.Phase != fold.NoRequest {
		return nil
	}
	for _, t := range []event.TierRecorded{
		{Tier: event.TierTools, Text: e.o.Tools.Wire()},
		{Tier: event.TierStatic, Text: strings.TrimSpace(Static)},
		{Tier: event.TierSession, Text: strings.TrimSpace(e.o.SessionTier)},
	} {
		if _, have := e.o.Log.Fold().State.Tier(t.Tier); have || t.Text == "" {
			continue
		}
		t.Text = event.Text(t.Text)
		sum := sha256.Sum256([]byte(t.Text))
		t.SHA256 = hex.EncodeToString(sum[:])
		if err := e.publish(t); err != nil {
			return err
		}
	}
	return nil
}

const (
	worldOpen  = "<environment>\n"
	worldClose = "</environment>"
)

// note tells the model, before it is given something to do, what changed by
// itself.
func (e *Engine) note() error {
	if err := e.noteWorld(); err != nil {
		return err
	}
	return e.noteChanged()
}

// noteWorld tells the model where it is and what day it is, once, and again
// when that has changed.
func (e *Engine) noteWorld() error {
	s := e.o.Log.Fold()
	text := e.world()
	if lastWorld(s.History) == text {
		return nil
	}
	return e.publish(event.ContextNoted{Text: text})
}

func (e *Engine) world() string {
	var b strings.Builder
	b.WriteString(worldOpen)
	fmt.Fprintf(&b, "directory: %s\nplatform: %s\ndate: %s\n", event.Text(e.o.Workspace.Cwd()), runtime.GOOS, e.o.Clock.Now().Format("2006-01-02"))
	if head := e.o.Repo.Head(); head.IsRepo {
		fmt.Fprintf(&b, "git: %s\n", event.Text(head.String()))
	}
	b.WriteString(worldClose)
	return b.String()
}

func lastWorld(h fold.History) string {
	for _, b := range slices.Backward(h.Blocks()) {
		if b.Kind == fold.TextBlock && b.Role == fold.User && strings.HasPrefix(b.Text, worldOpen) {
			return b.Text
		}
	}
	return ""
}

// recordStart keeps the state of the repository at the start of a session,
// while the first request is under way. The worker calls it; started is
// closed when it is done.
func (e *Engine) recordStart() {
	if e.o.Log.Fold().State.Request.Phase != fold.NoRequest {
		return // too late to say how it was
	}
	done := make(chan struct{})
	e.started = done
	go func() {
		defer close(done)
		if err := e.recordBaseline(e.ctx, event.AtSessionStart); err != nil {
			e.fail(err)
		}
	}()
}

// recordBaseline keeps the state of the repository before us.
func (e *Engine) recordBaseline(ctx context.Context, when event.BaselineMoment) error {
	if slices.Contains(e.o.Log.Fold().State.BaselineMoments, when) {
		return nil
	}
	baseline, ok := e.o.Repo.Baseline(ctx)
	if !ok {
		return nil
	}
	return e.publish(event.BaselineRecorded{When: when, Baseline: baseline})
}

// beforeEdit runs before the first call that may change files.
func (e *Engine) beforeEdit(ctx context.Context) error {
	select {
	case <-e.started:
	case <-ctx.Done():
		return nil // nothing will be changed
	}
	e.changes.Begin(ctx)
	return e.recordBaseline(ctx, event.BeforeEdit)
}

// afterRun reports the files that a command changed in the project: a bash
// call, or a process that is looked at.
func (e *Engine) afterRun(ctx context.Context, name string, reported []event.Fact) []event.Fact {
	for _, f := range reported {
		if m, ok := f.(event.FileModified); ok {
			e.changes.Know(m)
		}
	}
	if name != "bash" && (name != "process" || len(e.processes.List()) == 0) {
		return nil
	}
	return e.byCommands(ctx)
}

// byCommands are the changes that commands made since somebody last looked.
func (e *Engine) byCommands(ctx context.Context) []event.Fact {
	e.ended.Store(false)
	var facts []event.Fact
	for _, m := range e.changes.Changed(ctx) {
		facts = append(facts, m)
	}
	if e.changes.Blind() && !e.o.Log.Fold().Runs.Blind {
		facts = append(facts, event.ContextNoted{Text: fold.BlindNote})
	}
	return facts
}

// noteEnded records what a background process changed that has ended while no
// call looked. The tracker is the worker's, so it waits for a seam.
func (e *Engine) noteEnded(ctx context.Context) error {
	if !e.ended.Load() {
		return nil
	}
	for _, f := range e.byCommands(context.WithoutCancel(ctx)) {
		if err := e.publish(f); err != nil {
			return err
		}
	}
	return nil
}

// watched is the model, with a look after each call at what processes did
// meanwhile: an answer that ends the task must not stand on old evidence.
type watched struct {
	kernel.Model
	e *Engine
}

// Call implements kernel.Model.
func (w watched) Call(ctx context.Context) error {
	if err := w.Model.Call(ctx); err != nil {
		return err
	}
	return w.e.noteEnded(ctx)
}

// record keeps a fact that no caller waits for.
func (e *Engine) record(f event.Fact) {
	if err := e.publish(f); err != nil {
		e.fail(err)
	}
}
