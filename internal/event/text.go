package event

import "strings"

// Text makes s fit for a fact: bytes that are not UTF-8 become U+FFFD.
func Text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Clip keeps the first most characters of a text, and shows that it was cut.
// Facts are bounded (seed 003 §1, rule 5).
func Clip(s string, most int) string {
	if len(s) <= most { // no fewer bytes than characters
		return s
	}
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
