package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many links a path may lead through, as in the kernel
// (path_resolution(7)).
const maxLinks = 40

// Resolve follows all links of a path.
func (l *Local) Resolve(path string) (Place, error) {
	abs, err := l.abs(path)
	if err != nil {
		return Place{}, err
	}
	real, exists, err := canonical(abs)
	if err != nil {
		return Place{}, pathError("resolve", path, err)
	}
	_, inside := l.rootOf(real)
	place := Place{Path: real, Inside: inside, Exists: exists, Linked: real != filepath.Clean(abs)}
	if place.Linked && !exists {
		_, err := os.Lstat(filepath.Clean(abs))
		place.Dangling = err == nil
	}
	return place, nil
}

// abs joins without cleaning: in link/.. the link counts.
func (l *Local) abs(path string) (string, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return "", &fs.PathError{Op: "resolve", Path: path, Err: fs.ErrInvalid}
	}
	if filepath.IsAbs(path) {
		return path, nil
	}
	return l.cwd + "/" + path, nil
}

// canonical walks an absolute path from the top. filepath.EvalSymlinks would
// do, were it not for paths that do not exist yet.
func canonical(abs string) (real string, exists bool, err error) {
	real = "/"
	rest := strings.Split(abs, "/")
	for links := 0; len(rest) > 0; {
		elem := rest[0]
		rest = rest[1:]
		next := filepath.Join(real, elem)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return filepath.Join(append([]string{next}, rest...)...), false, nil
		case err != nil:
			return "", false, err
		case info.Mode()&fs.ModeSymlink == 0:
			real = next
			continue
		}
		if links++; links > maxLinks {
			return "", false, &fs.PathError{Op: "resolve", Path: abs, Err: syscall.ELOOP}
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", false, err
		}
		if filepath.IsAbs(target) {
			real = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return real, true, nil
}

// spot is a resolved path as an open folder and a name below it: the project's
// own root inside, the deepest existing parent outside.
type spot struct {
	Place
	given string
	dir   *os.Root
	name  string
	own   bool // dir was opened for this spot
}

// spot resolves a path for an access and refuses what the caller cannot have
// decided about; see Workspace.
func (l *Local) spot(op, path string) (*spot, error) {
	place, err := l.Resolve(path)
	if err != nil {
		return nil, err
	}
	if place.Linked && (filepath.IsAbs(path) || !place.Inside) {
		return nil, &LinkError{Path: path, Target: place.Path}
	}
	s := &spot{Place: place, given: path}
	if r, inside := l.rootOf(place.Path); inside {
		s.dir = r.dir
		s.name, err = filepath.Rel(r.path, place.Path)
		return s, err
	}
	parent := filepath.Dir(place.Path)
	for s.dir == nil {
		s.dir, err = os.OpenRoot(parent)
		if errors.Is(err, fs.ErrNotExist) && parent != "/" {
			parent = filepath.Dir(parent)
			continue
		}
		if err != nil {
			return nil, pathError(op, path, err)
		}
	}
	s.own = true
	s.name, err = filepath.Rel(parent, place.Path)
	return s, err
}

func (s *spot) close() {
	if s.own {
		_ = s.dir.Close() // a folder handle; nothing was written through it
	}
}

// pathError is the one shape of file errors: operation, path as given, reason.
func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	switch {
	case errors.Is(err, syscall.EISDIR):
		err = ErrIsDir
	case errors.Is(err, syscall.ENOTDIR):
		err = ErrNotDir
	case errors.Is(err, syscall.ENAMETOOLONG):
		err = ErrNameTooLong
	case errors.Is(err, syscall.ELOOP):
		err = ErrLinkLoop
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
