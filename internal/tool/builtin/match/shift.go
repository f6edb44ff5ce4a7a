package match

import "strings"

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

// shiftsOf finds the shifts that explain all lines: by a margin, else by
// another kind of blanks, else by both. There may be several of one kind.
func shiftsOf(old, text []string) []shift {
	if len(old) == 0 {
		return nil
	}
	kinds := []shift{{}}
	if found := explaining(margins(kinds, old, text), old, text); found != nil {
		return found
	}
	kinds = kinds[:0]
	for width := 8; width > 0; width-- {
		kinds = append(kinds, shift{width: width, toTabs: true}, shift{width: width})
	}
	if found := explaining(kinds, old, text); found != nil {
		return found
	}
	return explaining(margins(kinds, old, text), old, text)
}

// margins adds to each shift what the first line lacks or has too much.
func margins(kinds []shift, old, text []string) []shift {
	var list []shift
	for _, s := range kinds {
		first := s.convert(old[0])
		if add, ok := strings.CutSuffix(text[0], first); ok {
			s.add = add
			list = append(list, s)
		} else if remove, ok := strings.CutSuffix(first, text[0]); ok {
			s.remove = remove
			list = append(list, s)
		}
	}
	return list
}

func explaining(list []shift, old, text []string) []shift {
	var found []shift
	for _, s := range list {
		if s.explains(old, text) {
			found = append(found, s)
		}
	}
	return found
}

func (s shift) explains(old, text []string) bool {
	for i := range old {
		if moved, ok := s.apply(old[i]); !ok || moved != text[i] {
			return false
		}
	}
	return true
}
