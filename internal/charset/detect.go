package charset

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	utf "golang.org/x/text/encoding/unicode"
)

// Sniff is how many bytes of a file decide how it is read.
const Sniff = 64 << 10

// Marked is the charset of a text that begins with a byte order mark.
func Marked(head []byte) (c Charset, ok bool) {
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return Charset{bom: "\xef\xbb\xbf"}, true
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return utf16Of(utf.LittleEndian, "\xff\xfe"), true
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return utf16Of(utf.BigEndian, "\xfe\xff"), true
	}
	return Charset{}, false
}

func utf16Of(order utf.Endianness, bom string) Charset {
	name := "UTF-16LE"
	if order == utf.BigEndian {
		name = "UTF-16BE"
	}
	return Charset{Name: name, bom: bom, codec: utf.UTF16(order, utf.IgnoreBOM)}
}

// Detect tells a file's charset by its first bytes, or by all of them; ok is
// false when they are no text. When there are Sniff bytes or more the last
// character may be cut.
func Detect(head []byte) (c Charset, ok bool) {
	if c, ok := Marked(head); ok {
		return c, !bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")) // UTF-32, which nobody writes
	}
	n := census(head)
	switch {
	case n.nul > 0:
		return unmarked16(head)
	case n.control*10 > len(head)+64: // a few controls make no binary file
		return Charset{}, false
	case n.invalid == 0:
		return Charset{}, true
	case n.multibyte > n.invalid:
		return Charset{Name: "UTF-8 with invalid bytes"}, true
	}
	if c, ok := eastAsian(head); ok {
		return c, true
	}
	switch {
	case n.invalid*3 > len(head): // another alphabet, or no text: as Latin-1 it would be read by nobody
		return Charset{}, false
	case slices.ContainsFunc(head, undefined):
		return Charset{Name: "ISO-8859-1", codec: charmap.ISO8859_1}, true
	}
	return Charset{Name: "Windows-1252", codec: charmap.Windows1252}, true
}

// undefined are the bytes that are no character in Windows-1252.
func undefined(b byte) bool { return strings.IndexByte("\x81\x8d\x8f\x90\x9d", b) >= 0 }

type counts struct{ nul, control, multibyte, invalid int }

func census(head []byte) counts {
	var n counts
	for i := 0; i < len(head); {
		b := head[i]
		if b < utf8.RuneSelf {
			i++
			switch {
			case b == 0:
				n.nul++
			case isControl(rune(b)):
				n.control++
			}
			continue
		}
		r, size := utf8.DecodeRune(head[i:])
		switch {
		case r != utf8.RuneError || size > 1:
			n.multibyte++
		case utf8.FullRune(head[i:]) || len(head) < Sniff: // else the head ends within a character
			n.invalid++
		}
		i += size
	}
	return n
}

// isControl reports a control character that text files have no use for.
func isControl(r rune) bool {
	return r < ' ' && (r < '\b' || r > '\r') && r != 0x1b || r >= 0x7f && r < 0xa0
}

// unmarked16 knows UTF-16 without a mark where it cannot be mistaken: every
// second byte of most characters is zero, always the same one, and all
// characters are such as texts have.
func unmarked16(head []byte) (Charset, bool) {
	const least = 4 // characters
	if len(head)%2 != 0 || len(head) < 2*least {
		return Charset{}, false
	}
	order, high := utf.LittleEndian, 1
	if head[0] == 0 {
		order, high = utf.BigEndian, 0
	}
	units := make([]uint16, len(head)/2)
	ascii := 0
	for i := range units {
		units[i] = uint16(head[2*i+high])<<8 | uint16(head[2*i+1-high])
		if units[i] < utf8.RuneSelf {
			ascii++
		}
	}
	if last := units[len(units)-1]; len(head) >= Sniff && last >= 0xd800 && last < 0xdc00 {
		units = units[:len(units)-1] // the first half of a character
	}
	for _, r := range utf16.Decode(units) {
		if r == utf8.RuneError || isControl(r) || r > 0xff && !unicode.IsGraphic(r) {
			return Charset{}, false
		}
	}
	return utf16Of(order, ""), ascii*2 > len(units)
}
