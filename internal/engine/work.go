package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/tool"
)

// errTimeBudget ends a task whose time is up.
var errTimeBudget = errors.New("the task's time is up")

// work runs tasks until the engine is closed.
func (e *Engine) work() {
	defer e.worker.Done()
	defer e.rest()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-e.wake:
		}
		for e.more() {
			if err := e.task(); err != nil {
				e.fail(err)
				return
			}
		}
		e.rest()
	}
}

// more says whether there is a task, taking the next one off the queue.
func (e *Engine) more() bool {
	if e.ctx.Err() != nil || e.Err() != nil {
		return false
	}
	s := e.o.Log.Fold().State
	if s.Task.Open || len(s.Calls) > 0 {
		return true
	}
	opened, err := e.openNext(s)
	if err != nil {
		e.fail(err)
	}
	return opened
}

// openNext makes a task of what waits: words that came too late to steer the
// last one, then messages for after it. An interrupt leaves them waiting.
func (e *Engine) openNext(s fold.State) (bool, error) {
	switch {
	case s.Interrupted:
		return false, nil
	case len(s.Steering) > 0:
		late := s.Steering[0]
		if _, err := e.o.Log.Publish(event.SteeringWithdrawn{QueuedEventID: late.EventID}); err != nil {
			return false, err
		}
		_, err := e.o.Log.Publish(event.UserMessageCreated{Text: late.Text})
		return err == nil, err
	case len(s.Messages) > 0:
		_, err := e.o.Log.Publish(event.MessageDequeued{QueuedEventID: s.Messages[0].EventID, By: event.TakenByEngine})
		return err == nil, err
	}
	return false, nil
}

// task lets the kernel run until the task has ended. The error is the log's.
func (e *Engine) task() error {
	ctx, cancel := context.WithCancelCause(e.ctx)
	defer cancel(nil)
	if e.o.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, e.o.Timeout, errTimeBudget)
		defer stop()
	}
	e.begin(cancel)
	err := e.kernel.Run(ctx)
	cause := context.Cause(ctx)
	switch {
	case err == nil:
		return nil
	case errors.Is(cause, errTimeBudget):
		return e.timeUp()
	case errors.Is(cause, tool.ErrInterrupted):
		return nil
	case ctx.Err() != nil && errors.Is(err, cause):
		return nil // closing; the task stays open for a resume
	}
	return err
}

func (e *Engine) timeUp() error {
	if !e.o.Log.Fold().State.Task.Open {
		return nil
	}
	_, err := e.o.Log.Publish(event.TaskFailed{Reason: event.FailedTime, Detail: fmt.Sprintf(
		"the task took longer than %s; resume the session with a higher --timeout to go on", e.o.Timeout)})
	return err
}

func (e *Engine) begin(cancel context.CancelCauseFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running = cancel
}

// rest says that there is nothing to do.
func (e *Engine) rest() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running = nil
	if s := e.o.Log.Fold().State; s.Task.Open && e.failure == nil && e.ctx.Err() == nil {
		return // something came in between; its wake-up is on the way
	}
	select {
	case <-e.idle:
	default:
		close(e.idle)
	}
}

func (e *Engine) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failure = err
}

// rouse wakes the worker. The caller holds mu.
func (e *Engine) rouse() {
	select {
	case <-e.idle:
		e.idle = make(chan struct{})
	default:
	}
	select {
	case e.wake <- struct{}{}:
	default:
	}
}
