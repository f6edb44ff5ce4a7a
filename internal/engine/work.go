package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
)

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
	opened, err := e.openNext()
	if err != nil {
		e.fail(err)
	}
	return opened && err == nil
}

// openNext makes a task of what waits: words that came too late to steer the
// last one, then messages for after it. An interrupt leaves them waiting. The
// lock keeps them from being taken back at the same moment.
func (e *Engine) openNext() (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.o.Log.Fold().State
	if s.Task.Open || s.Interrupted || len(s.Steering)+len(s.Messages) == 0 {
		return s.Task.Open, nil
	}
	if err := e.note(); err != nil {
		return false, err
	}
	if len(s.Steering) == 0 {
		return true, e.publish(event.MessageDequeued{QueuedEventID: s.Messages[0].EventID, By: event.TakenByEngine})
	}
	// In this order a crash in between repeats the words; the other one would
	// lose them.
	late := s.Steering[0]
	if err := e.publish(event.UserMessageCreated{Text: late.Text}); err != nil {
		return false, err
	}
	return true, e.publish(event.SteeringWithdrawn{QueuedEventID: late.EventID})
}

// task lets the kernel run until the task has ended. The error is the log's.
func (e *Engine) task() error {
	ctx, cancel := context.WithCancelCause(e.ctx)
	defer cancel(nil)
	if e.o.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, e.o.Timeout, tool.ErrTimeUp)
		defer stop()
	}
	e.begin(cancel)
	e.recordStart()
	err := e.noteEnded(ctx)
	if err == nil {
		err = e.kernel.Run(ctx)
	}
	<-e.started
	cause := context.Cause(ctx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil || !errors.Is(err, cause):
		return err
	case errors.Is(cause, tool.ErrTimeUp):
		return e.timeUp()
	}
	return nil // interrupted, or closing: then the task stays open for a resume
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
	if e.busy() {
		close(e.idle)
	}
}

// busy says that a task runs or is about to. The caller holds mu.
func (e *Engine) busy() bool {
	select {
	case <-e.idle:
		return false
	default:
		return true
	}
}

func (e *Engine) fail(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failure = err
}

// rouse wakes the worker. The caller holds mu.
func (e *Engine) rouse() {
	if !e.busy() {
		e.idle = make(chan struct{})
	}
	select {
	case e.wake <- struct{}{}:
	default:
	}
}
