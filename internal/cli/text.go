package cli

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// visible makes text safe to show: characters that would move the cursor,
// change colours or hide what stands there become readable escapes. Line ends
// and tabs stay.
func visible(text string) string {
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&b, "\\u{%x}", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// safeJSON spells out in JSON the characters that visible does: the encoder
// leaves those from U+007F on as they are.
func safeJSON(raw []byte) []byte {
	if bytes.IndexFunc(raw, bare) < 0 {
		return raw
	}
	var b []byte
	for _, r := range string(raw) {
		switch {
		case !bare(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			b = fmt.Appendf(b, "\\u%04x\\u%04x", hi, lo)
		default:
			b = fmt.Appendf(b, "\\u%04x", r)
		}
	}
	return b
}

// bare says that a character is not to be shown as it is; those below U+007F
// are white space between the tokens.
func bare(r rune) bool { return r >= 0x7f && hidden(r) }

func hidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d')
}
