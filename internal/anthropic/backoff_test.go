package anthropic

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/khaelor/khaelor/internal/clock"
)

func testBackoff(seed uint64) Backoff {
	return Backoff{Clock: clock.Fixed(time.Unix(0, 0), seed)}
}

func TestPausesAreRandomAndTheirLimitGrows(t *testing.T) {
	overloaded := &Error{Kind: KindRetryable, Status: 529}
	longest := make([]time.Duration, maxAttempts)
	for seed := range uint64(300) {
		b := testBackoff(seed)
		for attempt := 1; attempt < maxAttempts; attempt++ {
			delay, ok := b.Next(attempt, 0, overloaded)
			if !ok || delay < 0 || delay > pauseLimit(attempt) {
				t.Fatalf("attempt %d: %s, %v", attempt, delay, ok)
			}
			longest[attempt] = max(longest[attempt], delay)
		}
	}
	for attempt := 1; attempt < maxAttempts; attempt++ {
		if longest[attempt] < pauseLimit(attempt)*8/10 {
			t.Errorf("attempt %d: no pause over %s in 300, limit %s", attempt, longest[attempt], pauseLimit(attempt))
		}
	}
}

func TestBackoffGivesUpAndSaysWhy(t *testing.T) {
	after := func(d time.Duration) *Error { return &Error{Kind: KindRetryable, Status: 429, RetryAfter: d} }
	cases := []struct {
		name    string
		attempt int
		elapsed time.Duration
		err     *Error
		says    string // "" when another attempt is due
	}{
		{"first", 1, 0, after(0), ""},
		{"seventh", 7, time.Minute, after(0), ""},
		{"eighth", 8, time.Minute, after(0), "8 attempts"},
		{"time is up", 2, 5 * time.Minute, after(0), "5m0s"},
		{"wait that fits", 1, 0, after(16 * time.Second), ""},
		{"wait of an hour", 1, 0, after(time.Hour), "1h0m0s"},
		{"wait beyond what is left", 3, 4 * time.Minute, after(90 * time.Second), "longer than the 1m0s left"},
		{"auth", 1, 0, &Error{Kind: KindAuth, Status: 401}, "not help"},
		{"cancelled", 1, 0, &Error{Kind: KindCancelled}, "not help"},
		{"overflow", 1, 0, &Error{Kind: KindContextOverflow}, "not help"},
		{"nobody there, third", 3, time.Second, &Error{Kind: KindRetryable, Type: TypeNetwork, Unreached: true}, ""},
		{"nobody there, fourth", 4, time.Second, &Error{Kind: KindRetryable, Type: TypeNetwork, Unreached: true}, "4 attempts"},
		{"gone after answers", 4, time.Second, &Error{Kind: KindRetryable, Type: TypeNetwork}, ""},
		{"told not to", 1, 0, &Error{Kind: KindRetryable, NoRetry: true}, "asks not to"},
	}
	for _, c := range cases {
		b := testBackoff(1)
		delay, ok := b.Next(c.attempt, c.elapsed, c.err)
		why := b.GiveUp(c.attempt, c.elapsed, c.err)
		if ok != (c.says == "") || !strings.Contains(why, c.says) || ok && why != "" {
			t.Errorf("%s: %s %v %q, want it to say %q", c.name, delay, ok, why, c.says)
		}
		if ok && (delay < c.err.RetryAfter || c.err.RetryAfter > 0 && delay > c.err.RetryAfter+time.Second) {
			t.Errorf("%s: %s, asked for %s", c.name, delay, c.err.RetryAfter)
		}
	}
}

func TestAPauseEndsWithTheBudget(t *testing.T) {
	for seed := range uint64(50) {
		delay, ok := testBackoff(seed).Next(6, retryBudget-time.Second, &Error{Kind: KindRetryable})
		if !ok || delay > time.Second {
			t.Fatalf("%s, %v with a second left", delay, ok)
		}
	}
}

func TestWaitWaitsItsTimeAndNoLongerThanItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := (Backoff{}).Wait(t.Context(), time.Minute); err != nil || time.Since(start) != time.Minute {
			t.Errorf("waited %s, %v", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		if err := (Backoff{}).Wait(ctx, time.Hour); err != context.DeadlineExceeded || time.Since(start) != time.Second {
			t.Errorf("waited %s, %v", time.Since(start), err)
		}
		if err := (Backoff{}).Wait(ctx, 0); err != context.DeadlineExceeded {
			t.Errorf("a done context gave %v", err)
		}
	})
}

func TestRetryAfterIsReadInEveryForm(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	cases := []struct {
		name, value string
		want        time.Duration
	}{
		{"retry-after", "16", 16 * time.Second},
		{"retry-after", "0.5", 500 * time.Millisecond},
		{"retry-after", "Sun, 01 Mar 2026 12:00:30 GMT", 30 * time.Second},
		{"retry-after", "Sunday, 01-Mar-26 12:01:00 GMT", time.Minute},
		{"retry-after", "Sun, 01 Mar 2026 11:00:00 GMT", 0},
		{"retry-after", "-5", 0},
		{"retry-after", "NaN", 0},
		{"retry-after", "soon", 0},
		{"retry-after", "", 0},
		{"retry-after", "1e300", longestWait},
		{"retry-after-ms", "250", 250 * time.Millisecond},
	}
	for _, c := range cases {
		h := http.Header{}
		h.Set(c.name, c.value)
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%s: %q is %s, want %s", c.name, c.value, got, c.want)
		}
	}
}

func TestTheWatchdogCountsFromTheLastProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		start := time.Now()
		dog := watch(time.Minute, cancel)
		time.AfterFunc(50*time.Second, dog.progress)
		<-ctx.Done()
		if context.Cause(ctx) != errStalled || time.Since(start) != 110*time.Second {
			t.Errorf("ended after %s: %v", time.Since(start), context.Cause(ctx))
		}
	})
}
