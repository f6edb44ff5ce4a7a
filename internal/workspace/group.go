package workspace

import (
	"syscall"
	"time"
)

// Grace is how long a process may take to end after SIGTERM before it is
// killed.
const Grace = 2 * time.Second

// killTime bounds the wait after SIGKILL, which only a process stuck in the
// kernel outlives.
const killTime = 3 * time.Second

// lineage is everybody who descends from one command: its session, the
// children of who is in it, and who bears its mark. Daemons leave the session
// and their parents; the mark they keep unless they mean to lose it.
type lineage struct {
	table  *table
	leader int
	mark   string // "" when it has none
}

// terminate ends everybody: first those who can hear it politely.
func (l lineage) terminate() {
	known := l.signal(syscall.SIGTERM, nil)
	known = l.signal(syscall.SIGCONT, known) // a stopped process hears nothing else
	if known = l.waitNone(Grace, known, 0); len(known) > 0 {
		l.waitNone(killTime, known, syscall.SIGKILL)
	}
}

// signal tells everybody once and returns who that was; who is gone meanwhile
// is no error.
func (l lineage) signal(signal syscall.Signal, known []process) []process {
	found := l.members(known) // before a parent's death hides its children
	_ = syscall.Kill(-l.leader, signal)
	for _, p := range found {
		if p.group != l.leader {
			_ = syscall.Kill(p.pid, signal)
		}
	}
	return found
}

// waitNone looks more and more seldom until nobody is left or limit is over,
// and returns who is left. Whoever is found meanwhile gets the signal too, if
// there is one: who forks quickly escapes a single look.
func (l lineage) waitNone(limit time.Duration, known []process, signal syscall.Signal) []process {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	look := func() []process {
		if signal == 0 {
			return l.members(known)
		}
		return l.signal(signal, known)
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		if known = look(); len(known) == 0 {
			return nil
		}
		next := time.NewTimer(pause)
		select {
		case <-next.C:
		case <-timer.C:
			next.Stop()
			return look()
		}
	}
}

// members finds everybody who is alive, those who are known to belong included.
// Where there is no /proc it knows the leader's group only.
func (l lineage) members(known []process) []process {
	return l.in(l.table.look(), known)
}

func (l lineage) in(c *census, known []process) []process {
	if c.missing {
		if groupAlive(l.leader) {
			return []process{{pid: l.leader, group: l.leader, session: l.leader}}
		}
		return nil
	}
	var found []process
	seen := map[int]bool{}
	add := func(all ...process) {
		for _, p := range all {
			if !seen[p.pid] {
				seen[p.pid] = true
				found = append(found, p)
			}
		}
	}
	add(c.sessions[l.leader]...)
	add(c.children[l.leader]...)
	for _, p := range known {
		if again := c.byID[p.pid]; again.is(p) {
			add(again)
		}
	}
	if l.mark != "" {
		add(c.marked(l.mark)...)
	}
	for i := 0; i < len(found); i++ {
		add(c.children[found[i].pid]...)
	}
	return found
}

func ids(processes []process) []int {
	var all []int
	for _, p := range processes {
		all = append(all, p.pid)
	}
	return all
}

// groupAlive is a quick look at the leader's own group. Dead processes that
// nobody has reaped yet count as alive.
func groupAlive(leader int) bool {
	return syscall.Kill(-leader, 0) != syscall.ESRCH
}
