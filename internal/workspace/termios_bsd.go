//go:build darwin || freebsd || netbsd || openbsd

package workspace

import "golang.org/x/sys/unix"

// getTermios is the request that only a terminal answers.
const getTermios = unix.TIOCGETA

// setTermios is the request that changes one.
const setTermios = unix.TIOCSETA

// discardInput empties what a terminal holds for its reader, half a line
// included. What is no terminal holds on to its bytes.
func discardInput(fd int) { _ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, unix.TCIFLUSH) }
