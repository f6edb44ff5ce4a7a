// Package diff compares two versions of a file for the log and the screen.
//
// It owns the form of a recorded diff: unified, of bounded size, with counts
// that are right even when the text is cut. How lines are compared is left to
// znkr.io/diff. There is one function: Unified.
package diff

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"znkr.io/diff/textdiff"

	"github.com/khaelor/khaelor/internal/event"
)

// Limit is how many bytes of a diff the log holds (seed 003, FileModified).
const Limit = 32 << 10

// Unified is the unified diff of two versions, at most Limit bytes long, and
// how many lines it adds and removes in all. Content that is not text has no
// diff and no lines.
func Unified(before, after []byte) (text string, stats event.DiffStats) {
	if binary(before) || binary(after) {
		return "", event.DiffStats{}
	}
	text = textdiff.Unified(string(before), string(after))
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "+"):
			stats.Added++
		case strings.HasPrefix(line, "-"):
			stats.Removed++
		}
	}
	return clip(text), stats
}

// binary is git's rule: a NUL among the first 8,000 bytes.
func binary(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 || !utf8.Valid(data)
}

// clip cuts at the end of a line and says how much is missing.
func clip(text string) string {
	if len(text) <= Limit {
		return text
	}
	end := strings.LastIndexByte(text[:Limit-64], '\n') + 1
	return fmt.Sprintf("%s[… %d bytes of the diff left out]\n", text[:end], len(text)-end)
}
