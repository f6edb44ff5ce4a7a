package search

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// Pattern is a regular expression that fits within lines. Its dialect is RE2 as
// Go has it, a byte that is no UTF-8 being one character.
type Pattern struct {
	re      *regexp.Regexp
	needles []needle // one of them is in every line that fits; none when nothing is known
	exact   bool     // a line that holds a needle fits
	machine *machine // nil when the expression is too large for one
	wide    bool     // it names characters that not every charset writes as ASCII does
}

// PatternError is a text that is no regular expression.
type PatternError struct{ Reason string }

func (e *PatternError) Error() string { return "compile pattern: " + e.Reason }

// Compile prepares an expression. It fails with a *PatternError.
func Compile(expr string) (*Pattern, error) {
	tree, err := syntax.Parse(expr, syntax.Perl&^syntax.OneLine)
	if err == nil {
		err = withinLines(tree)
	}
	if err != nil {
		return nil, &PatternError{reason(err)}
	}
	re, err := regexp.Compile(tree.String())
	if err != nil {
		return nil, &PatternError{err.Error()}
	}
	p := &Pattern{re: re, wide: namesWide(tree)}
	p.needles, p.exact = needlesOf(tree)
	if len(p.needles) > maxNeedles {
		p.needles, p.exact = nil, false
	}
	if !p.exact {
		p.machine = newMachine(tree)
	}
	return p, nil
}

// reason says what is wrong with an expression. What other dialects have is
// named, since to write it in another way is of no use.
func reason(err error) string {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return err.Error()
	}
	begins := func(list ...string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.HasPrefix(bad.Expr, s) })
	}
	text := string(bad.Code)
	switch {
	case begins("(?=", "(?!", "(?<=", "(?<!"):
		text = "RE2 has no look-around"
	case bad.Code == syntax.ErrInvalidEscape && begins(`\1`, `\2`, `\3`, `\4`, `\5`, `\6`, `\7`, `\8`, `\9`, `\k`, `\g`):
		text = "RE2 has no backreferences"
	}
	if bad.Expr != "" {
		text += " at `" + bad.Expr + "`"
	}
	return text
}

// withinLines keeps an expression from fitting across a line end, so that it
// can be tried on many lines at once.
func withinLines(re *syntax.Regexp) error {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r == '\n' {
				return errors.New("it holds a line feed, but a match is within one line")
			}
		}
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op = syntax.OpEndLine
		re.Flags &^= syntax.WasDollar
	case syntax.OpCharClass:
		re.Rune = withoutLineFeed(re.Rune)
		if len(re.Rune) == 0 {
			re.Op = syntax.OpNoMatch
		}
	}
	for _, sub := range re.Sub {
		if err := withinLines(sub); err != nil {
			return err
		}
	}
	return nil
}

// namesWide reports an expression with a character beyond ASCII, other than the
// one that bytes which are no text are taken for. A class of all but some
// characters names none.
func namesWide(re *syntax.Regexp) bool {
	wide := func(r rune) bool { return r >= utf8.RuneSelf && r != utf8.RuneError }
	switch re.Op {
	case syntax.OpLiteral:
		if slices.ContainsFunc(re.Rune, wide) {
			return true
		}
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if wide(re.Rune[i]) {
				return true
			}
		}
	}
	return slices.ContainsFunc(re.Sub, namesWide)
}

// withoutLineFeed works on pairs: the first and last character of each range.
func withoutLineFeed(ranges []rune) []rune {
	var out []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if lo > '\n' || hi < '\n' {
			out = append(out, lo, hi)
			continue
		}
		if lo < '\n' {
			out = append(out, lo, '\n'-1)
		}
		if hi > '\n' {
			out = append(out, '\n'+1, hi)
		}
	}
	return out
}
