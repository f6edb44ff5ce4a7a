package builtin

import (
	"path"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/khaelor/khaelor/internal/workspace"
)

// spelled finds what a path of the model's names. The path as it stands comes
// first; what nothing has that name is tried in the other ways to write one.
func spelled(ws workspace.Workspace, given string) (string, workspace.Place, error) {
	place, err := workspace.Resolve(ws, given)
	for _, reading := range []func(workspace.Workspace, string) string{unquoted, atHome, composed} {
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

// unquoted is a path with those of its parts that are quoted, as wording.Name
// shows them, as they are.
func unquoted(_ workspace.Workspace, given string) string {
	var b strings.Builder
	for rest := given; rest != ""; {
		part := rest[:strings.IndexByte(rest+"/", '/')]
		name := part
		if quote, err := strconv.QuotedPrefix(rest); err == nil && rest[0] == '"' && strings.HasPrefix(rest[len(quote):]+"/", "/") {
			part = quote
			name, _ = strconv.Unquote(quote) // which QuotedPrefix has just done
		}
		b.WriteString(name)
		rest = rest[len(part):]
		slashes := len(rest) - len(strings.TrimLeft(rest, "/"))
		b.WriteString(rest[:slashes])
		rest = rest[slashes:]
	}
	if b.Len() == 0 {
		return given
	}
	return b.String()
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
	if home := workspace.Variable(ws, "HOME"); home != "" {
		return home + rest
	}
	return given
}

// composed is a path with the names that the disk has where they differ in how
// characters are composed only: what looks like a file's name means that file.
func composed(ws workspace.Workspace, given string) string {
	if norm.NFC.IsNormalString(given) && norm.NFD.IsNormalString(given) {
		return given
	}
	place, err := workspace.Resolve(ws, given)
	if err != nil {
		return given
	}
	at, changed := "/", false
	parts := strings.Split(strings.TrimPrefix(place.Path, "/"), "/")
	for i, name := range parts {
		next := path.Join(at, name)
		if there, err := workspace.Resolve(ws, next); err != nil || !there.Exists && !there.Dangling {
			name = alike(ws, at, name)
			if name == "" {
				at = path.Join(at, path.Join(parts[i:]...))
				break
			}
			next, changed = path.Join(at, name), true
		}
		at = next
	}
	if !changed {
		return given
	}
	return at
}

// alike is the one name in a folder that differs in how characters are composed
// only, or "".
func alike(ws workspace.Workspace, folder, name string) string {
	entries, err := workspace.ReadDir(ws, folder)
	if err != nil {
		return ""
	}
	found := ""
	for _, e := range entries {
		if norm.NFC.String(e.Name()) != norm.NFC.String(name) {
			continue
		}
		if found != "" {
			return ""
		}
		found = e.Name()
	}
	return found
}
