package workspace

import "golang.org/x/sys/unix"

// getTermios is the request that only a terminal answers.
const getTermios = unix.TCGETS

// setTermios is the request that changes one.
const setTermios = unix.TCSETS

// discardInput empties what a terminal holds for its reader, half a line
// included. What is no terminal holds on to its bytes.
func discardInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
