package search

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"

	"github.com/khaelor/khaelor/internal/charset"
)

// unmarked16 knows UTF-16 without a mark. Most binary files are told by how few
// zeros they have.
func unmarked16(head []byte) (charset.Charset, bool) {
	if 4*bytes.Count(head, []byte{0}) <= len(head) {
		return charset.Charset{}, false
	}
	return charset.Detect(head[:min(len(head), charset.Sniff)])
}

// foreign reports text that is not UTF-8. Unless it is the last, its last
// character may be cut.
func foreign(text []byte, last bool) bool {
	for n := 1; !last && n < utf8.UTFMax && n <= len(text); n++ {
		if end := len(text) - n; utf8.RuneStart(text[end]) {
			if !utf8.FullRune(text[end:]) {
				text = text[:end]
			}
			break
		}
	}
	return !utf8.Valid(text)
}

// decoding takes the lines of a text that are not UTF-8 for those of another
// charset, in which a line feed is one byte. Files of mixed lines exist.
type decoding struct {
	from *bufio.Reader
	set  charset.Charset
	text []byte // decoded and not yet read
}

func decoded(from io.Reader, set charset.Charset) io.Reader {
	return &decoding{from: bufio.NewReaderSize(from, windowSize), set: set}
}

func (d *decoding) Read(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		if len(d.text) == 0 {
			d.text, err = d.from.ReadSlice('\n')
			if err == bufio.ErrBufferFull { // a character may be cut there: rather that than no bound
				err = nil
			}
			d.text = legible(d.text, d.set)
		}
		copied := copy(p[n:], d.text)
		n, d.text = n+copied, d.text[copied:]
	}
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

// legible is a line as text.
func legible(line []byte, set charset.Charset) []byte {
	if utf8.Valid(line) {
		return line
	}
	if text, err := set.Text(line); err == nil {
		return text
	}
	return line
}
