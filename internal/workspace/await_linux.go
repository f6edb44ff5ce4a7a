package workspace

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// announceEnd asks for a descriptor that tells of the command's end.
func announceEnd(attr *syscall.SysProcAttr) (pidfd *int) {
	pidfd = new(int)
	*pidfd = -1
	attr.PidFD = pidfd
	return pidfd
}

// awaitEnd returns when the command has ended, and waits for that without a
// thread: the system call that reaps a child holds one for as long as it
// waits. Where there is no such descriptor it returns at once.
func awaitEnd(pidfd *int) {
	if *pidfd < 0 || unix.SetNonblock(*pidfd, true) != nil {
		return
	}
	f := os.NewFile(uintptr(*pidfd), "pidfd")
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Read(func(fd uintptr) bool { // an error means that reaping has to wait
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
}
