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

// turnLimit is how many characters the results of one batch of calls hold
// together: a dozen large reads at once would else fill the model's window.
const turnLimit = 200_000

// turnFloor is what each result may hold although the batch has used up its
// room, in characters: what failed must still be told.
const turnFloor = 2_000

// room is what is left for the results of a batch.
type room struct{ left int }

// fit makes a text fit for the log and for what is left, and takes its part.
// Of one that does not fit, keep puts the whole aside and names it.
func (r *room) fit(text string, keep func(string) string) string {
	text = said(text)
	n := utf8.RuneCountInString(text)
	if most := max(r.left, turnFloor); n > most {
		hint := fmt.Sprintf("the results of these calls together exceed %d", turnLimit)
		if kept := keep(text); kept != "" {
			hint += "; read or grep " + kept
		}
		text, n = ClipTo(text, most, hint).Text, most
	}
	r.left -= n
	return text
}
