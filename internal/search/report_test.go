package search

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plainly shows the lines of a file the long way.
func plainly(m *matcher, text string, around int) string {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	if strings.Contains(text, "\x00") || text == "" {
		return ""
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	marks := make([]byte, len(lines))
	found := false
	for i, line := range lines {
		if !m.re.MatchString(line) {
			continue
		}
		found = true
		for j := max(0, i-around); j < min(len(lines), i+around+1); j++ {
			if marks[j] == 0 {
				marks[j] = '-'
			}
		}
		marks[i] = ':'
	}
	if !found {
		return ""
	}
	var b strings.Builder
	b.WriteString("f\n")
	last := -1
	for i, line := range lines {
		if marks[i] == 0 {
			continue
		}
		if last >= 0 && i > last+1 && around > 0 {
			b.WriteString("--\n")
		}
		last = i
		fmt.Fprintf(&b, "%d%c%s\n", i+1, marks[i], strings.ToValidUTF8(line, "\uFFFD"))
	}
	return b.String()
}

// Whatever the windows in which a file comes, its lines are shown as if it had
// come at once.
func TestAFileIsShownTheSameInWindowsOfAnySize(t *testing.T) {
	words := []string{"a", "b", "ab", "x", "\n", "\n", "\n", "\r\n", "\r", "é", "\ufeff", "\n\n\n\n"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 40).Draw(t, "words"), "")
		if rapid.IntRange(0, 20).Draw(t, "nul") == 0 {
			text += "\x00"
		}
		p, err := Compile(rapid.SampledFrom([]string{"a", "x", "ab", "b$", "^$", "^[^b]*$", "é|x"}).Draw(t, "expr"))
		must(t, err)
		around := rapid.IntRange(0, 3).Draw(t, "context")
		r := &report{matcher: p.matcher(), mode: Content, context: around, room: 10_000}
		r.reader.room = make([]byte, rapid.IntRange(4, 50).Draw(t, "room"))
		size := int64(len(text)) + int64(rapid.IntRange(-1, 1).Draw(t, "growth"))
		err = r.content(context.Background(), "f", bytes.NewReader([]byte(text)), size)
		got := r.text.String()
		if err == errBinary {
			got = ""
		}
		if want := plainly(r.matcher, text, around); got != want && size >= int64(len(text)) {
			t.Fatalf("%q in %q:\ngot  %q\nwant %q", p.re, text, got, want)
		}
	})
}

func TestALineThatIsTooLongIsSaidToBeLeftOut(t *testing.T) {
	w := newWorld(t, map[string]string{"long": strings.Repeat("x", longestLine+10) + "\nKEY\n", "ok": "KEY\n" + strings.Repeat("y", longestLine/2) + "\nKEY"})
	equal(t, w.grep(t, "", Query{Mode: Count}, "KEY"), "ok:2\n[1 file not searched, with a line over 16 MB]\n")
}
