package match

import (
	"slices"
	"strings"
)

// shift turns the indentation of the old string into that of the text. The
// zero shift changes nothing.
type shift struct {
	width       int // of a tab: first blanks become tabs, or the reverse; 0 for neither
	toTabs      bool
	add, remove string // then in front of each line
}

// apply shifts the indentation of one line that is not blank.
func (s shift) apply(blanks string) (string, bool) {
	rest, ok := strings.CutPrefix(s.convert(blanks), s.remove)
	return s.add + rest, ok
}

func (s shift) convert(blanks string) string {
	switch {
	case s.width == 0:
		return blanks
	case s.toTabs:
		return strings.ReplaceAll(blanks, strings.Repeat(" ", s.width), "\t")
	}
	return strings.ReplaceAll(blanks, "\t", strings.Repeat(" ", s.width))
}

// margins are the indentations of an old string's lines, as they are and with
// another kind of blanks.
type margins struct {
	kinds []shift
	lines [][]string // of each kind
}

// marginsOf leaves out the kinds that change no line.
func marginsOf(lines []string) margins {
	m := margins{kinds: []shift{{}}, lines: [][]string{lines}}
	for width := 8; width > 0; width-- {
		for _, s := range []shift{{width: width, toTabs: true}, {width: width}} {
			other := make([]string, len(lines))
			for i, line := range lines {
				other[i] = s.convert(line)
			}
			if !slices.Equal(other, lines) {
				m.kinds, m.lines = append(m.kinds, s), append(m.lines, other)
			}
		}
	}
	return m
}

// shifts finds those that make the indentations those of a text: by a margin,
// else by another kind of blanks, else by both. There may be several of one
// kind.
func (m margins) shifts(text func(line int) string) []shift {
	if len(m.lines[0]) == 0 || !blank(text(0)) {
		return nil
	}
	pure := func(s shift) bool { return s.width == 0 || s.add == "" && s.remove == "" }
	var found []shift
	for i, s := range m.kinds {
		first := m.lines[i][0]
		var ok bool
		if s.add, ok = strings.CutSuffix(text(0), first); !ok {
			s.add = ""
			if s.remove, ok = strings.CutSuffix(first, text(0)); !ok {
				continue
			}
		}
		switch {
		case len(found) > 0 && pure(found[0]) && !pure(s), !s.explains(m.lines[i], text):
			continue
		case s.width == 0:
			return []shift{s}
		case len(found) > 0 && pure(s) && !pure(found[0]):
			found = nil
		}
		found = append(found, s)
	}
	return found
}

// explains reports whether the lines of the shift's kind come to be the text's.
func (s shift) explains(lines []string, text func(line int) string) bool {
	for i, line := range lines {
		moved, ok := strings.CutPrefix(line, s.remove)
		is := text(i)
		if !ok || len(is) != len(s.add)+len(moved) || is[:len(s.add)] != s.add || is[len(s.add):] != moved {
			return false
		}
	}
	return true
}
