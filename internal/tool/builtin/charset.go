package builtin

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// sniffed is how many bytes of a file decide how it is read.
const sniffed = 64 << 10

// charset is how a file's bytes are text.
type charset struct {
	name  string // "" for UTF-8
	bom   string
	codec encoding.Encoding // nil when the bytes are taken as they are
}

// marked is the charset of a text that begins with a byte order mark.
func marked(head []byte) (c charset, ok bool) {
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return charset{bom: "\xef\xbb\xbf"}, true
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return charset{"UTF-16LE", "\xff\xfe", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}, true
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return charset{"UTF-16BE", "\xfe\xff", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}, true
	}
	return charset{}, false
}

// detect tells a file's charset by its first bytes; ok is false when they are
// no text.
func detect(head []byte) (c charset, ok bool) {
	if c, ok := marked(head); ok {
		return c, true
	}
	n := census(head)
	switch {
	case n.nul > 0, n.control*10 > len(head)+64, n.invalid*3 > len(head): // a few controls make no binary file
		return charset{}, false
	case n.invalid == 0:
		return charset{}, true
	case n.multibyte > n.invalid: // UTF-8 with some damage
		return charset{name: "UTF-8 with invalid bytes"}, true
	}
	if slices.ContainsFunc(head, undefined) {
		return charset{name: "ISO-8859-1", codec: charmap.ISO8859_1}, true
	}
	return charset{name: "Windows-1252", codec: charmap.Windows1252}, true
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
			case b < ' ' && (b < '\b' || b > '\r') && b != 0x1b:
				n.control++
			}
			continue
		}
		r, size := utf8.DecodeRune(head[i:])
		switch {
		case r != utf8.RuneError || size > 1:
			n.multibyte++
		case utf8.FullRune(head[i:]) || len(head) < sniffed: // else the head ends within a character
			n.invalid++
		}
		i += size
	}
	return n
}

// reader decodes a stream that begins with the BOM, when there is one.
func (c charset) reader(r io.Reader) io.Reader {
	if c.bom != "" {
		_, _ = io.CopyN(io.Discard, r, int64(len(c.bom))) // detect has seen it
	}
	if c.codec == nil {
		return r
	}
	return transform.NewReader(r, c.codec.NewDecoder())
}

// decode makes a whole file text, without its BOM. Text in no known charset
// keeps its bytes. It fails when encode could not bring the same bytes back.
func (c charset) decode(data []byte) (string, error) {
	data = bytes.TrimPrefix(data, []byte(c.bom))
	if c.codec == nil {
		return string(data), nil
	}
	text, err := c.codec.NewDecoder().Bytes(data)
	if err != nil {
		return "", fmt.Errorf("decode %s: %w", c.name, err)
	}
	back, err := c.codec.NewEncoder().Bytes(text)
	if err != nil || !bytes.Equal(back, data) {
		return "", fmt.Errorf("some of its bytes are not %s", c.name)
	}
	return string(text), nil
}

// encode is the way back. It fails when the charset lacks a character.
func (c charset) encode(text string) ([]byte, error) {
	if c.codec == nil {
		return []byte(c.bom + text), nil
	}
	for _, r := range text {
		if _, err := c.codec.NewEncoder().String(string(r)); err != nil {
			return nil, fmt.Errorf("%s has no character %q", c.name, r)
		}
	}
	data, err := c.codec.NewEncoder().Bytes([]byte(text))
	return append([]byte(c.bom), data...), err
}
