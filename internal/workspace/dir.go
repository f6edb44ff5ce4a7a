package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/khaelor/khaelor/internal/disk"
)

// State is the user's alone, whatever the umask says.
const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
)

// ErrNotOwner refuses a state folder that belongs to somebody else.
var ErrNotOwner = errors.New("folder belongs to another user")

// Dir is a state folder on this machine, the real disk.Dir. It is safe for
// concurrent use. Nothing outside the folder is reached through it, links
// included.
type Dir struct {
	path  string
	root  *os.Root
	temps atomic.Int64
}

var _ disk.Dir = (*Dir)(nil)

// OpenDir opens a state folder, creating it and its parents when missing.
func OpenDir(name string) (*Dir, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, dirError("open", name, err)
	}
	if err := os.MkdirAll(abs, dirMode); err != nil {
		return nil, dirError("open", abs, err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, dirError("open", abs, err)
	}
	d := &Dir{path: abs, root: root}
	if err := d.claim(); err != nil {
		return nil, errors.Join(dirError("open", abs, err), root.Close())
	}
	return d, nil
}

// claim makes sure that nobody else can read or replace the state.
func (d *Dir) claim() error {
	info, err := d.root.Stat(".")
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return ErrNotOwner
	}
	if info.Mode().Perm() == dirMode {
		return nil
	}
	return d.root.Chmod(".", dirMode)
}

// Path is where the folder is.
func (d *Dir) Path() string { return d.path }

// Close gives the folder's handle back; open files stay open.
func (d *Dir) Close() error { return d.root.Close() }

// List names the entries of one folder, sorted by name.
func (d *Dir) List(folder string) ([]disk.Entry, error) {
	dir, err := d.root.Open(cmp.Or(folder, "."))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, dirError("list", folder, err)
	}
	defer dir.Close()
	infos, err := dir.Readdir(-1)
	if err != nil {
		return nil, dirError("list", folder, err)
	}
	var entries []disk.Entry
	for _, info := range infos {
		if strings.HasPrefix(info.Name(), tempPrefix) {
			continue
		}
		entries = append(entries, disk.Entry{
			Name: path.Join(folder, info.Name()), Size: info.Size(), ModTime: info.ModTime(), IsDir: info.IsDir(),
		})
	}
	slices.SortFunc(entries, func(a, b disk.Entry) int { return cmp.Compare(a.Name, b.Name) })
	return entries, nil
}

// Open reads a file as a stream.
func (d *Dir) Open(name string) (io.ReadCloser, error) {
	f, err := d.root.Open(name)
	if err != nil {
		return nil, dirError("open", name, err)
	}
	return f, nil
}

// OpenAppend opens a file for appending. When it had to be created, its name
// survives a power loss from then on.
func (d *Dir) OpenAppend(name string) (disk.File, error) {
	const flags = os.O_RDWR | os.O_APPEND
	f, err := d.root.OpenFile(name, flags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = d.createAppend(name, flags)
	}
	if err != nil {
		return nil, dirError("open", name, err)
	}
	return &appendFile{name: name, f: f}, nil
}

func (d *Dir) createAppend(name string, flags int) (*os.File, error) {
	if err := d.mkdirs(path.Dir(name)); err != nil {
		return nil, err
	}
	f, err := d.root.OpenFile(name, flags|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Chmod(fileMode), syncFolder(d.root, path.Dir(name))); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// mkdirs creates a folder and its parents so that they survive a power loss.
func (d *Dir) mkdirs(folder string) error {
	if folder == "." {
		return nil
	}
	err := d.root.Mkdir(folder, dirMode)
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.mkdirs(path.Dir(folder)); err != nil {
			return err
		}
		err = d.root.Mkdir(folder, dirMode)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return errors.Join(d.root.Chmod(folder, dirMode), syncFolder(d.root, path.Dir(folder)))
}

// WriteFile replaces a file whole or not at all.
func (d *Dir) WriteFile(name string, data []byte) error {
	err := d.mkdirs(path.Dir(name))
	if err == nil {
		err = replace(d.root, name, data, fileMode, &d.temps, func(f *os.File) error { return f.Chmod(fileMode) })
	}
	return dirError("write", name, err)
}

// Remove deletes a file or, with all it holds, a folder.
func (d *Dir) Remove(name string) error {
	if _, err := d.root.Lstat(name); err != nil {
		return dirError("remove", name, err)
	}
	err := d.root.RemoveAll(name)
	if err == nil {
		err = syncFolder(d.root, path.Dir(name))
	}
	return dirError("remove", name, err)
}

// LockedError names the process that holds a lock. It is a disk.ErrLocked.
type LockedError struct {
	Name string
	PID  int // 0 when the holder could not be read
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return "lock " + e.Name + ": " + disk.ErrLocked.Error()
	}
	return fmt.Sprintf("lock %s: %v (process %d)", e.Name, disk.ErrLocked, e.PID)
}

func (e *LockedError) Unwrap() error { return disk.ErrLocked }

// Lock takes an advisory lock without waiting. The file is left behind when it
// is given back: deleting it would let two processes lock two files of one name.
func (d *Dir) Lock(name string) (disk.Unlocker, error) {
	if !filepath.IsLocal(name) {
		return nil, dirError("lock", name, fs.ErrInvalid)
	}
	if err := d.mkdirs(path.Dir(name)); err != nil {
		return nil, dirError("lock", name, err)
	}
	lock := flock.New(filepath.Join(d.path, name), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(fileMode))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, dirError("lock", name, err)
	}
	if !ok {
		return nil, &LockedError{Name: name, PID: d.holder(name)}
	}
	if err := d.sign(name); err != nil {
		return nil, errors.Join(dirError("lock", name, err), lock.Unlock())
	}
	return lock, nil
}

// sign writes who holds the lock into its file.
func (d *Dir) sign(name string) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	return errors.Join(err, f.Chmod(fileMode), f.Close())
}

func (d *Dir) holder(name string) int {
	text, err := d.root.ReadFile(name)
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text))) // 0 while it is being written
	return pid
}

// appendFile is one file of a Dir, open for appending.
type appendFile struct {
	name string
	f    *os.File
}

// Append relies on O_APPEND and on there being one writer: what a failed write
// left is the end of the file.
func (a *appendFile) Append(data []byte) error {
	n, err := a.f.Write(data)
	if err == nil {
		return nil
	}
	if n > 0 {
		err = errors.Join(err, a.cut(int64(n)))
	}
	return dirError("append to", a.name, err)
}

func (a *appendFile) cut(n int64) error {
	size, err := a.Size()
	if err != nil {
		return err
	}
	return a.f.Truncate(size - n)
}

func (a *appendFile) Truncate(size int64) error {
	return dirError("truncate", a.name, a.f.Truncate(size))
}

func (a *appendFile) Size() (int64, error) {
	info, err := a.f.Stat()
	if err != nil {
		return 0, dirError("measure", a.name, err)
	}
	return info.Size(), nil
}

func (a *appendFile) Sync() error  { return dirError("sync", a.name, a.f.Sync()) }
func (a *appendFile) Close() error { return dirError("close", a.name, a.f.Close()) }

// dirError adds disk's sentinel, so that callers need not know the system's
// error numbers.
func dirError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		err = fmt.Errorf("%w (%w)", disk.ErrNoSpace, err)
	case errors.Is(err, syscall.EIO):
		err = fmt.Errorf("%w (%w)", disk.ErrIO, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("%w (%w)", disk.ErrReadOnly, err)
	}
	return fmt.Errorf("%s %s: %w", op, name, err)
}
