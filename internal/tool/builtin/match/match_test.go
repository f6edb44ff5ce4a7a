package match

import (
	"errors"
	"slices"
	"strings"
	"testing"

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
			if got.Text != tt.want || got.Rung != tt.rung {
				t.Errorf("got %q without looking at %v\nwant %q, %v", got.Text, got.Rung, tt.want, tt.rung)
			}
		})
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
		"lines shifted by different amounts": {"\ta\n\t\t\tb\n", Edit{Old: "a\n\tb", New: "a\n\tc"}},
		"blanks at the end within a line":    {"x = foobar\n", Edit{Old: "x = foo  ", New: "y"}},
		"a part of a shifted line":           {"\tfoo(bar)\n", Edit{Old: "    foo(", New: "    baz("}},
		"a new line left of the margin":      {"a\nb\n", Edit{Old: "  a\n  b", New: "  a\nb"}},
		"other words":                        {"a quick fox\n", Edit{Old: "a quick dog", New: "x"}},
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

// Whatever a model gets wrong in copying a unique piece of text, the edit does
// what it would have done with the exact piece.
func TestALooseEditDoesWhatTheExactOneWouldHaveDone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,4}[“”’–(){};]?`), 2, 6)
		lines := rapid.SliceOfN(words, 3, 8).Draw(t, "lines")
		rung := rapid.SampledFrom([]Rung{LineEndings, TrailingBlanks, Indentation, LookAlikes}).Draw(t, "rung")
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

func FuzzApply(f *testing.F) {
	f.Add("a\r\nb\n", "a\nb", "c\n", false)
	f.Add("\tfoo  \n\tbar\n", "    foo\n    bar", "    baz", false)
	f.Add("“x”\xff\xfe\n", `"x"`, "y", true)
	f.Add("\xffa\n", "a\n ", " \n", false)
	f.Fuzz(func(t *testing.T, text, old, new string, all bool) {
		e := Edit{Old: old, New: new, All: all}
		got, err := Apply(text, e)
		if err != nil {
			return
		}
		if got.Text == text || len(got.Places) == 0 {
			t.Errorf("an edit that succeeded changed nothing")
		}
		if got.Rung == Exact && !strings.Contains(text, "\r\n") && !all && got.Text != strings.Replace(text, old, new, 1) {
			t.Errorf("an exact edit is not a replacement: %q", got.Text)
		}
		if !strings.Contains(text+new, "\r") && strings.Contains(got.Text, "\r") {
			t.Errorf("carriage returns out of nowhere: %q", got.Text)
		}
		if bare := strings.ReplaceAll(text, "\r\n", ""); strings.Contains(text, "\r\n") && !strings.ContainsAny(bare, "\r\n") && got.Rung > Exact {
			if strings.Contains(strings.ReplaceAll(got.Text, "\r\n", ""), "\n") {
				t.Errorf("a line feed in a file of CRLF: %q", got.Text)
			}
		}
	})
}
