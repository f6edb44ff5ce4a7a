// Package bus hands facts and notices to live subscribers.
//
// Delivery is synchronous, on the publisher's goroutine, in the order of
// publication and of subscription. A subscriber that panics is reported and
// skipped for that delivery; it disturbs nobody else. The bus buffers
// nothing, stores nothing and starts no goroutine. Replay does not pass
// through it: a log that is opened feeds folds, never subscribers.
package bus

import (
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/khaelor/khaelor/internal/event"
)

// Bus connects one session's publisher with its subscribers.
type Bus struct {
	report func(error)

	mu   sync.Mutex
	next int
	subs []subscriber // in order of subscription; replaced, never edited
}

type subscriber struct {
	id     int
	record func(event.Record)
	live   func(event.Live)
}

// New makes a bus that tells report what a subscriber's panic said and where.
func New(report func(error)) *Bus { return &Bus{report: report} }

// On subscribes to one type of fact. The returned function ends it.
func On[P event.Fact](b *Bus, handle func(event.Record, P)) (unsubscribe func()) {
	return b.add(subscriber{record: func(r event.Record) {
		if p, ok := r.Fact.(P); ok {
			handle(r, p)
		}
	}})
}

// OnNotice subscribes to one type of notice.
func OnNotice[P event.Notice](b *Bus, handle func(event.Live, P)) (unsubscribe func()) {
	return b.add(subscriber{live: func(l event.Live) {
		if p, ok := l.Notice.(P); ok {
			handle(l, p)
		}
	}})
}

// OnAny subscribes to everything. Either function may be nil.
func (b *Bus) OnAny(record func(event.Record), live func(event.Live)) (unsubscribe func()) {
	return b.add(subscriber{record: record, live: live})
}

func (b *Bus) add(s subscriber) (unsubscribe func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	s.id = b.next
	b.subs = append(slices.Clone(b.subs), s)
	return func() { b.remove(s.id) }
}

func (b *Bus) remove(id int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subs = slices.DeleteFunc(slices.Clone(b.subs), func(s subscriber) bool { return s.id == id })
}

// Subscribers counts the subscriptions that have not ended: the leak check.
func (b *Bus) Subscribers() int { return len(b.current()) }

func (b *Bus) current() []subscriber {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.subs
}

// Publish delivers a fact that is in the log.
func (b *Bus) Publish(r event.Record) {
	for _, s := range b.current() {
		if s.record != nil {
			b.guard(r.Name(), func() { s.record(r) })
		}
	}
}

// Notify delivers a notice.
func (b *Bus) Notify(l event.Live) {
	for _, s := range b.current() {
		if s.live != nil {
			b.guard(l.Name(), func() { s.live(l) })
		}
	}
}

func (b *Bus) guard(name string, deliver func()) {
	defer func() {
		if p := recover(); p != nil {
			b.report(fmt.Errorf("subscriber of %s panicked: %v\n%s", name, p, debug.Stack()))
		}
	}()
	deliver()
}
