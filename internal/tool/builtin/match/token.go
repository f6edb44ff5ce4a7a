package match

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"znkr.io/diff"
)

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

func keys(list []token) []string {
	keys := make([]string, len(list))
	for i, t := range list {
		keys[i] = t.key()
	}
	return keys
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
