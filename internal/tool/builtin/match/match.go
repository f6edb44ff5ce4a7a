// Package match finds the place in a text that an edit means, and makes the
// new text.
//
// It goes down a ladder: first the exact bytes, then with other line endings,
// then without trailing blanks, then with one difference more: all lines
// shifted by the same indentation, Unicode characters that look alike, or
// characters that are spelled out in one of the texts and escaped in the
// other. A rung below the first counts only when it leads to exactly one
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
	"slices"
	"strings"
)

// Rung is a step of the ladder.
type Rung int

// Each rung also forgives what LineEndings does, and Indentation and LookAlikes
// what TrailingBlanks does. An escape could stand for a blank, so that
// EscapedForms forgives none.
const (
	Exact Rung = iota
	LineEndings
	TrailingBlanks
	Indentation
	LookAlikes
	EscapedForms
)

// String says what the rung does not look at.
func (r Rung) String() string {
	return [...]string{"nothing", "line endings", "trailing blanks", "indentation", "look-alike characters", "escaped forms"}[r]
}

// Edit is what is wanted.
type Edit struct {
	Old, New string
	All      bool // every place instead of the only one
}

// Result is a text after an edit. Its places are in order and apart; outside
// them it is the text before.
type Result struct {
	Text   string
	Places []Place
	Rung   Rung
}

// Place is a part of a text that was replaced.
type Place struct {
	Line             int // 1-based, in the text before
	Start, End       int // bytes of the text before
	NewStart, NewEnd int // bytes of the text after
}

// ErrNoChange reports an edit that leaves the text as it is.
var ErrNoChange = errors.New("the edit changes nothing")

// AmbiguousError reports an old string that fits several places.
type AmbiguousError struct {
	Lines []int // 1-based, of each place
	More  bool  // there are more than those
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
	for _, step := range ladder(text, e) {
		found := find(text, e, step)
		switch {
		case len(found) == 0:
			continue
		case len(found) > 1 && !all(e, step[0].rung):
			return Result{}, ambiguous(text, found)
		}
		r, ok := replace(text, e, found)
		switch {
		case !ok:
			continue
		case r.Text == text:
			return Result{}, ErrNoChange
		}
		return r, nil
	}
	return Result{}, &NotFoundError{Near: nearest(text, e.Old)}
}

// all reports whether a rung may replace several places. What a reader of the
// text sees alike is alike there; below that each place would be a guess.
func all(e Edit, rung Rung) bool { return e.All && rung <= LineEndings }

// find looks for the old string in all ways of one step. The ways of a step are
// no closer to the exact text than one another, so that all places count.
func find(text string, e Edit, step []view) []spot {
	var found []spot
	for _, v := range step {
		if v.rung == Exact {
			found = findExact(text, e)
			continue
		}
		found = append(found, (&sight{text: text, edit: e, view: v}).spots()...)
	}
	if len(step) == 1 {
		return found
	}
	slices.SortStableFunc(found, func(a, b spot) int { return a.start - b.start })
	return slices.CompactFunc(found, func(a, b spot) bool { return a.start == b.start && a.end == b.end })
}

// findExact has nothing to align, unless line endings have to be kept.
func findExact(text string, e Edit) []spot {
	var in *sight
	cr := onlyCR(text)
	if strings.Contains(text+e.New, "\r") && fold(e.Old, foldEnds(cr)).text != fold(e.New, foldEnds(cr)).text {
		in = &sight{text: text, edit: e, view: view{rung: Exact, text: foldEnds(cr), old: foldEnds(cr)}, exact: true}
		in.old = fold(e.Old, in.view.old)
		in.t = in.old
	}
	var found []spot
	if e.All {
		found = make([]spot, 0, strings.Count(text, e.Old))
	}
	eachIndex(text, e.Old, e.All, func(i int) bool {
		if i > 0 && text[i] == '\n' && text[i-1] == '\r' {
			return true // half a line ending; the next step finds all of it
		}
		found = append(found, spot{in: in, start: i, end: i + len(e.Old)})
		return e.All || len(found) <= maxPlaces
	})
	return found
}

// maxPlaces bounds how many places of an ambiguous string are counted.
const maxPlaces = 1000

// eachIndex finds all places, as long as it is wanted. Overlapping ones count,
// because they are ambiguous all the same, unless every place is to be
// replaced.
func eachIndex(text, part string, apart bool, yield func(int) bool) {
	step := 1
	if apart {
		step = len(part)
	}
	for at := 0; ; {
		i := strings.Index(text[at:], part)
		if i < 0 || !yield(at+i) {
			return
		}
		at += i + step
	}
}

// replace makes the text after; ok is false when what is to be written at a
// place would be a guess.
func replace(text string, e Edit, found []spot) (r Result, ok bool) {
	var b strings.Builder
	b.Grow(len(text) + len(found)*max(0, len(e.New)-len(e.Old)))
	r = Result{Places: make([]Place, len(found))}
	line, at := 1, 0
	for i, s := range found {
		is := e.New
		if s.in != nil {
			if is, ok = s.in.rewrite(s); !ok {
				return r, false
			}
			if text[s.start:s.end] != e.Old {
				r.Rung = s.in.view.rung
			}
		}
		line += strings.Count(text[at:s.start], "\n")
		b.WriteString(text[at:s.start])
		r.Places[i] = Place{Line: line, Start: s.start, End: s.end, NewStart: b.Len(), NewEnd: b.Len() + len(is)}
		b.WriteString(is)
		line += strings.Count(text[s.start:s.end], "\n")
		at = s.end
	}
	b.WriteString(text[at:])
	r.Text = b.String()
	return r, true
}

func ambiguous(text string, found []spot) *AmbiguousError {
	e := &AmbiguousError{More: len(found) > maxPlaces}
	line, at := 1, 0
	for _, s := range found[:min(len(found), maxPlaces)] {
		line += strings.Count(text[at:s.start], "\n")
		at = s.start
		e.Lines = append(e.Lines, line)
		if s.in != nil {
			e.Rung = max(e.Rung, s.in.view.rung)
			e.More = e.More || s.in.cut
		}
	}
	return e
}
