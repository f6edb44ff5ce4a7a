package builtin

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

func TestEditChangesThePlaceAndNothingElse(t *testing.T) {
	editsApply(t, map[string]oneEdit{
		"plain":           {"a\nb\nc\n", "b", "B", "a\nB\nc\n", "edited f: 1 place, line 2 (+1 -1)"},
		"dollar":          {"x();\n", "x();", "$&$1`", "$&$1`\n", "line 1"},
		"CRLF":            {"a\r\nb\r\nc\r\n", "a\nb", "a\nB\nB2", "a\r\nB\r\nB2\r\nc\r\n", "but for line endings"},
		"BOM and CRLF":    {"\ufeffa é\r\nb\r\n", "a é", "x é", "\ufeffx é\r\nb\r\n", "line 1"},
		"BOM given":       {"\ufeffab\n", "\ufeffab", "cd", "\ufeffcd\n", "line 1"},
		"no line feed":    {"a\nb", "a", "A", "A\nb", "line 1"},
		"Latin-1":         {"x\ncaf\xe9 \x99\x81\n", "x", "café", "caf\xe9\ncaf\xe9 \x99\x81\n", "line 1"},
		"UTF-16":          {"\xfe\xff\x00a\x00\r\x00\n\x00b", "a\nb", "a\nö", "\xfe\xff\x00a\x00\r\x00\n\x00\xf6", "line endings"},
		"damaged UTF-8":   {"schön größer \xff naïve\nx\n", "x", "y", "schön größer \xff naïve\ny\n", "line 2"},
		"control":         {"s = \"a\x01b\"\nnext\n", "a\x01b", "a\x01c", "s = \"a\x01c\"\nnext\n", "line 1"},
		"tabs for blanks": {"all:\n\tcc a.c\n", "        cc a.c", "        cc b.c", "all:\n\tcc b.c\n", "but for indentation"},
		"curly quotes":    {"say “a”\n", "say “a”", "say “b”", "say “b”\n", "line 1"},
	})
}

// oneEdit is a file, an edit of it, the file after it, and words of the result.
type oneEdit struct{ before, old, new, after, says string }

func editsApply(t *testing.T, tests map[string]oneEdit) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, map[string]string{"f": tt.before})
			r := p.done(p.edit("f", tt.old, tt.new))
			p.holds("f", tt.after)
			if !strings.Contains(r.Text, tt.says) {
				t.Errorf("%q does not say %q", r.Text, tt.says)
			}
			fact := r.Facts[0].(event.FileModified)
			if p.blobs[fact.BeforeSHA256] != tt.before || p.blobs[fact.AfterSHA256] != tt.after {
				t.Error("the contents before and after were not kept")
			}
		})
	}
}

func TestEditReportsWhatItDid(t *testing.T) {
	p := newProject(t, map[string]string{"d/f": "a\nx\nb\n"})
	r := p.done(p.edit("d/f", "x\n", "y\nz\n"))
	fact := r.Facts[0].(event.FileModified)
	if fact.Path != "d/f" || fact.Operation != event.FileEdited || fact.DiffStats != (event.DiffStats{Added: 2, Removed: 1}) {
		t.Errorf("got %+v", fact)
	}
	if !strings.Contains(fact.Diff, "\n-x\n+y\n+z\n") {
		t.Errorf("the diff is %q", fact.Diff)
	}
	equal(t, r.UI.Summary, "Edit d/f +2 -1")
}

func TestEditReplacesAllPlaces(t *testing.T) {
	p := newProject(t, map[string]string{"f": "log(1);\nlog(2);\nlog(1);\n"})
	r := p.done(edit(t.Context(), p.env, editInput{Path: "f", OldString: "log(1);", NewString: "$&;", ReplaceAll: true}))
	p.holds("f", "$&;\nlog(2);\n$&;\n")
	equal(t, r.Text, "edited f: 2 places, lines 1, 3 (+2 -2)")
}

func TestEditRefusesAndLeavesTheFile(t *testing.T) {
	const content = "one\nimport x\ntwo\nimport x\n\treturn nil // the end\n"
	tests := map[string]struct {
		path, old, new string
		kind           event.ToolErrorKind
		words          []string
	}{
		"several places":  {"f", "import x", "y", event.ToolAmbiguousEdit, []string{"2 places", "lines 2, 4", "replace_all"}},
		"not there":       {"f", "return nil // the very end", "y", event.ToolNotFound, []string{"lines 5-5", "\treturn nil // the end"}},
		"nothing like it": {"f", "completely different", "y", event.ToolNotFound, []string{"read it"}},
		"white space":     {"f", "two\nimport x\n  return  nil // the end", "y", event.ToolNotFound, []string{"white space only", `"\treturn nil // the end"`}},
		"no change":       {"f", "one", "one", event.ToolInvalidInput, []string{"the same"}},
		"empty":           {"f", "", "y", event.ToolInvalidInput, []string{"write"}},
		"no file":         {"g", "a", "b", event.ToolNotFound, []string{"f"}},
		"folder":          {".", "a", "b", event.ToolInvalidInput, []string{"is a directory"}},
		"binary":          {"bin", "a", "b", event.ToolInvalidInput, []string{"binary"}},
		"no such letter":  {"latin1", "x", "→", event.ToolInvalidInput, []string{"→", "Windows-1252"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, map[string]string{"f": content, "bin": "a\x00", "latin1": "x \xe9\n"})
			_, err := p.edit(tt.path, tt.old, tt.new)
			p.refused(err, tt.kind, tt.words...)
			p.holds("f", content)
			p.holds("latin1", "x \xe9\n")
		})
	}
}

func TestEditKeepsModeAndLinks(t *testing.T) {
	for _, umask := range []int{0o022, 0o077} {
		defer syscall.Umask(syscall.Umask(umask))
		p := newProject(t, map[string]string{"run.sh": "a\n", "real": "a\n"})
		must(t, os.Chmod(filepath.Join(p.dir, "run.sh"), 0o755), os.Symlink("real", filepath.Join(p.dir, "link")))
		p.done(p.edit("run.sh", "a", "b"))
		p.done(p.edit("link", "a", "b"))
		p.holds("real", "b\n")
		info, err := os.Stat(filepath.Join(p.dir, "run.sh"))
		must(t, err)
		link, err := os.Lstat(filepath.Join(p.dir, "link"))
		must(t, err)
		if info.Mode() != 0o755 || link.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("modes are %v and %v", info.Mode(), link.Mode())
		}
	}
}

func TestEditWorksOnWhatTheFileHoldsNow(t *testing.T) {
	p := newProject(t, map[string]string{"f": "a\nb\n"})
	p.read(readInput{Path: "f"})
	p.put("f", "a\nb\nuser\n")
	p.done(p.edit("f", "a", "A"))
	p.done(p.edit("f", "b", "B"))
	p.holds("f", "A\nB\nuser\n")
}

func TestWriteCreatesAndReplaces(t *testing.T) {
	p := newProject(t, map[string]string{"old": "1\n2\n", "secret": "x"})
	must(t, os.Chmod(filepath.Join(p.dir, "secret"), 0o600))
	r := p.done(p.write("a/b/new", "x\ny"))
	equal(t, r.Text, "wrote a/b/new (new, 2 lines)")
	p.holds("a/b/new", "x\ny")
	if fact := r.Facts[0].(event.FileModified); fact.BeforeSHA256 != "" || fact.Operation != event.FileWritten {
		t.Errorf("got %+v", fact)
	}
	p.read(readInput{Path: "old"})
	r = p.done(p.write("old", "1\n3\n"))
	equal(t, r.Text, "wrote old (+1 -1)")
	equal(t, r.UI.Summary, "Write old +1 -1")
	p.done(p.write("old", "own content may be replaced"))
	p.read(readInput{Path: "secret"})
	p.done(p.write("secret", "“y”\u00a0\r\n"))
	p.holds("secret", "“y”\u00a0\r\n")
	info, err := os.Stat(filepath.Join(p.dir, "secret"))
	must(t, err)
	if info.Mode() != 0o600 {
		t.Errorf("the mode is %v", info.Mode())
	}
}

func TestWriteOfTheSameContentIsNoChange(t *testing.T) {
	p := newProject(t, map[string]string{"f": "x"})
	p.read(readInput{Path: "f"})
	if r := p.done(p.write("f", "x")); len(r.Facts) > 0 || !strings.Contains(r.Text, "nothing was written") {
		t.Errorf("got %+v", r)
	}
}

func TestWriteRefusesWhatTheModelHasNotSeen(t *testing.T) {
	p := newProject(t, map[string]string{"f": "x", "d/a": ""})
	_, err := p.write("f", "y")
	p.refused(err, event.ToolStale, "not read it")
	p.read(readInput{Path: "f"})
	p.put("f", "x, and the user's")
	_, err = p.write("f", "y")
	p.refused(err, event.ToolStale, "changed", "Read it again")
	p.holds("f", "x, and the user's")
	_, err = p.write("d", "y")
	p.refused(err, event.ToolInvalidInput, "is a directory")
	_, err = p.write("f/x", "y")
	p.refused(err, event.ToolInvalidInput, "not a directory")
	_, err = write(t.Context(), p.env, writeInput{Path: "f"})
	p.refused(err, event.ToolInvalidInput, "content")
}

func TestWriteGoesByContentNotByTime(t *testing.T) {
	p := newProject(t, map[string]string{"f": "x"})
	p.read(readInput{Path: "f"})
	p.bash("touch -d +5sec f")
	p.done(p.write("f", "y"))
	p.holds("f", "y")
}

func TestRecordedFilesAreEditedByteForByte(t *testing.T) {
	tests := []struct{ file, old, new string }{
		{"crlf.txt", "two", "2"},
		{"crlf_bom.txt", "\r\nalpha", "\r\nbeta"},
		{"crlf_bom.txt", "alpha Gr", "beta Gr"},
		{"latin1.txt", "", ""},
		{"no_final_newline.txt", "", ""},
	}
	for _, tt := range tests {
		content := shared(t, "cases", "files", tt.file)
		if tt.old == "" {
			tt.old, _, _ = strings.Cut(content, "\n")
			tt.new = "CHANGED"
		}
		p := newProject(t, map[string]string{"f": content})
		p.done(p.edit("f", tt.old, tt.new))
		p.holds("f", strings.Replace(content, tt.old, tt.new, 1))
	}
}
