package arch

import (
	"go/ast"
	"slices"
	"strings"
)

// gate is a part of the world that few rooms touch.
type gate struct {
	what string
	// uses are import paths and the names of them that are gated, all when
	// there are none. A path that ends in "/..." means every package below.
	uses   map[string][]string
	free   []string            // names that are nobody's
	rooms  []string            // who may; "cmd" are the commands
	also   map[string][]string // who may use just these names
	reason string
}

var gates = []gate{
	{
		what:  "files, processes, environment",
		uses:  map[string][]string{"os": nil, "os/exec": nil, "syscall": nil, "golang.org/x/sys/...": nil},
		free:  []string{"Signal", "Interrupt"}, // a type and a value: who hears of signals is a gate of its own
		rooms: []string{"workspace"},
		also: map[string][]string{"cmd": {
			"Args", "File", "Stdin", "Stdout", "Stderr", "Exit", "Environ", "Getenv", "LookupEnv", "Getwd", "Executable",
			"SIGINT", "SIGTERM", "SIGHUP",
		}, "anthropic": {
			"RawConn", "SetsockoptInt", "IPPROTO_TCP", "TCP_USER_TIMEOUT", // an option of its own sockets
		}},
		reason: "the world is reached through workspace only, so that permission, tests and other machines have one seam; " +
			"types and errors of files are in io/fs",
	},
	{
		what:   "paths that look at the disk",
		uses:   map[string][]string{"path/filepath": {"Walk", "WalkDir", "Glob", "Abs", "EvalSymlinks"}},
		rooms:  []string{"workspace"},
		reason: "these read the disk; the pure half of path/filepath is free",
	},
	{
		what:   "signals",
		uses:   map[string][]string{"os/signal": nil},
		rooms:  []string{"cmd"},
		reason: "a process has one set of signals, and its main decides what they mean",
	},
	{
		what: "network",
		uses: map[string][]string{
			"net": nil, "net/http/...": nil, "net/rpc/...": nil, "net/smtp": nil, "crypto/tls": nil,
		},
		rooms:  []string{"anthropic", "fakeapi", "mcp", "web", "channel", "daemon"},
		reason: "what leaves the machine is to be found in a few rooms; net/url and net/netip are free",
	},
	{
		what: "time and chance",
		uses: map[string][]string{
			"time": {"Now", "Since", "Until"}, "math/rand": nil, "math/rand/v2": nil, "crypto/rand": nil,
		},
		rooms:  []string{"clock"},
		reason: "a test says what time it is and how the dice fall; take a *clock.Clock",
	},
	{
		what:   "timers",
		uses:   map[string][]string{"time": {"AfterFunc", "NewTimer", "NewTicker", "After", "Tick"}},
		rooms:  []string{"anthropic", "workspace", "engine", "tui", "channel", "daemon"},
		reason: "a timer is a second source of events; only rooms that own a wait have one",
	},
	{
		what: "terminal",
		uses: map[string][]string{
			"charm.land/...": nil, "github.com/charmbracelet/...": nil, "golang.org/x/term": nil,
		},
		rooms:  []string{"tui", "cli"},
		reason: "how things are shown is decided on top; below are data",
	},
	{
		what:   "sleeping",
		uses:   map[string][]string{"time": {"Sleep"}},
		reason: "wait for what is expected, or a timer that a context can end",
	},
	{
		what:   "reflection",
		uses:   map[string][]string{"reflect": nil},
		reason: "a type switch or a generic function says the same and is checked when it is compiled",
	},
}

// rule is the gate as a rule over one package.
func (g gate) rule() rule {
	return rule{name: g.what, reason: g.reason, find: g.trespasses}
}

func (g gate) trespasses(u unit) []finding {
	room := u.room
	if isCommand(room) {
		room = "cmd"
	}
	if isSuite(room) || slices.Contains(g.rooms, room) {
		return nil
	}
	var found []finding
	for _, f := range u.files {
		for _, s := range usesIn(f) {
			if g.covers(s) && !slices.Contains(g.free, s.name) && !slices.Contains(g.also[room], s.name) {
				found = append(found, u.at(s.node, "%s uses %s.%s, which is for %s", u.room, s.path, s.name, g.whose()))
			}
		}
	}
	return found
}

func (g gate) covers(s use) bool {
	for pattern, names := range g.uses {
		below, tree := strings.CutSuffix(pattern, "/...")
		here := s.path == below || tree && strings.HasPrefix(s.path, below+"/")
		if here && (names == nil || slices.Contains(names, s.name)) {
			return true
		}
	}
	return false
}

func (g gate) whose() string {
	if len(g.rooms) == 0 {
		return "nobody"
	}
	return strings.Join(g.rooms, ", ")
}

// starters are the rooms that may start goroutines.
var starters = []string{
	"anthropic", "fakeapi", "workspace", "process", "repo/graph", "search", "tool", "mcp", "engine", "tui", "acp", "daemon", "channel",
}

var goroutineRule = rule{
	name: "goroutines",
	reason: "a goroutine needs an owner that waits for it; only rooms that run things at the same time have any, " +
		"the others are read in one order",
	find: strayGoroutines,
}

// strayGoroutines finds go statements, and calls of a method Go, which is how
// wait groups start one.
func strayGoroutines(u unit) []finding {
	if slices.Contains(starters, u.room) || isSuite(u.room) {
		return nil
	}
	var found []finding
	u.walk(func(_ *ast.File, n ast.Node) {
		if s, ok := n.(*ast.GoStmt); ok {
			found = append(found, u.at(s, "%s starts a goroutine, which is for %s", u.room, strings.Join(starters, ", ")))
		}
		if call, ok := n.(*ast.CallExpr); ok {
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
				found = append(found, u.at(call, "%s starts a goroutine by a method Go, which is for %s", u.room, strings.Join(starters, ", ")))
			}
		}
	})
	return found
}
