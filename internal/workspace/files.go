package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/khaelor/khaelor/internal/clock"
)

// ReadFile reads a regular file whole.
func (l *Local) ReadFile(path string) ([]byte, error) {
	f, err := l.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, 0, f.Info().Size+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, pathError("read", path, err)
		}
		data = slices.Grow(data, 1)
	}
}

// Open opens a regular file for reading.
func (l *Local) Open(path string) (File, error) {
	s, err := l.spot("open", path)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if s.Dangling {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("link to %s: %w", s.Path, fs.ErrNotExist)}
	}
	// Asked before opening: opening a pipe waits, and opening a device acts.
	info, err := s.dir.Lstat(s.name)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	if err := regular(info); err != nil {
		return nil, pathError("open", path, err)
	}
	return openFile(s.dir, s.name, s.Path, path, l.clock)
}

// openFile opens without waiting and asks again, for what was put in the
// file's place meanwhile.
func openFile(dir *os.Root, name, real, given string, clock *clock.Clock) (File, error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, pathError("open", given, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		_ = f.Close() // read only: nothing can be lost
		return nil, pathError("open", given, err)
	}
	// Disks cannot be waited for, so that a deadline is refused; what can be is
	// often ready all the same.
	waits := f.SetReadDeadline(time.Time{}) == nil
	return &file{File: f, info: fileInfo(real, info), clock: clock, waits: waits}, nil
}

// silence is how long a file may keep a reader waiting. Some call themselves
// regular and end only with the system, as /proc/kmsg does.
const silence = time.Second

type file struct {
	*os.File
	info  FileInfo
	clock *clock.Clock
	waits bool // reading may wait for others
}

// Read implements io.Reader.
func (f *file) Read(p []byte) (int, error) {
	if !f.waits {
		return f.File.Read(p)
	}
	if err := f.SetReadDeadline(f.clock.Now().Add(silence)); err != nil {
		return 0, err
	}
	n, err := f.File.Read(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, &fs.PathError{Op: "read", Path: f.info.Path, Err: ErrNotRegular}
	}
	return n, err
}

func (f *file) Info() FileInfo { return f.info }

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return ErrIsDir
	case !info.Mode().IsRegular():
		return ErrNotRegular
	}
	return nil
}

func fileInfo(real string, info fs.FileInfo) FileInfo {
	return FileInfo{
		Path: real, Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime(),
		IsDir: info.IsDir(), IsRegular: info.Mode().IsRegular(),
	}
}

// Stat describes what a path leads to.
func (l *Local) Stat(path string) (FileInfo, error) {
	s, err := l.spot("stat", path)
	if err != nil {
		return FileInfo{}, err
	}
	defer s.close()
	info, err := s.dir.Lstat(s.name)
	if err != nil {
		return FileInfo{}, pathError("stat", path, err)
	}
	return fileInfo(s.Path, info), nil
}

// ReadDir lists a folder, sorted by name.
func (l *Local) ReadDir(path string) ([]fs.DirEntry, error) {
	folder, err := l.OpenFolder(path)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	entries, err := folder.ReadDir()
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, pathError("list", path, err)
}

// MkdirAll creates a folder and its parents under the user's umask.
func (l *Local) MkdirAll(path string) error {
	s, err := l.spot("mkdir", path)
	if err != nil {
		return err
	}
	defer s.close()
	return pathError("mkdir", path, s.dir.MkdirAll(s.name, 0o777))
}

// Remove deletes a file or an empty folder.
func (l *Local) Remove(path string) error {
	s, err := l.spot("remove", path)
	if err != nil {
		return err
	}
	defer s.close()
	return pathError("remove", path, s.dir.Remove(s.name))
}
