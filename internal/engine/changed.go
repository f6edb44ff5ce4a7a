package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/workspace"
)

// Bounds of what is looked at before a message: the files seen last, and of a
// size that is read in no time.
const (
	mostKnown     = 200
	mostKnownSize = 1 << 20 // bytes
)

const changedOpen = "<changed>\nThese files are different now from what you last saw of them. Read them again before you rely on them.\n"

// noteChanged tells the model, once for each new content, which files that it
// has seen somebody else changed.
func (e *Engine) noteChanged() error {
	s := e.o.Log.Fold()
	var b strings.Builder
	for _, seen := range s.Changes.Known(mostKnown) {
		now, known := e.digest(seen.Path)
		line := "- " + seen.Path + " is gone\n"
		if now != "" {
			line = fmt.Sprintf("- %s (content %s)\n", seen.Path, now[:12])
		}
		if seen.SHA256 != "" && known && now != seen.SHA256 && !told(s.History, line) {
			b.WriteString(line)
		}
	}
	if b.Len() == 0 {
		return nil
	}
	return e.publish(event.ContextNoted{Text: event.Text(changedOpen + b.String() + "</changed>")})
}

// digest is the SHA-256 of a file as it is, "" when it is gone. What cannot be
// read now is not known to have changed.
func (e *Engine) digest(name string) (sha256Hex string, known bool) {
	info, err := workspace.Stat(e.o.Workspace, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", true
	}
	if err != nil || !info.IsRegular || info.Size > mostKnownSize {
		return "", false
	}
	data, err := e.o.Workspace.ReadFile(name)
	if err != nil {
		return "", false
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), true
}

// told says whether a line of a note like this is in the history already.
func told(h fold.History, line string) bool {
	for _, b := range h.Blocks() {
		if b.Kind == fold.TextBlock && strings.HasPrefix(b.Text, changedOpen) && strings.Contains(b.Text, line) {
			return true
		}
	}
	return false
}
