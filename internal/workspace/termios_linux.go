package workspace

import "golang.org/x/sys/unix"

// getTermios is the request that only a terminal answers.
const getTermios = unix.TCGETS
