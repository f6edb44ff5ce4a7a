package fakeapi

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

func official(s *Server) anthropic.Client {
	return anthropic.NewClient(option.WithoutEnvironmentDefaults(), option.WithBaseURL(s.URL()), option.WithAPIKey("k"), option.WithMaxRetries(0))
}

func TestTheOfficialClientReadsAStream(t *testing.T) {
	s := start(t, Options{Script: Script{Turns: []Turn{{
		Blocks:     []Block{Think("let me see"), Text("two words"), Call("ls", `{"b":1,"a":2}`)},
		DeltaBytes: 2, ChunkBytes: 7,
	}}}})
	client := official(s)
	stream := client.Messages.NewStreaming(t.Context(), anthropic.MessageNewParams{
		Model: "m", MaxTokens: 2000, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))},
	})
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if len(m.Content) != 3 || m.Content[0].Thinking != "let me see" || m.Content[0].Signature != sign("m", "let me see") ||
		m.Content[1].Text != "two words" || string(m.Content[2].Input) != `{"b":1,"a":2}` || m.StopReason != "tool_use" {
		t.Errorf("got %+v", m)
	}
	if m.Usage.InputTokens != 1 || m.Usage.OutputTokens != 3+3+4 {
		t.Errorf("usage %+v", m.Usage)
	}
}

func TestTheOfficialClientReadsErrorsAndModels(t *testing.T) {
	s := start(t, Options{Script: Script{Models: []Model{{ID: "m"}}, Turns: []Turn{{Error: &Fault{Status: 529}}}}})
	client := official(s)
	_, err := client.Messages.New(t.Context(), anthropic.MessageNewParams{
		Model: "m", MaxTokens: 2000, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))},
	})
	if err == nil || !strings.Contains(err.Error(), "Overloaded") {
		t.Errorf("got %v", err)
	}
	page, err := client.Models.List(t.Context(), anthropic.ModelListParams{})
	if err != nil || len(page.Data) != 1 || page.Data[0].ID != "m" || page.Data[0].MaxInputTokens != 200_000 {
		t.Errorf("got %+v, %v", page, err)
	}
}

func shared(t *testing.T, path ...string) string {
	t.Helper()
	name := filepath.Join(append([]string{"..", "..", "..", "shared"}, path...)...)
	if _, err := os.Stat(name); err != nil {
		if os.Getenv("KHAELOR_REQUIRE_SHARED") != "" {
			t.Fatal(err)
		}
		t.Skip("shared data not here: " + name)
	}
	return name
}

func TestRecordedStreamsAreServedByteForByteAndTheirThinkingIsKnown(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "data", "anthropic", "streams"), "*.sse"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := start(t, Options{Script: Script{Turns: []Turn{{Raw: string(raw), ChunkBytes: 1000}, {}}}})
			_, body, err := send(t, s, helloStream)
			if err != nil || body != string(raw) {
				t.Fatalf("served differently: %v", err)
			}
			var record struct {
				Expected struct {
					Content []json.RawMessage `json:"content"`
				} `json:"expected"`
			}
			data, err := os.ReadFile(strings.TrimSuffix(file, ".sse") + ".json")
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, &record); err != nil {
				t.Fatal(err)
			}
			thoughts := slices.DeleteFunc(record.Expected.Content, func(raw json.RawMessage) bool {
				return !strings.Contains(kindOf(raw), "thinking")
			})
			if len(thoughts) == 0 {
				return
			}
			parts := []string{}
			for _, raw := range thoughts {
				parts = append(parts, string(raw))
			}
			sendOK(t, s, request("", ask+`,{"role":"assistant","content":[`+strings.Join(parts, ",")+`,{"type":"text","text":"x"}]},`+ask))
		})
	}
}
