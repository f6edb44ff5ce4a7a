package spill

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/disk"
	"github.com/khaelor/khaelor/internal/disk/memdisk"
)

func newStore(home disk.Dir, session string) *Store {
	return New(home, "/home", session, clock.System())
}

// content is a file that a store said it wrote.
func content(t interface{ Fatal(...any) }, home disk.Dir, name string) string {
	f, err := home.Open(strings.TrimPrefix(name, "/home/"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestATextIsWholeOrItsEndsWithExactCounts holds a Text to a plain string of
// all that came.
func TestATextIsWholeOrItsEndsWithExactCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(5, 40).Draw(t, "limit")
		home := memdisk.New()
		store := newStore(home, "s")
		text := NewText(limit, store)
		var all string
		for range rapid.IntRange(0, 12).Draw(t, "pieces") {
			piece := rapid.StringOfN(rapid.RuneFrom([]rune("aé€😀\n")), 0, 60, -1).Draw(t, "piece")
			text.Append([]byte(piece))
			all += piece
		}
		shown, file := text.Close(1234)
		runes := []rune(all)
		if len(runes) <= limit {
			if shown != all || file != "" {
				t.Fatalf("%q became %q in %q", all, shown, file)
			}
			return
		}
		head, tail := limit*6/10, limit*4/10
		want := fmt.Sprintf("%s\n[… %d characters left out; 1234 bytes in all; read or grep %s …]\n%s",
			string(runes[:head]), len(runes)-head-tail, file, string(runes[len(runes)-tail:]))
		if shown != want || content(t, home, file) != all || text.Chars() != int64(len(runes)) {
			t.Fatalf("%q became %q, not %q", all, shown, want)
		}
	})
}

func TestATextHoldsLittle(t *testing.T) {
	home := memdisk.New()
	store := newStore(home, "s")
	text := NewText(30_000, store)
	piece := []byte(strings.Repeat("é", 16<<10))
	for range 300 {
		text.Append(piece)
	}
	if held := cap(text.head) + cap(text.tail); held > 400_000 {
		t.Errorf("%d bytes are held", held)
	}
	text.Close(0)
}

func TestAFileIsCutAtItsBoundAndSaysSo(t *testing.T) {
	for n := range 4 {
		home := memdisk.New()
		store := newStore(home, "s")
		store.maxFile = 100
		text := NewText(10, store)
		whole := strings.Repeat("x", n) + strings.Repeat("😀", 50)
		for i := 0; i < len(whole); i += 10 {
			piece := whole[i:min(i+10, len(whole))]
			if !utf8.ValidString(piece) { // pieces hold whole characters
				piece = ""
			}
			text.Append([]byte(piece))
		}
		text.Append([]byte(whole))
		shown, file := text.Close(999)
		kept := content(t, home, file)
		if len(kept) > 100 || len(kept) < 97 || !utf8.ValidString(kept) {
			t.Errorf("%d bytes are kept: %q", len(kept), kept)
		}
		if want := fmt.Sprintf("; 999 bytes in all; read or grep %s, which has the first %d bytes of the text …]", file, len(kept)); !strings.Contains(shown, want) {
			t.Errorf("%q does not say %q", shown, want)
		}
	}
}

func TestAFullDiskCostsTheFileOnly(t *testing.T) {
	for after, says := range map[int]string{0: " bytes in all …]", 1: fmt.Sprintf("; read or grep /home/spill/s/01ARYZ6S410000000000000000.txt, which has the first %d bytes", bufferSize)} {
		home := memdisk.New()
		store := newStore(home, "s")
		home.FailAppendAfter(after, disk.ErrNoSpace, 0)
		text := NewText(10, store)
		for range 3 {
			text.Append([]byte(strings.Repeat("x", bufferSize)))
		}
		shown, file := text.Close(5)
		says = strings.ReplaceAll(says, "/home/spill/s/01ARYZ6S410000000000000000.txt", file)
		if !strings.Contains(shown, fmt.Sprintf("[… %d characters left out; 5 bytes in all", 3*bufferSize-10)) || !strings.Contains(shown, says) || (file == "") != (after == 0) {
			t.Errorf("after %d: %q", after, shown)
		}
	}
	text := NewText(10, newStore(readOnly{memdisk.New()}, "s"))
	text.Append([]byte("0123456789abc"))
	text.Append([]byte("d"))
	if shown, file := text.Close(14); file != "" || shown != "012345\n[… 4 characters left out; 14 bytes in all …]\nabcd" {
		t.Errorf("%q in %q", shown, file)
	}
	text = NewText(10, nil)
	text.Append([]byte("0123456789abcd"))
	if shown, file := text.Close(14); file != "" || shown != "012345\n[… 4 characters left out; 14 bytes in all …]\nabcd" {
		t.Errorf("%q in %q", shown, file)
	}
}

type readOnly struct{ disk.Dir }

func (readOnly) OpenAppend(string) (disk.File, error) { return nil, disk.ErrReadOnly }

func TestTheOldestFilesGoFirst(t *testing.T) {
	home := memdisk.New()
	names := map[string]string{}
	for _, c := range []struct{ session, text string }{
		{"old", "12345"}, {"present", "12345"}, {"other", "12345"}, {"present", "1234567"},
	} {
		store := newStore(home, c.session)
		store.maxTotal = 22
		file, err := store.Keep(c.text)
		if err != nil {
			t.Fatal(err)
		}
		names[c.session+c.text] = file
	}
	store := newStore(home, "present")
	store.maxTotal = 22
	writing, err := store.Create()
	if err != nil {
		t.Fatal(err)
	}
	writing.Write([]byte("0123456789"))
	if _, err := store.Keep("abc"); err != nil {
		t.Fatal(err)
	}
	if err := writing.Close(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, home, writing.Path()); got != "0123456789" {
		t.Errorf("what was written while others came holds %q", got)
	}
	for name, stays := range map[string]bool{"old12345": false, "present12345": false, "other12345": false, "present1234567": true} {
		if _, err := home.Open(strings.TrimPrefix(names[name], "/home/")); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOneFileMayBeMoreThanAllMay(t *testing.T) {
	home := memdisk.New()
	store := newStore(home, "s")
	store.maxTotal = 5
	for _, text := range []string{"first one", "second one"} {
		file, err := store.Keep(text)
		if err != nil || content(t, home, file) != text {
			t.Errorf("%q: %v", text, err)
		}
	}
	if entries, _ := home.List(path.Join(folder, "s")); len(entries) != 1 {
		t.Errorf("%v are left", entries)
	}
}

// Two programs share the state folder, and one of them needs the room.
func TestWhatAnotherSessionIsWritingStays(t *testing.T) {
	home, now := memdisk.New(), time.Now()
	at := func(session string, after time.Duration) *Store {
		store := New(home, "/home", session, clock.Fixed(now.Add(after), 1))
		store.maxTotal = bufferSize + 15
		return store
	}
	writing, err := at("a", 0).Create()
	if err != nil {
		t.Fatal(err)
	}
	writing.Write([]byte(strings.Repeat("x", bufferSize)))
	files, err := home.List("spill/a")
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	now = files[0].ModTime
	for _, after := range []time.Duration{0, time.Hour} {
		b := at("b", after)
		for range 2 { // the second one needs room
			if _, err := b.Keep("0123456789"); err != nil {
				t.Fatal(err)
			}
		}
		if stays := at("a", 0).has(writing.name); stays != (after == 0) {
			t.Errorf("after %s: there: %t", after, stays)
		}
	}
	if err := writing.Close(); !errors.Is(err, errLost) {
		t.Errorf("closing a file that is gone: %v", err)
	}
	if size, cut := writing.Size(); size != 0 || !cut {
		t.Errorf("%d bytes of a file that is gone, cut: %t", size, cut)
	}
}

func TestForgettingASessionRemovesItsFiles(t *testing.T) {
	home := memdisk.New()
	for _, session := range []string{"a", "b"} {
		if _, err := newStore(home, session).Keep("x"); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(Forget(home, "a"), Forget(home, "a")); err != nil {
		t.Error(err)
	}
	if left, _ := home.List(folder); len(left) != 1 || left[0].Name != "spill/b" {
		t.Errorf("%v are left", left)
	}
}

func TestAFileIsNamedForNothingItHolds(t *testing.T) {
	store := newStore(memdisk.New(), "01SESSION")
	file, err := store.Keep("sk-test-123")
	if err != nil || path.Dir(file) != store.Folder() || len(path.Base(file)) != len("01ARZ3NDEKTSV4RRFFQ69G5FAV.txt") {
		t.Errorf("%s, %v", file, err)
	}
}

// The bound holds, too, when all there is to remove was written a moment ago.
func TestWhatAnotherSessionWroteAMomentAgoGoesLast(t *testing.T) {
	home, now := memdisk.New(), time.Unix(0, 0) // as the files of a memdisk have it
	store := func(session string) *Store {
		s := New(home, "/home", session, clock.Fixed(now, 1))
		s.maxTotal = 12
		return s
	}
	writing, err := store("a").Create()
	if err != nil {
		t.Fatal(err)
	}
	b := store("b")
	first, err := b.Keep("01234567")
	if err != nil {
		t.Fatal(err)
	}
	if err := writing.file.Append([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Keep("0123456789"); err != nil || b.has(strings.TrimPrefix(first, "/home/")) || !b.has(writing.name) {
		t.Errorf("%v; the file that is written went before the one that is not", err)
	}
	if _, err := b.Keep("0123456789abc"); err != nil || b.has(writing.name) {
		t.Errorf("%v; the bound does not hold", err)
	}
	if err := writing.Close(); !errors.Is(err, errLost) {
		t.Errorf("closing a file that is gone: %v", err)
	}
}

func TestATextThatWasNotKeptHasNoFile(t *testing.T) {
	home := memdisk.New()
	home.FailAppendAfter(0, disk.ErrNoSpace, 0)
	if file, err := newStore(home, "s").Keep("x"); file != "" || !errors.Is(err, disk.ErrNoSpace) {
		t.Errorf("%q, %v", file, err)
	}
}
