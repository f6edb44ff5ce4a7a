package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// WriteFile replaces a file's content whole or not at all. The file keeps its
// mode, owner and extended attributes; links, symbolic and hard, stay links. A
// link that leads nowhere is not written through.
func (l *Local) WriteFile(name string, data []byte) error {
	s, err := l.spot("write", name)
	if err != nil {
		return err
	}
	defer s.close()
	if s.Dangling {
		return &fs.PathError{Op: "write", Path: name, Err: fmt.Errorf("link to %s: %w", s.Path, fs.ErrNotExist)}
	}
	info, err := s.dir.Lstat(s.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = l.create(s, data)
	case err != nil:
	case regular(info) != nil:
		err = regular(info)
	default:
		err = l.overwrite(s, info, data)
	}
	return pathError("write", name, err)
}

func (l *Local) create(s *spot, data []byte) error {
	if err := s.dir.MkdirAll(path.Dir(s.name), 0o777); err != nil {
		return err
	}
	return replace(s.dir, s.name, data, 0o666, &l.temps, func(*os.File) error { return nil })
}

func (l *Local) overwrite(s *spot, info fs.FileInfo, data []byte) error {
	// A file that may not be written is not replaced behind its own back.
	old, err := s.dir.OpenFile(s.name, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrPermission) {
		old, err = s.dir.OpenFile(s.name, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	}
	if err != nil {
		return err
	}
	defer old.Close()
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
		return writeInPlace(old, data)
	}
	err = replace(s.dir, s.name, data, 0o600, &l.temps, func(f *os.File) error { return takeAfter(f, old, info) })
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EBUSY) {
		// The folder may not be written, the owner not be given, or the file is
		// a mount of its own; the file itself can be written.
		return writeInPlace(old, data)
	}
	return err
}

// takeAfter gives a new file the owner, mode and attributes of the old one.
func takeAfter(f, old *os.File, info fs.FileInfo) error {
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	is, isOK := mine.Sys().(*syscall.Stat_t)
	was, wasOK := info.Sys().(*syscall.Stat_t)
	if isOK && wasOK && (is.Uid != was.Uid || is.Gid != was.Gid) {
		if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
			return err
		}
	}
	if err := f.Chmod(info.Mode()); err != nil {
		return err
	}
	copyAttributes(f, old)
	return nil
}

// copyAttributes copies extended attributes, access lists among them, as far
// as they can be copied: some belong to the system alone.
func copyAttributes(to, from *os.File) {
	list := attribute(func(buf []byte) (int, error) { return unix.Flistxattr(int(from.Fd()), buf) })
	for name := range strings.SplitSeq(strings.Trim(string(list), "\x00"), "\x00") {
		if name == "" {
			continue
		}
		value := attribute(func(buf []byte) (int, error) { return unix.Fgetxattr(int(from.Fd()), name, buf) })
		_ = unix.Fsetxattr(int(to.Fd()), name, value, 0)
	}
}

// attribute calls get first for the size, then for the value.
func attribute(get func([]byte) (int, error)) []byte {
	size, err := get(nil)
	if err != nil || size <= 0 {
		return nil
	}
	buf := make([]byte, size)
	n, err := get(buf)
	if err != nil {
		return nil
	}
	return buf[:n]
}

// writeInPlace overwrites the very file, for those that have other names or
// cannot be replaced. When that fails the old content is put back.
func writeInPlace(f *os.File, data []byte) error {
	old, readErr := io.ReadAll(io.NewSectionReader(f, 0, 1<<62))
	err := fill(f, data)
	if err != nil && readErr == nil {
		return errors.Join(err, fill(f, old))
	}
	return err
}

func fill(f *os.File, data []byte) error {
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	return errors.Join(f.Truncate(int64(len(data))), f.Sync())
}

// tempPrefix begins the names of files that are being written.
const tempPrefix = ".khaelor-tmp-"

// replace writes a file beside its place and renames it: there is never a
// moment in which a reader, or the power going, finds half of it. prepare sees
// the new file before it takes the old one's place.
func replace(dir *os.Root, name string, data []byte, perm fs.FileMode, temps *atomic.Int64, prepare func(*os.File) error) error {
	f, temp, err := createTemp(dir, path.Dir(name), perm, temps)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, bytes.NewReader(data))
	if err == nil {
		err = prepare(f)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, dir.Remove(temp))
	}
	return syncFolder(dir, path.Dir(name))
}

// createTemp numbers its files instead of drawing lots; a number that a dead
// process of the same id left behind is passed over.
func createTemp(dir *os.Root, folder string, perm fs.FileMode, temps *atomic.Int64) (*os.File, string, error) {
	for {
		name := path.Join(folder, fmt.Sprintf("%s%d-%d", tempPrefix, os.Getpid(), temps.Add(1)))
		f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		return f, name, err
	}
}

// syncFolder makes a folder's entries survive a power loss.
func syncFolder(dir *os.Root, folder string) error {
	f, err := dir.Open(folder)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = nil // some file systems cannot sync folders; nothing to wait for then
	}
	return errors.Join(err, f.Close())
}
