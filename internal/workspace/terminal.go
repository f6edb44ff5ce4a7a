package workspace

import (
	"os"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// The size of a command's terminal: wide enough for tables and messages of
// compilers, which programs break at the width.
const (
	ttyColumns = 120
	ttyLines   = 40
)

// wireTerminal gives the command a terminal. What is written to it is not
// echoed: whoever wrote it knows.
func (p *Proc) wireTerminal() (theirs []*os.File, err error) {
	ours, tty, err := pty.Open()
	if err != nil {
		return nil, err
	}
	theirs, p.pipes, p.stdin = []*os.File{tty}, []*os.File{ours}, ours
	p.Command.Interactive = true
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
	p.cmd.SysProcAttr.Setctty = true // standard input, in the new session
	// A terminal that moves nothing: programs print lines, not screens.
	p.cmd.Env = setVars(p.cmd.Env, "TERM=dumb")
	if err := pty.Setsize(tty, &pty.Winsize{Rows: ttyLines, Cols: ttyColumns}); err != nil {
		return theirs, err
	}
	settings, err := unix.IoctlGetTermios(int(tty.Fd()), getTermios)
	if err != nil {
		return theirs, err
	}
	settings.Lflag &^= unix.ECHO
	return theirs, unix.IoctlSetTermios(int(tty.Fd()), setTermios, settings)
}
