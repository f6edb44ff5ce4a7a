package cli

import (
	"cmp"
	"path"
	"slices"

	"github.com/khaelor/khaelor/internal/disk"
)

// spillFolder holds texts that were too long for a result, by session, in the
// state folder.
const spillFolder = "spill"

// spillLimit is how many bytes of them are kept.
const spillLimit = 64 << 20

// spill keeps a text that is too long for a result.
func (p *project) spill(sessionID string, text []byte) (string, error) {
	name := path.Join(spillFolder, sessionID, p.app.Clock.ID()+".txt")
	if err := p.home.WriteFile(name, text); err != nil {
		return "", err
	}
	if err := purgeSpills(p.home, sessionID, spillLimit); err != nil {
		p.log(err) // the text is kept, and the next one tries again
	}
	return path.Join(p.home.Path(), name), nil
}

// purgeSpills removes what the longest untouched sessions spilled until the
// rest is within the limit. The present session loses nothing.
func purgeSpills(home disk.Dir, present string, limit int64) error {
	folders, err := home.List(spillFolder)
	if err != nil {
		return err
	}
	slices.SortFunc(folders, func(a, b disk.Entry) int {
		switch present := path.Join(spillFolder, present); present {
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(b.Name, a.Name))
	})
	var kept int64
	for _, folder := range folders {
		files, err := home.List(folder.Name)
		if err != nil {
			return err
		}
		for _, f := range files {
			kept += f.Size
		}
		if kept > limit && path.Base(folder.Name) != present {
			if err := home.Remove(folder.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
