package builtin

import (
	"strings"

	"github.com/khaelor/khaelor/internal/workspace"
)

// spelled finds what a path of the model's names. The path as it stands comes
// first; what nothing has that name is tried in the other ways to write one.
func spelled(ws workspace.Workspace, given string) (string, workspace.Place, error) {
	place, err := workspace.Resolve(ws, given)
	for _, reading := range []func(workspace.Workspace, string) string{atHome} {
		if err != nil || place.Exists || place.Dangling {
			break
		}
		if other := reading(ws, given); other != given {
			given = other
			place, err = workspace.Resolve(ws, given)
		}
	}
	return given, place, err
}

// atHome is a path that begins with ~ as a shell has it, unless something is
// called ~ here.
func atHome(ws workspace.Workspace, given string) string {
	rest, ok := strings.CutPrefix(given, "~")
	if !ok || rest != "" && rest[0] != '/' {
		return given
	}
	if own, err := workspace.Resolve(ws, "~"); err != nil || own.Exists || own.Dangling {
		return given
	}
	if home := home(ws); home != "" {
		return home + rest
	}
	return given
}

// home is the home folder that commands are told of.
func home(ws workspace.Workspace) string {
	w, ok := ws.(interface{ Environ() []string })
	if !ok {
		return ""
	}
	home := ""
	for _, entry := range w.Environ() {
		if value, ok := strings.CutPrefix(entry, "HOME="); ok {
			home = value
		}
	}
	return home
}
