package builtin

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
)

func TestGrepShowsLinesUnderTheirFile(t *testing.T) {
	p := newProject(t, map[string]string{
		"a.go":     "package a\n\nfunc Merge() {}\n// Merge\n",
		"sub/b.go": "1\n2\nMerge(\n4\n5\n6\n7\nMerge(\n9\n",
		"sub.txt":  "Merge\r\nother\r\n",
		"c.bin":    "Merge\x00",
		"utf16":    "\xff\xfeM\x00e\x00r\x00g\x00e\x00\n\x00",
		"latin1":   "Merge \xe9\n",
		".hidden":  "Merge\n",
	})
	tests := map[string]struct {
		in   grepInput
		want string
	}{
		"content": {
			grepInput{Pattern: `Merge\(`, Glob: "*.go"}, "a.go\n3:func Merge() {}\nsub/b.go\n3:Merge(\n8:Merge(\n",
		},
		"every kind of text": {
			grepInput{Pattern: "^Merge.?.?$"},
			"latin1\n1:Merge é\nsub/b.go\n3:Merge(\n8:Merge(\nsub.txt\n1:Merge\nutf16\n1:Merge\n",
		},
		"context": {
			grepInput{Pattern: `Merge`, Path: "sub", Glob: "*.go", Context: 2},
			"sub/b.go\n1-1\n2-2\n3:Merge(\n4-4\n5-5\n6-6\n7-7\n8:Merge(\n9-9\n",
		},
		"context with a gap": {
			grepInput{Pattern: `Merge`, Path: "sub/b.go", Context: 1},
			"sub/b.go\n2-2\n3:Merge(\n4-4\n--\n7-7\n8:Merge(\n9-9\n",
		},
		"files":                      {grepInput{Pattern: "Merge", Mode: "files"}, "a.go\nlatin1\nsub/b.go\nsub.txt\nutf16\n"},
		"count":                      {grepInput{Pattern: "Merge", Mode: "count", Glob: "*.go"}, "a.go:2\nsub/b.go:2\n"},
		"one file":                   {grepInput{Pattern: "pack", Path: "a.go"}, "a.go\n1:package a\n"},
		"hidden file":                {grepInput{Pattern: "M", Path: ".hidden"}, ".hidden\n1:Merge\n"},
		"nothing":                    {grepInput{Pattern: "nowhere"}, "no matches\n[1 hidden or ignored entry not searched; give one as path to search it]\n"},
		"glob with a folder":         {grepInput{Pattern: "Merge", Glob: "sub/*.go", Mode: "files"}, "sub/b.go\n"},
		"glob below the path":        {grepInput{Pattern: "Merge", Path: "sub", Glob: "sub/**", Mode: "files"}, "sub/b.go\n"},
		"glob that leaves out":       {grepInput{Pattern: "Merge", Glob: "!*.go", Mode: "files"}, "latin1\nsub.txt\nutf16\n"},
		"glob of two endings":        {grepInput{Pattern: "Merge", Glob: "*.{go,txt}", Mode: "files"}, "a.go\nsub/b.go\nsub.txt\n"},
		"case does not matter":       {grepInput{Pattern: "(?i)mErGe$", Path: "sub.txt"}, "sub.txt\n1:Merge\n"},
		"alternatives":               {grepInput{Pattern: "package|other", Mode: "files"}, "a.go\nsub.txt\n"},
		"a brace is itself":          {grepInput{Pattern: "Merge() {}", Glob: "!.*", Mode: "files"}, "no matches\n[1 hidden or ignored entry not searched; give one as path to search it]\n"},
		"the end of the last line":   {grepInput{Pattern: `^$`, Path: "sub.txt"}, "no matches\n"},
		"white space stays in lines": {grepInput{Pattern: `[0-9]\s+[0-9]`, Path: "sub/b.go"}, "no matches\n"},
		"so does any character":      {grepInput{Pattern: `(?s)[0-9].[0-9]`, Path: "sub/b.go"}, "no matches\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { equal(t, p.grep(tt.in), tt.want) })
	}
}

// Text that is not UTF-8 is found by what it says.
func TestGrepReadsEveryCharset(t *testing.T) {
	files := map[string]string{
		"latin1":   "caf\xe9 x\nplain KEY\n",
		"late":     strings.Repeat("0123456 plain\n", 30_000) + "caf\xe9 KEY",
		"sjis":     "\x83\x65\x83\x58\x83\x67 \x93\xfa\x96\x7b\x8c\xea KEY\n\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd\n",
		"le":       "c\x00a\x00f\x00\xe9\x00 \x00K\x00E\x00Y\x00\n\x00",
		"be":       "\x00c\x00a\x00f\x00\xe9\x00 \x00K\x00E\x00Y\x00\n",
		"utf8":     "café KEY\n",
		"mixed":    "café\n\xe9\xe8\n\xe9 KEY",
		"bad":      "café thé où KEY \xff\n",
		"a.bin":    "caf\xe9 KEY\x00\x01\x02",
		"zero.bin": "KEY" + strings.Repeat("\x00", 5000),
	}
	p := newProject(t, files)
	for _, tt := range []struct{ pattern, want string }{
		{"é", "bad\nbe\nlate\nlatin1\nle\nmixed\nutf8\n"},
		{`(?i)CAFÉ`, "bad\nbe\nlate\nlatin1\nle\nmixed\nutf8\n"},
		{`caf[é]`, "bad\nbe\nlate\nlatin1\nle\nmixed\nutf8\n"},
		{`caf\x{e9}`, "bad\nbe\nlate\nlatin1\nle\nmixed\nutf8\n"},
		{"テスト|nothing", "sjis\n"},
		{"日本", "sjis\n"},
		{"KEY", "bad\nbe\nlate\nlatin1\nle\nmixed\nsjis\nutf8\n"},
		{`\x{fffd}`, "bad\nlate\nlatin1\nmixed\nsjis\n"},
	} {
		if got := p.grep(grepInput{Pattern: tt.pattern, Mode: "files"}); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.pattern, got, tt.want)
		}
		for name := range files {
			if tt.pattern == `\x{fffd}` {
				continue
			}
			want := name + ":1\n"
			if name == "mixed" && strings.Contains(tt.pattern, "é") && len(tt.pattern) == len("é") {
				want = "mixed:3\n"
			}
			if !strings.Contains("\n"+tt.want, "\n"+name+"\n") {
				want = "no matches\n"
			}
			if strings.HasSuffix(name, ".bin") {
				want = "[" + name + " is a binary file; not searched]\n"
			}
			if got := p.grep(grepInput{Pattern: tt.pattern, Path: name, Mode: "count"}); got != want {
				t.Errorf("%s in %s: got %q, want %q", tt.pattern, name, got, want)
			}
		}
	}
	shown := "late\n30001:café KEY\nlatin1\n2:plain KEY\nle\n1:café KEY\nsjis\n1:テスト 日本語 KEY\n"
	equal(t, p.grep(grepInput{Pattern: "KEY", Glob: "{l*,sjis}"}), shown)
	equal(t, p.grep(grepInput{Pattern: "KEY|ü", Glob: "{l*,sjis}"}), shown)
	equal(t, p.grep(grepInput{Pattern: "KEY", Path: "sjis"}), "sjis\n1:テスト 日本語 KEY\n")
	equal(t, p.grep(grepInput{Pattern: "^.{4} x$", Path: "latin1", Context: 1}), "latin1\n1:café x\n2-plain KEY\n")
}

// Grep 1.
func TestGrepTakesNoPatternForAnOption(t *testing.T) {
	p := newProject(t, map[string]string{"f": "--ctx-size -77 -> -e --pre=touch PWNED\n", "-dir/-g.txt": "x\n"})
	for _, pattern := range []string{"--ctx-size", "-77", "->", "-e", "--pre=touch PWNED"} {
		if got := p.grep(grepInput{Pattern: pattern}); !strings.HasPrefix(got, "f\n1:") {
			t.Errorf("%s: got %q", pattern, got)
		}
	}
	equal(t, p.grep(grepInput{Pattern: "x", Path: "-dir"}), "-dir/-g.txt\n1:x\n")
	equal(t, p.glob("-dir/-*.txt"), "-dir/-g.txt\n")
	equal(t, p.glob("-*.txt"), "-dir/-g.txt\n")
	if _, err := os.Stat(filepath.Join(p.dir, "PWNED")); err == nil {
		t.Error("a pattern was run")
	}
}

// Grep 2.
func TestGrepRefusesWhatItCannotSearchFor(t *testing.T) {
	p := newProject(t, map[string]string{"f": "x"})
	tests := map[string]struct {
		in   grepInput
		kind event.ToolErrorKind
		says string
	}{
		"open group":        {grepInput{Pattern: "("}, event.ToolInvalidInput, "missing closing )"},
		"open class":        {grepInput{Pattern: "[a-"}, event.ToolInvalidInput, "missing closing ]"},
		"nothing to repeat": {grepInput{Pattern: "*x"}, event.ToolInvalidInput, "missing argument to repetition operator"},
		"look ahead":        {grepInput{Pattern: "a(?=b)"}, event.ToolInvalidInput, "RE2 has no look-around at `(?=`"},
		"no look ahead":     {grepInput{Pattern: "(?!x)"}, event.ToolInvalidInput, "RE2 has no look-around"},
		"look behind":       {grepInput{Pattern: "(?<=a)b"}, event.ToolInvalidInput, "RE2 has no look-around"},
		"no look behind":    {grepInput{Pattern: "(?<!a)b"}, event.ToolInvalidInput, "RE2 has no look-around"},
		"backreference":     {grepInput{Pattern: `(a)\1`}, event.ToolInvalidInput, "RE2 has no backreferences at `\\1`"},
		"by name":           {grepInput{Pattern: `(?<n>a)\k<n>`}, event.ToolInvalidInput, "RE2 has no backreferences"},
		"bare backslash":    {grepInput{Pattern: `\`}, event.ToolInvalidInput, "trailing backslash at end of expression. Put"},
		"unknown escape":    {grepInput{Pattern: `\y`}, event.ToolInvalidInput, "invalid escape sequence at `\\y`"},
		"context":           {grepInput{Pattern: "x", Context: -1}, event.ToolInvalidInput, "negative"},
		"two lines":         {grepInput{Pattern: "a\\nb"}, event.ToolInvalidInput, "line feed"},
		"no pattern":        {grepInput{}, event.ToolInvalidInput, "missing"},
		"mode":              {grepInput{Pattern: "x", Mode: "lines"}, event.ToolInvalidInput, "content, files or count"},
		"glob":              {grepInput{Pattern: "x", Glob: "[a"}, event.ToolInvalidInput, "not a glob"},
		"path":              {grepInput{Pattern: "x", Path: "g"}, event.ToolNotFound, "f"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := grep(t.Context(), p.env, tt.in)
			p.refused(err, tt.kind, tt.says)
		})
	}
}

// Grep 4 and 5.
func TestGrepAndGlobGoByTheIgnoreFiles(t *testing.T) {
	p := newProject(t, map[string]string{
		".git/HEAD": "KEY", ".git/info/exclude": "excluded\n", ".gitignore": "*.tfvars\nbuild/\n/node_modules\ngen\ngen/**\n", "gen/g.txt": "KEY", "a.tfvars": "KEY",
		"infra/.gitignore": "!keep.tfvars\n", "infra/keep.tfvars": "KEY", "infra/x.tfvars": "KEY", "excluded": "KEY",
		"build/out.txt": "KEY", "node_modules/m/index.js": "KEY", "sub/node_modules/index.js": "KEY",
		".khaelorignore": "secret*\n!a.tfvars\n", "secret.txt": "KEY", "nested/.git/HEAD": "", "nested/y.tfvars": "KEY",
		".github/ci.yml": "KEY",
	})
	equal(t, p.grep(grepInput{Pattern: "KEY", Mode: "files"}),
		"a.tfvars\ninfra/keep.tfvars\nnested/y.tfvars\nsub/node_modules/index.js\n")
	for path, want := range map[string]string{
		"infra/x.tfvars": "infra/x.tfvars\n", ".github/ci.yml": ".github/ci.yml\n", "build": "build/out.txt\n", "gen": "gen/g.txt\n", "node_modules/m": "node_modules/m/index.js\n",
		".github": ".github/ci.yml\n", "infra": "infra/keep.tfvars\n",
	} {
		equal(t, p.grep(grepInput{Pattern: "KEY", Path: path, Mode: "files"}), want)
	}
	for pattern, want := range map[string]string{
		"infra/**/*.tfvars": "infra/keep.tfvars\n", "infra/x.tfvars": "infra/x.tfvars\n", "a.tfvars": "a.tfvars\n", "secret.txt": "secret.txt\n",
		".github/ci.yml": ".github/ci.yml\n", "**/[kx]*.tfvars": "infra/keep.tfvars\n", "**/x.t*": "no files fit\n" +
			"[1 ignored file left out; name one without wildcards, or its folder, to see it]\n", "build/*.txt": "build/out.txt\n", "HEAD": "no files fit\n", ".github/*.yml": ".github/ci.yml\n",
		"node_modules/**/*.js": "node_modules/m/index.js\n", "index.js": "sub/node_modules/index.js\n", "*/ci.yml": "no files fit\n" +
			"[1 hidden file left out; name the folder, or begin the name with a dot, to see them]\n",
	} {
		equal(t, p.glob(pattern), want)
	}
}

// Grep 3.
func TestAWalkOpensNoPipeAndFollowsNoLink(t *testing.T) {
	p := newProject(t, map[string]string{"d/x.txt": "KEY\n"})
	must(t, os.Symlink("..", filepath.Join(p.dir, "d", "loop")), os.Symlink(".", filepath.Join(p.dir, "d", "self")),
		syscall.Mkfifo(filepath.Join(p.dir, "d", "pipe.txt"), 0o666))
	equal(t, p.grep(grepInput{Pattern: "KEY"}), "d/x.txt\n1:KEY\n")
	equal(t, p.glob("**/*.txt"), "d/x.txt\n")
}

// Grep 7.
func TestOddNamesCanBeGivenBack(t *testing.T) {
	names := []string{"a b.txt", "nl\nname.txt", "q\"'.txt", "ünï.txt", "\xff.txt"}
	p := newProject(t, nil)
	for _, name := range names {
		p.put(name, "KEY\n")
	}
	found := p.grep(grepInput{Pattern: "KEY", Mode: "files"})
	equal(t, found, "a b.txt\n\"nl\\nname.txt\"\nq\"'.txt\nünï.txt\n\"\\xff.txt\"\n")
	for line := range strings.Lines(p.glob("*") + found) {
		name := strings.TrimSuffix(line, "\n")
		if name[0] == '"' {
			var err error
			name, err = strconv.Unquote(name)
			must(t, err)
		}
		equal(t, p.read(readInput{Path: name}).Text, "KEY\n")
	}
}

// Grep 6. No program has a part in a search: there is one dialect.
func TestASearchIsTheSameWithoutAnyProgram(t *testing.T) {
	p := newProject(t, map[string]string{"f": "foo\nbar\naa\nx\nax\nAbc\n"})
	t.Setenv("PATH", t.TempDir())
	for pattern, want := range map[string]string{
		"foo|bar": "f\n1:foo\n2:bar\n", "a{2}": "f\n3:aa\n", `\bx\b`: "f\n4:x\n", "(?i)ABC": "f\n6:Abc\n",
	} {
		equal(t, p.grep(grepInput{Pattern: pattern}), want)
	}
	equal(t, p.glob("*"), "f\n")
}

// Grep 8.
func TestALargeResultIsCutAndCounted(t *testing.T) {
	p := newProject(t, map[string]string{"a": strings.Repeat("some text here\n", 20_000), "b": "text\n"})
	r := p.done(grep(t.Context(), p.env, grepInput{Pattern: "e"}))
	if len(r.Text) > tool.ResultLimit+200 || *r.UI.MatchCount != 20_001 {
		t.Errorf("%d bytes for %d matches", len(r.Text), *r.UI.MatchCount)
	}
	shown := strings.Count(r.Text, ":some text")
	want := fmt.Sprintf("[%d matches in 2 files left out of 20001 in 2; narrow the pattern, path or glob]\n", 20_001-shown)
	if !strings.HasSuffix(r.Text, want) {
		t.Errorf("…%s, want %s", r.Text[len(r.Text)-120:], want)
	}
	equal(t, p.grep(grepInput{Pattern: "e"}), r.Text)
}

func TestALongLineIsShownAroundItsMatch(t *testing.T) {
	p := newProject(t, map[string]string{"m.js": strings.Repeat("ä", 5000) + "KEY" + strings.Repeat("b", 5000)})
	want := "m.js\n1:…" + strings.Repeat("ä", 100) + "KEY" + strings.Repeat("b", 397) + " [… cut; 10003 characters]\n"
	equal(t, p.grep(grepInput{Pattern: "KEY"}), want)
}

func TestGlobGivesTheNewestFirst(t *testing.T) {
	p := newProject(t, map[string]string{"a.go": "", "b.go": "", "sub/c.go": "", "sub/deep/d.go": "", "x.md": ""})
	p.bash("touch -d 2001-01-01 a.go; touch -d 2002-01-01 b.go; touch -d 2003-01-01 sub/c.go; touch -d 2004-01-01 sub/deep/d.go")
	for pattern, want := range map[string]string{
		"*.go": "sub/deep/d.go\nsub/c.go\nb.go\na.go\n", "**/*.go": "sub/deep/d.go\nsub/c.go\nb.go\na.go\n",
		"sub/*.go": "sub/c.go\n", "./*.go": "b.go\na.go\n", "sub/**/d.*": "sub/deep/d.go\n", "x.md": "x.md\n", "{a,b}.go": "b.go\na.go\n",
		filepath.Join(p.dir, "sub/*.go"): "sub/c.go\n", "*/deep/*": "sub/deep/d.go\n", "*.rs": "no files fit\n",
	} {
		if got := p.glob(pattern); got != want {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
	_, err := glob(t.Context(), p.env, globInput{Pattern: "[a"})
	p.refused(err, event.ToolInvalidInput, "not a glob")
	_, err = glob(t.Context(), p.env, globInput{Pattern: "nowhere/*.go"})
	p.refused(err, event.ToolNotFound, "nowhere")
}

func TestGlobOfAFolderListsIt(t *testing.T) {
	p := newProject(t, map[string]string{"s/a": "", "s/d/b": "", ".h/c": "", "t/k/e": "", "t/s/f": "", "t/[id]/g": ""})
	must(t, os.Symlink(t.TempDir(), filepath.Join(p.dir, "out")), os.Symlink("s", filepath.Join(p.dir, "t", "link")))
	p.bash("touch -d 2001-01-01 s/d/b; touch -d 2002-01-01 s/a")
	for pattern, want := range map[string]string{
		"s": "s/a\ns/d/b\n", "s/": "s/a\ns/d/b\n", "./s": "s/a\ns/d/b\n", "s/d": "s/d/b\n", ".h": ".h/c\n", p.dir + "/s": "s/a\ns/d/b\n", "t/k/.": "t/k/e\n",
		"t/[id]": "t/[id]/g\n", "t/[id]/g": "t/[id]/g\n", "k": "no files fit\n", "s/..": "", "*/../..": "no files fit\n", "s*": "no files fit\n",
	} {
		got := p.glob(pattern)
		if want == "" {
			want = p.glob(".")
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
	above := p.dir + ".txt"
	must(t, os.WriteFile(above, nil, 0o666))
	equal(t, p.glob("*/../../"+filepath.Base(above)), "no files fit\n")
	root, _ := globInput{Pattern: ".."}.split()
	equal(t, root, "..")
	_, err := glob(t.Context(), p.env, globInput{Pattern: "*.c, *.h"})
	p.refused(err, event.ToolInvalidInput, "{*.c,*.h}")
}

func TestGlobNamesAtMost200Files(t *testing.T) {
	p := newProject(t, nil)
	for i := range 5000 {
		p.put(fmt.Sprintf("f%04d", i), "")
	}
	got := p.glob("**")
	equal(t, p.glob("**"), got)
	if strings.Count(got, "\n") != 201 || !strings.HasSuffix(got, "[the newest 200 of 5000; narrow the pattern or path]\n") {
		t.Errorf("got %d lines, …%s", strings.Count(got, "\n"), got[len(got)-80:])
	}
}

// A pattern leads nowhere that its call did not ask for.
func TestAGlobDoesNotClimbBehindAWildcard(t *testing.T) {
	p := newProject(t, map[string]string{"sub/a": "x"})
	must(t, os.WriteFile(filepath.Join(filepath.Dir(p.dir), "secret"), nil, 0o666))
	for _, pattern := range []string{"*/../../secret", "sub/*/../../../secret", "**/../secret", "{sub,x}/../../secret", "?ub/../../secret"} {
		r, err := glob(t.Context(), p.env, globInput{Pattern: pattern})
		if err == nil && strings.Contains(r.Text, "secret") {
			t.Errorf("%s finds %s", pattern, r.Text)
		}
	}
}
