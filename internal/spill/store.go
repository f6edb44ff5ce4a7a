// Package spill keeps texts that are too long for the result of a tool.
//
// Text takes a text as it comes, holds its beginning and its end, and writes
// all of it to a file once there is more than a result may show. Store is
// where a session's files are, in the state folder: spill/SESSION/ID.txt. The
// package promises that neither a text in memory nor a file nor all files
// together outgrow their bounds, that what is missing is counted exactly, and
// that a file which is still written is not removed to make room: never one of
// the same store, and one of another session only when it was not written for
// some minutes or nothing else is left. A file that went all the same is
// reported when it is closed, and no text names it.
//
// What a text is, and what the model reads around it, is left to the tools.
// Start reading at Text.
package spill

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/disk"
)

// Bounds of what is kept, in bytes.
const (
	MaxFile  = 64 << 20
	MaxTotal = 256 << 20 // of all sessions
)

// folder holds a folder for each session.
const folder = "spill"

// Store keeps the files of one session. It is safe for concurrent use.
type Store struct {
	home     disk.Dir
	path     string
	session  string
	clock    *clock.Clock
	maxFile  int64
	maxTotal int64

	mu   sync.Mutex
	open map[string]bool // files that are still written
}

// New is the store of a session in the state folder, whose canonical path is
// homePath. Nothing is created before there is something to keep.
func New(home disk.Dir, homePath, session string, c *clock.Clock) *Store {
	return &Store{
		home: home, path: homePath, session: session, clock: c,
		maxFile: MaxFile, maxTotal: MaxTotal, open: map[string]bool{},
	}
}

// Folder is where the files are.
func (s *Store) Folder() string { return path.Join(s.path, folder, s.session) }

// Create begins a file, and makes room for it.
func (s *Store) Create() (*File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.purge(); err != nil {
		return nil, err
	}
	name := path.Join(folder, s.session, s.clock.ID()+".txt")
	f, err := s.home.OpenAppend(name)
	if err != nil {
		return nil, err
	}
	s.open[name] = true
	return &File{store: s, name: name, file: f}, nil
}

// Keep keeps a whole text and says in which file; "" with an error.
func (s *Store) Keep(text string) (path string, err error) {
	f, err := s.Create()
	if err != nil {
		return "", err
	}
	f.Write([]byte(text))
	if err := f.Close(); err != nil {
		return "", err
	}
	return f.Path(), nil
}

// closed gives a file free to be removed.
func (s *Store) closed(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.purge()
	delete(s.open, name)
	return err
}

// purge removes the oldest files until the rest is within the bound; those that
// another program may be writing go last.
func (s *Store) purge() error {
	files, total, err := s.all()
	if err != nil {
		return err
	}
	var first, last []disk.Entry
	for _, f := range files {
		switch {
		case s.open[f.Name]:
		case s.elsewhere(f):
			last = append(last, f)
		default:
			first = append(first, f)
		}
	}
	for _, f := range append(first, last...) {
		if total <= s.maxTotal {
			return nil
		}
		if err := s.home.Remove(f.Name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		total -= f.Size
	}
	return nil
}

// atWork is how long after its last write a file of another session counts as
// one that is still written.
const atWork = 10 * time.Minute

// elsewhere says that another program may be writing a file.
func (s *Store) elsewhere(f disk.Entry) bool {
	return path.Base(path.Dir(f.Name)) != s.session && s.clock.Now().Sub(f.ModTime) < atWork
}

// has says that a file is there.
func (s *Store) has(name string) bool {
	f, err := s.home.Open(name)
	return err == nil && f.Close() == nil
}

// all are the files of all sessions, the oldest first. A folder without files
// goes on the way, unless it is the present session's.
func (s *Store) all() (files []disk.Entry, total int64, err error) {
	sessions, err := s.home.List(folder)
	if err != nil {
		return nil, 0, err
	}
	for _, session := range sessions {
		entries, err := s.home.List(session.Name)
		if err != nil {
			return nil, 0, err
		}
		if len(entries) == 0 && path.Base(session.Name) != s.session {
			_ = s.home.Remove(session.Name) // the next one tries again
		}
		for _, e := range entries {
			total += e.Size
		}
		files = append(files, entries...)
	}
	slices.SortFunc(files, func(a, b disk.Entry) int {
		return cmp.Or(a.ModTime.Compare(b.ModTime), cmp.Compare(path.Base(a.Name), path.Base(b.Name)))
	})
	return files, total, nil
}

// Forget removes what a session kept, when the session is removed.
func Forget(home disk.Dir, session string) error {
	err := home.Remove(path.Join(folder, session))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
