package anthropic

import (
	"strings"
	"unicode"
)

// messageLimit bounds what a server can put into an error text.
const messageLimit = 2000

// redactor makes foreign text fit to be shown: without secrets, without
// control characters, of bounded length.
type redactor struct{ secrets *strings.Replacer }

// newRedactor leaves very short secrets alone: hiding "x" would hide the text.
func newRedactor(secrets ...string) redactor {
	var pairs []string
	for _, s := range secrets {
		if len(s) >= 4 {
			pairs = append(pairs, s, "[redacted]")
		}
	}
	return redactor{secrets: strings.NewReplacer(pairs...)}
}

func (r redactor) clean(text string) string {
	text = r.secrets.Replace(strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, text)
	text = strings.TrimSpace(text)
	if len(text) > messageLimit {
		text = strings.ToValidUTF8(text[:messageLimit], "") + " …"
	}
	return text
}
