package workspace

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/khaelor/khaelor/internal/clock"
)

// table is what the system says of all processes. Looking through them costs
// milliseconds, so everybody who looks at one time shares one look. It is safe
// for concurrent use.
type table struct {
	clock *clock.Clock
	marks marks

	looking sync.Mutex // one looks at a time

	mu     sync.Mutex
	next   *census // who comes now shares this one, which has not begun
	newest *census // that is done
}

// census is all processes of one moment.
type census struct {
	done     chan struct{}
	begun    time.Time
	missing  bool // there is no /proc
	byID     map[int]process
	children map[int][]process
	sessions map[int][]process

	runs    sync.Once
	byRun   map[string][]process
	marksOf *marks
}

// marked are the processes that descend from a command by their mark. Reading
// the marks is for whoever asks first.
func (c *census) marked(run string) []process {
	c.runs.Do(func() {
		c.byRun = map[string][]process{}
		for pid, m := range c.marksOf.of(c, false) {
			if m.run != "" {
				c.byRun[m.run] = append(c.byRun[m.run], c.byID[pid])
			}
		}
	})
	return c.byRun[run]
}

// look is a census that begins after the call.
func (t *table) look() *census {
	t.mu.Lock()
	c := t.next
	if c != nil {
		t.mu.Unlock()
		<-c.done
		return c
	}
	c = &census{done: make(chan struct{}), marksOf: &t.marks}
	t.next = c
	t.mu.Unlock()

	t.looking.Lock()
	t.mu.Lock()
	t.next = nil // whoever comes from here on wants a later one
	t.mu.Unlock()
	c.begun = t.clock.Now()
	c.take()
	t.mu.Lock()
	t.newest = c
	t.mu.Unlock()
	t.looking.Unlock()
	close(c.done)
	return c
}

// glance is a census that may be so old.
func (t *table) glance(age time.Duration) *census {
	t.mu.Lock()
	c := t.newest
	t.mu.Unlock()
	if c != nil && t.clock.Since(c.begun) < age {
		return c
	}
	return t.look()
}

func (c *census) take() {
	ids, err := processIDs()
	c.missing = err != nil
	c.byID = make(map[int]process, len(ids))
	c.children, c.sessions = map[int][]process{}, map[int][]process{}
	var buf [512]byte
	for _, id := range ids {
		if p, ok := readProcess(id, buf[:]); ok {
			c.byID[id] = p
			c.children[p.parent] = append(c.children[p.parent], p)
			c.sessions[p.session] = append(c.sessions[p.session], p)
		}
	}
}

// processIDs are the ids of all processes.
func processIDs() ([]int, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, strconv.Itoa(os.Getpid())) {
		return nil, os.ErrNotExist // a /proc of another kind
	}
	var ids []int
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// process is one that is alive.
type process struct {
	pid, parent, group, session int
	start                       uint64 // clock ticks since boot
}

// is tells a process seen again from another that got its id.
func (p process) is(q process) bool { return p.pid == q.pid && p.start == q.start }

// readProcess reads one line of /proc/PID/stat (proc(5)): pid, (name), state,
// parent, group, session, …, the 22nd is the start. The name may hold blanks
// and parentheses. The dead are not found.
func readProcess(pid int, buf []byte) (process, bool) {
	stat := readInto("/proc/"+strconv.Itoa(pid)+"/stat", buf)
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || len(fields[0]) != 1 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return process{}, false
	}
	p := process{pid: pid}
	var err error
	for i, field := range []*int{&p.parent, &p.group, &p.session} {
		if *field, err = strconv.Atoi(string(fields[i+1])); err != nil {
			return process{}, false
		}
	}
	p.start, err = strconv.ParseUint(string(fields[19]), 10, 64)
	return p, err == nil
}

// readInto reads the beginning of a small file of the system without the weight
// of an os.File: there are thousands of them.
func readInto(path string, buf []byte) []byte {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	n, _ := unix.Read(fd, buf) // a process that is gone meanwhile says nothing
	_ = unix.Close(fd)         // read only
	return buf[:max(n, 0)]
}
