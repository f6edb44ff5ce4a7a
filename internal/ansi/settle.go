package ansi

import (
	"bytes"
	"unicode/utf8"
)

// MaxLine is how much of a line a carriage return or a backspace takes back,
// in bytes; of a longer line what came before it stands. It is above every
// progress bar, and bounds what a Settler holds.
const MaxLine = 64 << 10

// Settler makes of stripped text what a terminal shows in the end: after a
// carriage return the line begins anew, a backspace takes a character back.
// The zero value is ready.
type Settler struct {
	line     []byte // the present line, as far as it may still change
	returned bool   // a carriage return came: what follows begins anew
}

// Append adds to dst what is settled after a piece of text.
func (s *Settler) Append(dst, text []byte) []byte {
	for len(text) > 0 {
		run := text
		if i := bytes.IndexAny(text, "\r\b"); i >= 0 {
			run = text[:i]
		}
		dst = s.plain(dst, run)
		if text = text[len(run):]; len(text) > 0 {
			s.move(text[0])
			text = text[1:]
		}
	}
	return dst
}

// Close adds the line that did not end.
func (s *Settler) Close(dst []byte) []byte {
	dst = append(dst, s.line...)
	s.line, s.returned = nil, false
	return dst
}

// plain takes text without a carriage return or a backspace.
func (s *Settler) plain(dst, text []byte) []byte {
	if len(text) == 0 {
		return dst
	}
	if s.returned && text[0] != '\n' {
		s.line = s.line[:0]
	}
	s.returned = false
	if end := bytes.LastIndexByte(text, '\n') + 1; end > 0 {
		dst = append(append(dst, s.line...), text[:end]...)
		s.line, text = s.line[:0], text[end:]
	}
	s.line = append(s.line, text...)
	stands := 0
	for len(s.line)-stands > MaxLine {
		next := stands + MaxLine
		for !utf8.RuneStart(s.line[next]) {
			next--
		}
		dst, stands = append(dst, s.line[stands:next]...), next
	}
	s.line = s.line[:copy(s.line, s.line[stands:])]
	return dst
}

// move takes a carriage return or a backspace.
func (s *Settler) move(control byte) {
	switch {
	case control == '\r':
		s.returned = true
	case s.returned:
		s.line, s.returned = s.line[:0], false
	case len(s.line) > 0:
		_, size := utf8.DecodeLastRune(s.line)
		s.line = s.line[:len(s.line)-size]
	}
}
