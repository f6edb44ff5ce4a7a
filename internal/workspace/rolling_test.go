package workspace_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/khaelor/khaelor/internal/workspace"
)

// TestRollingIsTheEndOfTheStream holds a Rolling to a plain string of all that
// was ever appended.
func TestRollingIsTheEndOfTheStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.OneOf(rapid.IntRange(1, 10), rapid.IntRange(500, 1100)).Draw(t, "limit")
		r := workspace.Rolling{Limit: limit}
		var all string
		oldest := 0
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			switch text := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 25, -1).Draw(t, "text"); {
			case text != "" && limit > 100:
				text = string(bytes.Repeat([]byte(text), 30))
				fallthrough
			case text != "":
				r.Append([]byte(text))
				all += text
			case rapid.Bool().Draw(t, "skip"):
				r.Skip(3)
				all += "???"
				oldest = len(all)
			case limit > 1:
				limit = rapid.IntRange(1, limit).Draw(t, "shrink")
				oldest = max(oldest, len(all)-limit)
				r.Shrink(limit)
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

func TestRollingTakesNoMoreThanItsLimit(t *testing.T) {
	allocated := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			r := workspace.Rolling{Limit: 200_000}
			for range 100 {
				r.Append(make([]byte, 100)) // 10,000 bytes: no need for 200,000
			}
		}
	}).AllocedBytesPerOp()
	if allocated > 60_000 {
		t.Errorf("%d bytes are taken for 10,000", allocated)
	}
}
