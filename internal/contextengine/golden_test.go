package contextengine

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

var update = flag.Bool("update", false, "rewrite the golden requests")

func tier(t event.Tier, text string) event.Fact { return event.TierRecorded{Tier: t, Text: text} }

// TestRequestsAreTheseBytes holds small requests to testdata/requests.golden:
// a change there is a change of what every session sends.
func TestRequestsAreTheseBytes(t *testing.T) {
	tiers := []event.Fact{
		tier(event.TierTools, `[{"name":"read","description":"a < b & c","input_schema":{"type":"object"}}]`),
		tier(event.TierStatic, "You are <KHAELOR>."), tier(event.TierSession, "Use tabs.\n\u2028"),
	}
	turn := []event.Fact{
		says("look"), started("1"),
		event.ModelThinkingBlockCompleted{RequestID: "1", Thinking: "hm", Signature: "sig+/="},
		event.ModelTextBlockCompleted{RequestID: "1", BlockIndex: 1, Text: "I look & see"},
		calls("1", "a", "read", `{"path":"x","n":1.0,"big":12345678901234567890,"e":1e3,"html":"<&>"}`), calls("1", "b", "nosuch", `{}`),
		answered("1", event.StopToolUse), completed("a", "line\n"),
		event.ToolFailed{ToolUseID: "b", ModelText: "There is no tool \"nosuch\"."},
	}
	png, pdf := event.Media{MediaType: "image/png", SHA256: "p"}, event.Media{MediaType: "application/pdf", SHA256: "d"}
	content := "package a\n"
	var got bytes.Buffer
	for _, c := range []struct {
		name   string
		params Params
		facts  []event.Fact
	}{
		{"the first request", params, append(tiers[:3:3], says("hello"))},
		{"without tiers", params, []event.Fact{says("hello")}},
		{"tools alone", params, []event.Fact{tiers[0], says("hello")}},
		{"no tools", params, []event.Fact{tier(event.TierTools, "[]"), tiers[2], says("hello")}},
		{"long-lived tiers and thinking", Params{Model: "m", MaxTokens: 9, Thinking: json.RawMessage(`{"type":"adaptive"}`), StaticTTL: "1h"}, append(tiers[:3:3], says("hello"))},
		{"a turn with calls", params, turn},
		{"the turn after", params, append(turn[:len(turn):len(turn)], started("2"), event.ModelTextBlockCompleted{RequestID: "2", Text: "Done."}, answered("2", event.StopEndTurn), says("thanks"))},
		{"a paused turn", params, []event.Fact{says("search"), started("1"), event.ModelOpaqueBlockCompleted{RequestID: "1", BlockType: "server_tool_use", Raw: json.RawMessage(`{"type":"server_tool_use","x":"<>"}`)}, answered("1", event.StopPauseTurn)}},
		{"pictures, documents and files", params, []event.Fact{event.UserMessageCreated{Text: "see", Images: []event.Media{png}, Mentions: []event.Mention{{Path: "a.go", Content: &content}}}, started("1"), calls("1", "a", "read", `{}`), answered("1", event.StopToolUse), completed("a", "2 pages", pdf, png)}},
		{"a picture that is gone", params, []event.Fact{event.UserMessageCreated{Text: "see", Images: []event.Media{{MediaType: "image/png", SHA256: "gone"}}}}},
		{"odd characters", params, []event.Fact{says("<tag> & \"quotes\" \\ \u2028 \u2029 \x00 \x7f é 𝄞 \t\r\n")}},
	} {
		body := New(blob).Build(logOf(c.facts...).folded, c.params).Body
		parse(t, body)
		fmt.Fprintf(&got, "%s\n%s\n\n", c.name, body)
	}
	const file = "testdata/requests.golden"
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	for i := range gotLines {
		if i >= len(wantLines) || gotLines[i] != wantLines[i] {
			t.Fatalf("line %d\ngot  %s\nwant %s", i+1, gotLines[i], wantLines[min(i, len(wantLines)-1)])
		}
	}
}

func TestEstimatesAreOfWhatIsSent(t *testing.T) {
	l := logOf(tier(event.TierStatic, "12345678"), says("hello"))
	stats := New(blob).Build(l.folded, params).Stats
	want := []event.Section{{Name: "static", EstimatedTokens: 2}, {Name: "conversation", EstimatedTokens: 14}}
	if len(stats.Sections) != 2 || stats.Sections[0] != want[0] || stats.Sections[1] != want[1] || stats.EstimatedInputTokens != 16 {
		t.Errorf("stats %+v, want %+v", stats, want)
	}
}
