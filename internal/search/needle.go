package search

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// needle is a text that lines are searched for before the expression itself is
// tried on them.
type needle struct {
	text string // of a folded one in lower case
	fold bool   // upper and lower case are the same; text is ASCII then
	// rare is the byte of text that files have least of, and at where it is.
	rare byte
	at   int
}

// maxNeedles is how many texts are looked for at once: each is a pass of its
// own over the file.
const maxNeedles = 8

// common are the bytes that source and prose have most of, by how much.
const common = " etaoinsrlcdupmhgfby\n\t.,_()=v-\":/w0;k1'x{}2[]*#q3jz"

// commonness ranks a byte, 0 being one that is hardly there.
func commonness(b byte) int {
	if i := strings.IndexByte(common, b); i >= 0 {
		return len(common) - i
	}
	return 0
}

func newNeedle(text string, fold bool) needle {
	n := needle{text: text, fold: fold}
	if fold {
		n.text = strings.ToLower(text)
	}
	least := len(common) + 1
	for i := range len(n.text) {
		if c := commonness(n.text[i]); c < least {
			least, n.rare, n.at = c, n.text[i], i
		}
	}
	return n
}

// weight says how seldom a needle will be found in vain.
func (n needle) weight() int {
	w := min(len(n.text), 8)*8 - commonness(n.rare)
	if n.fold {
		w -= 4
	}
	return w
}

// weakest is the weight of the needle that is found most.
func weakest(needles []needle) int {
	weight := 0
	for i, n := range needles {
		if w := n.weight() - 2*len(needles); i == 0 || w < weight {
			weight = w
		}
	}
	return weight
}

// needlesOf finds texts of which one is in everything that an expression fits;
// with exact, whatever holds one fits.
func needlesOf(re *syntax.Regexp) (needles []needle, exact bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return literalNeedle(re)
	case syntax.OpCapture:
		return needlesOf(re.Sub[0])
	case syntax.OpPlus:
		return needlesOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			needles, exact = needlesOf(re.Sub[0])
			return needles, exact && re.Min == 1
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if n, _ := needlesOf(sub); n != nil && (needles == nil || weakest(n) > weakest(needles)) {
				needles = n
			}
		}
	case syntax.OpAlternate:
		exact = true
		for _, sub := range re.Sub {
			n, whole := needlesOf(sub)
			if n == nil {
				return nil, false
			}
			needles = append(slices.Clip(needles), n...)
			exact = exact && whole
		}
		return needles, exact
	}
	return needles, false
}

// literalNeedle is a literal, or the best part of one that upper and lower case
// are the same in: a part of letters that have no third form, such as the
// Kelvin sign of k.
func literalNeedle(re *syntax.Regexp) ([]needle, bool) {
	text := string(re.Rune)
	if !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError) {
		return nil, false // it fits bytes that are no UTF-8, too
	}
	if re.Flags&syntax.FoldCase == 0 {
		return []needle{newNeedle(text, false)}, true
	}
	var best []needle
	for part := range strings.FieldsFuncSeq(text, manyForms) {
		if n := []needle{newNeedle(part, true)}; best == nil || weakest(n) > weakest(best) {
			best = n
		}
	}
	return best, len(best) == 1 && len(best[0].text) == len(text)
}

// manyForms reports a character that is more than two bytes when upper and
// lower case are the same.
func manyForms(r rune) bool {
	return r >= utf8.RuneSelf || unicode.SimpleFold(unicode.SimpleFold(r)) != r
}

// seeker looks for one needle in one text.
type seeker struct {
	needle
	bytes []byte // the text
	next  int    // where it is next, at or behind where it was last asked; len(text) when nowhere
	low   int    // where the rare byte is next, in lower and in upper case
	high  int
}

func (s *seeker) reset() { s.next, s.low, s.high = -1, -1, -1 }

// from is where the needle is at an offset or behind it, or -1.
func (s *seeker) from(text []byte, at int) int {
	if s.next < at {
		s.next = s.find(text, at)
	}
	if s.next >= len(text) {
		return -1
	}
	return s.next
}

// dense is the distance at which the rare byte, met in vain, holds up more than
// it saves.
const dense = 8

func (s *seeker) find(text []byte, at int) int {
	if s.fold {
		return s.findFolded(text, at)
	}
	for vain, from := 0, at; vain < 32 || vain*dense < at-from; vain++ {
		i := s.rareFrom(text, at)
		if i < 0 || i+len(s.text) > len(text) {
			return len(text)
		}
		if text[i] == s.text[0] && string(text[i:i+len(s.text)]) == s.text { // the first byte spares most calls
			return i
		}
		at = i + 1
	}
	if i := bytes.Index(text[at:], s.bytes); i >= 0 {
		return at + i
	}
	return len(text)
}

// rareFrom is where the needle would begin for the next of its rare byte.
func (s *seeker) rareFrom(text []byte, at int) int {
	if at+s.at >= len(text) {
		return -1
	}
	i := bytes.IndexByte(text[at+s.at:], s.rare)
	if i < 0 {
		return -1
	}
	return at + i
}

// findFolded looks for the rare byte in both cases, keeping what it knows of
// the case that comes later.
func (s *seeker) findFolded(text []byte, at int) int {
	upper := s.rare
	if 'a' <= s.rare && s.rare <= 'z' {
		upper -= 'a' - 'A'
	}
	for ; ; at++ {
		s.low = indexFrom(text, at+s.at, s.rare, s.low)
		if upper == s.rare {
			s.high = len(text)
		} else {
			s.high = indexFrom(text, at+s.at, upper, s.high)
		}
		at = min(s.low, s.high) - s.at
		if at+len(s.text) > len(text) {
			return len(text)
		}
		if equalFolded(text[at:], s.text) {
			return at
		}
	}
}

// indexFrom is where a byte is at an offset or behind it, or the length of the
// text. What was known before is taken when it still holds.
func indexFrom(text []byte, at int, b byte, known int) int {
	if known >= at {
		return known
	}
	if at >= len(text) {
		return len(text)
	}
	if i := bytes.IndexByte(text[at:], b); i >= 0 {
		return at + i
	}
	return len(text)
}

func equalFolded(text []byte, lower string) bool {
	for i := range len(lower) {
		b := text[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != lower[i] {
			return false
		}
	}
	return true
}
