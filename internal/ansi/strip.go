package ansi

import "unicode/utf8"

// Stripper makes the output of a program text: escape sequences and other
// control characters go, what is not UTF-8 becomes U+FFFD. Left are line
// feeds, tabs, and for a Settler carriage returns and backspaces. The zero
// value is ready.
type Stripper struct {
	repairer Repairer
	state    state
	buf      []byte // of the repaired chunk, kept from call to call
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

// mostKept bounds the buffers that are kept from call to call, in bytes.
const mostKept = 64 << 10

// Append adds the text of a chunk to dst. A character that has not arrived
// whole is held back for the next chunk.
func (s *Stripper) Append(dst, chunk []byte) []byte {
	text := s.repairer.Append(s.buf[:0], chunk)
	dst = s.strip(dst, text)
	s.buf = nil
	if cap(text) <= mostKept {
		s.buf = text
	}
	return dst
}

// Close adds what is left of a character that did not arrive whole.
func (s *Stripper) Close(dst []byte) []byte {
	return s.strip(dst, s.repairer.Close(nil))
}

func (s *Stripper) strip(dst, text []byte) []byte {
	for len(text) > 0 {
		if s.state == ground {
			plain := plainRun(text)
			dst, text = append(dst, text[:plain]...), text[plain:]
			if len(text) == 0 {
				break
			}
		}
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if s.next(r) {
			dst = utf8.AppendRune(dst, visible(r))
		}
	}
	return dst
}

// plainRun counts the bytes at the beginning that no rule is about. 0xC2 leads
// to the control characters of eight bits.
func plainRun(text []byte) int {
	for i, b := range text {
		if b < ' ' && b != '\n' && b != '\t' || b == 0x7f || b == 0xc2 {
			return i
		}
	}
	return len(text)
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
