package workspace

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Grace is how long a process may take to end after SIGTERM before it is
// killed.
const Grace = 2 * time.Second

// killTime bounds the wait after SIGKILL, which only a process stuck in the
// kernel outlives.
const killTime = time.Second

// terminate ends a session: everybody in the leader's group, and those who left
// the group (timeout(1) and job control do) or the session but not the family.
func terminate(leader int) {
	known := signalAll(leader, syscall.SIGTERM, nil)
	known = signalAll(leader, syscall.SIGCONT, known) // a stopped process hears nothing else
	if waitNone(leader, Grace, known) {
		return
	}
	for range 3 { // a process that forks quickly can escape one look
		known = signalAll(leader, syscall.SIGKILL, known)
		if waitNone(leader, killTime, known) {
			return
		}
	}
}

// signalAll signals everybody once and returns who that was; who is gone
// meanwhile is no error.
func signalAll(leader int, signal syscall.Signal, known []process) []process {
	found := family(leader, known) // before a parent's death hides its children
	_ = syscall.Kill(-leader, signal)
	for _, p := range found {
		if p.group != leader {
			_ = syscall.Kill(p.pid, signal)
		}
	}
	return found
}

// waitNone looks more and more seldom until nobody is left or limit is over.
func waitNone(leader int, limit time.Duration, known []process) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for pause := time.Millisecond; len(family(leader, known)) > 0; pause = min(2*pause, 100*time.Millisecond) {
		next := time.NewTimer(pause)
		select {
		case <-next.C:
		case <-timer.C:
			next.Stop()
			return len(family(leader, known)) == 0
		}
	}
	return true
}

// members are the ids of a leader's family that are alive.
func members(leader int) []int {
	var ids []int
	for _, p := range family(leader, nil) {
		ids = append(ids, p.pid)
	}
	return ids
}

// groupAlive is a quick look at the leader's own group. Dead processes that
// nobody has reaped yet count as alive.
func groupAlive(leader int) bool {
	return syscall.Kill(-leader, 0) != syscall.ESRCH
}

type process struct{ pid, parent, group, session int }

// is tells a process seen again from another that got its id.
func (p process) is(q process) bool {
	return p.pid == q.pid && p.group == q.group && p.session == q.session
}

// family finds everybody alive in the leader's session, those who are known to
// belong, and the descendants of both. Where there is no /proc it knows the
// group only.
func family(leader int, known []process) []process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		if groupAlive(leader) {
			return []process{{pid: leader, group: leader, session: leader}}
		}
		return nil
	}
	var found, others []process
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		p, ok := readProcess(pid)
		switch {
		case !ok:
		case p.session == leader, p.parent == leader, slices.ContainsFunc(known, p.is):
			found = append(found, p)
		default:
			others = append(others, p)
		}
	}
	for i := 0; i < len(found); i++ {
		others = slices.DeleteFunc(others, func(p process) bool {
			child := p.parent == found[i].pid
			if child {
				found = append(found, p)
			}
			return child
		})
	}
	return found
}

// readProcess reads one line of /proc/PID/stat (proc(5)): pid, (name), state,
// parent, group, session. The name may hold blanks and parentheses. The dead
// are not found.
func readProcess(pid int) (process, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 4 || fields[0] == "Z" || fields[0] == "X" {
		return process{}, false
	}
	p := process{pid: pid}
	for i, field := range []*int{&p.parent, &p.group, &p.session} {
		if *field, err = strconv.Atoi(fields[i+1]); err != nil {
			return process{}, false
		}
	}
	return p, true
}
