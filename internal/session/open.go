package session

import (
	"fmt"
	"strings"

	"github.com/khaelor/khaelor/internal/bus"
	"github.com/khaelor/khaelor/internal/disk"
	"github.com/khaelor/khaelor/internal/event"
)

// Create begins a session in the project named by started.ProjectHash, with
// started as its first fact.
func (s *Store) Create(started event.SessionStarted) (*Log, error) {
	if !plainName(started.ProjectHash) {
		return nil, fmt.Errorf("create session: %w: project hash %q is no folder name", ErrRefused, started.ProjectHash)
	}
	l, err := s.begin(Ref{ID: s.clock.ID(), Project: started.ProjectHash})
	if err != nil {
		return nil, err
	}
	if _, err := l.Publish(started); err != nil {
		l.discard()
		return nil, err
	}
	return l, nil
}

func plainName(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, `/\`)
}

// begin makes a new, empty log.
func (s *Store) begin(ref Ref) (*Log, error) {
	l, err := s.hold(ref)
	if err != nil {
		return nil, err
	}
	if err := l.openFile(); err != nil {
		s.unlock(l.lock)
		return nil, err
	}
	return l, nil
}

// hold locks a session.
func (s *Store) hold(ref Ref) (*Log, error) {
	lock, err := s.lock(ref)
	if err != nil {
		return nil, err
	}
	l := &Log{store: s, ref: ref, session: ref.ID, bus: bus.New(s.report), lock: lock}
	l.idle.L = &l.mu
	return l, nil
}

func (l *Log) openFile() error {
	file, err := l.store.dir.OpenAppend(l.ref.file(logSuffix))
	if err != nil {
		return failedWrite(l.ref.file(logSuffix), err)
	}
	l.file = file
	return nil
}

func (s *Store) unlock(lock disk.Unlocker) {
	if err := lock.Unlock(); err != nil {
		s.report(fmt.Errorf("unlock session: %w", err))
	}
}

// discard removes a session that could not be made.
func (l *Log) discard() {
	s := l.store
	if err := l.file.Close(); err != nil {
		s.report(err)
	}
	for _, suffix := range []string{logSuffix, metaSuffix, blobsSuffix} {
		_ = s.dir.Remove(l.ref.file(suffix)) // missing, or as broken as the write that failed
	}
	s.unlock(l.lock)
	_ = s.dir.Remove(l.ref.file(lockSuffix))
}

// Open resumes a session: takes its lock, cuts a torn last line (which is
// kept in the .torn file), replays and closes the calls that the end of the
// last program left open. A second Open finds nothing to repair.
//
// The error is a *NotFoundError, *AmbiguousError, *LockedError, *DamagedError
// or *NewerError when the session itself is the reason.
func (s *Store) Open(id string) (*Log, error) {
	ref, err := s.Find(id)
	if err != nil {
		return nil, err
	}
	l, err := s.hold(ref)
	if err != nil {
		return nil, err
	}
	if err := l.restore(); err != nil {
		l.letGo()
		return nil, err
	}
	return l, nil
}

// letGo gives back what a failed Open holds; nothing can be lost by it.
func (l *Log) letGo() {
	if l.file != nil {
		_ = l.file.Close()
	}
	l.store.unlock(l.lock)
}

// restore replays, then opens the file: not the other way round, since
// opening would make a file that was removed meanwhile.
func (l *Log) restore() error {
	sound, err := l.store.replay(l.ref, l.replayed)
	if err != nil {
		return err
	}
	if sound.size == 0 {
		return damaged(l.ref, 1, "it holds no whole event")
	}
	if err := l.openFile(); err != nil {
		return err
	}
	if err := l.cut(sound); err != nil {
		return err
	}
	return l.closeCalls()
}

func (l *Log) replayed(r event.Record) error {
	if u, ok := r.Fact.(event.Unknown); ok && r.Critical {
		return &NewerError{ID: l.ref.ID, Type: u.Type, Seq: r.Seq}
	}
	l.session = r.SessionID
	l.fold(r, int64(len(r.Line))+1)
	return nil
}

// cut takes the torn line off, once a copy of it is safe.
func (l *Log) cut(sound extent) error {
	if len(sound.torn) == 0 {
		return nil
	}
	if err := l.store.keepTorn(l.ref, sound.torn); err != nil {
		return failedWrite(l.ref.file(tornSuffix), err)
	}
	if err := l.file.Truncate(sound.size); err != nil {
		return failedWrite(l.ref.file(logSuffix), err)
	}
	l.unsynced = true
	l.recovered.TornBytes = len(sound.torn)
	l.store.report(fmt.Errorf("session %s: the last line was torn; %d bytes went to %s", l.ref.ID, len(sound.torn), l.ref.file(tornSuffix)))
	return l.sync()
}

// keepTorn adds to what was cut off in earlier recoveries.
func (s *Store) keepTorn(ref Ref, torn []byte) error {
	file, err := s.dir.OpenAppend(ref.file(tornSuffix))
	if err != nil {
		return err
	}
	if err = file.Append(append(torn[:len(torn):len(torn)], '\n')); err == nil {
		err = file.Sync()
	}
	if e := file.Close(); err == nil {
		err = e
	}
	return err
}

// closeCalls gives every open call its result. Recovery is history too, so
// the next replay needs none (seed 003 §6.5).
func (l *Log) closeCalls() error {
	for len(l.calls) > 0 {
		call := l.calls[0]
		if _, err := l.Publish(call.recovered()); err != nil {
			return err
		}
		l.recovered.Cancelled = append(l.recovered.Cancelled, call.id)
	}
	return nil
}
