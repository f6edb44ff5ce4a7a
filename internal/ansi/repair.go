package ansi

import "unicode/utf8"

// Repairer makes bytes valid UTF-8: each byte that is part of no character
// becomes U+FFFD. The zero value is ready.
type Repairer struct {
	held []byte // a character that has not arrived whole
}

// Append adds the text of a chunk to dst. What may yet become a character is
// held back for the next chunk.
func (r *Repairer) Append(dst, chunk []byte) []byte {
	if len(r.held) > 0 {
		chunk = append(r.held, chunk...)
	}
	whole := len(chunk) - Begun(chunk)
	dst = repair(dst, chunk[:whole])
	r.held = append([]byte(nil), chunk[whole:]...)
	return dst
}

// Close adds what is held back: its rest does not come any more.
func (r *Repairer) Close(dst []byte) []byte {
	dst = repair(dst, r.held)
	r.held = nil
	return dst
}

func repair(dst, text []byte) []byte {
	if utf8.Valid(text) {
		return append(dst, text...)
	}
	for len(text) > 0 {
		c, size := utf8.DecodeRune(text)
		dst = utf8.AppendRune(dst, c)
		text = text[size:]
	}
	return dst
}

// Begun counts the bytes at the end of text that begin a character whose rest
// has not come yet.
func Begun(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}
