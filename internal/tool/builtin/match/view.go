package match

import "strings"

// view is one way to compare: how the text is folded, and how the old and the
// new string.
type view struct {
	rung      Rung
	text, old folding
	// last: only the end of a text whose last line has no ending, as if it had.
	last bool
}

// ladder lists the steps in their order, and leaves out what could find nothing
// that an earlier step does not.
func ladder(text string, e Edit) [][]view {
	ends := foldEnds(onlyCR(text))
	lines := both(LineEndings, ends)
	steps := [][]view{{{rung: Exact}}, {lines}}
	if e.All && strings.Contains(e.Old, "\n") && strings.Contains(text, "\r") {
		steps = steps[1:] // a text whose lines end in two ways has places of both
	}
	open := strings.HasSuffix(e.Old, "\n") && !strings.HasSuffix(text, "\n") && !(ends.cr && strings.HasSuffix(text, "\r"))
	if open {
		steps = append(steps, []view{lines.atEnd()})
	}
	blanks := ends
	blanks.blanks = true
	for _, step := range [][]view{{both(TrailingBlanks, blanks)}, peers(text, e, ends)} {
		for _, v := range step {
			if open {
				step = append(step, v.atEnd())
			}
		}
		steps = append(steps, step)
	}
	return steps
}

func both(r Rung, f folding) view { return view{rung: r, text: f, old: f} }

func (v view) atEnd() view {
	v.last = true
	return v
}

// peers are the views of which none is closer to the exact text than another.
func peers(text string, e Edit, ends folding) []view {
	indents := ends
	indents.blanks, indents.indents = true, true
	views := []view{both(Indentation, indents)}
	if !ascii(text) || !ascii(e.Old) {
		alike := ends
		alike.blanks, alike.alike = true, true
		views = append(views, both(LookAlikes, alike))
	}
	for _, esc := range []escape{backslash, entity} {
		inText, inOld := strings.ContainsRune(text, esc.sign()), strings.ContainsRune(e.Old, esc.sign())
		escaped := ends
		escaped.escape = esc
		if inOld {
			views = append(views, view{rung: EscapedForms, text: ends, old: escaped})
		}
		if inText {
			views = append(views, view{rung: EscapedForms, text: escaped, old: ends})
		}
		if inOld && inText {
			views = append(views, both(EscapedForms, escaped))
		}
	}
	return views
}

// onlyCR reports a text whose lines end as those of the first Macintosh did.
func onlyCR(text string) bool {
	return strings.Contains(text, "\r") && !strings.Contains(text, "\n")
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// sight is a text and an edit in one view.
type sight struct {
	text   string
	edit   Edit
	view   view
	exact  bool   // t is the old string alone, as it stands at each spot
	t, old folded // the text and the old string

	cut  bool  // not all places were looked at
	plan *plan // made with the first rewrite
	// margins are the indentations in the old string, units is where they are in
	// its folded text.
	margins margins
	units   []int
}

// spot is where the old string fits.
type spot struct {
	in         *sight // nil: the new string as it is takes the place
	start, end int    // bytes of the text
	k          int    // where the old string begins in in.t
}

// maxWork bounds how many lines are compared one by one, when a long string
// nearly fits a text of many equal lines. A view that takes more finds nothing,
// unless what it found is ambiguous already.
const maxWork = 8_000_000

func (s *sight) spots() []spot {
	if s.view.last {
		s.edit.Old, s.edit.New = withoutEnd(s.edit.Old), withoutEnd(s.edit.New)
	}
	s.old = fold(s.edit.Old, s.view.old)
	if s.old.text == "" {
		return nil
	}
	s.t = fold(s.text, s.view.text)
	s.findMargins()
	var found []spot
	work := 0
	several := all(s.edit, s.view.rung)
	eachIndex(s.t.text, s.old.text, several, func(k int) bool {
		p := spot{in: s, k: k, start: s.t.start(k), end: s.t.start(k + len(s.old.text))}
		if s.fits(p) {
			found = append(found, p)
		}
		work += len(s.units)
		return several || len(found) <= maxPlaces && work < maxWork
	})
	s.cut = work >= maxWork
	if s.cut && len(found) < 2 {
		return nil
	}
	return found
}

func withoutEnd(s string) string { return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r") }

// fits checks what comparing folded bytes does not.
func (s *sight) fits(p spot) bool {
	end := p.k + len(s.old.text)
	if p.start == p.end || !s.t.whole(p.k) || !s.t.whole(end) {
		return false
	}
	if s.view.last && end != len(s.t.text) {
		return false
	}
	atLineEnd := end == len(s.t.text) || s.t.text[end] == '\n' || s.t.text[end-1] == '\n'
	if s.old.tail != "" && !atLineEnd {
		return false
	}
	if s.view.rung != Indentation {
		return true
	}
	startsLine := p.start == 0 || strings.IndexByte("\r\n", s.text[p.start-1]) >= 0
	return atLineEnd && startsLine && len(s.shifts(p)) > 0
}

func (s *sight) findMargins() {
	if s.view.rung != Indentation {
		return
	}
	var lines []string
	for j := range len(s.old.text) {
		if s.old.text[j] != indent || !s.old.whole(j) {
			continue
		}
		if margin := s.edit.Old[s.old.start(j):s.old.start(j+1)]; blank(margin) {
			s.units, lines = append(s.units, j), append(lines, margin)
		}
	}
	s.margins = marginsOf(lines)
}

// shifts are those that turn the indentation of the old string into that of the
// text.
func (s *sight) shifts(p spot) []shift {
	return s.margins.shifts(func(i int) string {
		k := p.k + s.units[i]
		return s.text[s.t.start(k):s.t.start(k+1)]
	})
}

func blank(s string) bool { return blanksOf(s) == len(s) }
