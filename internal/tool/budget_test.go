package tool_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/khaelor/khaelor/internal/disk/memdisk"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/spill"
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

// A dozen large results at once: each is whole while there is room, the last
// ones are cut, and what failed is told all the same.
func TestTheResultsOfOneBatchHaveABoundTogether(t *testing.T) {
	const each = 60_000
	large := define("large", func(context.Context, *tool.Env, input) (tool.Result, error) {
		return tool.Result{Text: strings.Repeat("é", each)}, nil
	})
	bad := define("bad", func(context.Context, *tool.Env, input) (tool.Result, error) {
		return tool.Result{}, tool.Errorf(event.ToolExecError, "it broke")
	})
	spilled := define("spilled", func(context.Context, *tool.Env, input) (tool.Result, error) {
		return tool.Result{Text: strings.Repeat("x", each), Spill: "/spill/old.txt"}, nil
	})
	r := asked(tool.Registry{large, bad, spilled}, "large", "large", "large", "large", "large", "spilled", "bad")
	home := memdisk.New()
	newEnv := r.NewEnv
	r.NewEnv = func(id string) *tool.Env {
		env := newEnv(id)
		env.Spill = spill.New(home, "/home", "s", r.Clock)
		return env
	}
	var texts, files []string
	for _, f := range r.run(t) {
		switch f := f.(type) {
		case event.ToolCompleted:
			texts, files = append(texts, f.ModelText), append(files, f.SpillFile)
		case event.ToolFailed:
			texts = append(texts, f.ModelText)
		}
	}
	marker := func(omitted int, file string) string {
		return fmt.Sprintf("\n[… %d characters left out; the results of these calls together exceed 200000; read or grep %s …]\n", omitted, file)
	}
	part := func(c string, n, of int, file string) string {
		return strings.Repeat(c, n*6/10) + marker(of-n, file) + strings.Repeat(c, n*4/10)
	}
	whole := strings.Repeat("é", each)
	for i, want := range []string{whole, whole, whole, part("é", 20_000, each, files[3]), part("é", 2_000, each, files[4]), part("x", 2_000, each, "/spill/old.txt"), "it broke"} {
		if texts[i] != want {
			t.Errorf("result %d has %d characters, want %d: %.80q…", i, len(texts[i]), len(want), texts[i])
		}
	}
	if files[0] != "" || files[3] == "" || files[5] != "/spill/old.txt" {
		t.Errorf("spilled to %q", files)
	}
	name := strings.TrimPrefix(files[3], "/home/")
	if kept, err := home.Open(name); err != nil {
		t.Error(err)
	} else if data, err := io.ReadAll(kept); err != nil || string(data) != whole {
		t.Errorf("%s keeps %d bytes: %v", name, len(data), err)
	}
}
