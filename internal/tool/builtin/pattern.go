package builtin

import (
	"bytes"
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
)

// pattern is a regular expression that fits within lines. There is one
// dialect, RE2 as Go has it, whichever engine searches: ripgrep gets the
// expression in a spelling that means the same to it.
type pattern struct {
	re      *regexp.Regexp
	source  string // the spelling for ripgrep
	literal []byte // what every fitting line holds; nil when nothing is known
	exact   bool   // a line that holds literal fits
}

func compilePattern(expr string) (*pattern, error) {
	if expr == "" {
		return nil, tool.Errorf(event.ToolInvalidInput, "pattern is missing.")
	}
	tree, err := syntax.Parse(expr, syntax.Perl&^syntax.OneLine)
	if err == nil {
		err = withinLines(tree)
	}
	if err != nil {
		reason := err.Error()
		var bad *syntax.Error
		if errors.As(err, &bad) {
			reason = string(bad.Code) + " at `" + bad.Expr + "`"
		}
		return nil, tool.Errorf(event.ToolInvalidInput,
			"pattern is not a regular expression (RE2): %s. Put \\ before a character that is meant literally.", reason)
	}
	canonical := tree.String()
	re, err := regexp.Compile(canonical)
	if err != nil {
		return nil, tool.Errorf(event.ToolInvalidInput, "pattern: %v.", err)
	}
	literal := required(tree)
	return &pattern{
		re: re, source: asciiBoundaries(canonical), literal: []byte(literal),
		exact: tree.Op == syntax.OpLiteral && literal != "",
	}, nil
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

// asciiBoundaries makes ripgrep's word boundaries those of RE2.
func asciiBoundaries(expr string) string {
	var b strings.Builder
	for i := 0; i < len(expr); i++ {
		if expr[i] == '\\' && i+1 < len(expr) {
			i++
			if expr[i] == 'b' || expr[i] == 'B' {
				b.WriteString(`(?-u:\` + string(expr[i]) + `)`)
				continue
			}
			b.WriteByte('\\')
		}
		b.WriteByte(expr[i])
	}
	return b.String()
}

// required is the longest text that everything the expression fits must hold.
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if s := required(sub); len(s) > len(longest) {
				longest = s
			}
		}
		return longest
	}
	return ""
}

// lines calls fits with the bounds of each fitting line, without its end.
func (p *pattern) lines(text []byte, fits func(start, end int)) {
	for at := 0; at < len(text); {
		hit := p.next(text[at:])
		if hit < 0 || at+hit >= len(text) {
			return
		}
		hit += at
		start := bytes.LastIndexByte(text[:hit], '\n') + 1
		end := lineEnd(text, hit)
		if p.exact || len(p.literal) == 0 || p.re.Match(text[start:end]) {
			fits(start, end)
		}
		at = end + 1
	}
}

// next is where the next line that can fit has its match.
func (p *pattern) next(text []byte) int {
	if len(p.literal) > 0 {
		return bytes.Index(text, p.literal)
	}
	loc := p.re.FindIndex(text)
	if loc == nil {
		return -1
	}
	return loc[0]
}

// lineEnd is where the line at an offset ends.
func lineEnd(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(text)
}
