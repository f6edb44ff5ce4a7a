package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exec runs a command to its end and leaves none of its children behind.
func (l *Local) Exec(ctx context.Context, cmd Command) (Result, error) {
	p, err := l.Start(cmd)
	if err != nil {
		return Result{}, err
	}
	_, err = p.Wait(ctx)
	p.Kill()
	return p.result, err
}

// Start starts a command in a session of its own: without a terminal to ask
// questions at, and with a group that can be killed whole.
func (l *Local) Start(cmd Command) (*Proc, error) {
	c, err := l.prepare(cmd)
	if err != nil {
		return nil, err
	}
	p := &Proc{
		Command: cmd, clock: l.clock, started: l.clock.Now(), cmd: c,
		onOutput: cmd.OnOutput, captures: [2]*capture{newCapture(cmd.MaxOutput), newCapture(cmd.MaxOutput)},
		exited: make(chan struct{}), gone: make(chan struct{}),
		kill: make(chan struct{}), killed: make(chan struct{}), pidfd: announceEnd(c.SysProcAttr),
	}
	p.Command.Cwd, p.local = c.Dir, l
	p.lineage = lineage{table: l.table}
	if cmd.Line != "" {
		p.lineage.mark = l.self + ":" + strconv.FormatInt(l.runs.Add(1), 10)
		c.Env = setVars(c.Env, runVar+"="+p.lineage.mark)
		if id := l.Session(); id != "" {
			c.Env = setVars(c.Env, sessionVar+"="+id)
		}
	}
	if err := p.start(); err != nil {
		return nil, err
	}
	return p, nil
}

func (l *Local) prepare(cmd Command) (*exec.Cmd, error) {
	dir, err := l.workDir(cmd.Cwd)
	if err != nil {
		return nil, err
	}
	argv := cmd.Argv
	if cmd.Line != "" {
		argv = append(l.shell[:len(l.shell):len(l.shell)], cmd.Line)
	}
	if len(argv) == 0 {
		return nil, errors.New("run: the command is empty")
	}
	c := exec.Command(argv[0], argv[1:]...)
	if c.Err != nil {
		return nil, programError(argv[0], c.Err)
	}
	c.Dir = dir
	c.Env = cmd.Env
	if c.Env == nil {
		c.Env = setVars(l.Environ(), "PWD="+dir)
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return c, nil
}

// workDir looks before starting, because a directory and a program that are
// missing, or forbidden, fail alike afterwards.
func (l *Local) workDir(path string) (string, error) {
	if path == "" {
		path = l.cwd
	}
	place, err := l.Resolve(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(place.Path)
	if err != nil {
		return "", pathError("run in", path, err)
	}
	if !info.IsDir() {
		return "", &fs.PathError{Op: "run in", Path: path, Err: ErrNotDir}
	}
	if err := unix.Access(place.Path, unix.X_OK); err != nil {
		return "", pathError("run in", path, err)
	}
	return place.Path, nil
}

func programError(program string, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("run %s: %w", program, ErrNoProgram)
	case errors.Is(err, syscall.E2BIG):
		return fmt.Errorf("run %s: %w", program, ErrTooLong)
	}
	return fmt.Errorf("run %s: %w", program, err)
}
