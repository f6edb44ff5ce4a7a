package fakeapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestAStreamHasTheServicesEvents(t *testing.T) {
	s := start(t, Options{Script: Script{Turns: []Turn{{
		DeltaBytes: 4,
		Blocks: []Block{
			Think("hmmm"),
			{Type: "redacted_thinking", Data: "xyz"},
			Text("é<&>é"),
			{Type: "tool_use", ID: "t1", Name: "ls", Input: json.RawMessage(`{"a":1}`)},
			{Type: "raw", Raw: json.RawMessage(`{"type":"odd","n": 1}`)},
		},
	}}}})
	status, body, err := send(t, s, helloStream)
	if status != 200 || err != nil {
		t.Fatal(status, err)
	}
	want := `event: message_start
data: {"type":"message_start","message":{"id":"msg_fake_000000","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":2,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard"}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hmmm"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"` + sign("m", "hmmm") + `"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"é<&"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":">é"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t1","name":"ls","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"a\""}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":":1}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: content_block_start
data: {"type":"content_block_start","index":4,"content_block":{"type":"odd","n": 1}}

event: content_block_stop
data: {"type":"content_block_stop","index":4}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":2,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":13,"service_tier":"standard"}}

event: message_stop
data: {"type":"message_stop"}

`
	if body != want {
		t.Errorf("got %s", body)
	}
	if x := s.Requests()[0]; !x.Whole || x.Events != len(events(t, body)) {
		t.Errorf("recorded %d events, whole %v", x.Events, x.Whole)
	}
}

func TestTheSameEventsArriveHoweverTheyAreWritten(t *testing.T) {
	plain := Turn{Blocks: []Block{Text("some text äöü"), Call("ls", `{"a":"b"}`)}, DeltaBytes: 3, Repeat: 1}
	plain.Blocks[1].ID = "t1"
	chunked, crlf, slow := plain, plain, plain
	chunked.ChunkBytes = 1
	crlf.CRLF = true
	slow.DelayMS, slow.FirstByteMS = 1, 1
	var first string
	for _, turn := range []Turn{plain, chunked, crlf, slow} {
		s := start(t, Options{Script: Script{Turns: []Turn{turn}}})
		_, body, err := send(t, s, helloStream)
		if err != nil {
			t.Fatal(err)
		}
		if turn.CRLF {
			if strings.Count(body, "\r\n") != strings.Count(body, "\n") {
				t.Error("a line does not end in CR LF")
			}
			body = strings.ReplaceAll(body, "\r\n", "\n")
		}
		if first == "" {
			first = body
		}
		if body != first {
			t.Errorf("%+v: got %s", turn, body)
		}
	}
}

func TestChunksEndAtAnyByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		n := rapid.IntRange(1, 9).Draw(t, "n")
		var whole strings.Builder
		for piece := range split(text, n) {
			if utf8.ValidString(text) && !utf8.ValidString(piece) {
				t.Fatalf("%q was cut inside a character", piece)
			}
			whole.WriteString(piece)
		}
		if whole.String() != text {
			t.Fatalf("%q became %q", text, whole.String())
		}
	})
}

func TestAStreamBreaksWhereTheScriptSays(t *testing.T) {
	broken := io.ErrUnexpectedEOF
	mid := &Fault{Type: "overloaded_error", Message: "Overloaded"}
	cases := []struct {
		name string
		turn Turn
		want string
		err  error
	}{
		{"cut", Turn{CutAfterEvents: 2}, "message_start content_block_start", broken},
		{"clean cut", Turn{CutAfterEvents: 3, CutClean: true}, "message_start content_block_start ping", nil},
		{"error event", Turn{ErrorAfterEvents: 4, MidError: mid}, "message_start content_block_start ping content_block_delta error", nil},
		{"error event first", Turn{MidError: mid}, "error", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.turn.Blocks = []Block{Text("hello")}
			s := start(t, Options{Script: Script{Turns: []Turn{c.turn}}})
			_, body, err := send(t, s, helloStream)
			if got := names(events(t, body)); got != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %s, %v", got, err)
			}
			if x := s.Requests()[0]; x.Whole {
				t.Error("recorded as whole")
			}
			if c.turn.MidError != nil && !strings.Contains(body, `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`) {
				t.Errorf("got %s", body)
			}
			if p := s.Problems(); len(p) > 0 {
				t.Error(p)
			}
		})
	}
}

func TestAFaultTheStreamIsTooShortForIsAProblem(t *testing.T) {
	s := start(t, Options{Script: Script{Turns: []Turn{{Blocks: []Block{Text("hi")}, CutAfterEvents: 100}}}})
	if _, _, err := send(t, s, helloStream); err != nil {
		t.Fatal(err)
	}
	if p := s.Problems(); len(p) != 1 || !strings.Contains(p[0], "turns[0]: the stream ended after 7 events") {
		t.Errorf("problems %q", p)
	}
}

func TestAConnectionBreaksBeforeTheAnswer(t *testing.T) {
	s := start(t, Options{Script: Script{Turns: []Turn{{CutAfterEvents: -1}}}})
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL()+"/v1/messages", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "k")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_ = resp.Body.Close()
		t.Errorf("answered with %d", resp.StatusCode)
	}
}

func TestSilenceLastsUntilTheClientGoes(t *testing.T) {
	cases := []struct {
		name   string
		turn   Turn
		events int // to be seen before the client goes
	}{
		{"after an event", Turn{StallAfterEvents: 1}, 1},
		{"pings", Turn{PingsOnly: true, DelayMS: 1}, 10},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, Options{Script: Script{Turns: []Turn{c.turn}}})
			resp := post(t, s, "/v1/messages", helloStream)
			lines := bufio.NewScanner(resp.Body)
			for got := 0; got < c.events && lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "event: ") {
					got++
				}
			}
			_ = resp.Body.Close()
			if x := s.Requests()[0]; x.Status != 200 || x.Whole {
				t.Errorf("recorded %+v", x)
			}
		})
	}
}

func TestAnAnswerMayNeverBegin(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := start(t, Options{
		Script:    Script{Turns: []Turn{{StallAfterEvents: -1}}},
		OnRequest: func(int, string, string) { cancel() },
	})
	req, err := http.NewRequestWithContext(ctx, "POST", s.URL()+"/v1/messages", strings.NewReader(helloStream))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "k")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	if _, err := http.DefaultClient.Do(req); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAnErrorAnswerIsWhatTheScriptSays(t *testing.T) {
	cases := []struct {
		fault Fault
		body  string
	}{
		{Fault{Status: 429, RetryAfter: "3"}, `{"type":"error","error":{"type":"rate_limit_error","message":"Too Many Requests"},"request_id":"req_fake_000000"}`},
		{Fault{Status: 529}, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_fake_000000"}`},
		{Fault{Status: 500, Message: "Internal server error"}, `{"type":"error","error":{"type":"api_error","message":"Internal server error"},"request_id":"req_fake_000000"}`},
		{Fault{Status: 403, Type: "odd_error", Message: "no"}, `{"type":"error","error":{"type":"odd_error","message":"no"},"request_id":"req_fake_000000"}`},
		{Fault{Status: 200, Body: "<html>", Headers: map[string]string{"Content-Type": "text/html", "X-Should-Retry": "true"}}, "<html>"},
	}
	for _, c := range cases {
		s := start(t, Options{Script: Script{Turns: []Turn{{Error: &c.fault}}}})
		resp := post(t, s, "/v1/messages", helloStream)
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != c.fault.Status || string(body) != c.body || resp.Header.Get("Retry-After") != c.fault.RetryAfter {
			t.Errorf("%+v: got %d %s %v", c.fault, resp.StatusCode, body, resp.Header)
		}
		for k, v := range c.fault.Headers {
			if resp.Header.Get(k) != v {
				t.Errorf("%s: %s", k, resp.Header.Get(k))
			}
		}
		if p := s.Problems(); len(p) > 0 {
			t.Error(p)
		}
	}
}

func TestFixedUsageAndStopReasonAreReported(t *testing.T) {
	s := start(t, Options{Script: Script{Turns: []Turn{{
		Blocks: []Block{{Type: "tool_use", Name: "x", PartialInput: `{"a":"b`}}, StopReason: "max_tokens",
		Usage: &Usage{InputTokens: 10, CacheReadInputTokens: 5, CacheCreationInputTokens: 3, OutputTokens: 7},
	}}}})
	_, body, _ := send(t, s, helloStream)
	for _, want := range []string{
		`"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":5,"output_tokens":1}`,
		`"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":5,"output_tokens":7}`,
		`"partial_json":"{\"a\":\"b"`, `"stop_reason":"max_tokens"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

func TestEmptyContentIsAnAnswer(t *testing.T) {
	s := start(t, Options{Script: always()})
	_, body, _ := send(t, s, helloStream)
	if got := names(events(t, body)); got != "message_start message_delta message_stop" {
		t.Errorf("got %s", got)
	}
}

// BenchmarkStream shows what the server itself costs for 2 MB in small deltas.
func BenchmarkStream(b *testing.B) {
	text := strings.Repeat("twenty bytes of text", 100_000)
	a := answer{turn: Turn{DeltaBytes: 20}, blocks: []Block{Text(text)}}
	for b.Loop() {
		w := discard{http.Header{}}
		st := stream{ctx: b.Context(), out: newEventWriter(w, a.turn), turn: a.turn}
		if err := st.play(a); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}
func (d discard) Flush()                      {}
