package tool_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/khaelor/khaelor/internal/tool"
)

func TestClipKeepsSixtyPercentOfTheHeadAndFortyOfTheTail(t *testing.T) {
	for _, c := range []struct {
		text, want string
		limit      int
	}{
		{"", "", 10},
		{"0123456789", "0123456789", 10},
		{"0123456789a", "012345\n[… 1 characters left out …]\n789a", 10},
		{strings.Repeat("é", 20), strings.Repeat("é", 6) + "\n[… 10 characters left out …]\n" + strings.Repeat("é", 4), 10},
		{"日本語日本語日本語", "日本語\n[… 4 characters left out …]\n本語", 5},
		{"👩\u200d🚀👩\u200d🚀", "👩\u200d🚀\n[… 1 characters left out …]\n\u200d🚀", 5},
		{"abc", "\n[… 3 characters left out …]\n", 0},
		{"abc", "\n[… 3 characters left out …]\n", 1},
	} {
		if got := tool.Clip(c.text, c.limit).Text; got != c.want {
			t.Errorf("Clip(%q, %d) is %q, want %q", c.text, c.limit, got, c.want)
		}
	}
	if got := tool.ClipTo(strings.Repeat("x", 20), 10, "read spill/1").Text; !strings.Contains(got, "[… 10 characters left out; read spill/1 …]") {
		t.Errorf("with a hint: %q", got)
	}
}

func TestClipCutsNoCharacterAndCountsWhatIsMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, limit := rapid.String().Draw(t, "text"), rapid.IntRange(0, 40).Draw(t, "limit")
		got := tool.Clip(text, limit)
		n := utf8.RuneCountInString(text)
		if n <= limit {
			if got.Text != text || got.Omitted != 0 {
				t.Fatalf("%q was clipped to %q", text, got.Text)
			}
			return
		}
		head, tail, found := strings.Cut(got.Text, "\n[… ")
		if !found || !utf8.ValidString(got.Text) || !strings.HasPrefix(text, head) {
			t.Fatalf("%q became %q", text, got.Text)
		}
		_, tail, _ = strings.Cut(tail, " …]\n")
		if !strings.HasSuffix(text, tail) || utf8.RuneCountInString(head)+utf8.RuneCountInString(tail)+got.Omitted != n {
			t.Fatalf("%q became %q with %d omitted", text, got.Text, got.Omitted)
		}
	})
}
