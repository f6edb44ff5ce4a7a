package tool

import (
	"fmt"
	"unicode/utf8"
)

// ResultLimit is how many characters of a command's output a result holds
// (contract §8).
const ResultLimit = 30_000

// Clipped is a text within a limit.
type Clipped struct {
	Text    string
	Omitted int // characters left out
}

// Clip keeps the first 60% and the last 40% of limit characters, at borders
// of characters, and says in between how much is missing.
func Clip(text string, limit int) Clipped {
	return ClipTo(text, limit, "")
}

// ClipTo is Clip with a hint where the whole text is.
func ClipTo(text string, limit int, hint string) Clipped {
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return Clipped{Text: text}
	}
	head := forward(text, limit*6/10)
	tail := backward(text, limit*4/10)
	omitted := n - limit*6/10 - limit*4/10
	if hint != "" {
		hint = "; " + hint
	}
	marker := fmt.Sprintf("\n[… %d characters left out%s …]\n", omitted, hint)
	return Clipped{Text: text[:head] + marker + text[tail:], Omitted: omitted}
}

// forward is the offset after n characters.
func forward(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// backward is the offset before the last n characters.
func backward(s string, n int) int {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return at
}
