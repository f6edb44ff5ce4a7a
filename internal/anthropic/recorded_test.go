package anthropic

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

type recordedMessage struct {
	Expected struct {
		ID           string            `json:"id"`
		Model        string            `json:"model"`
		Content      []json.RawMessage `json:"content"`
		StopReason   string            `json:"stop_reason"`
		StopSequence *string           `json:"stop_sequence"`
		Usage        map[string]any    `json:"usage"`
	} `json:"expected"`
}

func TestEveryRecordedStreamGivesTheRecordedMessage(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sharedPath(t, "data", "anthropic", "streams"), "*.sse"))
	if err != nil || len(files) < 79 {
		t.Fatalf("found %d streams (%v), want at least 79", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".sse")
		t.Run(name, func(t *testing.T) {
			var want recordedMessage
			if err := json.Unmarshal(readFile(t, strings.TrimSuffix(file, ".sse")+".json"), &want); err != nil {
				t.Fatal(err)
			}
			r, reply, err := streamBytes(t, readFile(t, file))
			if err != nil {
				t.Fatal(err)
			}
			compareReply(t, reply, want)
			compareBlocks(t, r, reply, want.Expected.Content)
		})
	}
}

func compareReply(t *testing.T, got Reply, want recordedMessage) {
	t.Helper()
	e := want.Expected
	if got.MessageID != e.ID || got.Model != e.Model || got.StopReason != e.StopReason || got.RequestID != "req_header" {
		t.Errorf("reply is %+v, want id %s model %s stop %s", got, e.ID, e.Model, e.StopReason)
	}
	if sequence := e.StopSequence; sequence != nil && *sequence != got.StopSequence || sequence == nil && got.StopSequence != "" {
		t.Errorf("stop sequence is %q", got.StopSequence)
	}
	number := func(name string) int64 { n, _ := e.Usage[name].(float64); return int64(n) }
	wantUsage := Usage{
		InputTokens: number("input_tokens"), OutputTokens: number("output_tokens"),
		CacheReadTokens: number("cache_read_input_tokens"), CacheWriteTokens: number("cache_creation_input_tokens"),
		CacheWrite1hTokens: got.Usage.CacheWrite1hTokens, Known: true,
	}
	if got.Usage != wantUsage {
		t.Errorf("usage is %+v, want %+v", got.Usage, wantUsage)
	}
}

func compareBlocks(t *testing.T, r *recorder, reply Reply, want []json.RawMessage) {
	t.Helper()
	if len(r.blocks) != len(want) {
		t.Fatalf("got %d blocks, want %d", len(r.blocks), len(want))
	}
	for i, b := range r.blocks {
		if b.Index == reply.CutBlock {
			if !b.Cut || json.Valid([]byte(b.Input)) || b.Input == "" {
				t.Errorf("cut block %d came as %+v", i, b)
			}
			continue
		}
		var expected, got any
		if err := json.Unmarshal(want[i], &expected); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(rebuilt(t, b), &got); err != nil {
			t.Fatalf("block %d: %v in %s", i, err, rebuilt(t, b))
		}
		if !reflect.DeepEqual(got, forgetCaller(b, expected)) {
			t.Errorf("block %d is\n%s\nwant\n%s", i, rebuilt(t, b), want[i])
		}
	}
}

// forgetCaller drops what is left out of the parts on purpose: who called a
// tool, and citations that are empty.
func forgetCaller(b Block, expected any) any {
	if m, ok := expected.(map[string]any); ok && b.Raw == nil {
		delete(m, "caller")
		if list, isList := m["citations"].([]any); m["citations"] == nil || isList && len(list) == 0 {
			delete(m, "citations")
		}
	}
	return expected
}

// rebuilt is the block as a history would send it back.
func rebuilt(t *testing.T, b Block) []byte {
	t.Helper()
	if b.Raw != nil {
		if !bytes.Equal(b.Raw, compacted(b.Raw)) {
			t.Errorf("raw block is not compact: %s", b.Raw)
		}
		return b.Raw
	}
	input := b.Input
	if input == "" {
		input = "{}"
	}
	parts := map[string]any{"type": b.Type}
	switch b.Type {
	case BlockText:
		parts["text"] = b.Text
	case BlockThinking:
		parts["thinking"], parts["signature"] = b.Thinking, b.Signature
	case BlockToolUse:
		parts["id"], parts["name"], parts["input"] = b.ToolUseID, b.ToolName, json.RawMessage(input)
	default:
		t.Errorf("a %s block came without its raw bytes", b.Type)
	}
	out, err := json.Marshal(parts)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryMalformedStreamIsARetryableFault(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sharedPath(t, "data", "anthropic", "malformed"), "*.sse"))
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d streams (%v), want at least 10", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".sse")
		t.Run(name, func(t *testing.T) {
			r, _, err := streamBytes(t, readFile(t, file))
			e := mustError(t, err)
			wantType := TypeMalformed
			switch {
			case strings.HasSuffix(name, "-then-overloaded"):
				wantType = "overloaded_error"
			case name == "error-first":
				wantType = "api_error"
			}
			if !e.Retryable() || e.Type != wantType || e.Status != 200 {
				t.Errorf("got %+v, want a retryable %s", e, wantType)
			}
			if shown := r.text.Len()+r.thinking.Len()+len(r.blocks)+len(r.started) > 0; shown != e.Partial {
				t.Errorf("partial is %v, but something was shown: %v", e.Partial, shown)
			}
		})
	}
}

type recordedError struct {
	ID       string            `json:"id"`
	Status   int               `json:"status"`
	Headers  map[string]string `json:"headers"`
	Body     string            `json:"body"`
	Expected struct {
		Kind  Kind    `json:"kind"`
		Retry bool    `json:"retry_blindly"`
		Wait  float64 `json:"wait_seconds"`
	} `json:"expected"`
	SDK struct {
		Type      string `json:"type"`
		RequestID string `json:"request_id"`
	} `json:"sdk"`
}

func TestEveryRecordedErrorHasItsKind(t *testing.T) {
	for line := range bytes.Lines(readFile(t, sharedPath(t, "data", "anthropic", "errors.jsonl"))) {
		var want recordedError
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		t.Run(want.ID, func(t *testing.T) { checkRecordedError(t, want) })
	}
}

func checkRecordedError(t *testing.T, want recordedError) {
	calls := 0
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		discard(r)
		for name, value := range want.Headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(want.Status)
		_, _ = w.Write([]byte(want.Body))
	})
	_, err := newClient(t, Options{BaseURL: server.URL}).Stream(t.Context(), request, new(recorder))
	e := mustError(t, err)
	if calls != 1 {
		t.Errorf("%d requests, want one", calls)
	}
	if e.Status != want.Status || e.Type != want.SDK.Type || e.Retryable() != want.Expected.Retry {
		t.Errorf("got %+v, want %+v", e, want.Expected)
	}
	if want.Expected.Kind != "" && e.Kind != want.Expected.Kind {
		t.Errorf("kind is %s, want %s", e.Kind, want.Expected.Kind)
	}
	// The TypeScript SDK looks at the header only; the body's id is as good.
	ids := []string{want.SDK.RequestID, requestIDOf(want.Body)}
	if !slices.Contains(ids, e.RequestID) {
		t.Errorf("request id is %q, want one of %q", e.RequestID, ids)
	}
	if wait := time.Duration(want.Expected.Wait * float64(time.Second)); e.RetryAfter != wait {
		t.Errorf("retry after %s, want %s", e.RetryAfter, wait)
	}
}
