package fakeapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/khaelor/khaelor/internal/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T, opts Options) *Server {
	t.Helper()
	if opts.Clock == nil {
		opts.Clock = clock.Fixed(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 1)
	}
	s, err := Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// always answers every request with the same blocks.
func always(blocks ...Block) Script {
	return Script{Turns: []Turn{{Blocks: blocks, Repeat: -1, NewPrefix: true}}}
}

func post(t *testing.T, s *Server, path, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "k")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// send posts a message request and gives status and body, and how the body ended.
func send(t *testing.T, s *Server, body string) (int, string, error) {
	t.Helper()
	resp := post(t, s, "/v1/messages", body)
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

// sendOK is send for requests that must succeed without streaming.
func sendOK(t *testing.T, s *Server, body string) message {
	t.Helper()
	status, text, err := send(t, s, body)
	if err != nil || status != http.StatusOK {
		t.Fatalf("status %d, err %v: %s", status, err, text)
	}
	var m message
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func errorMessage(t *testing.T, body string) (kind, text string) {
	t.Helper()
	var e errorBody
	if err := json.Unmarshal([]byte(body), &e); err != nil || e.Type != "error" || e.RequestID == "" {
		t.Fatalf("not an API error: %v: %s", err, body)
	}
	return e.Error.Type, e.Error.Message
}

const (
	hello       = `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"hello"}]}`
	helloStream = `{"model":"m","max_tokens":100,"stream":true,"messages":[{"role":"user","content":"hello"}]}`
)

func TestARequestIsRecordedAsItCame(t *testing.T) {
	s := start(t, Options{Script: always(Text("hi"))})
	odd := strings.Replace(hello, ":100", " :  1e2", 1)
	odd = strings.Replace(odd, "1e2", "100", 1)
	m := sendOK(t, s, odd)
	if string(m.Content[0]) != `{"type":"text","text":"hi"}` || *m.StopReason != "end_turn" {
		t.Errorf("answer: %s %s", m.Content, *m.StopReason)
	}
	x := s.Requests()[0]
	if string(x.Body) != odd || x.Status != 200 || x.Turn != 0 || !x.Whole || x.Request.Messages[0].Parts[0].Text != "hello" {
		t.Errorf("recorded: %+v", x)
	}
	if x.Header.Get("X-Api-Key") != "k" || x.Usage != m.Usage && x.Usage.InputTokens != m.Usage.InputTokens {
		t.Errorf("recorded: %v %v", x.Header, x.Usage)
	}
	if p := s.Problems(); len(p) > 0 {
		t.Error(p)
	}
}

func TestRequestsAreRefusedBeforeTheirBodyIsRead(t *testing.T) {
	cases := []struct {
		name, method, path string
		header             map[string]string
		status             int
		kind, text         string
	}{
		{"no key", "POST", "/v1/messages", map[string]string{"X-Api-Key": ""}, 401, "authentication_error", "x-api-key header is required"},
		{"wrong key", "POST", "/v1/messages", map[string]string{"X-Api-Key": "other"}, 401, "authentication_error", "invalid x-api-key"},
		{"wrong bearer", "POST", "/v1/messages", map[string]string{"X-Api-Key": "", "Authorization": "Bearer other"}, 401, "authentication_error", "invalid x-api-key"},
		{"no version", "POST", "/v1/messages", map[string]string{"Anthropic-Version": ""}, 400, "invalid_request_error", "anthropic-version: header is required"},
		{"doubled path", "POST", "/v1/v1/messages", nil, 404, "not_found_error", "Not found"},
		{"other path", "GET", "/", nil, 404, "not_found_error", "Not found"},
		{"wrong method", "GET", "/v1/messages", nil, 405, "invalid_request_error", "Method Not Allowed"},
	}
	s := start(t, Options{Script: always(Text("hi")), Key: "secret"})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), c.method, s.URL()+c.path, strings.NewReader(hello))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Api-Key", "secret")
			req.Header.Set("Anthropic-Version", "2023-06-01")
			for k, v := range c.header {
				req.Header.Set(k, v)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			kind, text := errorMessage(t, string(body))
			if resp.StatusCode != c.status || kind != c.kind || text != c.text {
				t.Errorf("got %d %s: %s", resp.StatusCode, kind, text)
			}
		})
	}
	if got := len(s.Problems()); got != len(cases) {
		t.Errorf("%d problems for %d refusals: %v", got, len(cases), s.Problems())
	}
}

func TestABearerTokenAndAPathInFrontAreTaken(t *testing.T) {
	s := start(t, Options{Script: always(Text("hi")), Key: "secret", Prefix: "/gw"})
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL()+"/v1/messages", strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer secret")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 || !strings.HasSuffix(s.URL(), "/gw") {
		t.Errorf("%s: %d", s.URL(), resp.StatusCode)
	}
}

func TestABodyOver32MBIsTooLarge(t *testing.T) {
	s := start(t, Options{Script: always(Text("hi"))})
	status, body, _ := send(t, s, `{"x":"`+strings.Repeat("a", maxBody)+`"}`)
	kind, text := errorMessage(t, body)
	if status != 413 || kind != "request_too_large" || text != "Request exceeds the maximum size" {
		t.Errorf("got %d %s %s", status, kind, text)
	}
}

func TestModelsAreListedAndShown(t *testing.T) {
	s := start(t, Options{Script: Script{Window: 1000, Models: []Model{{ID: "a", DisplayName: "A", MaxTokens: 5}, {ID: "b", MaxInputTokens: 7}}}})
	cases := []struct {
		path, want string
		status     int
	}{
		{"/v1/models", `{"data":[{"type":"model","id":"a","display_name":"A","created_at":"2026-01-01T00:00:00Z","max_input_tokens":1000,"max_tokens":5},` +
			`{"type":"model","id":"b","display_name":"b","created_at":"2026-01-01T00:00:00Z","max_input_tokens":7,"max_tokens":null}],"has_more":false,"first_id":"a","last_id":"b"}`, 200},
		{"/v1/models/b", `{"type":"model","id":"b","display_name":"b","created_at":"2026-01-01T00:00:00Z","max_input_tokens":7,"max_tokens":null}`, 200},
		{"/v1/models/c", `{"type":"error","error":{"type":"not_found_error","message":"model: c"},"request_id":"req_fake_000002"}`, 404},
	}
	for _, c := range cases {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", "k")
		req.Header.Set("Anthropic-Version", "2023-06-01")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != c.status || string(body) != c.want {
			t.Errorf("%s: %d %s", c.path, resp.StatusCode, body)
		}
	}
}

func TestCountTokensNeedsNoMaxTokens(t *testing.T) {
	s := start(t, Options{Script: always(Text("hi"))})
	resp := post(t, s, "/v1/messages/count_tokens", `{"model":"m","system":"12345678","messages":[{"role":"user","content":"hello"}]}`)
	body, _ := io.ReadAll(resp.Body)
	if string(body) != `{"input_tokens":4}` {
		t.Errorf("got %s", body)
	}
}

func TestTurnsAreGivenOutInOrderAndByWhatTheyAreFor(t *testing.T) {
	s := start(t, Options{Script: Script{Turns: []Turn{
		{Blocks: []Block{Text("a title")}, When: []string{"make a {{thing}}"}, Repeat: -1},
		{Blocks: []Block{Text("first")}},
		{Blocks: []Block{Text("again {{n}}")}, Repeat: 2},
		{Blocks: []Block{Text("never")}},
		{Blocks: []Block{Text("maybe")}, Optional: true},
	}}, Vars: map[string]string{"thing": "title"}})
	ask := func(text string) string {
		return string(sendOK(t, s, strings.Replace(hello, "hello", text, 1)).Content[0])
	}
	var got []string
	for _, q := range []string{"x", "make a title", "y", "z"} {
		got = append(got, ask(q))
	}
	want := `{"type":"text","text":"first"} {"type":"text","text":"a title"} {"type":"text","text":"again 1"} {"type":"text","text":"again 2"}`
	if strings.Join(got, " ") != want {
		t.Errorf("got %s", got)
	}
	if p := s.Problems(); len(p) != 1 || p[0] != "turns[3]: asked for 0 of 1 times" {
		t.Errorf("problems: %q", p)
	}
}

func TestARequestNobodyExpectedFails(t *testing.T) {
	s := start(t, Options{Script: Script{Turns: []Turn{
		{Blocks: []Block{Text("a")}, Expect: []string{"hello", "{{who}}"}},
	}}, Vars: map[string]string{"who": "world"}})
	for _, want := range []string{
		`fakeapi: turns[0].expect: the request does not have ["world"]`,
		"fakeapi: no turn of the script is left for this request",
	} {
		status, body, _ := send(t, s, hello)
		if _, text := errorMessage(t, body); status != 400 || text != want {
			t.Errorf("got %d %s", status, text)
		}
	}
	if p := s.Problems(); len(p) != 2 || !strings.HasPrefix(p[0], "request 0: 400 fakeapi: turns[0].expect") {
		t.Errorf("problems: %q", p)
	}
}

func TestAResponderComputesTurns(t *testing.T) {
	s := start(t, Options{Responder: func(n int, req *Request) Turn {
		return Turn{Blocks: []Block{Text(strings.Repeat(req.Messages[0].Parts[0].Text, n+1))}}
	}})
	sendOK(t, s, hello)
	if m := sendOK(t, s, hello); string(m.Content[0]) != `{"type":"text","text":"hellohello"}` {
		t.Errorf("got %s", m.Content)
	}
}

func TestPlaceholdersInInputsAreEscaped(t *testing.T) {
	s := start(t, Options{Script: always(Call("read", `{ "path" : "{{dir}}/a" , "z":1.0,"a":1e3 }`)), Vars: map[string]string{"dir": `C:\"x"`}})
	_, body, _ := send(t, s, helloStream)
	var input strings.Builder
	for _, e := range events(t, body) {
		var d struct {
			Delta struct {
				PartialJSON string `json:"partial_json"`
			} `json:"delta"`
		}
		if err := json.Unmarshal([]byte(e.data), &d); err != nil {
			t.Fatal(err)
		}
		input.WriteString(d.Delta.PartialJSON)
	}
	if want := `{ "path" : "C:\\\"x\"/a" , "z":1.0,"a":1e3 }`; input.String() != want {
		t.Errorf("got %s", input.String())
	}
}

func TestCloseEndsAStalledAnswer(t *testing.T) {
	s, err := Start(Options{Script: Script{Turns: []Turn{{Blocks: []Block{Text("hi")}, StallAfterEvents: 2}}}})
	if err != nil {
		t.Fatal(err)
	}
	resp := post(t, s, "/v1/messages", helloStream)
	if _, err := io.ReadFull(resp.Body, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the stalled stream ended like a good one")
	}
	if x := s.Requests()[0]; x.Whole || x.Status != 200 || x.Events != 2 {
		t.Errorf("recorded %+v", x)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestOnRequestIsToldOfEveryRequest(t *testing.T) {
	var told []string
	s := start(t, Options{Script: always(Text("hi")), OnRequest: func(_ int, method, path string) { told = append(told, method+" "+path) }})
	sendOK(t, s, hello)
	if len(told) != 1 || told[0] != "POST /v1/messages" {
		t.Errorf("told %q", told)
	}
}

func TestStartRefusesWhatCannotBeServed(t *testing.T) {
	for _, opts := range []Options{
		{Script: always(Block{Type: "txt"})},
		{Script: always(Text("a")), Responder: func(int, *Request) Turn { return Turn{} }},
	} {
		if s, err := Start(opts); err == nil {
			_ = s.Close()
			t.Errorf("started with %+v", opts)
		}
	}
}

// event is one server-sent event as it came.
type event struct{ name, data string }

func events(t *testing.T, body string) []event {
	t.Helper()
	var list []event
	for _, frame := range strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(frame, "\n")
		if !ok || !strings.HasPrefix(name, "event: ") || !strings.HasPrefix(data, "data: ") {
			t.Fatalf("not an event: %q", frame)
		}
		list = append(list, event{name[len("event: "):], data[len("data: "):]})
	}
	return list
}

func names(list []event) string {
	var b bytes.Buffer
	for _, e := range list {
		b.WriteString(e.name + " ")
	}
	return strings.TrimSpace(b.String())
}
