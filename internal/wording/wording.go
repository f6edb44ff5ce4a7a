// Package wording is how counts and names are written for a reader.
//
// The package is pure. There is one function for each kind of thing.
package wording

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Count makes a count readable: "1 line", "3 lines".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		noun += "e"
	}
	if base, ok := strings.CutSuffix(noun, "y"); ok {
		noun = base + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Name is a path in a list, one to a line: quoted when it would not be one
// line of text.
func Name(path string) string {
	if !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
		return strconv.Quote(path)
	}
	return path
}

// Prefix is the first n characters of a text.
func Prefix(text []byte, n int) []byte {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return text[:at:at]
}
