// Command khaelor is a coding agent for the terminal. This file connects the
// program with the world it was started in: arguments, streams, signals and
// the exit code. The program is in internal/cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/khaelor/khaelor/internal/cli"
	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/workspace"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	received := make(chan os.Signal, 4)
	defer signal.Stop(received)
	cwd, err := os.Getwd()
	if err != nil {
		os.Stderr.WriteString("khaelor: the working directory is gone: " + err.Error() + "\n")
		return 2
	}
	exe, err := os.Executable()
	if err != nil {
		exe = "khaelor"
	}
	environ := os.Environ()
	return cli.Main(context.Background(), &cli.App{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		StdinReady:  func(wait time.Duration) bool { return workspace.Readable(os.Stdin, wait) },
		StdinHungUp: func() bool { return workspace.HungUp(os.Stdin) },
		StdinTTY:    workspace.IsTerminal(os.Stdin), StdoutTTY: workspace.IsTerminal(os.Stdout), StderrTTY: workspace.IsTerminal(os.Stderr),
		Environ: environ, Exposed: workspace.HideEnviron(nil), Getenv: os.Getenv, Cwd: cwd, Exe: exe,
		Signals: received, CatchSignals: func() { catch(received) },
		Clock: clock.System(), Version: cli.Version(),
	}, args)
}

// catch leaves a hang-up that nohup told us to ignore ignored.
func catch(received chan<- os.Signal) {
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(received, syscall.SIGHUP)
	}
}
