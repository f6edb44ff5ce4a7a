package match

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// glyph reads the character that s begins with, together with the marks on it
// and what cannot be seen after it, or before it where a line starts. What is
// the same in Unicode's eyes, or looks so, has the same glyph.
func glyph(s string, lineStart bool) (is string, size int) {
	skip := 0
	if lineStart && s[0] >= utf8.RuneSelf {
		skip = invisible(s)
		if skip == len(s) || s[skip] == '\n' || s[skip] == '\r' {
			skip = 0 // the line has nothing to see: then this counts
		}
	}
	end := skip + cluster(s[skip:])
	is = s[skip:end]
	if end+1 < len(s) && s[end] >= utf8.RuneSelf {
		end += invisible(s[end:])
	}
	if len(is) == 1 {
		return is, end
	}
	is = norm.NFC.String(is)
	if r, n := utf8.DecodeRuneInString(is); n == len(is) {
		is = plain(r, is)
	}
	return is, end
}

// cluster is the length of a character and the marks that combine with it.
func cluster(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n < 2 {
		return n
	}
	for n < len(s) && s[n] >= utf8.RuneSelf && !norm.NFC.PropertiesString(s[n:]).BoundaryBefore() {
		_, size := utf8.DecodeRuneInString(s[n:])
		if size < 2 {
			break
		}
		n += size
	}
	return n
}

// invisible is the length of what s begins with and nobody sees: soft hyphens,
// joiners, marks of direction, and the selector that makes a sign an emoji.
func invisible(s string) int {
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		switch r {
		case '\u00ad', '\u200b', '\u200c', '\u200d', '\u200e', '\u200f', '\u2060', '\ufe0e', '\ufe0f', '\ufeff':
			n += size
			continue
		}
		break
	}
	return n
}

// plain is what models write for r; was stands for itself.
func plain(r rune, was string) string {
	switch r {
	case '‘', '’', '‚', '‛', '′', '´', 'ʼ', '＇':
		return "'"
	case '“', '”', '„', '‟', '″', '＂':
		return `"`
	case '‐', '‑', '‒', '–', '—', '―', '−', '－':
		return "-"
	case '\u00a0', '\u202f', '\u205f', '\u3000':
		return " "
	case '…':
		return "..."
	case '․':
		return "."
	case '·', '•', '∙', '⋅': // interpunct, bullet, operators
		return "·"
	case 'µ': // the sign; the other is the letter
		return "μ"
	case 'ﬀ', 'ﬁ', 'ﬂ', 'ﬃ', 'ﬄ':
		return norm.NFKC.String(was)
	case '／', '∕', '⁄':
		return "/"
	}
	switch {
	case r >= '\u2000' && r <= '\u200a': // spaces of all widths
		return " "
	case r >= '！' && r <= '～': // ASCII as wide as an ideograph
		return string(r - '！' + '!')
	}
	return was
}
