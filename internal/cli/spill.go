package cli

import (
	"fmt"

	"github.com/khaelor/khaelor/internal/spill"
	"github.com/khaelor/khaelor/internal/workspace"
)

// spills is where a session keeps texts that are too long for a result. Its
// path is canonical, because the permission to read there is.
func (p *project) spills(sessionID string) (*spill.Store, error) {
	home, err := workspace.Resolve(p.ws, p.home.Path())
	if err != nil {
		return nil, fmt.Errorf("find the state folder: %w", err)
	}
	return spill.New(p.home, home.Path, sessionID, p.app.Clock), nil
}
