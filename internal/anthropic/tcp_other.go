//go:build !linux

package anthropic

import "net"

// limitUnacknowledged leaves it to keep-alive probes and the stall limit.
func limitUnacknowledged(*net.TCPConn) {}
