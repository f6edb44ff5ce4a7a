package builtin

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
)

// caseFile is an input of the collected cases, byte for byte.
func caseFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "cases", name))
	must(t, err)
	return string(data)
}

// The edits of the collected cases that change a file.
func TestCollectedEditsGiveTheRightBytes(t *testing.T) {
	latin1 := caseFile(t, "latin1.txt")
	tests := map[string]struct{ file, old, new, was, is, says string }{
		"Edit 1":                     {"crlf.txt", "line two\nline three", "line 2\nline 3", "line two\r\nline three", "line 2\r\nline 3", "line endings"},
		"Edit 1, lines added":        {"crlf.txt", "line two\nline three", "line two\nnew\n\nline three", "line two\r\n", "line two\r\nnew\r\n\r\n", "line endings"},
		"Edit 1, a line taken":       {"crlf.txt", "line two\n", "", "line two\r\n", "", "line endings"},
		"Edit 1, CRLF both":          {"crlf.txt", "line two\r\nline three", "x\r\ny", "line two\r\nline three", "x\r\ny", ""},
		"Edit 2":                     {"crlf_bom.txt", "alpha plain", "beta plain", "alpha plain", "beta plain", ""},
		"Edit 2, first word":         {"crlf_bom.txt", "alpha Grö", "beta Grö", "alpha Grö", "beta Grö", ""},
		"Edit 2, with the mark":      {"crlf_bom.txt", "\ufeffalpha Grö", "\ufeffbeta Grö", "alpha Grö", "beta Grö", ""},
		"Edit 2, over two lines":     {"crlf_bom.txt", "alpha Größe\nnaïve", "größer\nnaïv", "alpha Größe\r\nnaïve", "größer\r\nnaïv", "line endings"},
		"Edit 3":                     {"latin1.txt", "word here", "words there", "word here", "words there", ""},
		"Edit 3, with its letters":   {"latin1.txt", "Größe", "Öl", "Gr\xf6\xdfe", "\xd6l", ""},
		"Edit 4":                     {"no_final_newline.txt", "one", "1", "one", "1", ""},
		"Edit 4, the last line":      {"no_final_newline.txt", "two\nthree\n", "two\n3\n", "three", "3", "line endings"},
		"Edit 5":                     {"tabs.mk", "        go build ./...", "        go build -race ./...", "\tgo build ./...", "\tgo build -race ./...", "but for indentation"},
		"Edit 5, lines added":        {"tabs.mk", "all:\n    go build ./...\n", "all:\n    go vet ./...\n    go build ./...\n", "\tgo build", "\tgo vet ./...\n\tgo build", "but for indentation"},
		"Edit 6, straight to curly":  {"smart_quotes.md", "'%s'", "‘%s’", "'%s'", "‘%s’", ""},
		"Edit 6, curly in both":      {"smart_quotes.md", "“Hello.”", "“Hi.”", "“Hello.”", "“Hi.”", ""},
		"Edit 6, straight for curly": {"smart_quotes.md", `said, "Hello."`, `said, "Hi."`, "“Hello.”", "“Hi.”", "look-alike"},
		"Edit 6, a plain blank":      {"smart_quotes.md", "a no-break space", "one no-break space", "a\u00a0no", "one\u00a0no", "look-alike"},
		"Edit 7":                     {"dollar.txt", "log(\"done\");\nmiddle", strings.TrimSuffix(caseFile(t, "dollar_new.txt"), "\n") + "\nmiddle", "log(\"done\");\nmiddle", "log(\"$& $1 $$ $` $' \\1 ${x}\");\nmiddle", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			content := caseFile(t, tt.file)
			if strings.Count(content, tt.was) != 1 {
				t.Fatalf("the case is not as it was: %q", content)
			}
			p := newProject(t, map[string]string{"f": content})
			r := p.done(p.edit("f", tt.old, tt.new))
			p.holds("f", strings.Replace(content, tt.was, tt.is, 1))
			if !strings.Contains(r.Text, tt.says) || tt.says == "" && strings.Contains(r.Text, "but for") {
				t.Errorf("it says %q", r.Text)
			}
		})
	}
	if !strings.Contains(latin1, "\x99") {
		t.Error("the byte of Edit 3 is missing")
	}
}

// Edit 2: the mark is not shown as text.
func TestReadDoesNotShowTheMark(t *testing.T) {
	p := newProject(t, map[string]string{"f": caseFile(t, "crlf_bom.txt")})
	if r := p.read(readInput{Path: "f"}); strings.Contains(r.Text, "\ufeff") || !strings.Contains(r.Text, "alpha Größe\n") {
		t.Errorf("got %q", r.Text)
	}
}

// A mark that stands within the text is a character like others.
func TestAMarkWithinATextCanBeEdited(t *testing.T) {
	p := newProject(t, map[string]string{"f": "x = '\ufeffy'\n"})
	p.done(p.edit("f", "\ufeffy'", "z'"))
	p.holds("f", "x = 'z'\n")
}

// Edit 3: a byte far behind what decides how the file is read.
func TestAByteLateInTheFileSurvives(t *testing.T) {
	long := strings.Repeat("plain text, line after line\n", 5000)
	p := newProject(t, map[string]string{"f": "first\n" + long + "5\xa2 \x99\n", "g": "first\n" + long + "caf\xe9\n"})
	p.done(p.edit("f", "first", "second"))
	p.holds("f", "second\n"+long+"5\xa2 \x99\n")
	p.done(p.edit("g", "first", "première"))
	p.holds("g", "premi\xe8re\n"+long+"caf\xe9\n")
}

// Edit 4 and 6: write puts exactly the given bytes.
func TestWritePutsExactlyTheGivenBytes(t *testing.T) {
	p := newProject(t, nil)
	for _, content := range []string{"a\nb", "a\nb\n", "", "\n", "\r\n", "a\rb", "‘’“”\u00a0—", "\ufeffa", "a\x00b", "a\x01", "\t \n \t", "e\u0301é"} {
		p.done(p.write("f", content))
		p.holds("f", content)
	}
}

// Edit 5: what cannot be placed names the line and says that it has tabs.
func TestAMissForTabsSaysSo(t *testing.T) {
	p := newProject(t, map[string]string{"f": caseFile(t, "tabs.mk")})
	_, err := p.edit("f", "all:\n        go build ./...\n    go test ./...", "x")
	p.refused(err, event.ToolNotFound, "lines 1-3", "white space only", "tabs", `"\tgo build ./..."`, `"        go build ./..."`, "from line 2")
	p.holds("f", caseFile(t, "tabs.mk"))
}

// Edit 7, with replace_all.
func TestDollarsAreLiteralInAllPlaces(t *testing.T) {
	content, new := caseFile(t, "dollar.txt"), strings.TrimSuffix(caseFile(t, "dollar_new.txt"), "\n")
	p := newProject(t, map[string]string{"f": content})
	r := p.done(edit(t.Context(), p.env, editInput{Path: "f", OldString: `log("done");`, NewString: new, ReplaceAll: true}))
	p.holds("f", strings.ReplaceAll(content, `log("done");`, new))
	equal(t, r.Text, "edited f: 2 places, lines 2, 4 (+2 -2)")
}

// Edit 8.
func TestControlCharactersStay(t *testing.T) {
	p := newProject(t, map[string]string{"f": "s = \"a\001b\"\nnext\n"})
	p.done(p.edit("f", "s = \"a\001b\"", "s = \"c\001b\""))
	p.done(p.edit("f", "next", "last"))
	p.holds("f", "s = \"c\001b\"\nlast\n")
	if _, err := p.edit("f", "s = \"c\001d\"", "x"); strings.Contains(fmt.Sprint(err), "\001") {
		t.Errorf("the control character is raw in %q", err)
	}
}

// Edit 9 and 10. An empty old_string creates no file either: that is write's.
func TestEditsOfNothingAreRefused(t *testing.T) {
	p := newProject(t, map[string]string{"f": "abc"})
	for _, in := range []editInput{
		{Path: "f", NewString: "X"},
		{Path: "f", NewString: "X", ReplaceAll: true},
		{Path: "new", NewString: "X"},
		{Path: "f", OldString: "abc", NewString: "abc"},
		{Path: "f", OldString: "abc", NewString: "abc", ReplaceAll: true},
	} {
		r, err := edit(t.Context(), p.env, in)
		p.refused(err, event.ToolInvalidInput)
		if len(r.Facts) > 0 {
			t.Errorf("facts of nothing: %v", r.Facts)
		}
	}
	p.holds("f", "abc")
	if _, err := os.Stat(filepath.Join(p.dir, "new")); err == nil {
		t.Error("a file came to be")
	}
}

// Edit 11.
func TestSeveralPlacesAreCountedAndNamed(t *testing.T) {
	lines := slices.Repeat([]string{"code"}, 20)
	lines[2], lines[16] = "import x", "import x"
	content := strings.Join(lines, "\n") + "\n"
	p := newProject(t, map[string]string{"f": content, "many": strings.Repeat("a\n", 5000), "tabs": "\tx()\n\t\tx()\n"})
	_, err := p.edit("f", "import x", "y")
	p.refused(err, event.ToolAmbiguousEdit, "2 places", "lines 3, 17", "replace_all")
	p.holds("f", content)
	_, err = p.edit("many", "a", "y")
	p.refused(err, event.ToolAmbiguousEdit, "over 1000 places", "…")
	_, err = p.edit("tabs", "    x()", "y()")
	p.refused(err, event.ToolAmbiguousEdit, "2 places", "but for indentation", "exactly")
}

// Edit 12.
func TestModesStay(t *testing.T) {
	for _, umask := range []int{0o022, 0o077} {
		t.Run(fmt.Sprintf("umask %04o", umask), func(t *testing.T) {
			defer syscall.Umask(syscall.Umask(umask))
			p := newProject(t, map[string]string{})
			for i, mode := range []fs.FileMode{0o755, 0o600, 0o644, 0o666, 0o640, 0o755 | fs.ModeSetgid} {
				for _, by := range []string{"edit", "write"} {
					name := fmt.Sprint(by, i)
					p.put(name, "a\n")
					must(t, os.Chmod(filepath.Join(p.dir, name), mode))
					if by == "edit" {
						p.done(p.edit(name, "a", "b"))
					} else {
						p.read(readInput{Path: name})
						p.done(p.write(name, "b\n"))
					}
					p.holds(name, "b\n")
					if info, err := os.Stat(filepath.Join(p.dir, name)); err != nil || info.Mode() != mode {
						t.Errorf("%s with %v has %v, %v", name, mode, info.Mode(), err)
					}
				}
			}
			p.done(p.write("d/new", "x"))
			file, err := os.Stat(filepath.Join(p.dir, "d", "new"))
			must(t, err)
			folder, err := os.Stat(filepath.Join(p.dir, "d"))
			must(t, err)
			if file.Mode() != 0o666&^fs.FileMode(umask) || folder.Mode().Perm() != 0o777&^fs.FileMode(umask) {
				t.Errorf("a new file has %v, its folder %v", file.Mode(), folder.Mode())
			}
		})
	}
}

func TestHardLinksAndAttributesStay(t *testing.T) {
	p := newProject(t, map[string]string{"a": "one\n", "x": "one\n"})
	must(t, os.Link(filepath.Join(p.dir, "a"), filepath.Join(p.dir, "b")))
	p.done(p.edit("a", "one", "two, and longer"))
	p.holds("b", "two, and longer\n")
	p.done(p.edit("b", "two, and longer", "3"))
	p.holds("a", "3\n")
	if err := unix.Setxattr(filepath.Join(p.dir, "x"), "user.note", []byte("mine"), 0); err != nil {
		t.Logf("no extended attributes here: %v", err)
		return
	}
	p.done(p.edit("x", "one", "two"))
	value := make([]byte, 16)
	if n, err := unix.Getxattr(filepath.Join(p.dir, "x"), "user.note", value); err != nil || string(value[:n]) != "mine" {
		t.Errorf("the attribute is %q, %v", value, err)
	}
}

// Edit 13.
func TestLinksAreWrittenThrough(t *testing.T) {
	p := newProject(t, map[string]string{"real.txt": "a\n", "d/f": "a\n"})
	outside := filepath.Join(t.TempDir(), "outside.txt")
	must(t, os.WriteFile(outside, []byte("a\n"), 0o600),
		os.Symlink("real.txt", filepath.Join(p.dir, "link.txt")), os.Symlink("link.txt", filepath.Join(p.dir, "second")),
		os.Symlink("d", filepath.Join(p.dir, "folder")), os.Symlink(outside, filepath.Join(p.dir, "out")))
	p.done(p.edit("link.txt", "a", "b"))
	p.done(p.edit("second", "b", "c"))
	p.holds("real.txt", "c\n")
	p.read(readInput{Path: "second"})
	p.done(p.write("second", "d\n"))
	p.holds("real.txt", "d\n")
	p.done(p.edit("folder/f", "a", "b"))
	p.holds("d/f", "b\n")
	for name, capability := range map[string]string{
		"link.txt": tool.FileWrite, "second": tool.FileWrite, "folder/f": tool.FileWrite, "out": tool.OutsideProject,
	} {
		need, err := pathNeed(p.env, name, true)
		if err != nil || !slices.Equal(need.Capabilities, []string{capability}) {
			t.Errorf("%s needs %v, %v", name, need.Capabilities, err)
		}
	}
	p.done(p.edit("out", "a", "b")) // as once it is allowed
	if data, err := os.ReadFile(outside); err != nil || string(data) != "b\n" {
		t.Errorf("the file outside holds %q, %v", data, err)
	}
	for _, name := range []string{"link.txt", "second", "folder", "out"} {
		if info, err := os.Lstat(filepath.Join(p.dir, name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", name, err)
		}
	}
}

func TestAFileTooLargeToKnowIsNotReplaced(t *testing.T) {
	p := newProject(t, map[string]string{"big": ""})
	must(t, os.Truncate(filepath.Join(p.dir, "big"), 3<<30)) // it would not fit into memory
	_, err := p.write("big", "x")
	p.refused(err, event.ToolInvalidInput, "has 3221225472 bytes", "bash")
}

// What a call would leave behind could not be changed or found by the next.
func TestNoNULAndNoFolderNameIsWritten(t *testing.T) {
	p := newProject(t, map[string]string{"f": "a\n"})
	_, err := p.edit("f", "a", "a\x00")
	p.refused(err, event.ToolInvalidInput, "NUL")
	p.holds("f", "a\n")
	_, err = p.write("nodir/", "x")
	p.refused(err, event.ToolInvalidInput, "is a directory")
	if _, err := os.Lstat(filepath.Join(p.dir, "nodir")); err == nil {
		t.Error("a file stands there")
	}
}

func TestALinkToNothingIsNotWrittenThrough(t *testing.T) {
	p := newProject(t, map[string]string{"f": ""})
	gone := filepath.Join(t.TempDir(), "gone")
	must(t, os.Symlink("missing.txt", filepath.Join(p.dir, "link")), os.Symlink("nowhere", filepath.Join(p.dir, "folder")),
		os.Symlink(gone, filepath.Join(p.dir, "out")), os.Symlink("loop", filepath.Join(p.dir, "loop")))
	for path, target := range map[string]string{"link": "missing.txt", "folder/a/b": "nowhere", "out": gone, "out/x": gone, filepath.Join(p.dir, "link"): "missing.txt"} {
		_, err := p.write(path, "x")
		p.refused(err, event.ToolInvalidInput, strings.TrimSuffix(strings.TrimSuffix(path, "/a/b"), "/x")+" is a link to "+target)
		_, err = p.edit(path, "a", "b")
		p.refused(err, event.ToolNotFound)
	}
	_, err := p.edit("link", "a", "b")
	p.refused(err, event.ToolNotFound, "link is a link to missing.txt")
	if _, err := p.write("loop", "x"); err == nil {
		t.Error("a link to itself was written through")
	}
	entries, err := os.ReadDir(p.dir)
	must(t, err)
	if _, err := os.Lstat(gone); err == nil || len(entries) != 5 {
		t.Errorf("something was made: %v", entries)
	}
}

// Edit 14.
func TestAChangeOnDiskIsNotLost(t *testing.T) {
	p := newProject(t, map[string]string{"f": "a\nb\n"})
	p.read(readInput{Path: "f"})
	p.put("f", "a\nb\nthe user's\n")
	_, err := p.write("f", "all mine\n")
	p.refused(err, event.ToolStale, "Read it again")
	p.done(p.edit("f", "a", "A"))
	p.holds("f", "A\nb\nthe user's\n")
	_, err = p.write("f", "all mine\n") // the edit went by the user's line unseen
	p.refused(err, event.ToolStale, "Read it again")
	p.read(readInput{Path: "f"})
	p.done(p.write("f", "A\nmine\nthe user's\n"))
	p.bash("echo more >> f")
	_, err = p.write("f", "all mine\n")
	p.refused(err, event.ToolStale, "Read it again")
	must(t, os.Remove(filepath.Join(p.dir, "f")))
	_, err = p.edit("f", "A", "a")
	p.refused(err, event.ToolNotFound, "does not exist")
}

// Edit 15.
func TestAnEditAfterATouchNeedsNoOtherRead(t *testing.T) {
	p := newProject(t, map[string]string{"f": "a\n"})
	p.read(readInput{Path: "f"})
	p.bash("touch -d +5sec f")
	p.done(p.edit("f", "a", "b"))
	p.bash("touch -d +9sec f")
	p.done(p.write("f", "c\n"))
	p.holds("f", "c\n")
}

// Edit 16.
func TestAnEditAfterAFormatterNeedsNoOtherRead(t *testing.T) {
	p := newProject(t, map[string]string{"f": "if x {\n\ty()\n}\n"})
	p.read(readInput{Path: "f"})
	p.done(p.edit("f", "y()", "z()"))
	p.bash(`sed -i 's/\t/  /' f`)
	p.done(p.edit("f", "  z()", "  w()"))
	p.holds("f", "if x {\n  w()\n}\n")
	p.done(p.edit("f", "if x {\n\tw()\n}", "if x {\n\tv()\n}")) // as the model remembers it
	p.holds("f", "if x {\n  v()\n}\n")
}

// Edit 17.
func TestTwoEditsOfOneReplyBothCount(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintln(&b, i+1)
	}
	p := newProject(t, map[string]string{"n.txt": b.String()})
	p.read(readInput{Path: "n.txt"})
	p.done(p.edit("n.txt", "\n50\n", "\nFIFTY\n"))
	p.done(p.edit("n.txt", "\n75\n", "\nSEVENTY-FIVE\n"))
	p.holds("n.txt", strings.NewReplacer("\n50\n", "\nFIFTY\n", "\n75\n", "\nSEVENTY-FIVE\n").Replace(b.String()))
}

// Edit 18 and 19.
func TestWriteMakesFoldersAndNothingElse(t *testing.T) {
	p := newProject(t, map[string]string{"file.txt": "x", "dir/a": "y"})
	p.done(p.write("a/b/c.txt", "exact\n"))
	p.holds("a/b/c.txt", "exact\n")
	for path, reason := range map[string]string{"dir": "is a directory", "file.txt/x": "not a directory", "file.txt/x/y": "not a directory", ".": "is a directory", "dir/": "is a directory"} {
		_, err := p.write(path, "z")
		p.refused(err, event.ToolInvalidInput, reason)
	}
	for path, words := range map[string]string{"": "path is missing", "a\x00b": "valid path"} {
		_, err := p.write(path, "z")
		p.refused(err, event.ToolInvalidInput, words)
	}
	_, err := p.edit("dir", "a", "b")
	p.refused(err, event.ToolInvalidInput, "is a directory")
	_, err = p.edit("file.txt/x", "a", "b")
	p.refused(err, event.ToolInvalidInput, "not a directory")
	p.holds("file.txt", "x")
	p.holds("dir/a", "y")
}

func TestPipesAndDevicesAreNotWritten(t *testing.T) {
	p := newProject(t, nil)
	must(t, unix.Mkfifo(filepath.Join(p.dir, "pipe"), 0o666))
	for _, path := range []string{"pipe", "/dev/null"} {
		_, err := p.write(path, "x")
		p.refused(err, event.ToolInvalidInput)
		_, err = p.edit(path, "a", "b")
		p.refused(err, event.ToolInvalidInput)
	}
}

func TestAFileThatMayNotBeWrittenIsNot(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everything")
	}
	p := newProject(t, map[string]string{"f": "a\n"})
	must(t, os.Chmod(filepath.Join(p.dir, "f"), 0o444))
	_, err := p.edit("f", "a", "b")
	p.refused(err, event.ToolPermissionDenied)
	p.holds("f", "a\n")
}

func TestAWriteWarnsOfNamesThatWindowsLacks(t *testing.T) {
	tests := map[string]bool{
		"CON": true, "nul": true, "aux.txt": true, "com1.c": true, "Lpt9": true, "trailing.": true, "trailing ": true, "a:b": true,
		"q?": true, "star*": true, "a<b>": true, `quo"te`: true, "pipe|": true, `back\slash`: true, "PRN/inner": true, "nul.tar.gz": true,
		"console": false, "aux2": false, "com": false, "a.con": false, ".hidden": false, "null": false, "com10": false, "a b": false, "sub/../ok": false,
	}
	for name, warned := range tests {
		p := newProject(t, nil)
		r := p.done(p.write(name, "x"))
		if strings.Contains(r.Text, "Windows") != warned {
			t.Errorf("%q: got %q", name, r.Text)
		}
		p.holds(name, "x")
		r = p.done(p.write(name, "y")) // said once
		if strings.Contains(r.Text, "Windows") {
			t.Errorf("%q again: got %q", name, r.Text)
		}
	}
}

func TestTheJSONOfANotebookIsEdited(t *testing.T) {
	const notebook = "{\n \"cells\": [\n  {\n   \"source\": [\n    \"print(\\\"a\\\")\\n\"\n   ]\n  }\n ]\n}\n"
	p := newProject(t, map[string]string{"n.ipynb": notebook})
	p.done(p.edit("n.ipynb", `    "print(\"a\")\n"`, `    "print(\"b\")\n"`))
	p.holds("n.ipynb", strings.Replace(notebook, "a\\\"", "b\\\"", 1))
	// as read shows the cell
	r := p.done(p.edit("n.ipynb", `print("b")`, `print("c")`))
	p.holds("n.ipynb", strings.Replace(notebook, "a\\\"", "c\\\"", 1))
	if !strings.Contains(r.Text, "but for escaped forms") {
		t.Errorf("got %q", r.Text)
	}
}

// What users of other agents reported, with its right value.
func TestReportedMismatchesApply(t *testing.T) {
	editsApply(t, map[string]oneEdit{
		"over-escaped quotes":                {"f(\"a\")\n", `f(\"a\")`, `f(\"b\")`, "f(\"b\")\n", "escaped forms"},
		"a number for an apostrophe":         {"it’s so\n", `it\u2019s so`, `it\u2019s not`, "it’s not\n", "escaped forms"},
		"an apostrophe for a number":         {"s = 'it\\u2019s so'\n", "it’s so", "it’s not", "s = 'it\\u2019s not'\n", "escaped forms"},
		"entities in a template":             {"<p>{a &amp;&amp; b}</p>\n", "<p>{a && b}</p>", "<p>{a && c}</p>", "<p>{a &amp;&amp; c}</p>\n", "escaped forms"},
		"a macro keeps its backslashes":      {"#define A \\\n  b\n", "#define A \\\n  b", "#define A \\\n  c", "#define A \\\n  c\n", "line 1"},
		"a backslash-n stays two characters": {"p(\"x\")\n", `p("x")`, `p("y\n")`, "p(\"y\\n\")\n", "line 1"},
		"a path keeps its backslashes":       {"x\n", "x", `C:\new\temp`, "C:\\new\\temp\n", "line 1"},
		"a no-break space":                   {"tasks in\u00a0current\n", "tasks in current", "tasks in next", "tasks in\u00a0next\n", "look-alike"},
		"an em dash":                         {"a — b\n", "a - b", "a - c", "a — c\n", "look-alike"},
		"GBK":                                {"// \xb6\xc1\xc8\xa1\xca\xfd\xbe\xdd\xa3\xac\xb7\xb5\xbb\xd8\xbd\xe1\xb9\xfb\r\nint a;\r\n", "// 读取数据，返回结果\nint a;", "// 读取数据，返回结果\nint b;", "// \xb6\xc1\xc8\xa1\xca\xfd\xbe\xdd\xa3\xac\xb7\xb5\xbb\xd8\xbd\xe1\xb9\xfb\r\nint b;\r\n", "line endings"},
		"tabs, CRLF and many lines":          {"{\r\n\t\tFILE* f;\r\n\t\tif (!f) {\r\n\t\t\treturn;\r\n\t\t}\r\n}\r\n", "\t\tif (!f) {\n\t\t\treturn;\n\t\t}\n", "\t\tif (!f) {\n\t\t\tthrow 1;\n\t\t}\n", "{\r\n\t\tFILE* f;\r\n\t\tif (!f) {\r\n\t\t\tthrow 1;\r\n\t\t}\r\n}\r\n", "line endings"},
		"tabs elsewhere stay":                {"\ta\n\tb\n", "a", "c", "\tc\n\tb\n", "line 1"},
	})
}

func TestAMissOfLongOrUnseenLinesShowsWhereTheyDiffer(t *testing.T) {
	p := newProject(t, map[string]string{
		"long":   strings.Repeat("word ", 2000) + "alpha " + strings.Repeat("tail ", 500) + "\n",
		"joined": "aa\u200bbb cc dd ee\n",
	})
	_, err := p.edit("long", strings.Repeat("word ", 2000)+"beta "+strings.Repeat("tail ", 500), "x")
	p.refused(err, event.ToolNotFound, "alpha tail", "beta tail", "…word")
	if n := len(fmt.Sprint(err)); n > 1200 {
		t.Errorf("it takes %d bytes to say so", n)
	}
	_, err = p.edit("joined", "aabb cc dd ff", "x")
	p.refused(err, event.ToolNotFound, `\u200b`)
}

func TestWhatIsTooLargeIsNotEdited(t *testing.T) {
	p := newProject(t, map[string]string{"f": strings.Repeat("a\n", editLimit/2) + "b", "g": strings.Repeat("a\n", editLimit/2-1) + "b\n"})
	_, err := p.edit("f", "b", "c")
	p.refused(err, event.ToolInvalidInput, "bash")
	p.done(p.edit("g", "b", "c"))
}

// recordedEdit is an edit of the data set.
type recordedEdit struct {
	ID, Before, After string
	AfterSHA256       string `json:"after_sha256"`
	Edit              struct {
		OldString  string `json:"old_string"`
		NewString  string `json:"new_string"`
		ReplaceAll bool   `json:"replace_all"`
	}
	Error struct{ Kind string }
}

func recordedEdits(t *testing.T, name string) []recordedEdit {
	t.Helper()
	var in io.Reader = strings.NewReader(shared(t, "data", "edits", name))
	if strings.HasSuffix(name, ".gz") {
		packed, err := gzip.NewReader(in)
		must(t, err)
		in = packed
	}
	var list []recordedEdit
	for lines := json.NewDecoder(in); ; {
		var r recordedEdit
		err := lines.Decode(&r)
		if errors.Is(err, io.EOF) {
			return list
		}
		must(t, err)
		list = append(list, r)
	}
}

// All recorded edits, through the tool and the disk.
func TestRecordedEditsLeaveTheRecordedFiles(t *testing.T) {
	p := newProject(t, nil)
	n := 0
	for _, name := range []string{"edits-ok.jsonl", "edits-large.jsonl.gz"} {
		for _, r := range recordedEdits(t, name) {
			p.put("f", r.Before)
			p.done(edit(t.Context(), p.env, editInput{"f", r.Edit.OldString, r.Edit.NewString, r.Edit.ReplaceAll}))
			if r.AfterSHA256 == "" {
				r.AfterSHA256 = hash(r.After)
			}
			if hash(p.content("f")) != r.AfterSHA256 {
				t.Errorf("%s leaves another file", r.ID)
			}
			n++
		}
	}
	if n != 231 {
		t.Errorf("%d edits", n)
	}
	kinds := map[string]event.ToolErrorKind{"not_found": event.ToolNotFound, "not_unique": event.ToolAmbiguousEdit, "no_change": event.ToolInvalidInput}
	for _, r := range recordedEdits(t, "edits-failing.jsonl") {
		p.put("f", r.Before)
		_, err := edit(t.Context(), p.env, editInput{"f", r.Edit.OldString, r.Edit.NewString, r.Edit.ReplaceAll})
		if err == nil && r.Error.Kind == "not_found" {
			continue // which those are, and that they do what is right, is match's to test
		}
		p.refused(err, kinds[r.Error.Kind])
		if len(fmt.Sprint(err)) > 2500 {
			t.Errorf("%s takes %d bytes to be refused", r.ID, len(fmt.Sprint(err)))
		}
		p.holds("f", r.Before)
	}
}
