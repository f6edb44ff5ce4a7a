package match

import (
	"strings"
	"unicode/utf8"
)

// folding is what is taken for the same.
type folding struct {
	ends    bool   // line endings
	cr      bool   // a carriage return alone is one of them
	blanks  bool   // blanks at the end of a line
	indents bool   // indentation
	alike   bool   // characters that look alike
	escape  escape // a character and its escaped form
}

func foldEnds(cr bool) folding { return folding{ends: true, cr: cr} }

// folded is a text as a view sees it, with the way back to the original.
// It is made of units: a character with what cannot be seen around it, an
// escaped form, a line end with the blanks before it, or the indentation of a
// line.
type folded struct {
	text string
	// at holds for the first byte of each unit where it begins in the original,
	// for its other bytes the complement of that. A unit ends where the next
	// begins; the last entry is the end of the last unit.
	at []int32
	// tail is what the original has after the last unit: blanks at its end.
	tail string
}

// start is where the unit at byte j begins in the original.
func (f folded) start(j int) int {
	if f.at[j] < 0 {
		return int(^f.at[j])
	}
	return int(f.at[j])
}

// whole reports that a unit begins at byte j, or the text ends.
func (f folded) whole(j int) bool { return f.at[j] >= 0 }

// indent stands for the indentation of a line that is not blank. As a byte
// that no UTF-8 text has it is hard to mistake; that it stands for blanks is
// checked where it counts.
const indent = '\xff'

func fold(s string, how folding) folded {
	f := folder{folding: how, s: s, at: make([]int32, 0, len(s)+1), blanksFrom: -1}
	f.out.Grow(len(s))
	for f.i < len(s) {
		f.unit()
	}
	end := len(s)
	if f.blanksFrom >= 0 {
		end = f.blanksFrom
	}
	return folded{text: f.out.String(), at: append(f.at, int32(end)), tail: s[end:]}
}

type folder struct {
	folding
	s   string
	i   int
	out strings.Builder
	at  []int32
	// blanksFrom is where the blanks before the end of s begin; -1 without.
	blanksFrom int
}

func (f *folder) unit() {
	rest := f.s[f.i:]
	if f.indents && f.lineStart() {
		if n := blanksOf(rest); n < len(rest) && f.lineEnd(rest[n:]) == 0 {
			f.emit(string([]byte{indent}), n)
			f.char(f.s[f.i:])
			return
		}
	}
	if f.blanks && (rest[0] == ' ' || rest[0] == '\t') {
		n := blanksOf(rest)
		if n == len(rest) {
			f.blanksFrom = f.i
			f.i = len(f.s)
			return
		}
		if end := f.lineEnd(rest[n:]); end > 0 {
			f.emit("\n", n+end)
			return
		}
		for range n { // each counts; only their end had to be looked for once
			f.char(f.s[f.i:])
		}
		return
	}
	f.char(rest)
}

func blanksOf(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

func (f *folder) lineStart() bool {
	return f.i == 0 || f.s[f.i-1] == '\n' || f.cr && f.s[f.i-1] == '\r'
}

func (f *folder) lineEnd(s string) int {
	switch {
	case !f.ends:
	case strings.HasPrefix(s, "\r\n"):
		return 2
	case strings.HasPrefix(s, "\n"), f.cr && strings.HasPrefix(s, "\r"):
		return 1
	}
	return 0
}

func (f *folder) char(rest string) {
	if n := f.lineEnd(rest); n > 0 {
		f.emit("\n", n)
		return
	}
	if f.escape != noEscape && rest[0] == byte(f.escape.sign()) {
		if is, size := f.escape.read(rest); size > 0 {
			f.emit(is, size)
			return
		}
	}
	if f.alike {
		is, size := glyph(rest, f.lineStart())
		f.emit(is, size)
		return
	}
	_, size := utf8.DecodeRuneInString(rest)
	f.emit(rest[:size], size)
}

// emit adds a unit of size bytes.
func (f *folder) emit(is string, size int) {
	f.out.WriteString(is)
	f.at = append(f.at, int32(f.i))
	for range len(is) - 1 {
		f.at = append(f.at, ^int32(f.i))
	}
	f.i += size
}
