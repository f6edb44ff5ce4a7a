package workspace

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// IsTerminal says whether a stream of ours is a terminal.
func IsTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	return err == nil
}

// Readable waits so long for something to read on a stream, its end included.
func Readable(f *os.File, wait time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(wait.Milliseconds()))
	return err == nil && n > 0
}

// HungUp says that the other end of a stream is gone: of a terminal the window,
// or the connection. The user's end of input leaves it there.
func HungUp(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	_, err := unix.Poll(fds, 0)
	return err == nil && fds[0].Revents&unix.POLLHUP != 0
}
