// Package kernel decides what happens next.
//
// DeriveNext is a pure function from recorded state to one action; Run is the
// loop that hands each action to the service that does it. Nothing is decided
// by what the loop remembers: after a crash the same log derives the same
// action. Retries, budgets, permissions, phases and verification live in the
// services around it.
//
// Start reading at DeriveNext.
package kernel

import (
	"context"
	"fmt"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// Log is where facts come from and go to.
type Log interface {
	Publish(event.Fact) (event.Record, error)
	Fold() fold.Session
}

// Model makes one call, retries included, and publishes what settles.
type Model interface {
	Call(ctx context.Context) error
}

// Tools gives each call exactly one result.
type Tools interface {
	Run(ctx context.Context, calls []fold.Call) error
}

// Compactor shortens the history by publishing a checkpoint.
type Compactor interface {
	Compact(ctx context.Context, trigger event.CompactionTrigger) error
}

// Verifier demands the project's checks by publishing what the model is told.
type Verifier interface {
	Verify(ctx context.Context, attempt int) error
}

// User is asked when only a person can say how to go on.
type User interface {
	AskRepeated(ctx context.Context, call string, times int) error
}

// Kernel runs one session's tasks. Compactor, Verifier and User may be nil:
// the matching action is then never derived (see Limits).
type Kernel struct {
	Log       Log
	Model     Model
	Tools     Tools
	Compactor Compactor
	Verifier  Verifier
	User      User
	Judge
	// MaxResponses bounds the model's answers within one task; 0 is no bound.
	MaxResponses int
	// CompactAbove is the number of context tokens that calls for compaction.
	CompactAbove int64
}

func (k *Kernel) limits() Limits {
	return Limits{
		MaxResponses: k.MaxResponses, CompactAbove: k.CompactAbove,
		CanCompact: k.Compactor != nil, CanVerify: k.Verifier != nil, CanAsk: k.User != nil,
	}
}

// Run acts until the task has ended or ctx has. The error is a service's or
// the log's; how the task ended is in the log.
func (k *Kernel) Run(ctx context.Context) error {
	for {
		s := k.Log.Fold()
		// What is open is always closed; nothing new is begun after the end of ctx.
		if ctx.Err() != nil && len(s.State.Calls) == 0 {
			return context.Cause(ctx)
		}
		var err error
		switch a := DeriveNext(s.State, k.limits(), Gate{Changes: s.Changes, Runs: s.Runs, Judge: k.Judge}).(type) {
		case ExecuteTools:
			err = k.Tools.Run(ctx, a.Calls)
		case InjectSteering:
			_, err = k.Log.Publish(event.SteeringInjected{QueuedEventID: a.Queued.EventID, Seam: a.Seam, AfterSeq: s.State.LastSeq})
		case Compact:
			err = k.Compactor.Compact(ctx, a.Trigger)
		case Verify:
			err = k.Verifier.Verify(ctx, a.Attempt)
		case AskUser:
			err = k.User.AskRepeated(ctx, a.Call, a.Times)
		case CallModel:
			err = k.Model.Call(ctx)
		case Done:
			_, err = k.Log.Publish(event.TaskCompleted{Evidence: Evidence(s, k.Judge)})
		case Fail:
			_, err = k.Log.Publish(event.TaskFailed{Reason: a.Reason, Detail: a.Detail})
		case Interrupted, Idle:
			return nil
		default:
			panic(fmt.Sprintf("kernel: no case for %T", a))
		}
		if err != nil {
			return err
		}
	}
}
