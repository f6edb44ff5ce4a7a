package workspace

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Folder is an open folder: a walk that goes from handle to handle opens each
// file with one call and cannot be led out of the tree by a link. It is safe
// for concurrent use until it is closed.
type Folder struct {
	dir  *os.File
	fd   int
	path string // canonical
}

// OpenFolder opens a folder for walking.
func (l *Local) OpenFolder(path string) (*Folder, error) {
	s, err := l.spot("open", path)
	if err != nil {
		return nil, err
	}
	defer s.close()
	dir, err := s.dir.OpenFile(s.name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return &Folder{dir: dir, fd: int(dir.Fd()), path: s.Path}, nil
}

// Path is the canonical path the folder was opened at.
func (f *Folder) Path() string { return f.path }

// ReadDir lists the folder in no order, links not followed. It can be called
// once.
func (f *Folder) ReadDir() ([]fs.DirEntry, error) { return f.dir.ReadDir(-1) }

// Folder opens a folder in this one.
func (f *Folder) Folder(name string) (*Folder, error) {
	path := filepath.Join(f.path, name)
	fd, err := f.openat(name, unix.O_DIRECTORY)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return &Folder{dir: os.NewFile(uintptr(fd), path), fd: fd, path: path}, nil
}

// ModTime is when an entry was last changed; a link's own time is a link's.
func (f *Folder) ModTime(name string) (time.Time, error) {
	var stat unix.Stat_t
	err := again(func() error { return unix.Fstatat(f.fd, name, &stat, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return time.Time{}, pathError("stat", filepath.Join(f.path, name), err)
	}
	return time.Unix(stat.Mtim.Unix()), nil
}

// Open opens a regular file in this folder for reading from its beginning. The
// caller leaves out what the listing does not call a regular file.
func (f *Folder) Open(name string) (*FolderFile, error) {
	fd, err := f.openat(name, unix.O_NONBLOCK)
	if err != nil {
		return nil, pathError("open", filepath.Join(f.path, name), err)
	}
	var stat unix.Stat_t
	if err = again(func() error { return unix.Fstat(fd, &stat) }); err == nil && stat.Mode&unix.S_IFMT != unix.S_IFREG {
		err = ErrNotRegular
	}
	if err != nil {
		_ = unix.Close(fd) // read only: nothing can be lost
		return nil, pathError("open", filepath.Join(f.path, name), err)
	}
	return &FolderFile{fd: fd, size: stat.Size}, nil
}

func (f *Folder) openat(name string, flags int) (fd int, err error) {
	err = again(func() error {
		fd, err = unix.Openat(f.fd, name, flags|unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		return err
	})
	return fd, err
}

// Close gives the handle back.
func (f *Folder) Close() error { return f.dir.Close() }

// FolderFile is a regular file that is read once from its beginning. A search
// opens a hundred thousand of them, and so it is no more than a descriptor.
// Whoever opens it must Close it.
type FolderFile struct {
	fd   int
	size int64
}

// Size is how many bytes the file had when it was opened.
func (f *FolderFile) Size() int64 { return f.size }

// Read is that of io.Reader.
func (f *FolderFile) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	err = again(func() error { n, err = unix.Read(f.fd, p); return err })
	switch {
	case err != nil:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Close gives the descriptor back.
func (f *FolderFile) Close() error { return unix.Close(f.fd) }

// again repeats a call that a signal cut short.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}
