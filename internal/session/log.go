package session

import (
	"fmt"
	"slices"
	"sync"

	"github.com/khaelor/khaelor/internal/bus"
	"github.com/khaelor/khaelor/internal/disk"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// Log is one session that is open for writing. It is safe for concurrent use.
//
// Invariant: folded is the fold of exactly the lines in the file.
type Log struct {
	store *Store
	ref   Ref
	bus   *bus.Bus
	lock  disk.Unlocker

	mu        sync.Mutex
	idle      sync.Cond // on mu: nothing is being delivered
	file      disk.File // nil once closed
	session   string    // the id on the lines; the file may have been renamed
	folded    fold.Session
	calls     openCalls
	summary   summary
	size      int64 // bytes in the file
	unknown   []string
	recovered Recovery
	unsynced  bool // something was appended since the last sync
	owed      bool // a sync was due and failed
	stub      bool // an append failed: a part of its line may be in the file

	queue      []func() // what subscribers have still to hear, in order
	delivering bool
}

// Recovery is what Open had to repair.
type Recovery struct {
	TornBytes int      // length of the torn line that was cut off
	Cancelled []string // calls that were closed, by tool use id
}

// ID is the session's id, the name of its file.
func (l *Log) ID() string { return l.ref.ID }

// Bus is where subscribers hear what is published from now on.
//
// Facts and notices reach them one at a time, in the order of publication. A
// handler may publish: what it publishes is in the log when Publish returns,
// and is delivered after the present delivery. It may not call Close.
func (l *Log) Bus() *bus.Bus { return l.bus }

// Recovered is what Open had to repair.
func (l *Log) Recovered() Recovery { return l.recovered }

// Fold is the state after the newest fact.
func (l *Log) Fold() fold.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.folded
}

// Unknown names the types of facts in the log that this program does not
// know, sorted.
func (l *Log) Unknown() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.unknown)
}

// Publish records a fact, folds it and tells subscribers.
//
// On a *WriteError without a record nothing happened: the number is not used
// up, and the next Publish may well succeed. With a record the fact is in the
// log, but the wait for the device failed; that wait is made up for by the
// next Publish. An error that wraps ErrRefused is a bug of the caller. When
// another goroutine is delivering, Publish returns before subscribers have
// heard of the fact.
func (l *Log) Publish(f event.Fact) (event.Record, error) {
	l.mu.Lock()
	r, err := l.record(f)
	l.mu.Unlock()
	l.deliver()
	return r, err
}

// record does all of Publish but the delivery.
func (l *Log) record(f event.Fact) (event.Record, error) {
	line, r, err := l.encode(f)
	if err != nil {
		return event.Record{}, err
	}
	if err := l.append(line); err != nil {
		return event.Record{}, failedWrite(l.ref.file(logSuffix), err)
	}
	l.fold(r, int64(len(line)))
	l.unsynced = true
	if l.owed = l.owed || l.boundary(r.Fact); l.owed {
		err = l.sync()
	}
	if endsTask(r.Fact) {
		l.writeMeta()
	}
	l.queue = append(l.queue, func() { l.bus.Publish(r) })
	return r, err
}

// append adds a whole line. A stub that the file could not cut off by itself
// goes first: a line glued to it would be damage.
func (l *Log) append(line []byte) error {
	if l.stub {
		if err := l.file.Truncate(l.size); err != nil {
			return err
		}
	}
	err := l.file.Append(line)
	l.stub = err != nil
	return err
}

// encode makes the fact's line and reads it back, since what would not be
// read back must not be written, and what is folded must be what was written.
func (l *Log) encode(f event.Fact) ([]byte, event.Record, error) {
	if l.file == nil {
		return nil, event.Record{}, ErrClosed
	}
	if reason := l.refused(f); reason != "" {
		return nil, event.Record{}, fmt.Errorf("publish %s: %w: %s", event.NameOf(f), ErrRefused, reason)
	}
	now := l.store.clock.Now()
	line, err := event.AppendLine(nil, event.Record{
		V: event.Version, ID: l.store.clock.IDAt(now), SessionID: l.session,
		Seq: l.folded.State.LastSeq + 1, TS: now.UnixMilli(), Fact: f,
	})
	if err != nil {
		return nil, event.Record{}, fmt.Errorf("publish %s: %w: %w", event.NameOf(f), ErrRefused, err)
	}
	r, err := event.DecodeLine(line[:len(line)-1])
	if err != nil {
		return nil, event.Record{}, fmt.Errorf("publish %s: %w: %w", event.NameOf(f), ErrRefused, err)
	}
	return line, r, nil
}

func (l *Log) refused(f event.Fact) string {
	switch p := f.(type) {
	case event.Unknown:
		return "its type is not known here"
	case event.ContextCompacted:
		return badCut(l.folded.History, l.folded.State.LastSeq, p.Cut)
	}
	return ""
}

// fold takes in a record whose line is size bytes long.
func (l *Log) fold(r event.Record, size int64) {
	l.folded = l.folded.Apply(r)
	l.calls = l.calls.apply(r.Fact)
	l.summary.apply(r)
	l.size += size
	if u, ok := r.Fact.(event.Unknown); ok {
		if i, have := slices.BinarySearch(l.unknown, u.Type); !have {
			l.unknown = slices.Insert(l.unknown, i, u.Type)
		}
	}
}

// boundary says that work may rest on the fact from here on, so that it has
// to survive a power loss: twice in a turn with calls, after the answer and
// after the last result (seed 003 §5.2).
func (l *Log) boundary(f event.Fact) bool {
	switch f.(type) {
	case event.ModelResponseCompleted, event.ContextCompacted:
		return true
	}
	if _, ok := closes(f); ok {
		return len(l.calls) == 0
	}
	return endsTask(f)
}

func endsTask(f event.Fact) bool {
	switch f.(type) {
	case event.TaskCompleted, event.TaskFailed, event.Interrupted:
		return true
	}
	return false
}

// sync needs the lock.
func (l *Log) sync() error {
	if !l.unsynced {
		return nil
	}
	if err := l.file.Sync(); err != nil {
		l.owed = true
		return failedWrite(l.ref.file(logSuffix), err)
	}
	l.unsynced, l.owed = false, false
	return nil
}

// Sync waits until everything published so far would survive a power loss.
func (l *Log) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return ErrClosed
	}
	return l.sync()
}

// Notify tells subscribers something that is not kept.
func (l *Log) Notify(n event.Notice) {
	now := l.store.clock.Now()
	live := event.Live{ID: l.store.clock.IDAt(now), SessionID: l.session, TS: now.UnixMilli(), Notice: n}
	l.mu.Lock()
	if l.file != nil {
		l.queue = append(l.queue, func() { l.bus.Notify(live) })
	}
	l.mu.Unlock()
	l.deliver()
}

// deliver empties the queue unless somebody is at it: another goroutine, or
// a caller of the handler that is publishing.
func (l *Log) deliver() {
	for {
		l.mu.Lock()
		if l.delivering || len(l.queue) == 0 {
			l.mu.Unlock()
			return
		}
		next := l.queue[0]
		l.queue = l.queue[1:]
		l.delivering = true
		l.mu.Unlock()

		next()

		l.mu.Lock()
		l.delivering = false
		l.idle.Broadcast()
		l.mu.Unlock()
	}
}

// Close ends the writing: subscribers hear what was published, the log is
// synced, the sidecar written and the lock given back. A second Close does
// nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	for l.delivering || len(l.queue) > 0 {
		l.idle.Wait()
	}
	err := l.sync()
	l.writeMeta()
	if e := l.file.Close(); err == nil && e != nil {
		err = failedWrite(l.ref.file(logSuffix), e)
	}
	l.file = nil
	if e := l.lock.Unlock(); err == nil && e != nil {
		err = failedWrite(l.ref.file(lockSuffix), e)
	}
	return err
}

// writeMeta needs the lock. The sidecar is a cache: without it the next list
// reads the log.
func (l *Log) writeMeta() {
	if err := l.store.writeMeta(l.ref, l.summary.of(l.ref, l.size)); err != nil {
		l.store.report(err)
	}
}
