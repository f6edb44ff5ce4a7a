// Package fold turns facts into state.
//
// Every projection is a value with one method, Apply, that answers what the
// value is after one more fact. Apply is pure: no clock, no I/O, no package
// state, and a value that was handed out stays what it was. The same Apply
// serves the live session and the replay of a log, so the two cannot differ.
//
//	State     what the kernel decides by: the task, open calls, queues, counters
//	History   the model's conversation, block by block
//	Usage     tokens by model, and what they cost
//	Changes   files read and changed, and the baseline before us
//	Runs      commands that ran, the raw material of evidence
//	Timeline  what a person sees
//
// What to do about a state is the kernel's business; where facts come from is
// session's. Start reading with Session below, then State.
package fold

import "github.com/khaelor/khaelor/internal/event"

// Session is everything an engine needs to know of one log. The timeline is
// apart: only who shows it pays for it.
type Session struct {
	State   State
	History History
	Usage   Usage
	Changes Changes
	Runs    Runs
}

// Apply folds one fact into every projection.
func (s Session) Apply(r event.Record) Session {
	return Session{
		State:   s.State.Apply(r),
		History: s.History.Apply(r),
		Usage:   s.Usage.Apply(r),
		Changes: s.Changes.Apply(r),
		Runs:    s.Runs.Apply(r),
	}
}

// list is a sequence that grows at its end. Values that were handed out never
// change, although they share memory: who appends to anything but the longest
// value gets a copy first.
type list[T any] struct {
	items []T
	top   *int // how much of the shared memory is in use
}

func (l list[T]) add(v T) list[T] {
	if l.top == nil || *l.top != len(l.items) {
		grown := make([]T, len(l.items), 2*len(l.items)+4)
		copy(grown, l.items)
		l = list[T]{items: grown, top: new(int)}
	}
	l.items = append(l.items, v)
	*l.top = len(l.items)
	return l
}

// first is the list of the first n items.
func (l list[T]) first(n int) list[T] { return list[T]{items: l.items[:n:n], top: l.top} }

// without copies s, leaving out what drop names.
func without[T any](s []T, drop func(T) bool) []T {
	var kept []T
	for _, v := range s {
		if !drop(v) {
			kept = append(kept, v)
		}
	}
	return kept
}

// with copies s and adds v.
func with[T any](s []T, v T) []T { return append(s[:len(s):len(s)], v) }
