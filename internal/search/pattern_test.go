package search

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fitting are the numbers of the lines that fit, as the matcher has it.
func fitting(m *matcher, text []byte) []int {
	var lines []int
	m.lines(text, func(start, end int) bool {
		if start > 0 && text[start-1] != '\n' || end < len(text) && text[end] != '\n' {
			panic(fmt.Sprintf("%d to %d is no line of %q", start, end, text))
		}
		lines = append(lines, bytes.Count(text[:start], []byte("\n")))
		return true
	})
	return lines
}

// judged are they as Go's own engine has it, line by line.
func judged(re *regexp.Regexp, text []byte) []int {
	var lines []int
	for i, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		if re.Match(line) && len(text) > 0 {
			lines = append(lines, i)
		}
	}
	return lines
}

// agree holds every way to find lines to the answers of Go's engine.
func agree(t interface {
	Fatalf(format string, args ...any)
}, expr string, text []byte,
) {
	p, err := Compile(expr)
	if err != nil {
		return
	}
	want := judged(p.re, text)
	if got := fitting(p.matcher(), text); !slices.Equal(got, want) {
		t.Fatalf("%q in %q: lines %v, want %v (needles %v)", expr, text, got, want, p.needles)
	}
	bare := *p
	bare.needles, bare.exact = nil, false
	if tree, err := syntax.Parse(expr, syntax.Perl&^syntax.OneLine); err == nil && withinLines(tree) == nil {
		bare.machine = newMachine(tree)
		all, exact := needlesOf(tree)
		some := *p
		some.needles, some.exact, some.machine = all, exact, bare.machine
		if got := fitting(some.matcher(), text); len(all) > 0 && !slices.Equal(got, want) {
			t.Fatalf("%q in %q: lines %v by %v, want %v", expr, text, got, all, want)
		}
	}
	if got := fitting(bare.matcher(), text); !slices.Equal(got, want) {
		t.Fatalf("%q in %q: lines %v by the automaton, want %v", expr, text, got, want)
	}
	bare.machine = nil
	if got := fitting(bare.matcher(), text); !slices.Equal(got, want) {
		t.Fatalf("%q in %q: lines %v by RE2 over many lines, want %v", expr, text, got, want)
	}
}

var someExpressions = []string{
	"foo|bar", "a{2}", `\bx\b`, "(?i)ABC", "(?i)kelvin|straße", `^\s*$`, `[^a]b`, "ü", `\w+é`, `\d`, "x*", "foo$", `^b`, `\Bx`, `.b.`, "a.?b", `\.`,
	`interface{}`, `[[:alpha:]]\z`, "(?s)a.c", `\x{e9}`, "-e", `(foo)+bar{1,2}`, `(?:a|b|ab)(?:c|bcd)`, `\Aa`, `^$`, `$^`, "$", `a$|^b`, `[^\x00-\x7f]`, `\x{fffd}`,
	`(?i)[k-m]s`, `\b`, `\B`, `(a*)*b`, `error.*\berr\b`, `\pL+x`, `[a-c]\b[^a-c]`, "é|\u212a", `(?i)needle(s|x)`, "foo|bar|interface|(?i)Abe", "(?i)error|straw", "interface", `fo(o|)`, "",
}

func FuzzPattern(f *testing.F) {
	for i, expr := range someExpressions {
		f.Add(expr, []byte("foo bar\naa x\n\nAbc ü é 9\ninterface{} . -e\n\t\xe9 \xff\xfe foo\nkelvin K\u212a sS\u017f\nerror b err\n"+strings.Repeat("a", i)))
	}
	f.Fuzz(func(t *testing.T, expr string, text []byte) {
		if len(expr) < 100 && len(text) < 2000 {
			agree(t, expr, text)
		}
	})
}

func TestEveryWayToFindLinesGivesTheSame(t *testing.T) {
	pieces := []string{
		"a", "b", "foo", "bar", "K", "s", "é", "\u212a", ".", ".*", "x+", "[ab]", "[^a]", `\w`, `\W`, `\d`, `\s`, `\b`, `\B`, "^", "$", "|", "(?i)", "(?:ab)?", "a{2,3}",
		"(foo|bar)", "(a|b)*", `\x{fffd}`, "[^\\x00-\\x7f]", "_", "-",
	}
	words := []string{"a", "b", "ab", "foo", "FOO", "bar", "k", "K", "\u212a", "ſ", "é", "9", "_", "-", " ", " ", "\n", "\n", "\xe9", "\xff", "\x00", "x", "\t"}
	join := func(list []string) *rapid.Generator[string] {
		return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(list), 0, 12), func(p []string) string { return strings.Join(p, "") })
	}
	expressions, texts := join(pieces), join(words)
	rapid.Check(t, func(t *rapid.T) {
		expr := rapid.OneOf(expressions, rapid.SampledFrom(someExpressions)).Draw(t, "expr")
		for range 10 {
			agree(t, expr, []byte(texts.Draw(t, "text")))
		}
	})
}

// An expression with more states than there is room for is still right.
func TestAnAutomatonThatIsFullStillAnswers(t *testing.T) {
	text := make([]byte, 0, 200_000)
	for i := range 20_000 {
		text = append(text, "ab"[(i*i+i/7)%2], "ba"[(i*i*i/3)%2])
		if i%97 == 0 {
			text = append(text, '\n')
		}
	}
	for _, expr := range []string{`[ab]*a[ab]{11}$`, `(a|b)*a(a|b){14}c`, `(?:x{1,300}){1,3}`} {
		p, err := Compile(expr)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fitting(p.matcher(), text), judged(p.re, text); !slices.Equal(got, want) {
			t.Errorf("%s: %d lines, want %d", expr, len(got), len(want))
		}
	}
}
