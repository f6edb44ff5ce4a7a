// Package charset tells how the bytes of a file are text, and takes them to
// UTF-8 and back.
//
// It promises that what Decode accepts Encode brings back byte for byte, so
// that an edit elsewhere in a file cannot damage it. The package is pure. Start
// reading at Detect.
package charset

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

// Sniff is how many bytes of a file decide how it is read.
const Sniff = 64 << 10

// Charset is how a file's bytes are text.
type Charset struct {
	Name  string // "" for UTF-8
	bom   string
	codec encoding.Encoding // nil when the bytes are taken as they are
}

// Marked is the charset of a text that begins with a byte order mark.
func Marked(head []byte) (c Charset, ok bool) {
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return Charset{bom: "\xef\xbb\xbf"}, true
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return Charset{"UTF-16LE", "\xff\xfe", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}, true
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return Charset{"UTF-16BE", "\xfe\xff", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}, true
	}
	return Charset{}, false
}

// Detect tells a file's charset by its first bytes; ok is false when they are
// no text.
func Detect(head []byte) (c Charset, ok bool) {
	if c, ok := Marked(head); ok {
		return c, true
	}
	n := census(head)
	switch {
	case n.nul > 0, n.control*10 > len(head)+64, n.invalid*3 > len(head): // a few controls make no binary file
		return Charset{}, false
	case n.invalid == 0:
		return Charset{}, true
	case n.multibyte > n.invalid: // UTF-8 with some damage
		return Charset{Name: "UTF-8 with invalid bytes"}, true
	}
	if slices.ContainsFunc(head, undefined) {
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
			case b < ' ' && (b < '\b' || b > '\r') && b != 0x1b:
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

// Reader decodes a stream that begins with the BOM, when there is one.
func (c Charset) Reader(r io.Reader) io.Reader {
	if c.bom != "" {
		_, _ = io.CopyN(io.Discard, r, int64(len(c.bom))) // Detect has seen it
	}
	if c.codec == nil {
		return r
	}
	return transform.NewReader(r, c.codec.NewDecoder())
}

// Text makes a whole file text as well as it can, without its BOM. Text in no
// known charset keeps its bytes.
func (c Charset) Text(data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, []byte(c.bom))
	if c.codec == nil {
		return data, nil
	}
	return c.codec.NewDecoder().Bytes(data)
}

// Decode makes a whole file text, without its BOM. Text in no known charset
// keeps its bytes. It fails when Encode could not bring the same bytes back.
func (c Charset) Decode(data []byte) (string, error) {
	data = bytes.TrimPrefix(data, []byte(c.bom))
	if c.codec == nil {
		return string(data), nil
	}
	text, err := c.codec.NewDecoder().Bytes(data)
	if err != nil {
		return "", fmt.Errorf("decode %s: %w", c.Name, err)
	}
	back, err := c.codec.NewEncoder().Bytes(text)
	if err != nil || !bytes.Equal(back, data) {
		return "", fmt.Errorf("some of its bytes are not %s", c.Name)
	}
	return string(text), nil
}

// Encode is the way back. It fails when the charset lacks a character.
func (c Charset) Encode(text string) ([]byte, error) {
	if c.codec == nil {
		return []byte(c.bom + text), nil
	}
	for _, r := range text {
		if _, err := c.codec.NewEncoder().String(string(r)); err != nil {
			return nil, fmt.Errorf("%s has no character %q", c.Name, r)
		}
	}
	data, err := c.codec.NewEncoder().Bytes([]byte(text))
	return append([]byte(c.bom), data...), err
}
