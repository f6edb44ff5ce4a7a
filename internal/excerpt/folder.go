package excerpt

import (
	"fmt"
	"strings"

	"github.com/khaelor/khaelor/internal/wording"
	"github.com/khaelor/khaelor/internal/workspace"
)

// folderEntries is how many entries of a folder are listed.
const folderEntries = 500

func readFolder(ws workspace.Workspace, path string, q Request) (Excerpt, error) {
	entries, err := workspace.ReadDir(ws, path)
	if err != nil {
		return Excerpt{}, err
	}
	room := q.Bytes
	if room == 0 {
		room = Bytes
	}
	e := Excerpt{Extent: wording.Count(len(entries), "entry"), Info: workspace.FileInfo{Path: path, IsDir: true}}
	e.Head = fmt.Sprintf("[%s is a folder with %s]\n", wording.Name(q.Name), e.Extent)
	var b strings.Builder
	for i, entry := range entries {
		name := entry.Name()
		if entry.IsDir() {
			name += "/"
		}
		line := wording.Name(name) + "\n"
		if i == folderEntries || b.Len()+len(line) > room {
			e.Cut = true
			fmt.Fprintf(&b, "[%d more; list them with glob]\n", len(entries)-i)
			break
		}
		b.WriteString(line)
	}
	e.Body = b.String()
	return e, nil
}
