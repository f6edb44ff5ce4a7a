package engine_test

import (
	"testing"

	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/tool/builtin"
)

// TestWhatEveryRequestBeginsWithIsNeitherTooLongNorTooShort holds the standing
// text to contract §14: 1,500 tokens of four bytes with all tools there will
// be, of which five are to come; and never below the 1,024 that are cached.
func TestWhatEveryRequestBeginsWithIsNeitherTooLongNorTooShort(t *testing.T) {
	const least, most = 4 * 1024, 4*1500 - 5*150
	if n := len(builtin.All().Wire()) + len(engine.Static); n < least || n > most {
		t.Errorf("tools and static text have %d bytes, want %d to %d", n, least, most)
	}
}
