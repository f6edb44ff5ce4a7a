package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/workspace"
)

func TestSpilledTextsGoOldestFirstButNeverThePresentSessions(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		limit int64
		gone  []string
	}{
		"all fit":            {limit: 40},
		"the oldest goes":    {limit: 39, gone: []string{"oldest"}},
		"a single one stays": {limit: 25, gone: []string{"oldest", "older"}},
		"none fits":          {limit: 5, gone: []string{"oldest", "older", "newest"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			home, err := workspace.OpenDir(root)
			if err != nil {
				t.Fatal(err)
			}
			defer home.Close()
			folders := []string{"present", "oldest", "older", "newest"} // the clock of the present one may be wrong
			for i, folder := range folders {
				for _, file := range []string{"a.txt", "b.txt"} {
					if err := home.WriteFile(filepath.Join(spillFolder, folder, file), []byte("12345")); err != nil {
						t.Fatal(err)
					}
				}
				at := start.Add(time.Duration(i) * time.Hour)
				if err := os.Chtimes(filepath.Join(root, spillFolder, folder), at, at); err != nil {
					t.Fatal(err)
				}
			}
			if err := purgeSpills(home, "present", c.limit); err != nil {
				t.Fatal(err)
			}
			gone := map[string]bool{}
			for _, folder := range c.gone {
				gone[folder] = true
			}
			for _, folder := range folders {
				_, err := os.Stat(filepath.Join(root, spillFolder, folder))
				if got := errors.Is(err, fs.ErrNotExist); got != gone[folder] {
					t.Errorf("%s is gone: %v, want %v", folder, got, gone[folder])
				}
			}
		})
	}
}
