package match

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escape is a way to write a character by others.
type escape uint8

const (
	noEscape  escape = iota
	backslash        // \n \" \\ \u00e9
	entity           // &lt; &amp; &#233;
)

// sign is what each escaped form begins with.
func (e escape) sign() rune {
	if e == entity {
		return '&'
	}
	return '\\'
}

// read reads the escaped form that s begins with; size is 0 when it is none.
func (e escape) read(s string) (is string, size int) {
	if e == entity {
		return readEntity(s)
	}
	return readBackslash(s)
}

// maxEntity is the length of the longest entity of HTML,
// &CounterClockwiseContourIntegral;.
const maxEntity = 33

func readEntity(s string) (string, int) {
	end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
	if end < 3 {
		return "", 0
	}
	form := s[:end+1]
	is := html.UnescapeString(form)
	if is == form || strings.ContainsAny(form[1:], "&") || strings.HasSuffix(is, ";") && form != "&semi;" {
		return "", 0
	}
	return is, len(form)
}

// ofLetter is what a backslash and a letter stand for in JSON and in nearly all
// languages, and what a backslash only keeps from having a meaning.
func ofLetter(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case 'b':
		return "\b"
	case 'f':
		return "\f"
	case '"', '\'', '`', '\\', '/', '$':
		return string(rune(c))
	}
	return ""
}

func readBackslash(s string) (string, int) {
	if strings.HasPrefix(s, `\r\n`) {
		return "\n", 4
	}
	if len(s) < 2 {
		return "", 0
	}
	switch s[1] {
	case 'x':
		return numbered(s, 2, 2)
	case 'U':
		return numbered(s, 2, 8)
	case 'u':
		return readUnicode(s)
	}
	is := ofLetter(s[1])
	return is, 2 * len(is)
}

func readUnicode(s string) (string, int) {
	if strings.HasPrefix(s, `\u{`) {
		end := strings.IndexByte(s[:min(len(s), 10)], '}')
		if end < 0 {
			return "", 0
		}
		is, size := numbered(s[:end], 3, end-3)
		return is, size + min(size, 1)
	}
	high, size := unit(s)
	if size == 0 || !utf16.IsSurrogate(high) {
		return numbered(s, 2, 4)
	}
	if low, n := unit(s[size:]); n > 0 {
		if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
			return string(r), size + n
		}
	}
	return "", 0
}

// unit is the UTF-16 unit of a form such as \u00e9.
func unit(s string) (r rune, size int) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return 0, 0
	}
	return rune(n), 6
}

// numbered reads the character that digits stand for.
func numbered(s string, from, digits int) (string, int) {
	if digits < 1 || len(s) < from+digits {
		return "", 0
	}
	n, err := strconv.ParseUint(s[from:from+digits], 16, 32)
	if err != nil || n == 0 || !utf8.ValidRune(rune(n)) || n > utf8.MaxRune {
		return "", 0
	}
	if digits == 2 && n >= utf8.RuneSelf {
		return "", 0 // a byte in most languages, not a character
	}
	return string(rune(n)), from + digits
}
