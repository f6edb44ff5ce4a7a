package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

func TestADiffCountsTheLinesItAddsAndRemoves(t *testing.T) {
	text, stats := Unified([]byte("a\nb\nc\n"), []byte("a\nB\nc\nd\n"))
	if stats != (event.DiffStats{Added: 2, Removed: 1}) {
		t.Errorf("stats %+v of\n%s", stats, text)
	}
	for _, line := range []string{"-b\n", "+B\n", "+d\n", "@@"} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}

func TestALongDiffIsCutAtALineAndCountedWhole(t *testing.T) {
	var b strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	text, stats := Unified(nil, []byte(b.String()))
	if stats.Added != 9000 || len(text) > Limit {
		t.Errorf("%d lines added in %d bytes", stats.Added, len(text))
	}
	if !strings.HasSuffix(text, "left out]\n") {
		t.Errorf("ends in %q", text[len(text)-40:])
	}
}

func TestContentThatIsNoTextHasNoDiff(t *testing.T) {
	for _, bad := range []string{"a\x00b", "\xff\xfe\xfd"} {
		if text, stats := Unified([]byte(bad), []byte("x\n")); text != "" || stats != (event.DiffStats{}) {
			t.Errorf("diff of %q is %q, %+v", bad, text, stats)
		}
	}
}
