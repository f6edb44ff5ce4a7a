package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

func TestAReplayHasALineForEveryFact(t *testing.T) {
	for _, name := range append(event.Names(), "later.invented") {
		line := fmt.Sprintf(`{"v":1,"id":"01M8Q100000000000000000000","sessionId":"01M8Q000000000000000000000","seq":7,"ts":1790000000007,"type":%q,"payload":{}}`, name)
		r, err := event.DecodeLine([]byte(line))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, want := replayLine(r), "     7  2026-09-21T14:13:20.007Z  "+name; !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want it to begin with %q", got, want)
		}
	}
}

func TestAReplayIsOneEntryAnEventAndMovesNoCursor(t *testing.T) {
	r := event.Record{Seq: 1, Fact: event.UserMessageCreated{Text: "one\ntwo\x1b[2J\r" + strings.Repeat("é", 2*shownText)}}
	got := replayLine(r)
	if strings.ContainsAny(got, "\x1b\r") || !strings.Contains(got, "one\n        two\\u{1b}") {
		t.Errorf("got %.120q", got)
	}
	if n := strings.Count(got, "é"); n == 0 || n > shownText || !strings.HasSuffix(got, "é…") {
		t.Errorf("%d characters are shown of %d", n, 2*shownText)
	}
}

func TestTextIsCutAtACharacter(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äöü…"}, {"ab", 0, "…"}, {"日本語", 2, "日本…"},
	} {
		if got := cut(c.text, c.most); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
}
