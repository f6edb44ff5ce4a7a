package match

import "strings"

// shift turns the indentation of the old string into that of the text. The
// zero shift changes nothing.
type shift struct {
	add, remove string // in front of each line
	width       int    // of a tab: blanks become tabs, or the reverse
	toTabs      bool
}

// apply shifts the indentation of one line that is not blank.
func (s shift) apply(blanks string) (string, bool) {
	switch {
	case s.width == 0:
		rest, ok := strings.CutPrefix(blanks, s.remove)
		return s.add + rest, ok
	case s.toTabs:
		return strings.ReplaceAll(blanks, strings.Repeat(" ", s.width), "\t"), true
	}
	return strings.ReplaceAll(blanks, "\t", strings.Repeat(" ", s.width)), true
}

// shiftOf finds the one shift that explains all lines.
func shiftOf(old, text []string) (shift, bool) {
	if len(old) == 0 {
		return shift{}, false
	}
	var candidates []shift
	if add, ok := strings.CutSuffix(text[0], old[0]); ok {
		candidates = append(candidates, shift{add: add})
	}
	if remove, ok := strings.CutSuffix(old[0], text[0]); ok {
		candidates = append(candidates, shift{remove: remove})
	}
	for width := 8; width > 0; width-- {
		candidates = append(candidates, shift{width: width, toTabs: true}, shift{width: width})
	}
	for _, s := range candidates {
		if s.explains(old, text) {
			return s, true
		}
	}
	return shift{}, false
}

func (s shift) explains(old, text []string) bool {
	for i := range old {
		if moved, ok := s.apply(old[i]); !ok || moved != text[i] {
			return false
		}
	}
	return true
}
