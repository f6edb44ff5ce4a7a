package mention

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/workspace"
)

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func picture(w, h int) string {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		panic(err)
	}
	return b.String()
}

// newWorld is a project with files in it; blobs are what was kept.
func newWorld(t *testing.T, files map[string]string) (w World, dir string, blobs map[string]string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for name, content := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(content), 0o666))
	}
	ws, err := workspace.NewLocal(filepath.Join(dir, "p"))
	must(t, err)
	t.Cleanup(func() { must(t, ws.Close()) })
	blobs = map[string]string{}
	return World{
		Workspace: ws, Home: filepath.Join(dir, "home"),
		Denied: func(_ string, p workspace.Place) string {
			if strings.Contains(p.Path, ".ssh") {
				return "nobody may read it"
			}
			return ""
		},
		PutBlob: func(data []byte) (string, error) {
			blobs[hash(string(data))] = string(data)
			return hash(string(data)), nil
		},
	}, dir, blobs
}

func attach(t *testing.T, w World, text string) Attached {
	t.Helper()
	a, err := Attach(text, w)
	must(t, err)
	return a
}

func TestAMentionCarriesWhatAReadShows(t *testing.T) {
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	w, dir, _ := newWorld(t, map[string]string{
		"p/a.go": "package a\n", "p/ten": ten, "p/open": "no end", "p/d/x": "", "home/h": "h\n", "out": "o\n", "p/empty": "",
		"p/utf16": "\xff\xfea\x00\n\x00", "p/my file": "m\n", "p/n.ipynb": `{"cells":[{"cell_type":"raw","source":"r"}]}`,
		"p/long": strings.Repeat("x\n", 2001),
	})
	for text, want := range map[string]string{
		"@a.go":            "a.go|package a\n",
		"@open":            "open|no end",
		"@ten:2-3":         "ten 2-3|2\n3\n",
		"@ten:10":          "ten 10-10|10\n",
		"@ten:1-10":        "ten|" + ten,
		"@ten:9-12":        "ten 9-10|[lines 9-10 of 10]\n9\n10\n",
		"@ten:1-99":        "ten|" + ten,
		"@ten:11":          "ten 11-11|[the file has 10 lines; offset 11 is past its end]",
		"@d/":              "d|[d is a folder with 1 entry]\nx\n",
		"@d":               "d|[d is a folder with 1 entry]\nx\n",
		"@~/h":             dir + "/home/h|h\n",
		"@../out":          dir + "/out|o\n",
		"@" + dir + "/out": dir + "/out|o\n",
		"@empty":           "empty|[the file is empty]",
		"@utf16":           "utf16|[decoded from UTF-16LE]\na\n",
		`@"my file"`:       "my file|m\n",
		"@n.ipynb":         "n.ipynb|[notebook, 1 cell; offset 1 shows the raw JSON, which is what edit changes]\n[cell 1: raw]\nr\n",
		"@n.ipynb:1":       `n.ipynb|{"cells":[{"cell_type":"raw","source":"r"}]}`,
		"@long":            "long 1-2000|[lines 1-2000 of 2001; continue with offset 2001]\n" + strings.Repeat("x\n", 2000),
	} {
		a := attach(t, w, text)
		if len(a.Mentions) != 1 || len(a.Warnings) > 0 || len(a.Images) > 0 {
			t.Errorf("%s: got %+v", text, a)
			continue
		}
		m := a.Mentions[0]
		got := m.Path
		if m.Range != nil {
			got += fmt.Sprintf(" %d-%d", m.Range.Start, m.Range.End)
		}
		if got += "|" + *m.Content; got != want {
			t.Errorf("%s:\n got %.300q\nwant %.300q", text, got, want)
		}
	}
	if a := attach(t, w, "@none, a@a.go and @types/node"); len(a.Mentions)+len(a.Warnings) > 0 {
		t.Errorf("got %+v", a)
	}
}

func TestAFileThatIsAttachedCountsAsRead(t *testing.T) {
	w, _, _ := newWorld(t, map[string]string{"p/a.go": "1\n2\n", "p/b.go": "1\n2\n", "p/d/x": ""})
	a := attach(t, w, "@a.go @b.go:2 @d/")
	if len(a.Reads) != 2 || a.Reads[0].Path != "a.go" || a.Reads[0].SHA256 != hash("1\n2\n") || a.Reads[0].Range != nil ||
		a.Reads[1].Path != "b.go" || *a.Reads[1].Range != (event.Span{Start: 2, End: 2}) || a.Reads[1].MtimeMS == 0 {
		t.Errorf("got %+v", a.Reads)
	}
}

func TestAFileIsAttachedOnce(t *testing.T) {
	w, dir, _ := newWorld(t, map[string]string{"p/a.go": "1\n2\n3\n", "p/b.go": "1\n2\n3\n"})
	must(t, os.Symlink("a.go", filepath.Join(dir, "p", "link")))
	a := attach(t, w, "@a.go @./a.go @link @a.go:1 @"+dir+"/p/a.go and @b.go:1 @b.go:1 @b.go:2-3 @b.go:1-1")
	var got []string
	for _, m := range a.Mentions {
		got = append(got, m.Path+" "+*m.Content)
	}
	if want := "a.go 1\n2\n3\n|b.go 1\n|b.go 2\n3\n"; strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
}

func TestAPictureGoesWithTheMessage(t *testing.T) {
	small, large := picture(8, 4), picture(4000, 10)
	pdf := "%PDF-1.7\nstartxref\n"
	w, _, blobs := newWorld(t, map[string]string{"p/a.jpg": small, "p/b.png": large, "p/c.pdf": pdf, "p/t.svg": "<svg/>"})
	a := attach(t, w, "@a.jpg @b.png @c.pdf @t.svg @a.jpg")
	var kinds, said []string
	for _, m := range a.Images {
		kinds = append(kinds, m.MediaType)
		if blobs[m.SHA256] == "" {
			t.Errorf("%s was not kept", m.MediaType)
		}
	}
	for _, m := range a.Mentions {
		said = append(said, *m.Content)
	}
	if got := strings.Join(kinds, " "); got != "image/png image/png application/pdf" {
		t.Errorf("got %s", got)
	}
	want := []string{
		fmt.Sprintf("[a.jpg: image/png, 8x4, %d bytes]", len(small)), fmt.Sprintf("[b.png: image/png, 4000x10, %d bytes; shown as image/png, 2000x5]", len(large)),
		fmt.Sprintf("[c.pdf: application/pdf, %d bytes]", len(pdf)), "<svg/>",
	}
	if strings.Join(said, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", said)
	}
	w.TextOnly = true
	if a := attach(t, w, "@a.jpg @t.svg"); len(a.Warnings) != 1 || len(a.Images) > 0 || len(a.Mentions) != 1 {
		t.Errorf("got %+v", a)
	}
	if a.Reads[1].SHA256 != hash(large) {
		t.Errorf("the fact is not about the file: %+v", a.Reads[1])
	}
}

func TestWhatCannotBeAttachedIsAWarning(t *testing.T) {
	w, dir, _ := newWorld(t, map[string]string{
		"p/bin": "a\x00b", "p/bad.png": "\x89PNG\r\n\x1a\n", "home/.ssh/id": "key", "p/f": "x", "p/deep/x": "",
	})
	must(t, os.Symlink("gone", filepath.Join(dir, "p", "broken")), syscall.Mkfifo(filepath.Join(dir, "p", "pipe"), 0o666))
	for text, want := range map[string]string{
		"@bin":       "@bin is not attached: bin is a binary file of 3 bytes",
		"@bad.png":   "@bad.png is not attached: bad.png cannot be decoded as image/png",
		"@~/.ssh/id": "@~/.ssh/id is not attached: nobody may read it",
		"@broken":    "@broken is not attached: it is a link to " + dir + "/p/gone, which does not exist",
		"@pipe":      "@pipe is not attached: pipe is a named pipe, not a regular file",
		"@/dev/zero": "@/dev/zero is not attached: /dev/zero is a device",
		"@f:20-10":   "@f is not attached: the lines behind it are no range",
		"@f:0":       "@f is not attached: the lines behind it are no range",
	} {
		a := attach(t, w, "see "+text)
		if len(a.Warnings) != 1 || !strings.HasPrefix(a.Warnings[0], want) || len(a.Mentions)+len(a.Images)+len(a.Reads) > 0 {
			t.Errorf("%s: got %+v", text, a)
		}
	}
	if os.Geteuid() == 0 {
		return // who may read everything
	}
	must(t, os.Chmod(filepath.Join(dir, "p", "f"), 0), os.Chmod(filepath.Join(dir, "p", "deep"), 0))
	for _, text := range []string{"@f", "@deep/x"} {
		if a := attach(t, w, text); len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], "permission denied") {
			t.Errorf("%s: got %+v", text, a)
		}
	}
}

func TestAMessageHoldsABoundedAmount(t *testing.T) {
	files, text := map[string]string{}, ""
	for i := range 30 {
		files[fmt.Sprintf("p/t%02d", i)] = strings.Repeat(strings.Repeat("x", 99)+"\n", 410)
		text += fmt.Sprintf(" @t%02d", i)
	}
	w, _, _ := newWorld(t, files)
	a := attach(t, w, text)
	size := 0
	for _, m := range a.Mentions {
		size += len(*m.Content)
	}
	if size > textLimit+1000 || len(a.Mentions) != 5 || len(a.Warnings) != 25 {
		t.Errorf("%d bytes of %d files, %d warnings", size, len(a.Mentions), len(a.Warnings))
	}
	if last := a.Mentions[4]; last.Range == nil || !strings.Contains(*last.Content, "continue with offset") {
		t.Errorf("what was cut does not say so: %.80q", *last.Content)
	}

	files, text = map[string]string{}, ""
	for i := range 25 {
		files[fmt.Sprintf("p/%02d.png", i)] = picture(1, i+1)
		text += fmt.Sprintf(" @%02d.png", i)
	}
	w, _, _ = newWorld(t, files)
	if a := attach(t, w, text); len(a.Images) != mediaCount || len(a.Warnings) != 5 || len(a.Mentions) != mediaCount {
		t.Errorf("%d pictures, %d warnings", len(a.Images), len(a.Warnings))
	}
}

func TestAFullDiskIsAnError(t *testing.T) {
	w, _, _ := newWorld(t, map[string]string{"p/a.png": picture(1, 1)})
	w.PutBlob = func([]byte) (string, error) { return "", syscall.ENOSPC }
	if _, err := Attach("@a.png", w); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
}

func TestTheTextOfMentionsIsThatOfTheHistory(t *testing.T) {
	w, _, _ := newWorld(t, map[string]string{"p/a": "1\n2\n"})
	if got, want := attach(t, w, "@a:2").Text(), "\n\n<file path=\"a\" lines=\"2-2\">\n2\n</file>"; got != want {
		t.Errorf("got %q", got)
	}
}

func TestAWordThatComesAgainIsTakenOnce(t *testing.T) {
	w, dir, _ := newWorld(t, map[string]string{"p/a.go": "x\n"})
	must(t, os.Symlink("gone", filepath.Join(dir, "p", "broken")))
	asked := 0
	denied := w.Denied
	w.Denied = func(given string, p workspace.Place) string { asked++; return denied(given, p) }
	a := attach(t, w, strings.Repeat("@broken @a.go\n", 1000))
	if len(a.Warnings) != 1 || len(a.Mentions) != 1 || asked != 1 {
		t.Errorf("%d warnings, %d mentions, %d questions", len(a.Warnings), len(a.Mentions), asked)
	}
}
