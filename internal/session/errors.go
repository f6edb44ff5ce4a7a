package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/khaelor/khaelor/internal/disk"
)

// ErrClosed reports a use of a log after Close.
var ErrClosed = errors.New("session log is closed")

// ErrRefused reports a fact that may not enter a log: a bug of the publisher.
var ErrRefused = errors.New("fact refused")

// NotFoundError reports an id that no session has.
type NotFoundError struct{ ID string }

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no session %q; `khaelor sessions list` shows those that are there", e.ID)
}

// AmbiguousError reports the beginning of an id that several sessions have.
type AmbiguousError struct {
	Prefix string
	IDs    []string // sorted
}

func ambiguous(prefix string, found []Ref) error {
	e := &AmbiguousError{Prefix: prefix}
	for _, ref := range found {
		e.IDs = append(e.IDs, ref.ID)
	}
	slices.Sort(e.IDs)
	return e
}

func (e *AmbiguousError) Error() string {
	const most = 5
	shown := strings.Join(e.IDs[:min(most, len(e.IDs))], ", ")
	if len(e.IDs) > most {
		shown += ", …"
	}
	return fmt.Sprintf("%d sessions begin with %q (%s); give more of the id", len(e.IDs), e.Prefix, shown)
}

// LockedError reports a session that another program has open. It wraps
// disk.ErrLocked.
type LockedError struct {
	ID  string
	Err error // names the holder when the disk knows it
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("session %s is open in another program: %v; end that one, or go on in a copy: `khaelor sessions fork %s`", e.ID, e.Err, e.ID)
}

func (e *LockedError) Unwrap() error { return e.Err }

// WriteError reports that something could not be recorded. It wraps
// disk.ErrNoSpace, ErrIO or ErrReadOnly when that is why.
type WriteError struct {
	File string // relative to the sessions folder
	Err  error
}

func failedWrite(file string, err error) error { return &WriteError{File: file, Err: err} }

func (e *WriteError) Error() string {
	return fmt.Sprintf("write sessions/%s: %v; %s", e.File, e.Err, e.remedy())
}

func (e *WriteError) remedy() string {
	switch {
	case errors.Is(e.Err, disk.ErrNoSpace):
		return "free some space and go on (`khaelor -c`): what was done last may not be recorded"
	case errors.Is(e.Err, disk.ErrReadOnly):
		return "make the folder writable, or set KHAELOR_HOME to one that is"
	case errors.Is(e.Err, disk.ErrIO):
		return "the device fails: save your work elsewhere and set KHAELOR_HOME to a sound disk"
	}
	return "`khaelor doctor` looks at the folder"
}

func (e *WriteError) Unwrap() error { return e.Err }

// DamagedError reports a log that was changed from outside: something other
// than its last line cannot be read, or lines are missing. It is not resumed.
type DamagedError struct {
	ID     string
	File   string // relative to the sessions folder
	Line   int64  // 1-based; the lines before it are sound
	Reason string
}

func (e *DamagedError) Error() string {
	text := fmt.Sprintf("session log %s is damaged at line %d: %s; ", e.File, e.Line, e.Reason)
	if e.Line == 1 {
		return text + fmt.Sprintf("nothing of it can be resumed (`khaelor sessions check %s` says more, `khaelor sessions rm %s` removes it)", e.ID, e.ID)
	}
	return text + fmt.Sprintf("it cannot be resumed, but `khaelor sessions show %s`, `export` and `fork %s --at %d` work", e.ID, e.ID, e.Line-1)
}

// NewerError reports a fact that a newer program wrote and that may not be
// skipped.
type NewerError struct {
	ID   string
	Type string
	Seq  int64
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("session %s needs a newer khaelor: its event %d, %q, is unknown here and may not be skipped; update khaelor, or look at it with `khaelor sessions show %s`",
		e.ID, e.Seq, e.Type, e.ID)
}
