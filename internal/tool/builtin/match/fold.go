package match

import (
	"strings"
	"unicode/utf8"
)

// folded is a text as a rung sees it, with the way back to the original.
// It is made of units: a character, a line end with the blanks before it, or
// the indentation of a line.
type folded struct {
	text string
	// at holds for each byte where its unit begins in the original; the unit
	// ends where the next begins. The last entry is the end of the last unit.
	at []int32
	// tail is what the original has after the last unit: blanks at its end.
	tail string
}

// indent stands for the indentation of a line that is not blank. As a byte
// that no UTF-8 text has it cannot be asked for.
const indent = '\xff'

func fold(s string, rung Rung) folded {
	f := folder{s: s, rung: rung, out: make([]byte, 0, len(s)), at: make([]int32, 0, len(s)+1)}
	for f.i < len(s) {
		f.unit()
	}
	end := int32(len(s))
	if f.blanksFrom >= 0 {
		end = int32(f.blanksFrom)
	}
	return folded{text: string(f.out), at: append(f.at, end), tail: s[end:]}
}

type folder struct {
	s    string
	rung Rung
	i    int
	out  []byte
	at   []int32
	// blanksFrom is where the blanks before the end of s begin; -1 without.
	blanksFrom int
}

func (f *folder) unit() {
	f.blanksFrom = -1
	rest := f.s[f.i:]
	if f.rung == Indentation && f.lineStart() {
		blanks := len(rest) - len(strings.TrimLeft(rest, " \t"))
		if blanks < len(rest) && lineEnd(rest[blanks:]) == 0 {
			f.emit(indent, blanks)
			f.char(f.s[f.i:])
			return
		}
	}
	if f.rung >= TrailingBlanks && (rest[0] == ' ' || rest[0] == '\t') {
		blanks := len(rest) - len(strings.TrimLeft(rest, " \t"))
		if blanks == len(rest) {
			f.blanksFrom = f.i
			f.i = len(f.s)
			return
		}
		if n := lineEnd(rest[blanks:]); n > 0 {
			f.emit('\n', blanks+n)
			return
		}
	}
	if n := lineEnd(rest); n > 0 {
		f.emit('\n', n)
		return
	}
	f.char(rest)
}

func (f *folder) lineStart() bool { return f.i == 0 || f.s[f.i-1] == '\n' }

func lineEnd(s string) int {
	switch {
	case strings.HasPrefix(s, "\r\n"):
		return 2
	case strings.HasPrefix(s, "\n"):
		return 1
	}
	return 0
}

func (f *folder) char(rest string) {
	r, size := utf8.DecodeRuneInString(rest)
	if f.rung == LookAlikes && r >= utf8.RuneSelf {
		if plain, ok := lookAlike(r); ok {
			f.emit(plain, size)
			return
		}
	}
	start := int32(f.i)
	for i := range size {
		f.out = append(f.out, rest[i])
		f.at = append(f.at, start)
	}
	f.i += size
}

// emit adds one byte for a unit of size bytes.
func (f *folder) emit(b byte, size int) {
	f.out = append(f.out, b)
	f.at = append(f.at, int32(f.i))
	f.i += size
}

// lookAlike is the ASCII character that models write for r.
func lookAlike(r rune) (byte, bool) {
	switch r {
	case '‘', '’', '‚', '‛', '′', '＇':
		return '\'', true
	case '“', '”', '„', '‟', '″', '＂':
		return '"', true
	case '‐', '‑', '‒', '–', '—', '―', '−', '－':
		return '-', true
	case '\u00a0', '\u202f', '\u205f', '\u3000':
		return ' ', true
	}
	if r >= '\u2000' && r <= '\u200a' { // spaces of all widths
		return ' ', true
	}
	return 0, false
}
