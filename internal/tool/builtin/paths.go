package builtin

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/excerpt"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/wording"
	"github.com/khaelor/khaelor/internal/workspace"
)

// target is a path that a call is about.
type target struct {
	tool.Path
	shown string // its name in facts and results (excerpt.LogPath)
}

// locate resolves a path of the model's.
func locate(env *tool.Env, given string, write bool) (target, error) {
	if given == "" {
		return target{}, tool.Errorf(event.ToolInvalidInput, "path is missing.")
	}
	given, place, err := spelled(env.Workspace, given)
	if err != nil {
		return target{}, failure(err, given)
	}
	if !write && env.SpillDir != "" && strings.HasPrefix(place.Path, env.SpillDir+"/") {
		place.Inside = true
	}
	return target{
		Path:  tool.Path{Given: given, Place: place, Write: write},
		shown: excerpt.LogPath(env.Workspace.Cwd(), place.Path),
	}, nil
}

// need is what touching the path takes.
func (t target) need() tool.Need {
	n := tool.Need{Paths: []tool.Path{t.Path}}
	switch {
	case t.Write && t.Inside:
		n.Capabilities = []string{tool.FileWrite}
	case t.Write:
		n.Capabilities = []string{tool.OutsideProject} // the project's own is of no use there
	case t.Inside:
		n.Capabilities = []string{tool.FileRead}
	default:
		n.Capabilities = []string{tool.FileRead, tool.OutsideProject}
	}
	return n
}

// pathNeed is the need of a tool that touches one path.
func pathNeed(env *tool.Env, given string, write bool) (tool.Need, error) {
	t, err := locate(env, given, write)
	if err != nil {
		return tool.Need{}, err
	}
	return t.need(), nil
}

// failure makes a file error one that the model can act on. What it does not
// know stays as it is.
func failure(err error, shown string) error {
	kind := event.ToolExecError
	var link *workspace.LinkError
	switch {
	case errors.As(err, new(*tool.Error)):
		return err
	case errors.Is(err, fs.ErrNotExist):
		kind = event.ToolNotFound
	case errors.Is(err, fs.ErrPermission), errors.As(err, &link):
		kind = event.ToolPermissionDenied
	case errors.Is(err, workspace.ErrIsDir), errors.Is(err, workspace.ErrNotDir),
		errors.Is(err, workspace.ErrNotRegular), errors.Is(err, workspace.ErrNameTooLong),
		errors.Is(err, workspace.ErrLinkLoop), errors.Is(err, fs.ErrInvalid):
		kind = event.ToolInvalidInput
	}
	reason := err
	var at *fs.PathError
	if errors.As(err, &at) {
		reason = at.Err
	}
	if errors.Is(err, fs.ErrInvalid) {
		reason = errors.New("is no valid path")
	}
	return tool.Errorf(kind, "%s: %v.", shown, reason)
}

// neighbours is how many names an error about a missing file lists.
const neighbours = 20

// missing says what there is instead of a file that is not there.
func missing(env *tool.Env, t target) error {
	if t.Dangling {
		return tool.Errorf(event.ToolNotFound, "%s is a link to %s, which does not exist.", t.Given, t.shown)
	}
	folder := filepath.Dir(t.Path.Path)
	entries, err := workspace.ReadDir(env.Workspace, folder)
	shown := excerpt.LogPath(env.Workspace.Cwd(), folder)
	if err != nil {
		return tool.Errorf(event.ToolNotFound, "%s does not exist, nor does its folder %s. Look with glob.", t.shown, shown)
	}
	var names []string
	for _, e := range entries {
		if len(names) == neighbours {
			names = append(names, fmt.Sprintf("and %d more", len(entries)-neighbours))
			break
		}
		names = append(names, wording.Name(e.Name()))
	}
	return tool.Errorf(event.ToolNotFound, "%s does not exist. Its folder %s has: %s.", t.shown, shown, strings.Join(names, ", "))
}
