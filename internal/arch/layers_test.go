package arch

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

const module = "github.com/khaelor/khaelor"

// layers are the rooms below internal, the lowest first. A room may import
// every room of a lower layer.
var layers = [][]string{
	{
		"event", "command", "diff", "bus", "fold", "clock", "disk", "disk/memdisk",
		"wording", "charset", "ansi", "ignore",
	},
	{"workspace", "config", "anthropic", "fakeapi", "session", "spill"},
	{
		"permission", "process", "repo", "repo/graph", "memory", "skill", "phase", "verify", "subtask",
		"contextengine", "model", "search", "excerpt", "mention", "web",
		"tool", "tool/builtin", "tool/builtin/match", "mcp", "hook",
	},
	{"kernel", "engine"},
	{"tui", "acp", "daemon", "slash", "channel"},
	{"cli"},
	{"bench"},
}

// arrows are the imports inside a layer.
var arrows = map[string][]string{
	"bus":          {"event"},
	"command":      {"event"}, // a mention and a picture are the same on both sides
	"diff":         {"event"},
	"fold":         {"event"},
	"disk/memdisk": {"disk"},
	"model":        {"contextengine"},
	// The manager of background processes and the fetcher of pages have one
	// implementation each; interfaces in tool would say their types once more.
	"tool":         {"process", "web"},
	"tool/builtin": {"tool", "tool/builtin/match", "process", "search", "excerpt", "web"},
	// A file that the user names in a message is shown as the model's read shows it.
	"mention": {"excerpt"},
	"engine":  {"kernel"},
	"tui":     {"slash"},
	"acp":     {"slash"},
	"daemon":  {"slash", "channel"},
}

// narrow are rooms that may import less than their layer allows.
var narrow = map[string][]string{
	"kernel": {"event", "fold"},
	"arch":   {},
}

var layerRule = rule{
	name: "layers",
	reason: "a room that knows only lower ones can be read, tested and changed without the rest; " +
		"move the helper down, or take a function or an interface of your own instead",
	find: strayImports,
}

func strayImports(u unit) []finding {
	if !known(u.room) {
		return []finding{u.at(u.files[0].Name, "%s stands in no layer: give it a place in the table", u.room)}
	}
	var found []finding
	for _, f := range u.files {
		for _, spec := range f.Imports {
			target, ours := strings.CutPrefix(importPath(spec), module+"/")
			if !ours {
				continue
			}
			if why := stray(u.room, strings.TrimPrefix(target, "internal/")); why != "" {
				found = append(found, u.at(spec, "%s", why))
			}
		}
	}
	return found
}

// stray says why from may not import to; "" when it may.
func stray(from, to string) string {
	mayOnly, isNarrow := narrow[from]
	switch {
	case isSuite(to):
		return fmt.Sprintf("%s imports %s, which is for tests", from, to)
	case isSuite(from):
		if parent := path.Dir(from); to == parent || layerOf(to) <= layerOf(parent) {
			return ""
		}
	case isNarrow:
		if slices.Contains(mayOnly, to) {
			return ""
		}
	case layerOf(to) < layerOf(from) || slices.Contains(arrows[from], to):
		return ""
	}
	return fmt.Sprintf("%s must not import %s", from, to)
}

func known(room string) bool {
	return layerOf(room) >= 0 || room == "arch" || isSuite(room) && layerOf(path.Dir(room)) >= 0
}

// layerOf is the height of a room; commands stand on top of all, and what
// stands nowhere is below zero.
func layerOf(room string) int {
	if isCommand(room) {
		return len(layers)
	}
	return slices.IndexFunc(layers, func(rooms []string) bool { return slices.Contains(rooms, room) })
}

func isCommand(room string) bool { return strings.HasPrefix(room, "cmd/") }

// isSuite says that a room holds tests for other rooms to run, as
// workspace/workspacetest does.
func isSuite(room string) bool { return strings.HasSuffix(room, "test") }
