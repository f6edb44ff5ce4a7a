package match

import "strings"

// view is one way to compare: how the text is folded, and how the old and the
// new string.
type view struct {
	rung      Rung
	text, old folding
}

// ladder lists the steps in their order, and leaves out what could find nothing
// that an earlier step does not.
func ladder(text string, e Edit) [][]view {
	ends := foldEnds(onlyCR(text))
	exact := view{rung: Exact}
	same := func(r Rung, f folding) view {
		f.ends, f.cr, f.final = true, ends.cr, true
		old := f
		old.final = false
		return view{rung: r, text: f, old: old}
	}
	lines := view{rung: LineEndings, text: ends, old: ends}
	steps := [][]view{{exact}, {lines}, {same(LineEndings, folding{})}, {same(TrailingBlanks, folding{blanks: true})}}
	if e.All && strings.Contains(e.Old, "\n") && strings.Contains(text, "\r") {
		steps = steps[1:] // a text whose lines end in two ways has places of both
	}
	peers := []view{same(Indentation, folding{blanks: true, indents: true})}
	if !ascii(text) || !ascii(e.Old) {
		peers = append(peers, same(LookAlikes, folding{blanks: true, alike: true}))
	}
	for _, esc := range []escape{backslash, entity} {
		inText, inOld := strings.ContainsRune(text, esc.sign()), strings.ContainsRune(e.Old, esc.sign())
		plain, escaped := same(EscapedForms, folding{}), same(EscapedForms, folding{escape: esc})
		if inOld {
			peers = append(peers, view{EscapedForms, plain.text, escaped.old})
		}
		if inText {
			peers = append(peers, view{EscapedForms, escaped.text, plain.old})
		}
		if inOld && inText {
			peers = append(peers, escaped)
		}
	}
	return append(steps, peers)
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

	plan *plan // made with the first rewrite
}

// spot is where the old string fits.
type spot struct {
	in         *sight // nil: the new string as it is takes the place
	start, end int    // bytes of the text
	k          int    // where the old string begins in in.t
}

// maxTries bounds how often a long string that nearly fits is laid over a text
// of many equal lines.
const maxTries = 20_000

func (s *sight) spots() []spot {
	s.old = fold(s.edit.Old, s.view.old)
	if s.old.text == "" {
		return nil
	}
	s.t = fold(s.text, s.view.text)
	var found []spot
	tries := 0
	several := all(s.edit, s.view.rung)
	eachIndex(s.t.text, s.old.text, several, func(k int) bool {
		p := spot{in: s, k: k, start: s.t.start(k), end: s.t.start(k + len(s.old.text))}
		if s.fits(p) {
			found = append(found, p)
		}
		tries++
		return several || len(found) <= maxPlaces && tries < maxTries
	})
	return found
}

// fits checks what comparing folded bytes does not.
func (s *sight) fits(p spot) bool {
	end := p.k + len(s.old.text)
	if p.start == p.end || !s.t.whole(p.k) || !s.t.whole(end) {
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

// shifts are those that turn the indentation of the old string into that of the
// text.
func (s *sight) shifts(p spot) []shift {
	var old, text []string
	for j := range len(s.old.text) {
		if s.old.text[j] != indent || !s.old.whole(j) {
			continue
		}
		was, is := s.edit.Old[s.old.start(j):s.old.start(j+1)], s.text[s.t.start(p.k+j):s.t.start(p.k+j+1)]
		if !blank(was) || !blank(is) {
			return nil
		}
		old, text = append(old, was), append(text, is)
	}
	return shiftsOf(old, text)
}

func blank(s string) bool { return strings.Trim(s, " \t") == "" }
