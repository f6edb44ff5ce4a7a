// Package disk names what a folder of program state can do.
//
// It is two interfaces and their errors, nothing else. session, config and
// the other keepers of state see a Dir and never the operating system;
// workspace.Dir is the real one, memdisk.Dir one in memory that can lose power.
//
// Names are slash-separated and relative to the folder ("ID.jsonl",
// "ID.blobs/3b0c…"); a name that leaves the folder is refused. Folders on the
// way are created (0700) by whatever writes; files are created 0600.
package disk

import (
	"errors"
	"io"
	"time"
)

// Errors that a caller branches on. A missing file is fs.ErrNotExist.
var (
	// ErrLocked reports that another process holds the lock.
	ErrLocked = errors.New("locked by another process")
	// ErrNoSpace reports a full device or an exhausted quota (ENOSPC, EDQUOT).
	ErrNoSpace = errors.New("no space left on the device")
	// ErrIO reports that the device failed (EIO).
	ErrIO = errors.New("input/output error")
	// ErrReadOnly reports a folder that cannot be written (EROFS, EACCES, EPERM).
	ErrReadOnly = errors.New("folder is not writable")
)

// Entry is one file of a Dir.
type Entry struct {
	Name    string // relative to the Dir, slash-separated
	Size    int64  // bytes
	ModTime time.Time
	IsDir   bool
}

// Dir is a folder of state files.
type Dir interface {
	// List names the entries of one folder ("" is the Dir itself), sorted by
	// name, without descending. A folder that does not exist is empty.
	List(folder string) ([]Entry, error)
	// Open reads a file as a stream, so that a large log is never held twice.
	Open(name string) (io.ReadCloser, error)
	// OpenAppend opens a file for appending, creating it when it is missing.
	OpenAppend(name string) (File, error)
	// WriteFile replaces a file whole or not at all.
	WriteFile(name string, data []byte) error
	// Remove deletes a file or, with all it holds, a folder.
	Remove(name string) error
	// Lock takes the advisory lock of that name without waiting. It returns
	// ErrLocked when another process holds it; a lock whose holder died is free.
	Lock(name string) (Unlocker, error)
}

// File is a file open for appending.
type File interface {
	// Append adds data at the end with one write call. When the device takes
	// only a part of it, the part is cut off again and an error is returned.
	Append(data []byte) error
	// Truncate cuts the file to size bytes.
	Truncate(size int64) error
	// Size is the present length in bytes.
	Size() (int64, error)
	// Sync waits until everything appended so far would survive a power loss.
	Sync() error
	Close() error
}

// Unlocker gives a lock back.
type Unlocker interface{ Unlock() error }
