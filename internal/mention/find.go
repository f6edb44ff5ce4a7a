package mention

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/khaelor/khaelor/internal/event"
)

// Word is a mention in a text.
type Word struct {
	Start, End int         // bytes of the text, from the @ on
	Path       string      // as written
	Lines      *event.Span // nil for the whole file
	Wrong      bool        // it names lines that cannot be, such as 20-10
}

// pathLimit is how long a path may be, in bytes (PATH_MAX of Linux).
const pathLimit = 4096

// linesOf are the lines at the end of a mention, as a path of grep or an address
// of a forge has them.
var linesOf = regexp.MustCompile(`^(?::|#L)(\d+)(?:-L?(\d+))?`)

// Find returns the mentions in a text, in order. What names nothing that exists
// is no mention: an @ has other uses. Of several readings the longest holds, so
// that exists decides whether a comma is of the path or of the sentence.
func Find(text string, exists func(path string) bool) []Word {
	seen := memory{exists: exists, known: map[string]bool{}}
	var words []Word
	for at := 0; at < len(text); {
		next := strings.IndexByte(text[at:], '@')
		if next < 0 {
			break
		}
		at += next
		w, ok := Word{}, false
		if begins(text[:at]) {
			w, ok = wordAt(text[at+1:], seen.next())
		}
		if !ok {
			at++
			continue
		}
		w.Start, w.End = at, at+1+w.End
		words = append(words, w)
		at = w.End
	}
	return words
}

// Bounds of what is looked for in one text: a pasted log may be full of @.
const (
	looks     = 2000 // names
	mostWords = 500  // of words with a name that was not met before
)

// memory asks once about each name. Beyond the bounds only names that it knows
// are there.
type memory struct {
	exists func(path string) bool
	known  map[string]bool
	words  int
}

// next is what exists for one more word.
func (m *memory) next() func(path string) bool {
	may, counted := m.words < mostWords, false
	return func(path string) bool {
		is, met := m.known[path]
		if met || !may || len(m.known) == looks {
			return is
		}
		if !counted {
			m.words, counted = m.words+1, true
		}
		is = m.exists(path)
		m.known[path] = is
		return is
	}
}

// begins says that a mention can follow a text: not within a word, so that an
// e-mail address is none.
func begins(before string) bool {
	r, size := utf8.DecodeLastRuneInString(before)
	switch {
	case size == 0 || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
		return true // these are written without blanks
	case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
		return false
	}
	return !strings.ContainsRune("_.-+/\\@%$&~!#*=^|", r)
}

// wordAt reads a mention whose text begins behind the @. Its End is counted
// from there.
func wordAt(text string, exists func(string) bool) (Word, bool) {
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		end := strings.IndexAny(quoted, "\"\n")
		if end <= 0 || quoted[end] != '"' || end > pathLimit || !exists(quoted[:end]) {
			return Word{}, false
		}
		return withLines(Word{Path: quoted[:end], End: end + 2}, quoted[end+1:]), true
	}
	token := text[:min(len(text), pathLimit+1)]
	if end := strings.IndexFunc(token, unicode.IsSpace); end >= 0 {
		token = token[:end]
	}
	if len(token) > pathLimit {
		return Word{}, false
	}
	for _, end := range ends(token) {
		path := token[:end]
		if strings.ContainsFunc(path, isWord) && exists(path) {
			return withLines(Word{Path: path, End: end}, token[end:]), true
		}
	}
	return Word{}, false
}

func isWord(r rune) bool { return r == '/' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// tries bounds how many readings of a mention are looked for.
const tries = 32

// ends are the places where a path can end in a token, the last first.
func ends(token string) []int {
	list := []int{}
	trailing := true // nothing but punctuation follows
	for at := len(token); at > 0 && len(list) < tries; {
		after, _ := utf8.DecodeRuneInString(token[at:])
		before, size := utf8.DecodeLastRuneInString(token[:at])
		switch {
		case after == '*', before == '/' && !trailing && strings.ContainsRune("?[{", after): // a pattern names no file
		case at == len(token), trailing && unicode.IsPunct(after), parts(after),
			after >= utf8.RuneSelf && unicode.IsLetter(after) && before < utf8.RuneSelf:
			list = append(list, at)
		}
		trailing = trailing && unicode.IsPunct(before) && before != '/'
		at -= size
	}
	return list
}

// parts says that a path may end before this character, whatever follows.
func parts(r rune) bool {
	return strings.ContainsRune(",;:!?'\"`()[]{}<>#’”»…、。，；：！？（）「」『』【】", r)
}

// withLines adds the lines that follow a path.
func withLines(w Word, rest string) Word {
	m := linesOf.FindStringSubmatch(rest)
	if m == nil {
		return w
	}
	w.End += len(m[0])
	first, err := strconv.Atoi(m[1])
	last := first
	if m[2] != "" && err == nil {
		last, err = strconv.Atoi(m[2])
	}
	if err != nil || first < 1 || last < first {
		w.Wrong = true
		return w
	}
	w.Lines = &event.Span{Start: first, End: last}
	return w
}
