package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/khaelor/khaelor/internal/clock"
)

// Local is the workspace on this machine. It is safe for concurrent use.
type Local struct {
	cwd   string
	roots []root // the longest path first, so that the innermost root is found
	env   []string
	shell []string
	clock *clock.Clock
	temps atomic.Int64

	table   *table
	buffers chan *[readSize]byte // to read output into; nil is one not made yet
	self    string               // of our marks
	runs    atomic.Int64
	session atomic.Pointer[string]
}

type root struct {
	path string // canonical
	dir  *os.Root
}

// Option is a setting of NewLocal.
type Option func(*options)

type options struct {
	roots []string
	env   []string
	allow []string
	clock *clock.Clock
}

// WithRoots adds folders that belong to the project besides the working
// directory: the repository it lies in, folders the user added.
func WithRoots(paths ...string) Option {
	return func(o *options) { o.roots = append(o.roots, paths...) }
}

// WithEnviron replaces the environment that commands are given (after Environ).
func WithEnviron(base []string) Option { return func(o *options) { o.env = base } }

// WithEnvAllow names variables that reach commands although they look like
// secrets (the setting env.allow); see Environ.
func WithEnvAllow(names ...string) Option { return func(o *options) { o.allow = names } }

// WithClock measures durations by another clock.
func WithClock(c *clock.Clock) Option { return func(o *options) { o.clock = c } }

// NewLocal opens the workspace whose working directory is dir.
func NewLocal(dir string, opts ...Option) (*Local, error) {
	o := options{env: os.Environ(), clock: clock.System()}
	for _, set := range opts {
		set(&o)
	}
	l := &Local{env: Environ(o.env, o.allow), shell: shell(), clock: o.clock, table: &table{clock: o.clock}, self: self(o.clock.ID())}
	l.buffers = make(chan *[readSize]byte, readers)
	for range readers {
		l.buffers <- nil
	}
	for _, path := range append([]string{dir}, o.roots...) {
		if err := l.addRoot(path); err != nil {
			return nil, errors.Join(fmt.Errorf("open workspace: %w", err), l.Close())
		}
	}
	l.cwd = l.roots[0].path
	slices.SortStableFunc(l.roots, func(a, b root) int { return cmp.Compare(len(b.path), len(a.path)) })
	return l, nil
}

func (l *Local) addRoot(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return err
	}
	dir, err := os.OpenRoot(real)
	if err != nil {
		return err
	}
	l.roots = append(l.roots, root{path: real, dir: dir})
	return nil
}

// shell is the words before a command line. What is analysed is bash's
// dialect, so bash runs it wherever it exists.
func shell() []string {
	if bash, err := exec.LookPath("bash"); err == nil {
		return []string{bash, "--noprofile", "--norc", "-c"}
	}
	return []string{"/bin/sh", "-c"}
}

// Close gives the project's folders back. Processes are their starters' to end.
func (l *Local) Close() error {
	var errs []error
	for _, r := range l.roots {
		errs = append(errs, r.dir.Close())
	}
	return errors.Join(errs...)
}

// Cwd is the canonical working directory.
func (l *Local) Cwd() string { return l.cwd }

// Roots are the canonical folders that belong to the project, innermost first.
func (l *Local) Roots() []string {
	paths := make([]string, len(l.roots))
	for i, r := range l.roots {
		paths[i] = r.path
	}
	return paths
}

// Environ is the environment that commands are given, scrubbed.
func (l *Local) Environ() []string { return slices.Clone(l.env) }

// SetSession names the session that command lines run for, in the environment
// of all that are started from now on: whoever finds one without its program
// can tell whose it was.
func (l *Local) SetSession(id string) { l.session.Store(&id) }

// Session is what SetSession named, or "".
func (l *Local) Session() string {
	if id := l.session.Load(); id != nil {
		return *id
	}
	return ""
}

// LookPath finds a program on the PATH.
func (l *Local) LookPath(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", programError(program, err)
	}
	return path, nil
}

// rootOf is the innermost root that holds a canonical path.
func (l *Local) rootOf(path string) (root, bool) {
	for _, r := range l.roots {
		if within(r.path, path) {
			return r, true
		}
	}
	return root{}, false
}

// within compares whole elements: /srv/app does not hold /srv/app-old.
func within(folder, path string) bool {
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || rest[0] == '/' || folder == "/")
}
