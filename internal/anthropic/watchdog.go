package anthropic

import (
	"context"
	"errors"
	"time"
)

var errStalled = errors.New("no progress")

// watchdog cancels a call with errStalled once nothing happened for its limit.
type watchdog struct {
	limit time.Duration
	timer *time.Timer
}

func watch(limit time.Duration, cancel context.CancelCauseFunc) *watchdog {
	return &watchdog{limit: limit, timer: time.AfterFunc(limit, func() { cancel(errStalled) })}
}

// progress starts the wait anew.
func (w *watchdog) progress() { w.timer.Reset(w.limit) }

// within shortens the rest of the wait.
func (w *watchdog) within(limit time.Duration) { w.timer.Reset(min(limit, w.limit)) }

func (w *watchdog) stop() { w.timer.Stop() }
