package spill

import (
	"fmt"
	"unicode/utf8"
)

// Text is a text as a result shows it: whole up to a limit, else the first 60%
// and the last 40% of the limit with a mark between them that counts what is
// left out and names the file that has it. It must be valid UTF-8, each piece
// of it.
type Text struct {
	limit int
	store *Store // nil keeps no file

	head, tail           []byte
	headChars, tailChars int
	chars                int64 // of all the text
	file                 *File
	failed               bool // no file could be begun
}

// NewText is an empty text that shows at most limit characters.
func NewText(limit int, store *Store) *Text { return &Text{limit: limit, store: store} }

func (t *Text) maxHead() int { return t.limit * 6 / 10 }
func (t *Text) maxTail() int { return t.limit * 4 / 10 }

// Append adds a piece.
func (t *Text) Append(text []byte) {
	if len(text) == 0 {
		return
	}
	n := utf8.RuneCount(text)
	t.chars += int64(n)
	rest, left := t.fillHead(text, n)
	t.tail, t.tailChars = append(t.tail, rest...), t.tailChars+left
	if t.chars <= int64(t.limit) {
		return
	}
	if t.file != nil {
		t.file.Write(text)
	} else {
		t.begin()
	}
	if t.tailChars >= 2*t.maxTail() { // moving seldom makes each byte move once
		t.shorten()
	}
}

// fillHead takes what fits into the head. It returns what does not, and how
// many characters that are.
func (t *Text) fillHead(text []byte, chars int) (rest []byte, left int) {
	room := t.maxHead() - t.headChars
	if room <= 0 {
		return text, chars
	}
	at, taken := len(text), chars
	if chars > room {
		at, taken = 0, room
		for range room {
			_, size := utf8.DecodeRune(text[at:])
			at += size
		}
	}
	t.head, t.headChars = append(t.head, text[:at]...), t.headChars+taken
	return text[at:], chars - taken
}

// begin writes what came so far, which is the head and the tail, to a file.
func (t *Text) begin() {
	if t.store == nil || t.failed {
		return
	}
	file, err := t.store.Create()
	if err != nil {
		t.failed = true
		return
	}
	t.file = file
	t.file.Write(t.head)
	t.file.Write(t.tail)
}

// shorten keeps the characters at the end that a result shows.
func (t *Text) shorten() {
	at := len(t.tail)
	for n := min(t.tailChars, t.maxTail()); n > 0; n-- {
		_, size := utf8.DecodeLastRune(t.tail[:at])
		at -= size
	}
	t.tail = t.tail[:copy(t.tail, t.tail[at:])]
	t.tailChars = min(t.tailChars, t.maxTail())
}

// Chars counts the characters so far.
func (t *Text) Chars() int64 { return t.chars }

// Close ends the text and returns what a result shows of it, and the path of
// the file that holds all of it, "" when there is none. printed is how many
// bytes the text was made of.
func (t *Text) Close(printed int64) (shown, path string) {
	if t.chars <= int64(t.limit) {
		return string(t.head) + string(t.tail), ""
	}
	t.shorten()
	hint := fmt.Sprintf("%d bytes in all", printed)
	if t.file != nil {
		err := t.file.Close()
		size, cut := t.file.Size()
		switch path = t.file.Path(); {
		case size == 0:
			path = "" // there is nothing to read
		case cut || err != nil:
			hint += fmt.Sprintf("; read or grep %s, which has the first %d bytes of the text", path, size)
		default:
			hint += "; read or grep " + path
		}
	}
	omitted := t.chars - int64(t.headChars+t.tailChars)
	return fmt.Sprintf("%s\n[… %d characters left out; %s …]\n%s", t.head, omitted, hint, t.tail), path
}
