//go:build !linux

package anthropic

import "syscall"

// limitAcks leaves the system's own limits where the option is not known.
func limitAcks(_, _ string, _ syscall.RawConn) error { return nil }
