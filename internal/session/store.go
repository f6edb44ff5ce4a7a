// Package session keeps the log of each conversation: one file of lines, one
// fact a line, append-only, the truth from which everything else is folded.
//
// A Store is the folder of all logs; a Log is one that is open for writing,
// under its lock. The package promises that a fact is in the file before
// anybody hears of it; that what is folded is the line that was written, so a
// live session and its replay cannot differ; that numbers have no gaps; that
// a log cut off at any byte opens again, with exactly one result for every
// call; and that a log damaged anywhere else is never repaired in silence.
//
// What facts mean is left to fold, what to do next to the kernel, and how
// files are written to disk.Dir. Start reading with Log.Publish in log.go,
// then Store.Open in open.go.
//
// Below the Dir a session is PROJECT/ID.jsonl (the log), ID.meta.json (a
// cache of what a list shows), ID.blobs/SHA256 (contents that facts name),
// ID.jsonl.torn (what was cut off) and ID.lock.
package session

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/disk"
)

// Store is the folder of all sessions of all projects. It is safe for
// concurrent use, by several programs too.
type Store struct {
	dir    disk.Dir
	clock  *clock.Clock
	report func(error)
}

// NewStore makes a store on dir. What goes wrong without hurting anybody (a
// torn line that was cut, a cache that cannot be written, a subscriber that
// panicked) is told to report, for the developer log.
func NewStore(dir disk.Dir, clk *clock.Clock, report func(error)) *Store {
	return &Store{dir: dir, clock: clk, report: report}
}

// Ref says where a session is kept.
type Ref struct {
	ID      string
	Project string // the folder: the project's hash
}

const (
	logSuffix   = ".jsonl"
	metaSuffix  = ".meta.json"
	tornSuffix  = ".jsonl.torn"
	lockSuffix  = ".lock"
	blobsSuffix = ".blobs"
)

func (r Ref) file(suffix string) string { return r.Project + "/" + r.ID + suffix }

// projects are the folders of the store.
func (s *Store) projects() ([]string, error) {
	entries, err := s.dir.List("")
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir {
			names = append(names, lastElement(e.Name))
		}
	}
	return names, nil
}

// logs are the log files of one project.
func (s *Store) logs(project string) (map[Ref]disk.Entry, map[string]bool, error) {
	entries, err := s.dir.List(project)
	if err != nil {
		return nil, nil, fmt.Errorf("list sessions of %s: %w", project, err)
	}
	logs, sidecars := map[Ref]disk.Entry{}, map[string]bool{}
	for _, e := range entries {
		name := lastElement(e.Name)
		if id, ok := strings.CutSuffix(name, logSuffix); ok && !e.IsDir && id != "" {
			logs[Ref{ID: id, Project: project}] = e
		}
		if id, ok := strings.CutSuffix(name, metaSuffix); ok {
			sidecars[id] = true
		}
	}
	return logs, sidecars, nil
}

func lastElement(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// Find looks for a session by its whole id or by a beginning that only one
// session has, in any project and in any case of letters. The error is a
// *NotFoundError or an *AmbiguousError when the id is to blame.
func (s *Store) Find(prefix string) (Ref, error) {
	projects, err := s.projects()
	if err != nil {
		return Ref{}, err
	}
	var found []Ref
	for _, project := range projects {
		logs, _, err := s.logs(project)
		if err != nil {
			return Ref{}, err
		}
		for ref := range logs {
			if strings.EqualFold(ref.ID, prefix) {
				return ref, nil
			}
			if prefix != "" && len(ref.ID) > len(prefix) && strings.EqualFold(ref.ID[:len(prefix)], prefix) {
				found = append(found, ref)
			}
		}
	}
	switch len(found) {
	case 0:
		return Ref{}, &NotFoundError{ID: prefix}
	case 1:
		return found[0], nil
	}
	return Ref{}, ambiguous(prefix, found)
}

// Remove deletes a session with everything that belongs to it. One that a
// program has open is refused with an error that wraps disk.ErrLocked.
func (s *Store) Remove(id string) error {
	ref, err := s.Find(id)
	if err != nil {
		return err
	}
	lock, err := s.lock(ref)
	if err != nil {
		return err
	}
	for _, suffix := range []string{logSuffix, metaSuffix, tornSuffix, blobsSuffix} {
		if e := s.dir.Remove(ref.file(suffix)); err == nil && !errors.Is(e, fs.ErrNotExist) {
			err = e
		}
	}
	if e := lock.Unlock(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("remove session %s: %w", ref.ID, err)
	}
	if err := s.dir.Remove(ref.file(lockSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove session %s: %w", ref.ID, err)
	}
	return nil
}

func (s *Store) lock(ref Ref) (disk.Unlocker, error) {
	lock, err := s.dir.Lock(ref.file(lockSuffix))
	if errors.Is(err, disk.ErrLocked) {
		return nil, &LockedError{ID: ref.ID, Err: err}
	}
	if err != nil {
		return nil, failedWrite(ref.file(lockSuffix), err)
	}
	return lock, nil
}
