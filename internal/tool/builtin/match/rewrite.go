package match

import (
	"strings"
	"unicode"
	"unicode/utf8"

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

// token is what is compared between the old and the new string: a word, or
// one unit that is none.
type token struct {
	kind       byte // '\n', indent, or 0
	raw        string
	start, end int // in the folded text
}

// key makes equal what is the same but for the kind of line ending.
func (t token) key() string {
	switch t.kind {
	case indent:
		return "\xff" + t.raw
	case '\n':
		return strings.TrimRight(t.raw, "\r\n") + "\n"
	}
	return t.raw
}

func tokens(s string, f folded) []token {
	var list []token
	for j := 0; j < len(f.text); {
		t := token{start: j, end: tokenEnd(f, j)}
		t.raw = s[f.start(j):f.start(t.end)]
		switch c := f.text[j]; {
		case c == '\n', c == indent && blank(t.raw):
			t.kind = c
		}
		list = append(list, t)
		j = t.end
	}
	return list
}

// tokenEnd is where the token at j ends. Full stops stay together, because
// there is a character for three.
func tokenEnd(f folded, j int) int {
	end := j + 1
	switch c := f.text[j]; {
	case c == '.':
		for end < len(f.text) && f.text[end] == '.' {
			end++
		}
	case c != '\n' && c != indent:
		end = wordEnd(f.text, j)
	}
	for !f.whole(end) {
		end++
	}
	return end
}

// wordEnd is where the word at i ends; what is no part of a word stands alone.
func wordEnd(s string, i int) int {
	for j := i; j < len(s); {
		r, size := utf8.DecodeRuneInString(s[j:])
		if r != '_' && !unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) {
			if j == i {
				return j + size
			}
			return j
		}
		j += size
	}
	return len(s)
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

// compareTokens says how to get from one list of keys to the other. Of two ways
// it takes the one that inserts and deletes whole lines, so that the line end
// of a line that stays is the one it had.
func compareTokens(was, is []string) []diff.Op {
	edits := diff.Edits(was, is)
	ops := make([]diff.Op, len(edits))
	for n, e := range edits {
		ops[n] = e.Op
	}
	slide(ops, diff.Insert, diff.Delete, is)
	slide(ops, diff.Delete, diff.Insert, was)
	return ops
}

// slide moves runs of one operation behind the line end that follows them when
// they begin with an equal one. list holds the keys that the operation takes,
// other is the operation that takes none of them.
func slide(ops []diff.Op, op, other diff.Op, list []string) {
	at := 0     // in list
	runEnd := 0 // of the run that n is in
	for n := range ops {
		if ops[n] == other {
			continue
		}
		if ops[n] == op {
			runEnd = max(runEnd, n)
			for runEnd < len(ops) && ops[runEnd] == op {
				runEnd++
			}
			next := at + runEnd - n
			if runEnd < len(ops) && ops[runEnd] == diff.Match && strings.HasSuffix(list[at], "\n") && list[at] == list[next] {
				ops[n], ops[runEnd] = ops[runEnd], ops[n]
			}
		}
		at++
	}
}

func keys(list []token) []string {
	keys := make([]string, len(list))
	for i, t := range list {
		keys[i] = t.key()
	}
	return keys
}

// endings finds the line ending in force at a place of a text: the next one,
// else the last.
type endings struct {
	text string
	cr   bool
	// end is the ending that is in force from from up to to; from is -1 before
	// the first question.
	from, to int
	end      string
}

// after is the ending in force at a place; "" in a text of one line.
func (e *endings) after(at int) string {
	if e.from >= 0 && at >= e.from && at <= e.to {
		return e.end
	}
	sign := byte('\n')
	if e.cr {
		sign = '\r'
	}
	n := strings.IndexByte(e.text[at:], sign)
	e.from, e.to = at, len(e.text)
	if n >= 0 {
		n += at
		e.to = n
	} else {
		n = strings.LastIndexByte(e.text, sign)
	}
	switch {
	case n < 0:
		e.end = ""
	case n > 0 && e.text[n-1] == '\r' && !e.cr:
		e.end = "\r\n"
	default:
		e.end = e.text[n : n+1]
	}
	return e.end
}
