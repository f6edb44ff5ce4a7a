package anthropic

import (
	"net"

	"golang.org/x/sys/unix"
)

// limitUnacknowledged makes the system give up a connection whose peer leaves
// sent bytes unacknowledged for deadLimit: a request on a connection that died
// unnoticed fails then, and not at the stall limit. It is best effort, since
// the stall limit stands behind it.
func limitUnacknowledged(conn *net.TCPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(deadLimit.Milliseconds()))
	})
}
