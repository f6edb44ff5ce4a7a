package match

import (
	"strings"

	"znkr.io/diff"
)

// plan is how the new string comes from the old one; it is the same at every
// spot.
type plan struct {
	fresh   folded // the new string
	was, is []token
	ops     []diff.Op
}

func (s *sight) planned() *plan {
	if s.plan == nil {
		fresh := fold(s.edit.New, s.view.old)
		p := &plan{fresh: fresh, was: tokens(s.edit.Old, s.old), is: tokens(s.edit.New, fresh)}
		p.ops = compareTokens(keys(p.was), keys(p.is))
		s.plan = p
	}
	return s.plan
}

// rewrite makes the new string for a spot; ok is false when that would be a
// guess.
func (s *sight) rewrite(p spot) (is string, ok bool) {
	w := writer{sight: s, spot: p, ends: endings{text: s.text, cr: s.view.text.cr, from: -1}, at: p.start}
	if s.view.rung == Indentation {
		w.moves = s.shifts(p)
	}
	if s.view.rung == EscapedForms {
		w.unlike = s.unlike(p)
	}
	how := s.planned()
	i, j := 0, 0
	for _, op := range how.ops {
		if ok := w.step(op, how, i, j); !ok {
			return "", false
		}
		if op != diff.Insert {
			i++
		}
		if op != diff.Delete {
			j++
		}
	}
	if how.fresh.tail != s.old.tail {
		w.b.WriteString(how.fresh.tail)
	}
	return w.b.String(), true
}

// writer makes what comes to stand at a spot.
type writer struct {
	*sight
	spot
	b      strings.Builder
	at     int // how much of the text is copied or passed over
	ends   endings
	moves  []shift
	unlike string // characters that old string and text write in different ways
}

func (w *writer) step(op diff.Op, how *plan, i, j int) bool {
	if op == diff.Insert {
		return w.insert(how.is[j])
	}
	end := w.offset(how.was[i].end)
	if end < 0 {
		return false
	}
	if op == diff.Match {
		w.b.WriteString(w.text[w.at:end])
	}
	w.at = end
	return true
}

// offset is the place in the text of byte j of the folded old string; -1 when
// it is inside a unit of the text.
func (w *writer) offset(j int) int {
	k := w.k + j
	switch {
	case !w.t.whole(k):
		return -1
	case w.exact:
		return w.start + w.t.start(k)
	}
	return w.t.start(k)
}

// insert writes a token that only the new string has, fitted to its place.
func (w *writer) insert(t token) bool {
	raw := t.raw
	switch {
	case w.view.rung == EscapedForms && w.guess(t):
		return false
	case t.kind == '\n':
		blanks := strings.TrimRight(raw, "\r\n")
		if end := w.ends.after(w.at); end != "" {
			raw = blanks + end
		}
	case t.kind == indent:
		var ok bool
		if raw, ok = w.moved(raw); !ok {
			return false
		}
	}
	w.b.WriteString(raw)
	return true
}

// moved is the indentation of a new line, on which all shifts must agree.
func (w *writer) moved(blanks string) (string, bool) {
	if len(w.moves) == 0 {
		return "", false
	}
	first, ok := w.moves[0].apply(blanks)
	for _, m := range w.moves[1:] {
		other, also := m.apply(blanks)
		ok = ok && also && other == first
	}
	return first, ok
}

// guess reports a token of which it is not known how the text would write it:
// whoever wrote the old string escapes otherwise than the text.
func (w *writer) guess(t token) bool {
	esc := max(w.view.text.escape, w.view.old.escape)
	if esc == backslash && strings.Contains(t.raw, `\`) {
		return true
	}
	for i := range t.raw {
		if t.raw[i] == byte(esc.sign()) {
			if _, size := esc.read(t.raw[i:]); size > 0 {
				return true
			}
		}
	}
	return strings.ContainsAny(w.planned().fresh.text[t.start:t.end], w.unlike)
}

// unlike are the characters that the old string and the text write in different
// ways at a spot.
func (s *sight) unlike(p spot) string {
	var b strings.Builder
	for j := 0; j < len(s.old.text); {
		next := j + 1
		for !s.old.whole(next) {
			next++
		}
		was := s.edit.Old[s.old.start(j):s.old.start(next)]
		is := s.text[s.t.start(p.k+j):s.t.start(p.k+next)]
		if is != was && strings.TrimLeft(is+was, "\r\n") != "" {
			b.WriteString(s.old.text[j:next])
		}
		j = next
	}
	return b.String()
}
