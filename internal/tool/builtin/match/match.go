// Package match finds the place in a text that an edit means, and makes the
// new text.
//
// It goes down a ladder: first the exact bytes, then with other line endings,
// then without trailing blanks, then with all lines shifted by the same
// indentation, then with Unicode characters that look alike taken for one
// another. A rung below the first counts only when it leads to exactly one
// place. Folding only locates: what is written is the new string, in which
// every run that it shares with the old string keeps the bytes the text has
// there, and a line that is new gets the line ending and indentation of its
// place. Nothing outside the place changes.
//
// The package is pure. Reading, encodings and writing are the tool's. Start
// reading at Apply, then fold and rewrite.
package match

import (
	"errors"
	"fmt"
	"strings"
)

// Rung is a step of the ladder.
type Rung int

// Each rung also forgives what LineEndings and TrailingBlanks do.
const (
	Exact Rung = iota
	LineEndings
	TrailingBlanks
	Indentation
	LookAlikes
)

// String says what the rung does not look at.
func (r Rung) String() string {
	return [...]string{"nothing", "line endings", "trailing blanks", "indentation", "look-alike characters"}[r]
}

// Edit is what is wanted.
type Edit struct {
	Old, New string
	All      bool // every place instead of the only one
}

// Result is a text after an edit.
type Result struct {
	Text  string
	Lines []int // of the places, 1-based, in the text before
	Rung  Rung
}

// ErrNoChange reports an edit that leaves the text as it is.
var ErrNoChange = errors.New("the edit changes nothing")

// AmbiguousError reports an old string that fits several places.
type AmbiguousError struct {
	Lines []int // 1-based
	Rung  Rung
}

func (e *AmbiguousError) Error() string { return fmt.Sprintf("fits %d places", len(e.Lines)) }

// NotFoundError reports an old string that fits nowhere.
type NotFoundError struct {
	Near *Region // the place most like it; nil when nothing is
}

func (e *NotFoundError) Error() string { return "fits no place" }

// Apply edits a text. The error is ErrNoChange, *AmbiguousError or
// *NotFoundError.
func Apply(text string, e Edit) (Result, error) {
	if e.Old == e.New || e.Old == "" {
		return Result{}, ErrNoChange
	}
	for rung := Exact; rung <= LookAlikes; rung++ {
		places := find(text, e, rung)
		switch {
		case len(places) == 0:
			continue
		case len(places) > 1 && !(e.All && rung <= LineEndings):
			return Result{}, &AmbiguousError{Lines: linesOf(text, places), Rung: rung}
		}
		r := Result{Text: replace(text, e, places), Lines: linesOf(text, places), Rung: rung}
		if r.Text == text {
			return Result{}, ErrNoChange
		}
		return r, nil
	}
	return Result{}, &NotFoundError{Near: nearest(text, e.Old)}
}

// place is where the old string is in the text.
type place struct {
	start, end int
	// write makes what comes to stand there.
	write func() string
}

func find(text string, e Edit, rung Rung) []place {
	if rung == Exact {
		return findExact(text, e)
	}
	t, old := fold(text, rung), fold(e.Old, rung)
	if old.text == "" {
		return nil
	}
	var places []place
	for _, k := range indexAll(t.text, old.text, e.All) {
		a := &alignment{text: text, t: t, k: k, old: old, edit: e, rung: rung}
		if a.fits() {
			places = append(places, place{start: a.offset(0), end: a.offset(len(old.text)), write: a.rewrite})
		}
	}
	return places
}

// findExact has nothing to align, unless line endings have to be kept.
func findExact(text string, e Edit) []place {
	verbatim := !strings.Contains(text, "\r\n") || fold(e.Old, LineEndings).text == fold(e.New, LineEndings).text
	var places []place
	for _, i := range indexAll(text, e.Old, e.All) {
		p := place{start: i, end: i + len(e.Old), write: func() string { return e.New }}
		if !verbatim {
			old := fold(e.Old, LineEndings)
			a := &alignment{text: text, base: i, t: old, old: old, edit: e, rung: LineEndings}
			p.write = a.rewrite
		}
		places = append(places, p)
	}
	return places
}

// indexAll finds all places. Overlapping ones count, because they are
// ambiguous all the same, unless every place is to be replaced.
func indexAll(text, part string, apart bool) []int {
	var found []int
	step := 1
	if apart {
		step = len(part)
	}
	for at := 0; ; {
		i := strings.Index(text[at:], part)
		if i < 0 {
			return found
		}
		found = append(found, at+i)
		at += i + step
	}
}

func replace(text string, e Edit, places []place) string {
	var b strings.Builder
	b.Grow(len(text) + len(places)*max(0, len(e.New)-len(e.Old)))
	at := 0
	for _, p := range places {
		b.WriteString(text[at:p.start])
		b.WriteString(p.write())
		at = p.end
	}
	b.WriteString(text[at:])
	return b.String()
}

func linesOf(text string, places []place) []int {
	lines := make([]int, len(places))
	line, at := 1, 0
	for i, p := range places {
		line += strings.Count(text[at:p.start], "\n")
		at = p.start
		lines[i] = line
	}
	return lines
}
