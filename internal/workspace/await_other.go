//go:build !linux

package workspace

import "syscall"

func announceEnd(*syscall.SysProcAttr) (pidfd *int) { return nil }

// awaitEnd leaves the waiting to the system call that reaps the command.
func awaitEnd(*int) {}
