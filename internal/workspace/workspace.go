// Package workspace is the only room that touches files and processes.
//
// It owns three things: Local, the seam behind which every file of the project
// is read and written and every program is run; Proc, a started program with
// all its children; and Dir, the real folder under a disk.Dir.
//
// It promises that what was decided is what is touched: a path is resolved
// once (Resolve), the decision is made on the canonical path, and that path is
// opened through the project's os.Root, so that a link swapped in between is
// refused. Writes happen whole or not at all. A process that was killed leaves
// no child, no zombie and no goroutine behind.
//
// Whether a path or a command is allowed is decided elsewhere (permission);
// what a model is shown of it, too (tool). Start reading at Workspace, then
// Local.WriteFile and Proc.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
)

// Workspace is what tools need of the world: the place they work in.
//
// Paths may be relative to Cwd or absolute. An absolute path must be canonical,
// that is, what Resolve returned; a relative one may pass links as long as they
// stay inside the project. Anything else is a *LinkError.
type Workspace interface {
	// Cwd is the canonical working directory.
	Cwd() string
	// ReadFile reads a regular file whole.
	ReadFile(path string) ([]byte, error)
	// WriteFile replaces a file's content whole or not at all, and creates it
	// and its folders when they are missing.
	WriteFile(path string, data []byte) error
	// Exec runs a command to its end and leaves none of its children behind.
	// When ctx ends first the command is stopped, and what it printed until
	// then is returned with the context's cause.
	Exec(ctx context.Context, cmd Command) (Result, error)
}

// Errors that a caller branches on, beside fs.ErrNotExist and fs.ErrPermission.
var (
	// ErrIsDir reports a folder where a file was wanted.
	ErrIsDir = errors.New("is a directory")
	// ErrNotDir reports a file where a folder was wanted, also as a parent.
	ErrNotDir = errors.New("is not a directory")
	// ErrNameTooLong reports a name or path longer than the system takes.
	ErrNameTooLong = errors.New("file name too long")
	// ErrLinkLoop reports links that lead to each other.
	ErrLinkLoop = errors.New("too many links, or links in a circle")
	// ErrNotRegular reports a pipe, socket or device, which is never opened.
	ErrNotRegular = errors.New("is not a regular file")
	// ErrNoProgram reports a program that is not on the PATH.
	ErrNoProgram = errors.New("program not found")
	// ErrTooLong reports a command line longer than the system takes.
	ErrTooLong = errors.New("command line is longer than the system takes; put it into a file")
)

// LinkError refuses a path that leads elsewhere through a link. Whoever may go
// there asks Resolve and passes its answer.
type LinkError struct {
	Path   string // as given
	Target string // canonical
}

func (e *LinkError) Error() string {
	return fmt.Sprintf("%s leads to %s through a link", e.Path, e.Target)
}

// Place is where a path leads.
type Place struct {
	Path     string // canonical: absolute, without links
	Inside   bool   // below one of the project's roots
	Exists   bool
	Linked   bool // the path as given leads through at least one link
	Dangling bool // the path itself is a link, and nothing is where it points
}

// FileInfo describes what a path leads to.
type FileInfo struct {
	Path      string // canonical
	Size      int64  // bytes
	Mode      fs.FileMode
	ModTime   time.Time
	IsDir     bool
	IsRegular bool
}

// File is a regular file open for reading.
type File interface {
	io.ReadCloser
	io.ReaderAt
	Info() FileInfo
}

// Resolve follows all links of a path. What does not exist yet is resolved by
// its deepest existing parent.
func Resolve(ws Workspace, path string) (Place, error) {
	if w, ok := ws.(interface{ Resolve(string) (Place, error) }); ok {
		return w.Resolve(path)
	}
	return Place{}, unsupported("resolve", path)
}

// Stat describes what a path leads to.
func Stat(ws Workspace, path string) (FileInfo, error) {
	if w, ok := ws.(interface {
		Stat(string) (FileInfo, error)
	}); ok {
		return w.Stat(path)
	}
	return FileInfo{}, unsupported("stat", path)
}

// Open opens a regular file for reading.
func Open(ws Workspace, path string) (File, error) {
	if w, ok := ws.(interface{ Open(string) (File, error) }); ok {
		return w.Open(path)
	}
	return nil, unsupported("open", path)
}

// ReadDir lists a folder, sorted by name, links not followed.
func ReadDir(ws Workspace, path string) ([]fs.DirEntry, error) {
	if w, ok := ws.(interface {
		ReadDir(string) ([]fs.DirEntry, error)
	}); ok {
		return w.ReadDir(path)
	}
	return nil, unsupported("list", path)
}

// OpenFolder opens a folder for walking; see Folder.
func OpenFolder(ws Workspace, path string) (*Folder, error) {
	if w, ok := ws.(interface {
		OpenFolder(string) (*Folder, error)
	}); ok {
		return w.OpenFolder(path)
	}
	return nil, unsupported("open", path)
}

// MkdirAll creates a folder and its parents under the user's umask.
func MkdirAll(ws Workspace, path string) error {
	if w, ok := ws.(interface{ MkdirAll(string) error }); ok {
		return w.MkdirAll(path)
	}
	return unsupported("mkdir", path)
}

// Remove deletes a file or an empty folder. A link given by a relative path is
// resolved like any other, so its target is what goes.
func Remove(ws Workspace, path string) error {
	if w, ok := ws.(interface{ Remove(string) error }); ok {
		return w.Remove(path)
	}
	return unsupported("remove", path)
}

// Start starts a command and returns at once. Whoever starts it must Kill it,
// or see its Gone channel closed.
func Start(ws Workspace, cmd Command) (*Proc, error) {
	if w, ok := ws.(interface{ Start(Command) (*Proc, error) }); ok {
		return w.Start(cmd)
	}
	return nil, unsupported("start", cmd.String())
}

// LookPath finds a program on the PATH.
func LookPath(ws Workspace, program string) (string, error) {
	if w, ok := ws.(interface{ LookPath(string) (string, error) }); ok {
		return w.LookPath(program)
	}
	return "", unsupported("find", program)
}

// Variable is a variable of the environment that commands get, "" when they
// have none of that name.
func Variable(ws Workspace, name string) string {
	w, ok := ws.(interface{ Environ() []string })
	if !ok {
		return ""
	}
	value := ""
	for _, entry := range w.Environ() { // the last one holds
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

func unsupported(op, path string) error {
	return &fs.PathError{Op: op, Path: path, Err: errors.ErrUnsupported}
}
