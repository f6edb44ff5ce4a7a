// Package charset tells how the bytes of a file are text, and takes them to
// UTF-8 and back.
//
// It promises that what Decode accepts Encode brings back byte for byte, so
// that an edit elsewhere in a file cannot damage it. Where it cannot tell, it
// takes bytes as they are rather than guess. The package is pure. Start reading
// at Detect.
package charset

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// Charset is how a file's bytes are text.
type Charset struct {
	Name  string // "" for UTF-8
	bom   string
	codec encoding.Encoding // nil when the bytes are taken as they are
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
	text, err := c.Text(data)
	if err != nil {
		return "", fmt.Errorf("decode %s: %w", c.Name, err)
	}
	if c.codec == nil {
		return string(text), nil
	}
	back, err := c.codec.NewEncoder().Bytes(text)
	if err != nil || !bytes.Equal(back, bytes.TrimPrefix(data, []byte(c.bom))) {
		return "", fmt.Errorf("some of its bytes are not %s", c.Name)
	}
	return string(text), nil
}

// Encode is the way back. It fails when the charset lacks a character.
func (c Charset) Encode(text string) ([]byte, error) {
	if c.codec == nil {
		return []byte(c.bom + text), nil
	}
	data, err := c.codec.NewEncoder().Bytes([]byte(text))
	if err == nil {
		return append([]byte(c.bom), data...), nil
	}
	for _, r := range text {
		if r < utf8.RuneSelf {
			continue
		}
		if _, err := c.codec.NewEncoder().String(string(r)); err != nil {
			return nil, fmt.Errorf("%s has no character %q", c.Name, r)
		}
	}
	return nil, fmt.Errorf("encode %s: %w", c.Name, err)
}
