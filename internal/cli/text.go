package cli

import (
	"fmt"
	"strings"
	"unicode"
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

func hidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d')
}
