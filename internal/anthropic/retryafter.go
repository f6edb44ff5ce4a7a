package anthropic

import (
	"net/http"
	"strconv"
	"time"
)

// longestWait bounds a retry-after: more than any budget, and no overflow.
const longestWait = 365 * 24 * time.Hour

// retryAfter reads retry-after-ms and retry-after, in milliseconds, seconds or
// as an HTTP date. What it cannot read, or what is past, counts as nothing.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, ok := scaled(h.Get("retry-after-ms"), time.Millisecond); ok {
		return ms
	}
	text := h.Get("retry-after")
	if s, ok := scaled(text, time.Second); ok {
		return s
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), longestWait)
}

func scaled(text string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != n {
		return 0, false
	}
	limit := float64(longestWait) / float64(unit)
	return time.Duration(min(max(n, 0), limit) * float64(unit)), true
}
