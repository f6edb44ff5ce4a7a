package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/khaelor/khaelor/internal/config"
	"github.com/khaelor/khaelor/internal/disk"
	"github.com/khaelor/khaelor/internal/permission"
	"github.com/khaelor/khaelor/internal/workspace"
)

// projectFolder holds what KHAELOR keeps in a project, relative to its root.
var projectFolder = path.Dir(config.LocalFile)

// projectDir opens the project's folder, which is made when missing. A link is
// refused: it would lead a grant to wherever the repository wants it.
func (p *project) projectDir() (*workspace.Dir, error) {
	name := path.Join(p.root(p.ws), projectFolder)
	place, err := workspace.Resolve(p.ws, name)
	if err != nil {
		return nil, fmt.Errorf("open the project's settings: %w", err)
	}
	if place.Path != name {
		return nil, fmt.Errorf("open the project's settings: %s is a link to %s: %w", name, place.Path, fs.ErrPermission)
	}
	return workspace.OpenDir(name)
}

// trust remembers the user's yes to the project's files as they are now, and
// reads the settings again with them.
func (p *project) trust(f *runFlags) error {
	list, hash, err := p.trustList()
	if err != nil {
		return err
	}
	if err := list.Remember(p.root(p.ws), hash); err != nil {
		return err
	}
	p.warnings = nil
	return p.load(p.ws, f)
}

// remember stores an "always" grant in the project's local settings. Files
// that were trusted before stay so, although the grant changed them; where
// there were none, the user's answer is all there is to trust.
func (p *project) remember(rule permission.Rule) (err error) {
	list, hash, err := p.trustList()
	if err != nil {
		return err
	}
	root := p.root(p.ws)
	ours := list.Trusted(root, hash) == config.Trusted || !p.hasProjectFiles()
	dir, err := p.projectDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	if err := hideLocal(dir); err != nil {
		return err
	}
	if err := config.PersistGrant(dir, rule.String()); err != nil {
		return err
	}
	if !ours {
		return nil
	}
	if hash, err = config.ConfigHash(configFiles{p.ws}, root); err != nil {
		return err
	}
	return list.Remember(root, hash)
}

// hideLocal keeps the user's own settings out of the project's commits.
func hideLocal(dir *workspace.Dir) error {
	const name = ".gitignore"
	entries, err := dir.List("")
	if err != nil || slices.ContainsFunc(entries, func(e disk.Entry) bool { return e.Name == name }) {
		return err
	}
	return dir.WriteFile(name, []byte(path.Base(config.LocalFile)+"\n"+name+"\n"))
}

// trustList is the list of trusted folders and the hash of this one's files.
func (p *project) trustList() (*config.Trust, string, error) {
	hash, err := config.ConfigHash(configFiles{p.ws}, p.root(p.ws))
	if err != nil {
		return nil, "", err
	}
	list, err := config.OpenTrust(p.home)
	return list, hash, err
}
