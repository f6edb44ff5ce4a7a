package match

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestAnEditFindsItsPlaceAndKeepsTheRest(t *testing.T) {
	tests := map[string]struct {
		text string
		edit Edit
		want string
		rung Rung
	}{
		"exact":                    {"a b c", Edit{Old: "b", New: "x"}, "a x c", Exact},
		"exact keeps dollar signs": {"a b c", Edit{Old: "b", New: "$&$1${0}"}, "a $&$1${0} c", Exact},
		"exact deletes":            {"a\nb\nc\n", Edit{Old: "b\n", New: ""}, "a\nc\n", Exact},
		"all places":               {"a a aa", Edit{Old: "a", New: "aa", All: true}, "aa aa aaaa", Exact},

		"new lines take the ending of their place": {
			"one\r\ntwo\r\n", Edit{Old: "one", New: "1\n1.5"}, "1\r\n1.5\r\ntwo\r\n", Exact,
		},
		"line feeds asked for in a file with CRLF": {
			"one\r\ntwo\r\nthree\r\n", Edit{Old: "two\nthree", New: "2\n3"}, "one\r\n2\r\n3\r\n", LineEndings,
		},
		"a line feed before the first line, in a file with CRLF": {
			"one\r\ntwo\r\n", Edit{Old: "\ntwo", New: ""}, "one\r\n", LineEndings,
		},
		"a carriage return that has to go": {
			"one\r\ntwo\r\n", Edit{Old: "one\r", New: "one"}, "one\ntwo\r\n", Exact,
		},
		"CRLF asked for in a file with line feeds": {
			"one\ntwo\nthree\n", Edit{Old: "one\r\ntwo", New: "1\r\n2\r\n2.5"}, "1\n2\n2.5\nthree\n", LineEndings,
		},
		"each line of a mixed file keeps its own ending": {
			"a\r\nb\nc\r\n", Edit{Old: "a\nb\nc", New: "a\nB\nc"}, "a\r\nB\nc\r\n", LineEndings,
		},
		"the exact old text with CRLF, the new one without": {
			"a\r\nb\r\n", Edit{Old: "a\r\nb", New: "a\nB"}, "a\r\nB\r\n", Exact,
		},
		"changing nothing but the line ending": {
			"a\r\nb\r\n", Edit{Old: "a\r\nb", New: "a\nb"}, "a\nb\r\n", Exact,
		},
		"all places across CRLF": {
			"a\r\nb\r\na\r\nb\r\n", Edit{Old: "a\nb", New: "a\nc", All: true}, "a\r\nc\r\na\r\nc\r\n", LineEndings,
		},

		"trailing blanks in the file stay": {
			"foo  \nbar\t\nbaz\n", Edit{Old: "foo\nbar\n", New: "foo\nBAR\n"}, "foo  \nBAR\t\nbaz\n", TrailingBlanks,
		},
		"trailing blanks that only the old text has": {
			"foo\nbar\n", Edit{Old: "foo  \nbar \t", New: "foo  \nBAR \t"}, "foo\nBAR\n", TrailingBlanks,
		},

		"blanks for tabs": {
			"all:\n\tcc -c a.c\n\tcc b.c\n",
			Edit{Old: "        cc -c a.c\n", New: "        cc -O2 -c a.c\n        strip a.o\n"},
			"all:\n\tcc -O2 -c a.c\n\tstrip a.o\n\tcc b.c\n", Indentation,
		},
		"tabs for blanks": {
			"if x:\n    if y:\n        go()\n",
			Edit{Old: "\tif y:\n\t\tgo()", New: "\tif y:\n\t\tif z:\n\t\t\tgo()"},
			"if x:\n    if y:\n        if z:\n            go()\n", Indentation,
		},
		"indented less than the file": {
			"{\n\t\tif a {\n\n\t\t\tb\n\t\t}\n}\n",
			Edit{Old: "if a {\n\n\tb\n}", New: "if a {\n\n\tb\n\tc\n\n}"},
			"{\n\t\tif a {\n\n\t\t\tb\n\t\t\tc\n\n\t\t}\n}\n", Indentation,
		},
		"indented more than the file": {
			"a\n  b\n", Edit{Old: "    a\n      b", New: "    a\n      c"}, "a\n  c\n", Indentation,
		},

		"straight quotes for curly ones": {
			"say “hi” — ok\n", Edit{Old: `say "hi" - ok`, New: `say "hello" - ok`}, "say “hello” — ok\n", LookAlikes,
		},
		"a blank for a no-break space, across CRLF": {
			"10\u00a0km\r\nb\r\n", Edit{Old: "10 km\nb", New: "11 km\nb"}, "11\u00a0km\r\nb\r\n", LookAlikes,
		},
		"a carriage return alone ends a line where no line feed does": {
			"one\rtwo\rthree\r", Edit{Old: "two\nthree", New: "2\n2.5\nthree"}, "one\r2\r2.5\rthree\r", LineEndings,
		},
		"a new line in a file of carriage returns": {
			"one\rtwo\r", Edit{Old: "one", New: "one\n1.5"}, "one\r1.5\rtwo\r", Exact,
		},
		"a carriage return among line feeds is a character": {
			"50%\r100%\ndone\n", Edit{Old: "50%\r100%\n", New: "100%\n"}, "100%\ndone\n", Exact,
		},
		"CRLF in the new text for a file of line feeds": {
			"one\ntwo\n", Edit{Old: "one", New: "1\r\n1.5"}, "1\n1.5\ntwo\n", Exact,
		},
		"CRLF in the new text where the file has no line end": {
			"one", Edit{Old: "one", New: "1\r\n2"}, "1\r\n2", Exact,
		},
		"a new line of a mixed file takes the ending of its neighbour": {
			"a\nb\nc\r\nd\r\n", Edit{Old: "c", New: "c\nX"}, "a\nb\nc\r\nX\r\nd\r\n", Exact,
		},
		"all places of a mixed file": {
			"a\nb\n-\na\r\nb\r\n", Edit{Old: "a\nb", New: "a\nc", All: true}, "a\nc\n-\na\r\nc\r\n", LineEndings,
		},
		"all places of a mixed file that are exact": {
			"a\nb\n-\r\n", Edit{Old: "a\nb", New: "c", All: true}, "c\n-\r\n", Exact,
		},
		"a line feed asked for that the last line lacks": {
			"a\nlast", Edit{Old: "a\nlast\n", New: "a\nchanged\n"}, "a\nchanged", LineEndings,
		},
		"a line added after a last line without line feed": {
			"a\nlast", Edit{Old: "last\n", New: "last\nmore\n"}, "a\nlast\nmore", LineEndings,
		},
		"a last line of CRLF without its end": {
			"a\r\nb", Edit{Old: "a\nb\n", New: "a\nc\nd\n"}, "a\r\nc\r\nd", LineEndings,
		},
		"blanks where the last line has no line feed": {
			"a\nlast  ", Edit{Old: "a\nlast\n", New: "a\nLAST\n"}, "a\nLAST  ", TrailingBlanks,
		},

		"trimmed and with blanks for tabs": {
			"f {\n\t\tif a {\n\t\t\tb\n\t\t}\n}\n",
			Edit{Old: "if a {\n    b\n}\n", New: "if a {\n    b\n    if c {\n        d\n    }\n}\n"},
			"f {\n\t\tif a {\n\t\t\tb\n\t\t\tif c {\n\t\t\t\td\n\t\t\t}\n\t\t}\n}\n", Indentation,
		},
		"shifted, across CRLF": {
			"{\r\n\t\ta()\r\n\t\tb()\r\n}\r\n",
			Edit{Old: "\ta()\n\tb()\n", New: "\ta()\n\tx()\n\tb()\n"},
			"{\r\n\t\ta()\r\n\t\tx()\r\n\t\tb()\r\n}\r\n", Indentation,
		},

		"a deeper line where one shows that four blanks are a tab": {
			"{\n\tif a {}\n}\n", Edit{Old: "    if a {}", New: "    if a {\n        b\n    }"}, "{\n\tif a {\n\t\tb\n\t}\n}\n", Indentation,
		},
		"several shifts that agree": {
			"\t\t\tx\n", Edit{Old: "    x", New: "    x\n    y"}, "\t\t\tx\n\t\t\ty\n", Indentation,
		},
		"a bullet": {
			"• one\n", Edit{Old: "· one", New: "· two"}, "• two\n", LookAlikes,
		},
		"half of an ellipsis is none": {
			"‘wait…\n‘wait..\n", Edit{Old: "'wait..", New: "'go"}, "‘wait…\n‘go\n", LookAlikes,
		},
		"a dot for each of an ellipsis": {
			"wait… and go\n", Edit{Old: "wait... and go", New: "wait... or go"}, "wait… or go\n", LookAlikes,
		},
		"an ellipsis that goes": {
			"wait… and go\n", Edit{Old: "wait... and go", New: "wait.. and go"}, "wait.. and go\n", LookAlikes,
		},
		"composed for decomposed": {
			"cafe\u0301 au lait\n", Edit{Old: "café au lait", New: "café noir"}, "cafe\u0301 noir\n", LookAlikes,
		},
		"decomposed for composed": {
			"naïve é\n", Edit{Old: "nai\u0308ve é", New: "nai\u0308ve è"}, "naïve è\n", LookAlikes,
		},
		"a soft hyphen in the text": {
			"inter\u00adnational x\n", Edit{Old: "international x", New: "international y"}, "inter\u00adnational y\n", LookAlikes,
		},
		"a zero-width blank at the start of a line": {
			"a\n\u200bb c\n", Edit{Old: "a\nb c", New: "a\nb d"}, "a\n\u200bb d\n", LookAlikes,
		},
		"an emoji without its selector": {
			"⚠\ufe0f careful\n", Edit{Old: "⚠ careful", New: "⚠ danger"}, "⚠\ufe0f danger\n", LookAlikes,
		},
		"wide punctuation": {
			"名前：（山田）\n", Edit{Old: "名前:(山田)", New: "名前:(田中)"}, "名前：（田中）\n", LookAlikes,
		},
		"a ligature": {
			"the ﬁle is\n", Edit{Old: "the file is", New: "the file was"}, "the ﬁle was\n", LookAlikes,
		},
		"the letter for the micro sign": {
			"5 µm\n", Edit{Old: "5 μm", New: "6 μm"}, "6 µm\n", LookAlikes,
		},
		"curly asked for where the file is straight": {
			"it's \"so\"\n", Edit{Old: "it’s “so”", New: "it’s “not”"}, "it's \"not\"\n", LookAlikes,
		},

		"a last line without its end before one with blanks": {
			"a\nb  \n-\na\nb", Edit{Old: "a\nb\n", New: "x\n"}, "a\nb  \n-\nx", LineEndings,
		},
		"quotes escaped once too often": {
			"say(\"hi\")\n", Edit{Old: `say(\"hi\")`, New: `say(\"hello\")`}, "say(\"hello\")\n", EscapedForms,
		},
		"lines escaped once too often": {
			"a\n\tb\nc\n", Edit{Old: `a\n\tb\n`, New: `a\n\tB\n`}, "a\n\tB\nc\n", EscapedForms,
		},
		"lines escaped once too often, across CRLF": {
			"a\r\nb\r\n", Edit{Old: `a\nb`, New: `a\nB`}, "a\r\nB\r\n", EscapedForms,
		},
		"a backslash escaped once too often": {
			`p := "a\nb"` + "\n", Edit{Old: `p := \"a\\nb\"`, New: `p := \"a\\nc\"`}, `p := "a\nc"` + "\n", EscapedForms,
		},
		"quotes escaped, line ends rightly not": {
			`p("a\n")` + "\n", Edit{Old: `p(\"a\n\")`, New: `p(\"b\n\")`}, `p("b\n")` + "\n", EscapedForms,
		},
		"a character that the text has as its number": {
			`x = "caf\u00e9 \ud83d\ude00"` + "\n", Edit{Old: `x = "café 😀"`, New: `xy = "café 😀"`}, `xy = "caf\u00e9 \ud83d\ude00"` + "\n", EscapedForms,
		},
		"a number for a character": {
			"it’s a—b\n", Edit{Old: `it\u2019s a\u2014b`, New: `it\u2019s b\u2014b`}, "it’s b—b\n", EscapedForms,
		},
		"a tab that the text has escaped": {
			`"a\tb"` + "\n", Edit{Old: "\"a\tb\"", New: "\"c\tb\""}, `"c\tb"` + "\n", EscapedForms,
		},
		"entities for signs": {
			"if a < b && c > 0 {\n",
			Edit{Old: "if a &lt; b &amp;&amp; c &gt; 0 {", New: "if a &lt; b &amp;&amp; d &gt; 0 {"},
			"if a < b && d > 0 {\n", EscapedForms,
		},
		"signs for entities": {
			"<p>R&amp;D &lt;b&gt; &#233;</p>\n", Edit{Old: "<p>R&D <b> é</p>", New: "<p>R&D <b> e</p>"}, "<p>R&amp;D &lt;b&gt; e</p>\n", EscapedForms,
		},
		"backslashes beside an entity are what they are": {
			"if a < b { p(\"x\") }\n",
			Edit{Old: `if a &lt; b { p("x") }`, New: `if a &lt; b { p("x\n") }`},
			`if a < b { p("x\n") }` + "\n", EscapedForms,
		},

		"straight to curly where the text is straight": {
			"printf '%s'\n", Edit{Old: "'%s'", New: "‘%s’"}, "printf ‘%s’\n", Exact,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Apply(tt.text, tt.edit)
			if err != nil {
				t.Fatal(err)
			}
			outsideIsKept(t, tt.text, got)
			if got.Text != tt.want || got.Rung != tt.rung {
				t.Errorf("got %q without looking at %v\nwant %q, %v", got.Text, got.Rung, tt.want, tt.rung)
			}
		})
	}
}

// outsideIsKept checks that the places account for all that changed.
func outsideIsKept(t interface{ Fatalf(string, ...any) }, before string, r Result) {
	at, now := 0, 0
	for _, p := range r.Places {
		if p.Start < at || p.NewStart < now || p.End < p.Start || p.NewEnd < p.NewStart || before[at:p.Start] != r.Text[now:p.NewStart] {
			t.Fatalf("the text before %+v differs: %q, then %q", p, before, r.Text)
		}
		if p.Line != 1+strings.Count(before[:p.Start], "\n") {
			t.Fatalf("%+v is on another line of %q", p, before)
		}
		at, now = p.End, p.NewEnd
	}
	if before[at:] != r.Text[now:] {
		t.Fatalf("the text after the last of %+v differs: %q, then %q", r.Places, before, r.Text)
	}
}

func TestSeveralPlacesAreNamedByTheirLines(t *testing.T) {
	tests := map[string]struct {
		text  string
		edit  Edit
		lines []int
		rung  Rung
	}{
		"exact":       {"x\n\nimport x\n2\n3\nimport x\n", Edit{Old: "import x", New: "y"}, []int{3, 6}, Exact},
		"overlapping": {"aaa", Edit{Old: "aa", New: "b"}, []int{1, 1}, Exact},
		"shifted":     {"\tx()\n\t\tx()\n", Edit{Old: "  x()", New: "y()"}, []int{1, 2}, Indentation},
		"a line that is shifted and one that looks alike": {
			"\tsay('a b')\n    say(‘a b’)\n", Edit{Old: "    say('a b')\n", New: "x"}, []int{1, 2}, LookAlikes,
		},
		"a line that is shifted and one that is escaped": {
			"\tf(\"a\")\n    f(&quot;a&quot;)\n", Edit{Old: `    f("a")`, New: "x"}, []int{1, 2}, EscapedForms,
		},
		"an escape that is one of two characters": {
			"a\"b\na&quot;b\n", Edit{Old: "a&#34;b", New: "x"}, []int{1, 2}, EscapedForms,
		},
		"blanks are trailing in two places": {
			"a \nb\na\t\nb\n", Edit{Old: "a\nb", New: "x", All: true}, []int{1, 3}, TrailingBlanks,
		},
		"the shift does not say where a new line may stand": {
			"a()\n  b()\na()\n  b()\n", Edit{Old: "  a()\n    b()\n", New: "a()\n"}, []int{1, 3}, Indentation,
		},
		"look-alikes are never replaced in all places": {
			"‘a’ ‘a’", Edit{Old: "'a'", New: "b", All: true}, []int{1, 1}, LookAlikes,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Apply(tt.text, tt.edit)
			var ambiguous *AmbiguousError
			if !errors.As(err, &ambiguous) {
				t.Fatalf("got %v, want an ambiguity", err)
			}
			if !slices.Equal(ambiguous.Lines, tt.lines) || ambiguous.Rung != tt.rung {
				t.Errorf("got lines %v without looking at %v, want %v, %v", ambiguous.Lines, ambiguous.Rung, tt.lines, tt.rung)
			}
		})
	}
}

func TestWhatDoesNotFitIsNotForced(t *testing.T) {
	tests := map[string]struct {
		text string
		edit Edit
	}{
		"lines shifted by different amounts":              {"\ta\n\t\t\tb\n", Edit{Old: "a\n\tb", New: "a\n\tc"}},
		"blanks at the end within a line":                 {"x = foobar\n", Edit{Old: "x = foo  ", New: "y"}},
		"a part of a shifted line":                        {"\tfoo(bar)\n", Edit{Old: "    foo(", New: "    baz("}},
		"a new line left of the margin":                   {"a\nb\n", Edit{Old: "  a\n  b", New: "  a\nb"}},
		"a byte that is no character for a margin":        {"\xffa()\n\xffb()\n", Edit{Old: "a()\nb()\n", New: "x"}},
		"half of an ellipsis":                             {"wait…\n", Edit{Old: "wait..", New: "x"}},
		"a letter without its accent":                     {"cafe\u0301\n", Edit{Old: "cafes", New: "x"}},
		"a base without its mark":                         {"x e\u0301 y\n", Edit{Old: "x\u00a0e", New: "x"}},
		"several shifts that disagree on a new line":      {"\t\t\tx\n", Edit{Old: "    x", New: "    x\n        y"}},
		"a backslash added where escapes are unsure":      {"say(\"hi\")\n", Edit{Old: `say(\"hi\")`, New: `say(\"hi \d\")`}},
		"a tab within the line":                           {"a\tb\n", Edit{Old: "a b", New: "x"}},
		"a raised two for a two":                          {"x² + 1\n", Edit{Old: "x2 + 1", New: "x"}},
		"an escape added where escapes are unsure":        {"say(\"hi\")\n", Edit{Old: `say(\"hi\")`, New: `say(\"hi\", \"ho\")`}},
		"a line added where line ends were escaped":       {"a\nb\n", Edit{Old: `a\nb`, New: `a\nx\nb`}},
		"a line end added where the text escapes them":    {`"a\nb"`, Edit{Old: "\"a\nb\"", New: "\"a\nb\nc\""}},
		"a quote added where the text escapes them":       {`"a \"b\""`, Edit{Old: `a "b"`, New: `a "b" and "c"`}},
		"a character added that the text has as a number": {`caf\u00e9` + "\n", Edit{Old: "café", New: "café é"}},
		"a sign added where signs are entities":           {"R&amp;D\n", Edit{Old: "R&D", New: "R&D & more"}},
		"an entity added where entities are unsure":       {"a < b\n", Edit{Old: "a &lt; b", New: "a &lt; b &amp;&amp; c"}},
		"a path is no escape":                             {`C:\dir\name` + "\n", Edit{Old: "C:\\dir\\names", New: "x"}},
		"other words":                                     {"a quick fox\n", Edit{Old: "a quick dog", New: "x"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Apply(tt.text, tt.edit)
			var missing *NotFoundError
			if !errors.As(err, &missing) {
				t.Errorf("got %q, %v, want not found", got.Text, err)
			}
		})
	}
}

func TestAnEditThatChangesNothingIsRefused(t *testing.T) {
	for _, e := range []Edit{{Old: "a", New: "a"}, {Old: "", New: "x"}, {Old: "a\nb", New: "a\r\nb"}} {
		if got, err := Apply("a\r\nb\r\n", e); !errors.Is(err, ErrNoChange) {
			t.Errorf("%+v: got %q, %v", e, got.Text, err)
		}
	}
}

func TestAMissNamesTheNearestLinesAndWhatDiffers(t *testing.T) {
	text := "package a\n\nfunc f() error {\n\tif x {\n\t\treturn nil\n\t}\n\treturn oops\n}\n"
	_, err := Apply(text, Edit{Old: "func f() error {\n  if x {\n\treturn nil\n\t}\n", New: "x"})
	var missing *NotFoundError
	if !errors.As(err, &missing) || missing.Near == nil {
		t.Fatalf("got %v", err)
	}
	near := missing.Near
	if near.First != 3 || near.Last != 6 || near.Line != 4 || !near.Blank() ||
		!slices.Equal(near.Text, []string{"\tif x {", "\t\treturn nil"}) || !slices.Equal(near.Want, []string{"  if x {", "\treturn nil"}) {
		t.Errorf("got %+v", *near)
	}
}

func TestAMissWithoutAnEqualLineNamesTheLineMostLikeIt(t *testing.T) {
	_, err := Apply("one\nfmt.Println(\"hello, world\")\nthree\n", Edit{Old: "fmt.Println(\"hello world\")", New: "x"})
	var missing *NotFoundError
	if !errors.As(err, &missing) || missing.Near == nil || missing.Near.First != 2 {
		t.Errorf("got %v, %+v", err, missing.Near)
	}
	_, err = Apply("one\ntwo\n", Edit{Old: "quite another thing", New: "x"})
	if !errors.As(err, &missing) || missing.Near != nil {
		t.Errorf("got %v, %+v, want nothing near", err, missing.Near)
	}
}

// Each of these would take minutes if places were compared one by one.
func TestLongTextsOfEqualPartsTakeNoTime(t *testing.T) {
	letters, lines := strings.Repeat("a", 1<<20), strings.Repeat("a\n", 1<<18)
	tests := map[string]struct {
		text, old string
		lines     int // of the ambiguity; 0 for none
	}{
		"letters":                {letters, letters[:40<<10], maxPlaces},
		"letters and another":    {letters, letters[:40<<10] + "b", 0},
		"lines, shifted":         {lines, strings.Repeat("  a\n", 6<<10), maxPlaces},
		"many lines, shifted":    {lines, strings.Repeat("  a\n", 20<<10), maxWork/(20<<10) + 1},
		"lines, shifted but one": {lines, strings.Repeat("  a\n", 6<<10) + " a\n", 0},
		"lines like those":       {lines, strings.Repeat("a\n", 6<<10) + "b\n", 0},
		"blanks":                 {strings.Repeat(" ", 1<<20), "  x  ", 0},
		"marks":                  {"e" + strings.Repeat("\u0301", 1<<18), "e\u0301\u0301x", 0},
	}
	for name, tt := range tests {
		_, err := Apply(tt.text, Edit{Old: tt.old, New: "x"})
		var ambiguous *AmbiguousError
		var missing *NotFoundError
		if errors.As(err, &ambiguous) && (len(ambiguous.Lines) != tt.lines || !ambiguous.More) || errors.As(err, &missing) && tt.lines > 0 {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Whatever a model gets wrong in copying a unique piece of text, the edit does
// what it would have done with the exact piece.
func TestALooseEditDoesWhatTheExactOneWouldHaveDone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,4}[“”’–(){};]?`), 2, 6)
		lines := rapid.SliceOfN(words, 3, 8).Draw(t, "lines")
		rung := rapid.SampledFrom([]Rung{LineEndings, TrailingBlanks, Indentation, LookAlikes, EscapedForms}).Draw(t, "rung")
		from := rapid.IntRange(0, len(lines)-2).Draw(t, "from")
		to := rapid.IntRange(from+2, len(lines)).Draw(t, "to")
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")

		var text, exact, given, changed []string
		for i, l := range lines {
			margin := strings.Repeat("\t", rapid.IntRange(0, 2).Draw(t, "depth"))
			line := strings.Join(append([]string{"L" + string(rune('A'+i))}, l...), " ")
			tail := ""
			if rung == TrailingBlanks {
				tail = rapid.SampledFrom([]string{"", "  ", "\t"}).Draw(t, "tail")
			}
			text = append(text, "\t"+margin+line+tail)
			if i < from || i >= to {
				continue
			}
			exact = append(exact, "\t"+margin+line+tail)
			copied := "\t" + margin + line
			switch rung {
			case Indentation:
				copied = margin + line
			case LookAlikes:
				copied = straight(copied)
			case EscapedForms:
				copied = strings.NewReplacer("“", `\u201c`, "”", `\u201D`, "’", `\u2019`, "–", `\u{2013}`).Replace(copied)
			}
			given = append(given, copied)
			changed = append(changed, strings.Replace(copied, "L"+string(rune('A'+i)), "NEW\n"+copied[:len(copied)-len(strings.TrimLeft(copied, "\t"))]+"WORD", 1))
		}
		before := strings.Join(text, eol) + eol
		old, new := strings.Join(given, "\n"), strings.Join(changed, "\n")
		got, err := Apply(before, Edit{Old: old, New: new})
		if err != nil {
			t.Fatalf("%q in %q: %v", old, before, err)
		}

		var want []string
		for i, l := range exact {
			margin := l[:len(l)-len(strings.TrimLeft(l, "\t"))]
			want = append(want, strings.Replace(l, "L"+string(rune('A'+from+i)), "NEW"+eol+margin+"WORD", 1))
		}
		wanted := strings.Replace(before, strings.Join(exact, eol), strings.Join(want, eol), 1)
		if got.Text != wanted {
			t.Fatalf("got  %q\nwant %q", got.Text, wanted)
		}
	})
}

func straight(s string) string {
	return strings.NewReplacer("“", `"`, "”", `"`, "’", "'", "–", "-").Replace(s)
}

// Nothing outside the places changes, whatever comes in, and a file of CRLF
// fares as the same file of line feeds.
func FuzzApply(f *testing.F) {
	for _, s := range []struct{ text, old, new string }{
		{"a\r\nb\n", "a\nb", "c\n"},
		{"a\rb\rc", "b\n", "x\ny\n"},
		{"a\nb\n", "\nb", ""},
		{"\tfoo  \n\tbar\n", "    foo\n    bar", "    baz"},
		{"\t\tfoo\n\t\t\tbar\n", "foo\n    bar\n", "foo\n        x\n    bar\n"},
		{"“x”\xff\xfe\n", `"x"`, "y"},
		{"\xffa\n", "a\n ", " \n"},
		{"wait… e\u0301\u200b\u00ad ﬁ", "wait... é fi", "wait.. é fi"},
		{"\u200bb\n\u200b\n", "b\n\n", "\u200bc"},
		{`say(\"a\nb\u00e9\\")`, "say(\"a\nbé\\\")", "say(\"b\nbé\\\")"},
		{"say(\"a\")\n\tx\n", `say(\"a\")\n\tx\n`, `say(\"b\")\n`},
		{"a &lt; b &amp;&amp; c", "a < b && c", "a < d"},
		{"a\nlast  ", "a\nlast\n", "b\n"},
	} {
		f.Add(s.text, s.old, s.new, false)
		f.Add(s.text, s.old, s.new, true)
	}
	f.Fuzz(func(t *testing.T, text, old, new string, all bool) {
		e := Edit{Old: old, New: new, All: all}
		got, err := Apply(text, e)
		var ambiguous *AmbiguousError
		switch {
		case err == nil:
			if got.Text == text || len(got.Places) == 0 {
				t.Errorf("an edit that succeeded changed nothing")
			}
			if len(got.Places) > 1 && (!all || got.Rung > LineEndings) {
				t.Errorf("%d places without looking at %v", len(got.Places), got.Rung)
			}
			if utf8.ValidString(text) && utf8.ValidString(old) && utf8.ValidString(new) && !utf8.ValidString(got.Text) {
				t.Errorf("characters were torn: %q", got.Text)
			}
			outsideIsKept(t, text, got)
		case errors.As(err, &ambiguous):
			if len(ambiguous.Lines) < 2 {
				t.Errorf("ambiguous in lines %v", ambiguous.Lines)
			}
		}
		if got.Rung == Exact && err == nil && !strings.Contains(text+new, "\r") && got.Text != strings.Replace(text, old, new, len(got.Places)) {
			t.Errorf("an exact edit is not a replacement: %q", got.Text)
		}
		if !strings.Contains(text+new, "\r") && strings.Contains(got.Text, "\r") {
			t.Errorf("carriage returns out of nowhere: %q", got.Text)
		}
		if strings.Contains(text+old+new, "\r") || !strings.Contains(text, "\n") {
			return
		}
		crlf, crlfErr := Apply(strings.ReplaceAll(text, "\n", "\r\n"), e)
		if (err == nil) != (crlfErr == nil) || crlf.Text != strings.ReplaceAll(got.Text, "\n", "\r\n") {
			t.Errorf("with CRLF it is %q (%v), not as %q (%v)", crlf.Text, crlfErr, got.Text, err)
		}
	})
}
