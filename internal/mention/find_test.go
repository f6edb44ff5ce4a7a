package mention

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// show writes the mentions of a text into one line.
func show(text string, files ...string) string {
	var list []string
	for _, w := range Find(text, func(p string) bool { return has(files, p) }) {
		s := w.Path
		if w.Lines != nil {
			s += fmt.Sprintf(" %d-%d", w.Lines.Start, w.Lines.End)
		}
		if w.Wrong {
			s += " wrong"
		}
		list = append(list, s+" ("+text[w.Start:w.End]+")")
	}
	return strings.Join(list, ", ")
}

func has(files []string, path string) bool {
	for _, f := range files {
		if f == path || f == strings.TrimSuffix(path, "/") {
			return true
		}
	}
	return false
}

func TestAMentionIsAnAtBeforeAFile(t *testing.T) {
	for text, want := range map[string]string{
		// what is one
		"@a.go":                      "a.go (@a.go)",
		"see @a.go and @d/b.go":      "a.go (@a.go), d/b.go (@d/b.go)",
		"@a.go:10-20":                "a.go 10-20 (@a.go:10-20)",
		"@a.go:10":                   "a.go 10-10 (@a.go:10)",
		"@a.go:10:5: error":          "a.go 10-10 (@a.go:10)",
		"@a.go#L3-L9":                "a.go 3-9 (@a.go#L3-L9)",
		`@"my file.txt":3-9 here`:    `my file.txt 3-9 (@"my file.txt":3-9)`,
		`(@"my file.txt")`:           `my file.txt (@"my file.txt")`,
		"@d/, @d/. @d/?":             "d/ (@d/), d/ (@d/), d/ (@d/)",
		"@d/ please":                 "d/ (@d/)",
		"@d":                         "d (@d)",
		"@~/x":                       "~/x (@~/x)",
		"@/abs/f":                    "/abs/f (@/abs/f)",
		"@[id].tsx":                  "[id].tsx (@[id].tsx)",
		"look at\n@a.go\nnow":        "a.go (@a.go)",
		"@日本.txt":                    "日本.txt (@日本.txt)",
		"见@a.go。":                    "a.go (@a.go)",
		"@a.goを見て":                   "a.go (@a.go)",
		"@a-b_c.v1.txt":              "a-b_c.v1.txt (@a-b_c.v1.txt)",
		"@a.go:0-5":                  "a.go wrong (@a.go:0-5)",
		"@a.go:20-10":                "a.go wrong (@a.go:20-10)",
		"@a.go:99999999999999999999": "a.go wrong (@a.go:99999999999999999999)",
		"@a.go twice @a.go":          "a.go (@a.go), a.go (@a.go)",
		// what follows is of the sentence
		"see @a.go.":         "a.go (@a.go)",
		"see @a.go...":       "a.go (@a.go)",
		"(@a.go)":            "a.go (@a.go)",
		"(see @a.go:1-2).":   "a.go 1-2 (@a.go:1-2)",
		"`@a.go`":            "a.go (@a.go)",
		"\"@a.go\", '@a.go'": "a.go (@a.go), a.go (@a.go)",
		"**bold** @a.go!?":   "a.go (@a.go)",
		"@a.go's end":        "a.go (@a.go)",
		"@a.go,@d/b.go;":     "a.go (@a.go), d/b.go (@d/b.go)",
		"@a.go:":             "a.go (@a.go)",
		"@a.go:foo":          "a.go (@a.go)",
		"@a.go -":            "a.go (@a.go)",
		// what is a part of the name
		"@with,comma":  "with,comma (@with,comma)",
		"@odd:10":      "odd:10 (@odd:10)",
		"@end. then":   "end. (@end.)",
		"@(g)/page.ts": "(g)/page.ts (@(g)/page.ts)",
		// what is none
		"mail a@b.c or a.go@d": "",
		"git@github.com:a.go":  "",
		"@override @scope/pkg": "",
		"@none.go":             "",
		"@*.go @d/* @?.go @d/?.go @d/[ab] @d/{a,b} @d*": "",
		"@ a.go @":            "",
		"@@a.go":              "",
		"user:pass@d/b.go":    "",
		"x/@a.go \\@a.go":     "",
		`@"my file.txt`:       "",
		"@\"my\nfile.txt\"":   "",
		`@""`:                 "",
		"@. and @.. and @...": "",
		"@a.goo":              "",
		"@d.example.com":      "",
		"é@a.go 1@a.go":       "",
	} {
		files := []string{"a.go", "d/b.go", "d", "my file.txt", "~/x", "/abs/f", "[id].tsx", "日本.txt", "a-b_c.v1.txt", "with,comma", "odd:10", "end.", "(g)/page.ts", ".", ".."}
		if got := show(text, files...); got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestTheReadingsOfAMentionAreBounded(t *testing.T) {
	asked := 0
	Find("@"+strings.Repeat("a,", 2000), func(string) bool { asked++; return false })
	Find("@"+strings.Repeat("a", 5000), func(string) bool { asked++; return false })
	if asked > tries {
		t.Errorf("the file system was asked %d times", asked)
	}
}

// hold checks what is true of the mentions of any text.
func hold(t interface {
	Helper()
	Errorf(string, ...any)
}, text string, salt int,
) {
	t.Helper()
	last := 0
	for _, w := range Find(text, func(p string) bool { return (len(p)+salt)%3 != 0 }) {
		if w.Start < last || w.End <= w.Start+1 || w.End > len(text) || text[w.Start] != '@' || w.Path == "" {
			t.Errorf("%q: got %+v after %d", text, w, last)
		}
		if !strings.HasPrefix(strings.TrimPrefix(text[w.Start+1:w.End], `"`), w.Path) {
			t.Errorf("%q: %q is not in %q", text, w.Path, text[w.Start:w.End])
		}
		if w.Lines != nil && (w.Lines.Start < 1 || w.Lines.End < w.Lines.Start) {
			t.Errorf("%q: got %+v", text, *w.Lines)
		}
		last = w.End
	}
}

func TestMentionsLieWithinTheText(t *testing.T) {
	piece := rapid.SampledFrom([]string{"@", "a.go", `"`, ":", "10", "-", "#L", " ", "\n", "é", "日", ",", "(", ")", "/", ".", "~", "\xff", "99999999999999999999"})
	rapid.Check(t, func(t *rapid.T) {
		hold(t, strings.Join(rapid.SliceOfN(piece, 0, 20).Draw(t, "text"), ""), rapid.IntRange(0, 2).Draw(t, "salt"))
	})
}

func FuzzMentions(f *testing.F) {
	for _, s := range []string{"see @a.go:10-20.", `@"a b":3`, "a@b.c", "@d/ @~/x", "@日本.txtを", "@\xff\xfe", "@a.go#L1-L2", "@@@", "@a,b,c:1-0"} {
		f.Add(s, 0)
		f.Add(s, 1)
	}
	f.Fuzz(func(t *testing.T, text string, salt int) { hold(t, text, max(salt, 0)%3) })
}

func TestALogFullOfMentionsIsNotLookedUpForEver(t *testing.T) {
	asked := 0
	exists := func(string) bool { asked++; return false }
	Find(strings.Repeat("(@a,b,c,d) ", 10_000), exists)
	if asked > 20 {
		t.Errorf("the same names are asked for %d times", asked)
	}
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "(@a%d,b,c,d) ", i)
	}
	asked = 0
	if Find(b.String(), exists); asked > looks {
		t.Errorf("%d names are asked for", asked)
	}
}

func TestOnlySoManyWordsOfATextAreLookedFor(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "@a%d ", i)
	}
	asked := 0
	words := Find("@known "+b.String()+"@known", func(p string) bool { asked++; return p == "known" })
	if asked > mostWords || len(words) != 2 {
		t.Errorf("%d names are asked for, %d are found", asked, len(words))
	}
	asked = 0
	Find(strings.Repeat("(@a,b,c)\n", 10_000), func(string) bool { asked++; return false })
	if asked > 4 {
		t.Errorf("a line that comes again is looked for %d times", asked)
	}
}
