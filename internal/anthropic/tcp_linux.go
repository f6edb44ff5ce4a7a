package anthropic

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ackLimit is how long what was sent may stay unacknowledged. A request on a
// connection that died since its last use, after sleep or a change of network,
// fails then and is repeated on a new one, instead of waiting for the stall
// limit (tcp(7), TCP_USER_TIMEOUT).
const ackLimit = 8 * time.Second

func limitAcks(_, _ string, conn syscall.RawConn) error {
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(ackLimit.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return failed
}
