package builtin

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/excerpt"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/workspace"
)

// count is n numbered lines.
func count(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("line " + string(rune('a'+i%26)) + "\n")
	}
	return b.String()
}

func TestReadGivesTheTextAsItIs(t *testing.T) {
	p := newProject(t, map[string]string{
		"a.go": "package a\n\tx\n", "open": "no end", "crlf": "a\r\nb\r\n", "bom": "\ufeffa\n", "empty": "", "onlybom": "\ufeff",
		"long": count(2100), "wide": strings.Repeat("é", 2001) + "x\nb\n", "blank": "\n",
		"utf16": "\xff\xfea\x00\xe9\x00\n\x00", "latin1": "caf\xe9 \x99\n", "damaged": "schön größer \xff naïve\n", "ctl": "a\x01b\x1b[31m\n",
	})
	tests := map[string]struct {
		in   readInput
		want string
	}{
		"whole":             {readInput{Path: "a.go"}, "package a\n\tx\n"},
		"no line feed":      {readInput{Path: "open"}, "no end"},
		"carriage returns":  {readInput{Path: "crlf"}, "a\nb\n"},
		"BOM":               {readInput{Path: "bom"}, "a\n"},
		"empty":             {readInput{Path: "empty"}, "[the file is empty]"},
		"nothing but a BOM": {readInput{Path: "onlybom"}, "[the file is empty]"},
		"a blank line":      {readInput{Path: "blank"}, "\n"},
		"control":           {readInput{Path: "ctl"}, "a\x01b\x1b[31m\n"},
		"UTF-16":            {readInput{Path: "utf16"}, "[decoded from UTF-16LE]\naé\n"},
		"Latin-1":           {readInput{Path: "latin1"}, "[decoded from Windows-1252]\ncafé ™\n"},
		"damaged UTF-8":     {readInput{Path: "damaged"}, "[decoded from UTF-8 with invalid bytes]\nschön größer \uFFFD naïve\n"},
		"offset":            {readInput{Path: "a.go", Offset: 2}, "[lines 2-2 of 2]\n\tx\n"},
		"limit":             {readInput{Path: "a.go", Limit: 1}, "[lines 1-1 of 2; continue with offset 2]\npackage a\n"},
		"both":              {readInput{Path: "long", Offset: 2099, Limit: 1}, "[lines 2099-2099 of 2100; continue with offset 2100]\nline s\n"},
		"past the end":      {readInput{Path: "a.go", Offset: 3}, "[the file has 2 lines; offset 3 is past its end]"},
		"default limit":     {readInput{Path: "long"}, "[lines 1-2000 of 2100; continue with offset 2001]\n" + count(2000)},
		"limit over 2000":   {readInput{Path: "long", Limit: 2100}, count(2100)},
		"long line": {
			readInput{Path: "wide"}, "[see more of a cut line with bash: sed -n 1p wide | cut -b4001-6000]\n" +
				strings.Repeat("é", 2000) + " [… cut; line 1 has 2002 characters]\nb\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { equal(t, p.read(tt.in).Text, tt.want) })
	}
}

func TestReadStopsBefore50KB(t *testing.T) {
	p := newProject(t, map[string]string{"f": strings.Repeat(strings.Repeat("x", 999)+"\n", 60)})
	r := p.read(readInput{Path: "f"})
	if !strings.HasPrefix(r.Text, "[lines 1-50 of 60; continue with offset 51]\n") || len(r.Text) > excerpt.Bytes+100 {
		t.Errorf("%d bytes: %.80s", len(r.Text), r.Text)
	}
}

func TestReadRemembersWhatWasSeen(t *testing.T) {
	p := newProject(t, map[string]string{"d/a": "1\n2\n3\n"})
	r := p.read(readInput{Path: "d/../d/a", Offset: 2, Limit: 1})
	fact := r.Facts[0].(event.FileRead)
	if fact.Path != "d/a" || *fact.Range != (event.Span{Start: 2, End: 2}) || fact.Bytes != 2 || fact.SHA256 != hash("1\n2\n3\n") || fact.MtimeMS == 0 {
		t.Errorf("got %+v", fact)
	}
	equal(t, r.UI.Summary, "Read d/a (lines 2-2 of 3)")
	if fact := p.read(readInput{Path: "d/a"}).Facts[0].(event.FileRead); fact.Range != nil {
		t.Errorf("a whole file has no range: %+v", fact)
	}
}

func TestReadListsAFolder(t *testing.T) {
	p := newProject(t, map[string]string{"d/a": "", "d/sub/b": "", "d/nl\nname": ""})
	r := p.read(readInput{Path: "d"})
	equal(t, r.Text, "[d is a folder with 3 entries]\na\n\"nl\\nname\"\nsub/\n")
	equal(t, r.UI.Summary, "List d (3 entries)")
}

func TestReadKeepsAPictureWithTheSession(t *testing.T) { // Read 6
	var small, large bytes.Buffer
	must(t, jpeg.Encode(&small, image.NewGray(image.Rect(0, 0, 8, 4)), nil), png.Encode(&large, image.NewGray(image.Rect(0, 0, 4000, 10))))
	p := newProject(t, map[string]string{"a.png": small.String(), "b.png": large.String(), "svg.png": "<svg xmlns='x'/>\n"})
	r := p.read(readInput{Path: "a.png"})
	equal(t, r.Text, fmt.Sprintf("[a.png: image/jpeg, 8x4, %d bytes]", small.Len()))
	equal(t, r.UI.Summary, "Read a.png (image/jpeg, 8x4)")
	if len(r.Media) != 1 || r.Media[0].MediaType != "image/jpeg" || p.blobs[r.Media[0].SHA256] != small.String() {
		t.Errorf("got %+v", r.Media)
	}
	r = p.read(readInput{Path: "b.png"})
	equal(t, r.Text, fmt.Sprintf("[b.png: image/png, 4000x10, %d bytes; shown as image/png, 2000x5]", large.Len()))
	if fact := r.Facts[0].(event.FileRead); fact.SHA256 != hash(large.String()) || fact.SHA256 == r.Media[0].SHA256 {
		t.Errorf("the fact is not about the file: %+v", fact)
	}
	if r := p.read(readInput{Path: "svg.png"}); len(r.Media) != 0 || r.Text != "<svg xmlns='x'/>\n" {
		t.Errorf("got %+v", r)
	}
}

func TestReadOfANotebookCountsAsReadingIt(t *testing.T) {
	p := newProject(t, map[string]string{"a.ipynb": `{"cells": [{"cell_type": "code", "source": "1"}]}`})
	r := p.read(readInput{Path: "a.ipynb"})
	equal(t, r.UI.Summary, "Read a.ipynb (1 cell)")
	if _, err := p.write("a.ipynb", "{}"); err != nil {
		t.Errorf("it may not be overwritten: %v", err)
	}
}

func TestReadRefusesWhatIsNoText(t *testing.T) {
	p := newProject(t, map[string]string{"a.go": "x", "bin": "ab\x00\xff", "koi8": "\xf0\xd2\xc9\xd7\xc5\xd4 \xcd\xc9\xd2", "secret": "x", "broken.png": "\x89PNG\r\n\x1a\nrest"})
	must(t, syscall.Mkfifo(filepath.Join(p.dir, "pipe"), 0o666), os.Symlink("gone", filepath.Join(p.dir, "broken")),
		os.Symlink("/dev/zero", filepath.Join(p.dir, "device")))
	tests := map[string]struct {
		in    readInput
		kind  event.ToolErrorKind
		words string
	}{
		"binary":          {readInput{Path: "bin"}, event.ToolInvalidInput, "binary file of 4 bytes"},
		"mostly not text": {readInput{Path: "koi8"}, event.ToolInvalidInput, "binary"},
		"pipe":            {readInput{Path: "pipe"}, event.ToolInvalidInput, "not a regular file"},
		"device":          {readInput{Path: "device"}, event.ToolInvalidInput, "not a regular file"},
		"broken link":     {readInput{Path: "broken"}, event.ToolNotFound, "gone"},
		"not there":       {readInput{Path: "b.go"}, event.ToolNotFound, "a.go"},
		"no folder":       {readInput{Path: "x/b.go"}, event.ToolNotFound, "folder x"},
		"file as folder":  {readInput{Path: "a.go/b"}, event.ToolInvalidInput, "not a directory"},
		"no path":         {readInput{}, event.ToolInvalidInput, "path"},
		"NUL":             {readInput{Path: "a\x00b"}, event.ToolInvalidInput, "path"},
		"before line 1":   {readInput{Path: "a.go", Offset: -1}, event.ToolInvalidInput, "counted from 1"}, // Read 4
		"fewer than none": {readInput{Path: "a.go", Limit: -1}, event.ToolInvalidInput, "negative"},        // Read 4
		"damaged picture": {readInput{Path: "broken.png"}, event.ToolInvalidInput, "cannot be decoded"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := read(t.Context(), p.env, tt.in)
			p.refused(err, tt.kind, tt.words)
		})
	}
}

// closed is a workspace whose files nobody may open, not even root.
type closed struct{ *workspace.Local }

func (closed) Open(path string) (workspace.File, error) {
	return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EACCES}
}

func TestReadSaysThatAFileMayNotBeRead(t *testing.T) { // Read 9
	p := newProject(t, map[string]string{"secret": "x"})
	p.env.Workspace = closed{p.ws}
	_, err := read(t.Context(), p.env, readInput{Path: "secret"})
	p.refused(err, event.ToolPermissionDenied, "secret: permission denied")
}

func TestReadOfRecordedFiles(t *testing.T) {
	p := newProject(t, map[string]string{"svg.png": shared(t, "cases", "files", "not_a_png.png"), "bin": shared(t, "cases", "files", "binary.dat")}) // Read 6, 7
	if r := p.read(readInput{Path: "svg.png"}); len(r.Media) > 0 {
		t.Errorf("an SVG went out as %+v", r.Media)
	}
	_, err := read(t.Context(), p.env, readInput{Path: "bin"})
	p.refused(err, event.ToolInvalidInput, "binary")
}

func TestAPathNeedsWhatItLeadsTo(t *testing.T) {
	outside := t.TempDir()
	p := newProject(t, map[string]string{"a": "x", "sub/b": "x"})
	must(t, os.WriteFile(filepath.Join(outside, "o"), nil, 0o666), os.Symlink(outside, filepath.Join(p.dir, "out")))
	tests := map[string]struct {
		path  string
		write bool
		want  string
	}{
		"inside":              {"sub/../a", false, tool.FileRead},
		"inside, written":     {"new/file", true, tool.FileWrite},
		"outside":             {filepath.Join(outside, "o"), false, tool.FileRead + " " + tool.OutsideProject},
		"above":               {"../x", true, tool.OutsideProject},
		"outside by a link":   {"out/o", true, tool.OutsideProject},
		"absolute but inside": {filepath.Join(p.dir, "a"), false, tool.FileRead},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			need, err := pathNeed(p.env, tt.path, tt.write)
			must(t, err)
			equal(t, strings.Join(need.Capabilities, " "), tt.want)
			if need.Paths[0].Given != tt.path || need.Paths[0].Write != tt.write || !filepath.IsAbs(need.Paths[0].Path) {
				t.Errorf("got %+v", need.Paths[0])
			}
		})
	}
}
