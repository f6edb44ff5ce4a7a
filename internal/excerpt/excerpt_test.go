package excerpt

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/text/encoding/japanese"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/workspace"
)

// folder is a project with files in it.
type folder struct {
	testing.TB
	dir string
	ws  *workspace.Local
}

func newFolder(t testing.TB, files map[string]string) folder {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	ws, err := workspace.NewLocal(dir)
	must(t, err)
	t.Cleanup(func() { must(t, ws.Close()) })
	f := folder{TB: t, dir: dir, ws: ws}
	for name, content := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(content), 0o666))
	}
	return f
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func equal(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// read shows a file that there is.
func (f folder) read(name string, lines ...int) Excerpt {
	f.Helper()
	e, err := f.try(name, lines...)
	must(f.TB, err)
	return e
}

func (f folder) try(name string, lines ...int) (Excerpt, error) {
	q := Request{Name: name}
	if len(lines) > 0 {
		q.First, q.Limit = lines[0], lines[1]
	}
	return Read(f.ws, name, q)
}

// refused checks that a file is not shown, and the words that say so.
func (f folder) refused(name string, words ...string) {
	f.Helper()
	_, err := f.try(name)
	var r *Refusal
	if !errors.As(err, &r) {
		f.Errorf("%s: got %v, want a refusal", name, err)
		return
	}
	for _, w := range append(words, name) {
		if !strings.Contains(r.Text, w) {
			f.Errorf("%q does not say %q", r.Text, w)
		}
	}
}

// peak is how much memory f has allocated at once, roughly: what is in use
// whenever the collector has run.
func peak(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestALongLineIsCutWithItsLengthAndTheWayToTheRest(t *testing.T) { // Read 1
	f := newFolder(t, map[string]string{
		"m.js": strings.Repeat("x", 600_000) + "\n", "open": strings.Repeat("x", 2001), "fits": strings.Repeat("é", 2000),
		"crlf": strings.Repeat("x", 2000) + "\r\n", "many": "a\n" + strings.Repeat(strings.Repeat("🙂", 3000)+"\n", 3) + "b",
		"it's $1": strings.Repeat("x", 3000), "combining": strings.Repeat("e\u0301", 1001),
	})
	cut := func(n, length string) string { return " [… cut; line " + n + " has " + length + " characters]\n" }
	way := func(n, name, from, to string) string {
		return "[see more of a cut line with bash: sed -n " + n + "p " + name + " | cut -b" + from + "-" + to + "]\n"
	}
	for name, want := range map[string]string{
		"m.js":      way("1", "m.js", "2001", "4000") + strings.Repeat("x", 2000) + cut("1", "600000"),
		"open":      way("1", "open", "2001", "4000") + strings.Repeat("x", 2000) + cut("1", "2001"),
		"fits":      strings.Repeat("é", 2000),
		"crlf":      strings.Repeat("x", 2000) + "\n",
		"it's $1":   way("1", `'it'\''s $1'`, "2001", "4000") + strings.Repeat("x", 2000) + cut("1", "3000"),
		"combining": way("1", "combining", "3001", "5000") + strings.Repeat("e\u0301", 1000) + cut("1", "2002"),
		"many": way("2", "many", "8001", "10000") + "a\n" + strings.Repeat("🙂", 2000) + cut("2", "3000") +
			strings.Repeat("🙂", 2000) + cut("3", "3000") + strings.Repeat("🙂", 2000) + cut("4", "3000") + "b",
	} {
		equal(t, f.read(name).Text(), want)
	}
}

func TestAnEndlessLineTakesLittleMemory(t *testing.T) { // Read 1, 8
	f := newFolder(t, nil)
	file, err := os.Create(filepath.Join(f.dir, "one"))
	must(t, err)
	_, err = file.Write(bytes.Repeat([]byte("x"), 200_000))
	must(t, err, file.Truncate(256<<20), file.Close())
	took := peak(func() {
		if text := f.read("one").Text(); !strings.Contains(text, "line 1 has 268435456 characters") || len(text) > 3000 {
			t.Errorf("got %d bytes: %.200s", len(text), text)
		}
	})
	if took > 10<<20 {
		t.Errorf("%d bytes were allocated", took)
	}
}

func TestAHugeFileTakesWhatIsAskedFor(t *testing.T) { // Read 8
	f := newFolder(t, nil)
	file, err := os.Create(filepath.Join(f.dir, "huge"))
	must(t, err)
	_, err = file.WriteString(strings.Repeat("line\n", 40_000))
	must(t, err, file.Truncate(2<<30), file.Close())
	for _, tt := range []struct {
		lines []int
		want  string
	}{
		{[]int{1, 10}, "[lines 1-10; continue with offset 11]\n" + strings.Repeat("line\n", 10)},
		{[]int{39_999, 2}, "[lines 39999-40000; continue with offset 40001]\nline\nline\n"},
		{[]int{0, 0}, "[lines 1-2000; continue with offset 2001]\n" + strings.Repeat("line\n", 2000)},
	} {
		took := peak(func() {
			e := f.read("huge", tt.lines...)
			equal(t, e.Text(), tt.want)
			if e.SHA256 != "" || !e.Cut {
				t.Errorf("got %+v", e)
			}
		})
		if took > 10<<20 {
			t.Errorf("%d bytes were allocated", took)
		}
	}
}

func TestAnEmptyFileSaysSo(t *testing.T) { // Read 2
	f := newFolder(t, map[string]string{"empty": "", "bom": "\ufeff", "x.ipynb": "", "utf16": "\xff\xfe"})
	equal(t, f.read("empty").Text(), "[the file is empty]")
	equal(t, f.read("bom").Text(), "[the file is empty]")
	equal(t, f.read("utf16").Text(), "[the file is empty]")
	if text := f.read("x.ipynb").Text(); !strings.HasSuffix(text, "[the file is empty]") {
		t.Errorf("got %q", text)
	}
}

func TestAFolderIsListed(t *testing.T) { // Read 3
	f := newFolder(t, map[string]string{"d/a": "", "d/sub/b": "", "d/nl\nname": ""})
	equal(t, f.read("d").Text(), "[d is a folder with 3 entries]\na\n\"nl\\nname\"\nsub/\n")
	for i := range 600 {
		must(t, os.WriteFile(filepath.Join(f.dir, "d", "sub", strings.Repeat("n", 1+i%200)+string(rune('a'+i/200))), nil, 0o666))
	}
	if e := f.read("d/sub"); !strings.HasSuffix(e.Body, "[101 more; list them with glob]\n") && !e.Cut {
		t.Errorf("got …%s", e.Body[len(e.Body)-100:])
	}
}

func TestLinesThatAreNotThereGetANote(t *testing.T) { // Read 4; what is negative the tool refuses
	f := newFolder(t, map[string]string{"ten": strings.Repeat("x\n", 10), "open": "x\ny"})
	equal(t, f.read("ten", 11, 0).Text(), "[the file has 10 lines; offset 11 is past its end]")
	equal(t, f.read("ten", 1000, 5).Text(), "[the file has 10 lines; offset 1000 is past its end]")
	equal(t, f.read("open", 3, 0).Text(), "[the file has 2 lines; offset 3 is past its end]")
	equal(t, f.read("ten", 0, 0).Text(), strings.Repeat("x\n", 10))
	equal(t, f.read("ten", 10, 0).Text(), "[lines 10-10 of 10]\nx\n")
	equal(t, f.read("ten", 9, 1<<62).Text(), "[lines 9-10 of 10]\nx\nx\n")
	equal(t, f.read("ten", 1<<62, 1<<62).Text(), "[the file has 10 lines; offset 4611686018427387904 is past its end]")
}

func TestWhatIsNoFileIsNeverOpened(t *testing.T) { // Read 5
	f := newFolder(t, nil)
	socket, err := net.Listen("unix", filepath.Join(f.dir, "sock"))
	must(t, err)
	defer socket.Close()
	must(t, syscall.Mkfifo(filepath.Join(f.dir, "pipe"), 0o666))
	f.refused("pipe", "named pipe", "not a regular file")
	f.refused("sock", "socket", "not a regular file")
	f.refused("/dev/zero", "device", "not a regular file")
}

func TestABinaryFileIsNamedWithItsSize(t *testing.T) { // Read 7
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	f := newFolder(t, map[string]string{"binary.dat": string(all), "zip": "PK\x03\x04\x14\x00\x00\x00", "elf": "\x7fELF\x02\x01\x01\x00"})
	f.refused("binary.dat", "binary file of 256 bytes", "bash")
	f.refused("zip", "binary")
	f.refused("elf", "binary")
}

func TestWhatCannotBeReadKeepsItsError(t *testing.T) { // Read 9
	f := newFolder(t, map[string]string{"secret": "x"})
	must(t, os.Symlink("gone", filepath.Join(f.dir, "broken")), os.Chmod(filepath.Join(f.dir, "secret"), 0))
	if _, err := f.try("broken"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "gone") {
		t.Errorf("got %v", err)
	}
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	if _, err := f.try("secret"); !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

func TestBytesThatAreNoTextAreShownAndNamed(t *testing.T) {
	late := strings.Repeat("ok\n", 30_000)
	japanese, err := japanese.ShiftJIS.NewEncoder().String("日本語の文章です。これはテストです。\n")
	must(t, err)
	f := newFolder(t, map[string]string{
		"late": late + "bad \xff end\n", "crlf": "a\r\nb\r\n", "sjis": japanese, "be": "\xfe\xff\x00a\x00\r\x00\n",
	})
	equal(t, f.read("sjis").Text(), "[decoded from Shift-JIS]\n日本語の文章です。これはテストです。\n")
	equal(t, f.read("be").Text(), "[decoded from UTF-16BE]\na\n")
	e := f.read("late", 30_001, 1)
	equal(t, e.Text(), "[lines 30001-30001 of 30001; decoded from UTF-8 with invalid bytes]\nbad \uFFFD end\n")
	equal(t, f.read("late", 30_000, 1).Text(), "[lines 30000-30000 of 30001; continue with offset 30001]\nok\n")
	equal(t, f.read("crlf").Text(), "a\nb\n")
}

func TestTheRangeIsThatOfTheLinesShown(t *testing.T) {
	f := newFolder(t, map[string]string{"f": "1\n2\n3\n"})
	if e := f.read("f", 2, 1); *e.Range != (event.Span{Start: 2, End: 2}) || !e.Cut || e.SHA256 == "" {
		t.Errorf("got %+v", e)
	}
	if e := f.read("f", 2, 2); *e.Range != (event.Span{Start: 2, End: 3}) || e.Cut {
		t.Errorf("got %+v", e)
	}
	if e := f.read("f", 1, 3); e.Range != nil || e.Cut {
		t.Errorf("got %+v", e)
	}
	fact := f.read("f", 2, 1).Fact("f")
	if fact.Path != "f" || fact.Bytes != 2 || fact.SHA256 != f.read("f").SHA256 || fact.MtimeMS == 0 {
		t.Errorf("got %+v", fact)
	}
}

func TestAnExcerptKeepsToTheBytesGiven(t *testing.T) {
	f := newFolder(t, map[string]string{"f": strings.Repeat(strings.Repeat("x", 999)+"\n", 60), "d/a": "", "d/b": ""})
	for _, room := range []int{0, 10_000, 20_500} {
		e, err := Read(f.ws, "f", Request{Name: "f", Bytes: room})
		must(t, err)
		if room == 0 {
			room = Bytes
		}
		if len(e.Body) > room || len(e.Body) < room-1000 || !e.Cut {
			t.Errorf("%d bytes in %d", len(e.Body), room)
		}
	}
	e, err := Read(f.ws, "d", Request{Name: "d", Bytes: 3})
	must(t, err)
	equal(t, e.Body, "a\n[1 more; list them with glob]\n")
}

func TestCharactersAreCountedWordByWord(t *testing.T) {
	for _, text := range []string{"", "a", "abcdefgh", "é", "éééé", "aééééb🙂🙂🙂x", strings.Repeat("日本", 40) + "z"} {
		for i := range text {
			if got, want := characters([]byte(text[i:])), len([]rune(text[i:])); got != want {
				t.Errorf("%q: got %d, want %d", text[i:], got, want)
			}
		}
	}
}
