package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/khaelor/khaelor/internal/config"
	"github.com/khaelor/khaelor/internal/repo"
	"github.com/khaelor/khaelor/internal/session"
	"github.com/khaelor/khaelor/internal/workspace"
)

// project is what a command works on: a directory with its settings and its
// sessions. What is not needed is not opened.
type project struct {
	app      *App
	ws       *workspace.Local
	repo     *repo.Repo
	home     *workspace.Dir // the state folder
	sessions *session.Store
	config   config.Config
	warnings []config.Warning
	trusted  bool
	hash     string // of the project
	closers  []func() error
}

// openProject finds the working directory, the state folder and the settings.
func (a *App) openProject(f *runFlags) (*project, error) {
	p := &project{app: a}
	if a.Exposed != nil {
		p.warnings = append(p.warnings, config.Warning{File: "environment", Msg: "commands can read its secrets: " + a.Exposed.Error()})
	}
	cwd := a.Cwd
	if f.Cwd != "" {
		if cwd = f.Cwd; !filepath.IsAbs(cwd) {
			cwd = filepath.Join(a.Cwd, cwd)
		}
	}
	if err := p.openHome(); err != nil {
		return nil, err
	}
	// The environment of child processes is scrubbed by names that the settings
	// may bring back, so the settings are read through a workspace of their own.
	plain, err := workspace.NewLocal(cwd, workspace.WithEnviron(a.Environ))
	if err != nil {
		return nil, errors.Join(usagef("work in %s: %w", cwd, err), p.close())
	}
	p.closers = append(p.closers, plain.Close)
	p.repo = repo.Open(plain)
	if p.repo.Bare() {
		return nil, errors.Join(usagef("%s is a bare git repository: it has no files to work on; make a clone or a worktree of it and start there", cwd), p.close())
	}
	p.hash = config.ProjectHash(p.repo.Identity())
	if err := p.load(plain, f); err != nil {
		return nil, errors.Join(err, p.close())
	}
	opts := []workspace.Option{workspace.WithEnviron(a.Environ), workspace.WithEnvAllow(p.config.Env.Allow...), workspace.WithClock(a.Clock)}
	if len(f.AddDirs) > 0 {
		opts = append(opts, workspace.WithRoots(f.AddDirs...))
	}
	if p.ws, err = workspace.NewLocal(cwd, opts...); err != nil {
		return nil, errors.Join(usagef("work in %s: %w", cwd, err), p.close())
	}
	p.closers = append(p.closers, p.ws.Close)
	return p, nil
}

// openHome opens the state folder and the sessions in it.
func (p *project) openHome() error {
	name := config.Home(p.app.Getenv)
	if name == "" {
		return usagef("no home folder: set HOME, or KHAELOR_HOME to a folder for sessions and settings")
	}
	home, err := workspace.OpenDir(name)
	if err != nil {
		return fmt.Errorf("open the state folder: %w; set KHAELOR_HOME to a folder that can be written", err)
	}
	sessions, err := workspace.OpenDir(path.Join(name, "sessions"))
	if err != nil {
		return errors.Join(fmt.Errorf("open the session folder: %w; set KHAELOR_HOME to a folder that can be written", err), home.Close())
	}
	p.home = home
	p.closers = append(p.closers, home.Close, sessions.Close)
	p.sessions = session.NewStore(sessions, p.app.Clock, p.log)
	return nil
}

func (p *project) load(ws *workspace.Local, f *runFlags) error {
	files := configFiles{ws}
	root := p.root(ws)
	src := config.Sources{Home: p.home.Path(), Repo: root, File: p.absolute(f.ConfigFile), Flags: f.settings()}
	hash, err := config.ConfigHash(files, root)
	if err != nil {
		return fmt.Errorf("read the project's configuration: %w", err)
	}
	src.Trust = config.Trusted
	if !f.Trust {
		trust, err := config.OpenTrust(p.home)
		if err != nil {
			p.warnings = append(p.warnings, config.Warning{Msg: err.Error()})
		}
		src.Trust = trust.Trusted(root, hash)
	}
	p.trusted = src.Trust == config.Trusted
	loaded, warnings, err := config.Load(files, p.app.Getenv, src)
	p.config = loaded
	p.warnings = append(p.warnings, warnings...)
	return err
}

// noVariable is an environment in which nothing is set.
func noVariable(string) string { return "" }

// root is the folder that the project's settings are in.
func (p *project) root(ws workspace.Workspace) string {
	if root := p.repo.Root(); root != "" {
		return root
	}
	return ws.Cwd()
}

func (p *project) absolute(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.app.Cwd, name)
}

// close gives everything back, the newest first.
func (p *project) close() error {
	var errs []error
	for i := len(p.closers) - 1; i >= 0; i-- {
		errs = append(errs, p.closers[i]())
	}
	p.closers = nil
	return errors.Join(errs...)
}

// log writes to the developer log. It is a diagnosis aid: that it cannot be
// written hurts nobody.
func (p *project) log(err error) {
	f, openErr := p.home.OpenAppend("logs/khaelor.log")
	if openErr != nil {
		return
	}
	defer f.Close()
	_ = f.Append(fmt.Appendf(nil, "%s %v\n", p.app.Clock.Now().Format(time.RFC3339), err))
}

// warn shows what had no effect in the settings.
func (p *project) warn() {
	for _, w := range p.warnings {
		fmt.Fprintf(p.app.Stderr, "khaelor: warning: %s\n", w)
	}
}

// configFiles reads settings and instruction files through a workspace.
type configFiles struct{ ws workspace.Workspace }

// ReadFile implements config.Files.
func (c configFiles) ReadFile(name string) ([]byte, error) {
	place, err := c.Canonical(name)
	if err != nil {
		return nil, err
	}
	return c.ws.ReadFile(place)
}

// Canonical implements config.InstructionFiles.
func (c configFiles) Canonical(name string) (string, error) {
	place, err := workspace.Resolve(c.ws, name)
	if err != nil {
		return "", err
	}
	if !place.Exists {
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return place.Path, nil
}

// Version is what the build says of itself.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "0.1.0-dev"
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}
