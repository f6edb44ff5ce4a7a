package anthropic

import (
	"context"
	"fmt"
	"time"

	"github.com/khaelor/khaelor/internal/clock"
)

// The contract's limits on one request: 8 attempts or 5 minutes in all.
const (
	maxAttempts = 8
	retryBudget = 5 * time.Minute
)

// maxUnreached is how often a server is tried that never answered at all: a
// few seconds for a passing fault of the network, no minutes for a wrong address.
const maxUnreached = 4

// pauseLimit bounds the pause after an attempt. Single faults are over in a
// moment, so the first three pauses take 3.5 s at most; from then on the limit
// grows fourfold, so that an overload of half a minute is nearly always
// outlasted.
func pauseLimit(attempt int) time.Duration {
	limits := [maxAttempts - 1]time.Duration{
		500 * time.Millisecond, time.Second, 2 * time.Second, 8 * time.Second,
		32 * time.Second, time.Minute, time.Minute,
	}
	return limits[min(max(attempt, 1), len(limits))-1]
}

// Backoff answers when a failed request may be sent again. It waits for
// nothing by itself, so that each wait can be shown.
type Backoff struct{ Clock *clock.Clock }

// Next is the pause before the next attempt: a random part of a limit that
// grows ("full jitter"), or the server's own retry-after. attempt counts the
// attempts made (1 after the first); elapsed is the time since the first one
// began. Not ok means give up; GiveUp says why.
func (b Backoff) Next(attempt int, elapsed time.Duration, err *Error) (delay time.Duration, ok bool) {
	if b.GiveUp(attempt, elapsed, err) != "" {
		return 0, false
	}
	if err.RetryAfter > 0 {
		// The clients a server sends away together come back a little apart.
		return err.RetryAfter + b.Clock.Jitter(min(err.RetryAfter/10, time.Second)), true
	}
	return min(b.Clock.Jitter(pauseLimit(attempt)), retryBudget-elapsed), true
}

// GiveUp is why no further attempt is due, for a person to read; "" when one is.
func (b Backoff) GiveUp(attempt int, elapsed time.Duration, err *Error) string {
	left := retryBudget - elapsed
	switch {
	case err.Kind == KindRetryable && err.NoRetry:
		return "the server asks not to try again"
	case !err.Retryable():
		return "trying again would not help"
	case attempt >= maxAttempts, err.Unreached && err.Type == TypeNetwork && attempt >= maxUnreached:
		return fmt.Sprintf("gave up after %d attempts", attempt)
	case left <= 0:
		return fmt.Sprintf("gave up after %s", elapsed.Round(time.Second))
	case err.RetryAfter > left:
		return fmt.Sprintf("the server asks to wait %s, longer than the %s left for retries", err.RetryAfter.Round(time.Second), left.Round(time.Second))
	}
	return ""
}

// Wait returns nil after delay, or the context's error as soon as it is done.
func (Backoff) Wait(ctx context.Context, delay time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
