// Package clock is the only room that reads time and chance.
//
// A Clock is handed to whoever needs the time of day, an identifier or a
// random delay; tests hand in Fixed, whose answers are the same on every run.
package clock

import (
	"crypto/rand"
	"encoding/binary"
	"io"
	mrand "math/rand/v2"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// Clock tells the time and makes identifiers and jitter. It is safe for
// concurrent use.
type Clock struct {
	now func() time.Time

	mu      sync.Mutex
	entropy *ulid.MonotonicEntropy
	dice    *mrand.Rand
}

// System is the machine's clock with real randomness.
func System() *Clock {
	return newClock(time.Now, rand.Reader)
}

// Fixed starts at start and advances one millisecond with every reading, so
// that identifiers and durations of a test are the same on every run.
func Fixed(start time.Time, seed uint64) *Clock {
	at := start
	var mu sync.Mutex
	tick := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(time.Millisecond)
		return at
	}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return newClock(tick, mrand.NewChaCha8(key))
}

func newClock(now func() time.Time, entropy io.Reader) *Clock {
	var seed [32]byte
	if _, err := io.ReadFull(entropy, seed[:]); err != nil {
		// crypto/rand never fails on a supported platform; without entropy no
		// identifier would be unique, so there is nothing to go on with.
		panic("clock: no entropy: " + err.Error())
	}
	return &Clock{now: now, entropy: ulid.Monotonic(entropy, 0), dice: mrand.New(mrand.NewChaCha8(seed))}
}

// Now is the present time.
func (c *Clock) Now() time.Time { return c.now() }

// Since is the time that went by since start.
func (c *Clock) Since(start time.Time) time.Duration { return c.now().Sub(start) }

// ID is a new ULID: globally unique, and ordered by time and by call.
func (c *Clock) ID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.idAtLocked(c.now()) // read under the lock: else a later call may be of an earlier time
}

// IDAt is a new ULID that carries the given time, greater than the one before
// when that is of the same millisecond.
func (c *Clock) IDAt(at time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.idAtLocked(at)
}

func (c *Clock) idAtLocked(at time.Time) string {
	return ulid.MustNew(ulid.Timestamp(at), c.entropy).String()
}

// Jitter is a random duration in [0, limit): "full jitter" as the AWS
// Architecture Blog names it (Exponential Backoff And Jitter, 2015).
func (c *Clock) Jitter(limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Duration(c.dice.Int64N(int64(limit)))
}
