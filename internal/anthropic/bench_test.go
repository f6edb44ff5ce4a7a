package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

// longAnswer is 2 MB of text in deltas of 20 bytes, as the contract's bar has it.
func longAnswer() []byte {
	var b strings.Builder
	b.Write(sse(evStart, evText))
	for i := range 100_000 {
		text, _ := json.Marshal(fmt.Sprintf("word %08d of it\n", i%100_000_000))
		if i%10 != 0 {
			text, _ = json.Marshal(fmt.Sprintf("word %08d of it ", i))
		}
		b.Write(sse(`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + string(text) + `}}`))
	}
	b.Write(sse(evBlockStop, evEndTurn, evStop))
	return []byte(b.String())
}

type counter struct{ bytes int }

func (c *counter) TextDelta(_ int, text string)      { c.bytes += len(text) }
func (*counter) ThinkingDelta(int, string)           {}
func (*counter) ToolCallStarted(int, string, string) {}
func (*counter) ToolInputDelta(int, string, string)  {}
func (*counter) BlockCompleted(Block) error          { return nil }

func serveWhole(b *testing.B, body []byte) string {
	return serve(b, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(body)
	}).URL
}

func BenchmarkStreamTwoMegabytes(b *testing.B) {
	url := serveWhole(b, longAnswer())
	c := newClient(b, Options{BaseURL: url})
	b.ReportAllocs()
	for b.Loop() {
		var got counter
		if _, err := c.Stream(b.Context(), request, &got); err != nil || got.bytes < 2_000_000-200_000 {
			b.Fatal(got.bytes, err)
		}
	}
}

// BenchmarkSDKTwoMegabytes is the same through the SDK's own event decoding:
// the reason for ours.
func BenchmarkSDKTwoMegabytes(b *testing.B) {
	client := sdk.NewClient(option.WithoutEnvironmentDefaults(), option.WithAPIKey("k"), option.WithBaseURL(serveWhole(b, longAnswer())))
	b.ReportAllocs()
	for b.Loop() {
		stream := client.Messages.NewStreaming(b.Context(), sdk.MessageNewParams{}, option.WithRequestBody("application/json", request))
		n := 0
		for stream.Next() {
			n += len(stream.Current().Delta.Text)
		}
		if stream.Err() != nil || n < 1_800_000 {
			b.Fatal(n, stream.Err())
		}
	}
}

func BenchmarkSpacedDelta(b *testing.B) {
	data := []byte(`{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word 00000 of it it\n"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := fastDelta(data); !ok {
			b.Fatal("slow")
		}
	}
}
