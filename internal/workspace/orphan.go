package workspace

import (
	"bytes"
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Orphan is a process group that a program of ours left running when it died.
type Orphan struct {
	Group   int    // kill -- -Group stops it
	Session string // whose it was
	Command string // as far as it can be told
}

// Orphans lists what dead programs of ours left running in this project, or in
// any place when it was in the present session. Where there is no /proc, it
// finds nothing.
func Orphans(ws Workspace) []Orphan {
	if w, ok := ws.(interface{ Orphans() []Orphan }); ok {
		return w.Orphans()
	}
	return nil
}

// Orphans implements the function of that name.
func (l *Local) Orphans() []Orphan {
	c := l.table.look()
	groups := map[int]Orphan{}
	leaders := map[int]int{} // group → the process that speaks for it
	kin := c.kin(os.Getpid())
	for pid, m := range l.table.marks.of(c, true) {
		p := c.byID[pid]
		if !orphaned(c, m) || kin[p.group] || kin[p.session] || !l.concerns(pid, m) {
			continue
		}
		if first, ok := leaders[p.group]; !ok || pid < first {
			leaders[p.group] = pid
			groups[p.group] = Orphan{Group: p.group, Session: m.session, Command: l.commandOf(pid)}
		}
	}
	var all []Orphan
	for _, o := range groups {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b Orphan) int { return cmp.Compare(a.Group, b.Group) })
	return all
}

// orphaned says that the program which a mark names is not there any more.
func orphaned(c *census, m mark) bool {
	pid, start, ok := owner(m.run)
	return ok && c.byID[pid].start != start
}

// kin are the groups and sessions of a process and its ancestors: a mark that
// came down from them says nothing of who bears it. Added are those that name
// no group to kill(1), which takes 0 for its own and 1 for everybody.
func (c *census) kin(pid int) map[int]bool {
	kin := map[int]bool{0: true, 1: true}
	seen := map[int]bool{} // a census is no single moment: ids may have been used again
	for p, ok := c.byID[pid]; ok && !seen[p.pid]; p, ok = c.byID[p.parent] {
		seen[p.pid], kin[p.group], kin[p.session] = true, true, true
	}
	return kin
}

func (l *Local) concerns(pid int, m mark) bool {
	if m.session != "" && m.session == l.Session() {
		return true
	}
	cwd, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	_, inside := l.rootOf(cwd)
	return err == nil && inside
}

// commandOf is the command line of a process, without the shell that we put
// before it.
func (l *Local) commandOf(pid int) string {
	line := readInto("/proc/"+strconv.Itoa(pid)+"/cmdline", make([]byte, 4<<10))
	words := strings.Split(string(bytes.TrimRight(line, "\x00")), "\x00")
	if n := len(l.shell); len(words) > n && slices.Equal(words[:n], l.shell) {
		words = words[n:]
	}
	return strings.Join(words, " ")
}
