// Package engine wires one conversation and takes commands.
//
// An Engine owns one session's worker: it turns commands into facts, lets the
// kernel run while there is a task, answers the permission gate, and sees to
// what surrounds a task — its budget, its baseline, what it told the model of
// the world. Everything it knows is in the log; a new Engine on the same log
// goes on where the last one stopped.
//
// It promises that Close leaves nothing behind: no task, no child process, no
// goroutine. What a person sees is left to cli and tui, which dispatch
// commands and subscribe to the log's bus. Start reading at New, then
// Dispatch (dispatch.go) and work (work.go).
package engine

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/contextengine"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/kernel"
	"github.com/khaelor/khaelor/internal/model"
	"github.com/khaelor/khaelor/internal/permission"
	"github.com/khaelor/khaelor/internal/process"
	"github.com/khaelor/khaelor/internal/repo"
	"github.com/khaelor/khaelor/internal/session"
	"github.com/khaelor/khaelor/internal/spill"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/verify"
	"github.com/khaelor/khaelor/internal/web"
	"github.com/khaelor/khaelor/internal/workspace"
)

// Static is the static tier: what every session of this version is told.
//
//go:embed static.md
var Static string

// Options are what an engine is made of.
type Options struct {
	Log       *session.Log
	Client    model.Streamer
	Workspace workspace.Workspace
	Repo      *repo.Repo
	Tools     tool.Registry
	Policy    *permission.Evaluator
	Clock     *clock.Clock
	// Spill keeps text that is too long for a result; nil keeps nothing.
	Spill *spill.Store
	// SpillDir is the canonical folder of those files.
	SpillDir string
	// SessionTier is what this session is told besides Static: instructions.
	SessionTier string
	// Params are what the next request says besides the conversation.
	Params func(model string) contextengine.Params
	// Price is what a model costs.
	Price func(model string) (fold.Price, bool)
	// Attended says that somebody answers questions. Otherwise a question is
	// a denial.
	Attended bool
	// MaxTurns bounds the model calls of a task, MaxCost the US dollars of the
	// session, Timeout the time of a task; 0 is no bound.
	MaxTurns int
	MaxCost  float64
	Timeout  time.Duration
	// Remember stores an "always" grant for the project.
	Remember func(rule permission.Rule) error
	// Fetch gets a page of the web.
	Fetch func(ctx context.Context, url string) (web.Page, error)
	// Limits are settings of tools.
	Limits tool.Limits
}

// Engine runs one session. It is safe for concurrent use.
type Engine struct {
	o         Options
	kernel    *kernel.Kernel
	answers   *answers
	changes   *repo.Tracker
	processes *process.Manager
	ended     atomic.Bool // a process has ended since somebody looked at what commands changed

	stop   context.CancelCauseFunc
	ctx    context.Context
	worker sync.WaitGroup
	wake   chan struct{} // there may be work
	// started is closed when the start of the session is recorded; only the
	// worker looks at it.
	started chan struct{}

	mu      sync.Mutex
	running context.CancelCauseFunc // ends the present task; nil when idle
	detach  chan struct{}           // closed to send the running command to the background
	idle    chan struct{}           // closed while there is nothing to do
	failure error                   // the log could not be written
}

// New starts the worker of a session whose log is open. The tiers are
// recorded when they are not yet; on a resumed log the recorded ones hold.
func New(ctx context.Context, o Options) (*Engine, error) {
	ctx, stop := context.WithCancelCause(ctx)
	e := &Engine{
		o: o, ctx: ctx, stop: stop, wake: make(chan struct{}, 1), detach: make(chan struct{}),
		idle: make(chan struct{}), started: make(chan struct{}),
	}
	close(e.idle)
	close(e.started)
	e.answers = newAnswers()
	e.changes = o.Repo.Track(o.Log.PutBlob, o.Log.Blob)
	e.processes = process.New(o.Workspace, o.Log.Fold().State.Processes, process.Hooks{
		Started: func(p event.ProcessStarted) { e.record(p) },
		Output:  func(p event.ProcessOutput) { o.Log.Notify(p) },
		Exited:  func(p event.ProcessExited) { e.record(p); e.ended.Store(true) },
	})
	checks := verify.Project(o.Workspace.Cwd())
	e.kernel = &kernel.Kernel{
		Log: o.Log, Model: watched{e.model(), e}, Tools: e.tools(), MaxResponses: o.MaxTurns,
		Judge: kernel.Judge{IsCheck: checks.IsCheck, ChangesNothing: checks.ChangesNothing},
	}
	if o.Attended {
		e.kernel.User = asker{e}
	}
	err := e.recordTiers()
	if err == nil {
		err = e.catchUp(ctx)
	}
	if err != nil {
		stop(err)
		return nil, err
	}
	e.worker.Add(1)
	go e.work()
	return e, nil
}

func (e *Engine) model() *model.Runtime {
	return &model.Runtime{
		Log: e.o.Log, Context: contextengine.New(e.o.Log.Blob), Client: e.o.Client, Clock: e.o.Clock, Budget: e.overBudget,
		Params: func() contextengine.Params { return e.o.Params(e.o.Log.Fold().State.Session.Model) },
	}
}

func (e *Engine) tools() *tool.Runtime {
	return &tool.Runtime{
		Log: e.o.Log, Tools: e.o.Tools, Policy: policy{e.o.Policy, e.o.Workspace.Cwd()}, Asker: asker{e}, Clock: e.o.Clock,
		NewEnv: e.newEnv, BeforeEdit: e.beforeEdit, AfterRun: e.afterRun,
	}
}

func (e *Engine) newEnv(toolUseID string) *tool.Env {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &tool.Env{
		ToolUseID: toolUseID, Workspace: e.o.Workspace, Processes: e.processes,
		Withheld: e.o.Policy.Withholds,
		Seen:     func(path string) (fold.Sighting, bool) { return e.o.Log.Fold().Changes.Seen(path) },
		Output:   func(chunk string) { e.o.Log.Notify(event.ToolOutput{ToolUseID: toolUseID, Chunk: chunk}) },
		Spill:    e.o.Spill, SpillDir: e.o.SpillDir, PutBlob: e.o.Log.PutBlob, Background: e.detach, Limits: e.o.Limits,
		Ask:   func(ctx context.Context, q tool.Question) ([]string, error) { return asker{e}.ask(ctx, toolUseID, q) },
		Fetch: e.o.Fetch,
	}
}

// overBudget is asked before every model call.
func (e *Engine) overBudget(s fold.Session) *event.TaskFailed {
	if e.o.MaxCost <= 0 {
		return nil
	}
	spent, known := s.Usage.Cost(e.o.Price)
	switch {
	case !known && len(s.Usage.Models) > 0:
		return &event.TaskFailed{Reason: event.FailedCost, Detail: "the cost limit cannot be kept: the model has no price; add one to models in the configuration"}
	case known && spent >= e.o.MaxCost:
		return &event.TaskFailed{Reason: event.FailedCost, Detail: fmt.Sprintf(
			"$%.4f spent of a limit of $%.4f; resume the session with a higher --max-cost to go on", spent, e.o.MaxCost)}
	}
	return nil
}

// Idle is closed while the engine has nothing to do.
func (e *Engine) Idle() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.idle
}

// Err is why the engine stopped working: its log could not be written.
func (e *Engine) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failure
}

// Close ends the running task as a shutdown does, stops all processes, and
// waits for everything.
func (e *Engine) Close(ctx context.Context) error {
	e.stop(tool.ErrShutdown)
	e.worker.Wait()
	err := e.processes.StopAll(ctx)
	if e.Err() == nil {
		err = errors.Join(err, e.noteEnded(ctx))
	}
	return errors.Join(err, e.Err())
}

// Thinking is the thinking parameter of a request: setting is off, adaptive
// or always; ability is what the model takes: adaptive, budget or none.
func Thinking(setting, ability string, budget, maxTokens int) json.RawMessage {
	switch {
	case setting == "off" || ability == "none" || ability == "":
		return nil
	case ability == "adaptive":
		return json.RawMessage(`{"type":"adaptive"}`)
	case setting == "always" && budget < maxTokens:
		return json.RawMessage(fmt.Sprintf(`{"type":"enabled","budget_tokens":%d}`, budget))
	}
	return nil
}
