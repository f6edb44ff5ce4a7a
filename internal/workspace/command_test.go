package workspace_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/khaelor/khaelor/internal/workspace"
)

// TestRollingIsTheEndOfTheStream holds a Rolling to a plain string of all that
// was ever appended.
func TestRollingIsTheEndOfTheStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 10).Draw(t, "limit")
		r := workspace.Rolling{Limit: limit}
		var all string
		oldest := 0
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			if text := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 25, -1).Draw(t, "text"); text != "" {
				r.Append([]byte(text))
				all += text
			} else {
				r.Skip(3)
				all += "???"
				oldest = len(all)
			}
			offset := rapid.IntRange(-1, len(all)+2).Draw(t, "offset")
			wantAt := min(max(offset, oldest, len(all)-limit), len(all))
			data, at := r.From(int64(offset))
			if at != int64(wantAt) || string(data) != all[wantAt:] || r.Total() != int64(len(all)) {
				t.Fatalf("from %d of %q: %q at %d, not %q at %d", offset, all, data, at, all[wantAt:], wantAt)
			}
		}
	})
}
