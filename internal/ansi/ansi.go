// Package ansi makes text of what programs print for a terminal.
//
// Escape sequences and other control characters go; what a carriage return or
// a backspace overwrites goes, too; bytes that are no UTF-8 become U+FFFD. The
// package is pure. Start reading at Text, then Stripper.
package ansi

import (
	"strings"
	"unicode/utf8"
)

// Stripper makes the output of a program text, piece by piece: escape
// sequences and other control characters go, what is not UTF-8 becomes U+FFFD.
// Left are line feeds, tabs, and for Settle carriage returns and backspaces.
type Stripper struct {
	held  []byte // a character that has not arrived whole
	state state
}

// state is where in an escape sequence the Stripper is (ECMA-48).
type state int

const (
	ground  state = iota
	escape        // after ESC
	control       // after CSI: parameters until a final byte
	str           // after OSC, DCS and their like: until ST or BEL
	strEsc        // in such a string, after ESC
)

func (s *Stripper) Strip(chunk []byte) string {
	if len(s.held) > 0 {
		chunk = append(s.held, chunk...)
		s.held = nil
	}
	var b strings.Builder
	b.Grow(len(chunk))
	for len(chunk) > 0 {
		if !utf8.FullRune(chunk) {
			s.held = append([]byte(nil), chunk...)
			break
		}
		r, size := utf8.DecodeRune(chunk)
		chunk = chunk[size:]
		if s.next(r) {
			b.WriteRune(visible(r))
		}
	}
	return b.String()
}

// next moves on by one character and reports whether it is text.
func (s *Stripper) next(r rune) bool {
	switch s.state {
	case escape:
		s.state = afterEscape(r)
		return false
	case control:
		if r >= '@' && r <= '~' {
			s.state = ground
			return false
		}
		if r >= ' ' && r < '@' {
			return false
		}
		s.state = ground // no part of a sequence: it was cut off
	case str, strEsc:
		switch {
		case r == '\a', r == '\u009c', s.state == strEsc && r == '\\':
			s.state = ground
		case r == 0x1b:
			s.state = strEsc
		case r == '\n':
			s.state = ground // never closed; a line is the most it may swallow
			return true
		default:
			s.state = str
		}
		return false
	}
	switch {
	case r == 0x1b:
		s.state = escape
	case r == '\u009b':
		s.state = control
	case r == '\u0090', r == '\u0098', r >= '\u009d' && r <= '\u009f':
		s.state = str
	case r == '\n', r == '\t', r == '\r', r == '\b', r == 0:
		return true
	default:
		return r >= ' ' && (r < 0x7f || r > 0x9f)
	}
	return false
}

func afterEscape(r rune) state {
	switch {
	case r == '[':
		return control
	case r == ']', r == 'P', r == 'X', r == '^', r == '_':
		return str
	case r == 0x1b, r >= ' ' && r <= '/': // intermediate bytes, one more follows
		return escape
	}
	return ground
}

// visible keeps apart what a NUL separates, as find -print0 prints it.
func visible(r rune) rune {
	if r == 0 {
		return '␀'
	}
	return r
}

// Settle is what a terminal shows in the end of stripped text: a carriage
// return begins the line anew, a backspace takes a character back.
func Settle(text string) string {
	if !strings.ContainsAny(text, "\r\b") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		body, ended := strings.CutSuffix(line, "\n")
		b.WriteString(settleLine(strings.TrimRight(body, "\r")))
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func settleLine(line string) string {
	line = line[strings.LastIndexByte(line, '\r')+1:]
	if !strings.Contains(line, "\b") {
		return line
	}
	var kept []rune
	for _, r := range line {
		switch {
		case r != '\b':
			kept = append(kept, r)
		case len(kept) > 0:
			kept = kept[:len(kept)-1]
		}
	}
	return string(kept)
}

// Text is the text of a whole output.
func Text(output []byte) string {
	var s Stripper
	text := s.Strip(output)
	text += strings.Repeat("\uFFFD", len(s.held))
	return Settle(text)
}
