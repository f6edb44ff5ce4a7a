// Package cli is the command line: it reads what the user asked for, puts the
// program together, and turns outcomes into exit codes.
//
// Each command of the program is a file with three parts: an options struct
// that names every input, a function that fills it from flags, and a run
// function that takes it. project.go opens what all of them need; exit.go is
// the one place where errors become exit codes. Nothing here knows how an
// agent works. Start reading at Main, then root.go.
package cli

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/khaelor/khaelor/internal/clock"
)

// App is the world as the program sees it. It is made once, in main.
type App struct {
	Stdin io.Reader
	// StdinReady waits so long for something to read, its end included.
	StdinReady func(time.Duration) bool
	// StdinHungUp says that the terminal of standard input is gone.
	StdinHungUp    func() bool
	Stdout, Stderr io.Writer
	// StdinTTY, StdoutTTY and StderrTTY say which of them are a terminal.
	StdinTTY, StdoutTTY, StderrTTY bool
	Environ                        []string
	// Exposed is why commands can read the secrets of this process's own
	// environment, nil when they cannot.
	Exposed error
	Getenv  func(string) string
	Cwd     string
	Exe     string
	// Signals come here once CatchSignals was called; before, and in commands
	// that do not call it, they end the program.
	Signals      <-chan os.Signal
	CatchSignals func()
	Clock        *clock.Clock
	Version      string
}

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, app *App, args []string) int {
	return app.report(app.root().execute(ctx, args))
}
