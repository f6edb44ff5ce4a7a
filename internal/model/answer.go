package match

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"znkr.io/diff"
)

// alignment lays the old string over one place of the text, unit by unit.
type alignment struct {
	text string
	base int    // where t begins in text
	t    folded // the text, or the part of it from base on
	k    int    // where old begins in t
	old  folded
	edit Edit
	rung Rung
	move shift
}

// offset is the place in the text of the unit at a byte of the folded old
// string.
func (a *alignment) offset(j int) int { return a.base + int(a.t.at[a.k+j]) }

// fits checks what comparing folded bytes does not.
func (a *alignment) fits() bool {
	end := a.k + len(a.old.text)
	atLineEnd := end == len(a.t.text) || a.t.text[end] == '\n' || a.t.text[end-1] == '\n'
	if a.old.tail != "" && !atLineEnd {
		return false
	}
	if a.rung != Indentation {
		return true
	}
	if !atLineEnd || !a.startsLine() {
		return false
	}
	var ok bool
	a.move, ok = shiftOf(a.indentations())
	return ok && a.newFits()
}

func (a *alignment) startsLine() bool {
	at := a.offset(0)
	return at == 0 || a.text[at-1] == '\n'
}

// indentations are those of the old string's lines and of the text's.
func (a *alignment) indentations() (old, text []string) {
	for j := range len(a.old.text) {
		if a.old.text[j] == indent {
			old = append(old, a.edit.Old[a.old.at[j]:a.old.at[j+1]])
			text = append(text, a.text[a.offset(j):a.offset(j+1)])
		}
	}
	return old, text
}

// newFits reports whether all lines of the new string can be shifted.
func (a *alignment) newFits() bool {
	for _, t := range tokens(a.edit.New, fold(a.edit.New, a.rung)) {
		if _, ok := a.move.apply(t.raw); t.kind == indent && !ok {
			return false
		}
	}
	return true
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
		t := token{start: j}
		switch f.text[j] {
		case '\n', indent:
			t.kind = f.text[j]
			j++
		default:
			j = wordEnd(f.text, j)
		}
		t.end = j
		t.raw = s[f.at[t.start]:f.at[t.end]]
		list = append(list, t)
	}
	return list
}

// wordEnd is where the word at i ends; what is no part of a word stands alone.
func wordEnd(s string, i int) int {
	for j := i; j < len(s); {
		r, size := utf8.DecodeRuneInString(s[j:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			if j == i {
				return j + size
			}
			return j
		}
		j += size
	}
	return len(s)
}

// rewrite makes the new string for this place.
func (a *alignment) rewrite() string {
	fresh := fold(a.edit.New, a.rung)
	was, is := tokens(a.edit.Old, a.old), tokens(a.edit.New, fresh)
	var b strings.Builder
	at := a.offset(0)
	i, j := 0, 0
	for _, op := range compareTokens(keys(was), keys(is)) {
		switch op {
		case diff.Match:
			b.WriteString(a.text[at:a.offset(was[i].end)])
			at = a.offset(was[i].end)
			i++
			j++
		case diff.Delete:
			at = a.offset(was[i].end)
			i++
		case diff.Insert:
			b.WriteString(a.inserted(is[j], at))
			j++
		}
	}
	if fresh.tail != a.old.tail {
		b.WriteString(fresh.tail)
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
	at := 0 // in list
	for n := range ops {
		if ops[n] == other {
			continue
		}
		end, next := n, at
		for ops[n] == op && end < len(ops) && ops[end] == op {
			end++
			next++
		}
		if end > n && end < len(ops) && ops[end] == diff.Match && strings.HasSuffix(list[at], "\n") && list[at] == list[next] {
			ops[n], ops[end] = ops[end], ops[n]
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

// inserted is a token that only the new string has, fitted to its place.
func (a *alignment) inserted(t token, at int) string {
	switch t.kind {
	case '\n':
		return strings.TrimRight(t.raw, "\r\n") + lineEndAt(a.text, at)
	case indent:
		moved, _ := a.move.apply(t.raw) // checked by newFits
		return moved
	}
	return t.raw
}

// lineEndAt is the line ending in force at a place: the next one, else the
// last.
func lineEndAt(text string, at int) string {
	n := strings.IndexByte(text[at:], '\n')
	if n >= 0 {
		n += at
	} else {
		n = strings.LastIndexByte(text, '\n')
	}
	if n > 0 && text[n-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
