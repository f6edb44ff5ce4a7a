package workspace

import (
	"bytes"
	"cmp"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// The variables by which a process is known for a descendant of a command,
// whatever it has left. They are no secrets.
const (
	runVar     = "KHAELOR_RUN"     // PID:START:WORKSPACE:N, the Nth command of that program's workspace
	sessionVar = "KHAELOR_SESSION" // the session's id
)

// self is how this program and one workspace of it are named in marks: a
// process id alone is used again.
func self(workspace string) string {
	p, _ := readProcess(os.Getpid(), make([]byte, 512)) // without /proc nobody reads marks
	return strconv.Itoa(os.Getpid()) + ":" + strconv.FormatUint(p.start, 10) + ":" + workspace
}

// owner is the program that a mark names.
func owner(mark string) (pid int, start uint64, ok bool) {
	fields := strings.Split(mark, ":")
	if len(fields) != 4 {
		return 0, 0, false
	}
	pid, pidErr := strconv.Atoi(fields[0])
	start, startErr := strconv.ParseUint(fields[1], 10, 64)
	return pid, start, pidErr == nil && startErr == nil
}

// mark is what a process says of itself.
type mark struct {
	start        uint64 // of the process
	run, session string
}

// marks are those of all processes, each read once: it is kept from a
// program's start to its end.
type marks struct {
	mu    sync.Mutex
	known map[int]mark
	buf   []byte
}

// An environment is read in pieces of one size, and so far at most: Linux gives
// a new program's words and environment 6 MB (execve(2)).
const (
	environPiece = 64 << 10 // bytes
	mostEnviron  = 8 << 20  // bytes
)

// of reads the marks of a census. Who is older than this program has none of
// interest unless all is wanted.
func (m *marks) of(c *census, all bool) map[int]mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.buf == nil {
		m.buf = make([]byte, environPiece)
	}
	var since uint64
	if !all {
		since = c.byID[os.Getpid()].start
	}
	known := make(map[int]mark, len(m.known))
	for pid, p := range c.byID {
		old, ok := m.known[pid]
		switch {
		case ok && old.start == p.start:
			known[pid] = old
		case p.start >= since:
			run, session := readMark(pid, m.buf)
			known[pid] = mark{start: p.start, run: run, session: session}
		}
	}
	m.known = known
	return known
}

// readMark reads the marks of a process of the user's. A variable that is cut
// by the end of a piece is looked at with the next one; who is too long for buf
// is no mark.
func readMark(pid int, buf []byte) (run, session string) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/environ", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", ""
	}
	cut := 0 // bytes of a variable whose end is still to come
	for total := 0; total < mostEnviron && (run == "" || session == ""); {
		n, _ := unix.Read(fd, buf[cut:]) // a process that is gone meanwhile says nothing
		block := buf[:cut+max(n, 0)]
		whole := bytes.LastIndexByte(block, 0) + 1
		if n <= 0 {
			whole = len(block)
		}
		run = cmp.Or(run, variable(block[:whole], runVar))
		session = cmp.Or(session, variable(block[:whole], sessionVar))
		if n <= 0 {
			break
		}
		total += n
		if cut = copy(buf, block[whole:]); cut == len(buf) {
			buf[0], cut = '=', 1 // no name begins in the rest of it
		}
	}
	_ = unix.Close(fd) // read only
	return run, session
}

// variable is the value of a variable in an environment block.
func variable(block []byte, name string) string {
	name += "="
	for {
		i := bytes.Index(block, []byte(name))
		if i < 0 {
			return ""
		}
		if i == 0 || block[i-1] == 0 {
			value, _, _ := bytes.Cut(block[i+len(name):], []byte{0})
			return string(value)
		}
		block = block[i+len(name):]
	}
}

// strayed reports whether a command has a descendant that left its session, by
// a look at those whose id is higher only: ids are given in order, until they
// begin anew.
func strayed(leader int, run string) bool {
	ids, err := processIDs()
	if err != nil {
		return false
	}
	var buf []byte
	for _, pid := range ids {
		if pid <= leader {
			continue
		}
		if buf == nil {
			buf = make([]byte, environPiece)
		}
		if got, _ := readMark(pid, buf); got == run {
			return true
		}
	}
	return false
}
