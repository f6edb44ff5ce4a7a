package anthropic

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func sseFile(t testing.TB, name string) []byte {
	return readFile(t, filepath.Join("testdata", "sse", name))
}

// TestOddFramingsGiveTheSameAnswer covers comments, pings, retry lines, every
// line end, a byte order mark, and a body that comes byte by byte.
func TestOddFramingsGiveTheSameAnswer(t *testing.T) {
	plain := sseFile(t, "plain.sse")
	want, wantReply, err := streamBytes(t, plain)
	if err != nil || want.text.String() != "hello world" {
		t.Fatalf("plain: %q, %v", want.text.String(), err)
	}
	framings := map[string][]byte{
		"comments and pings": sseFile(t, "comment_ping.sse"),
		"CRLF":               sseFile(t, "crlf.sse"),
		"CR only":            bytes.ReplaceAll(plain, []byte("\n"), []byte("\r")),
		"byte order mark":    append([]byte("\uFEFF"), plain...),
		"no blank after colon": bytes.ReplaceAll(bytes.ReplaceAll(plain, []byte("data: "), []byte("data:")),
			[]byte("event: "), []byte("event:")),
		"data over two lines": bytes.ReplaceAll(plain, []byte(`,"index":0`), []byte(",\ndata: \"index\":0")),
		"unknown event":       append([]byte("event: novelty\ndata: {}\n\nid: 7\n\n"), plain...),
		"unknown delta type": bytes.Replace(plain, []byte("event: content_block_stop"),
			[]byte("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"novel_delta\",\"text\":{}}}\n\nevent: content_block_stop"), 1),
		"blanks in the JSON": bytes.ReplaceAll(bytes.ReplaceAll(plain, []byte(`":`), []byte(`": `)), []byte(`,"`), []byte(`, "`)),
	}
	for name, body := range framings {
		t.Run(name, func(t *testing.T) {
			got, reply, err := streamBytes(t, body)
			if err != nil || reply != wantReply || !reflect.DeepEqual(got.blocks, want.blocks) || got.text.String() != want.text.String() {
				t.Errorf("got %+v %+v %v, want %+v %+v", got.blocks, reply, err, want.blocks, wantReply)
			}
		})
	}
	t.Run("one byte per packet", func(t *testing.T) {
		server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			for _, c := range plain {
				_, _ = w.Write([]byte{c})
				w.(http.Flusher).Flush()
			}
		})
		got := new(recorder)
		reply, err := newClient(t, Options{BaseURL: server.URL}).Stream(t.Context(), request, got)
		reply.RequestID = wantReply.RequestID
		if err != nil || reply != wantReply || !reflect.DeepEqual(got.blocks, want.blocks) {
			t.Errorf("got %+v %+v %v", got.blocks, reply, err)
		}
	})
}

func TestUsageIsReplacedAndNotAdded(t *testing.T) {
	_, reply, err := streamBytes(t, sseFile(t, "plain.sse"))
	want := Usage{InputTokens: 10, OutputTokens: 7, CacheReadTokens: 5, CacheWriteTokens: 3, Known: true}
	if err != nil || reply.Usage != want {
		t.Errorf("usage is %+v (%v), want %+v", reply.Usage, err, want)
	}
}

// sse frames events given as "name data" lines.
func sse(lines ...string) []byte {
	var b strings.Builder
	for _, line := range lines {
		name, data, _ := strings.Cut(line, " ")
		b.WriteString("event: " + name + "\ndata: " + data + "\n\n")
	}
	return []byte(b.String())
}

const (
	evStart     = `message_start {"type":"message_start","message":{"id":"msg_1","model":"m","usage":{"input_tokens":1}}}`
	evText      = `content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	evTextDelta = `content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}`
	evTool      = `content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}`
	evHalfInput = `content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"a"}}`
	evBlockStop = `content_block_stop {"type":"content_block_stop","index":0}`
	evEndTurn   = `message_delta {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`
	evToolUse   = `message_delta {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}`
	evMaxTokens = `message_delta {"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":2}}`
	evStop      = `message_stop {"type":"message_stop"}`
)

func TestWhatIsNotAWholeAnswerIsARetryableFault(t *testing.T) {
	nameless := bytes.ReplaceAll(sseFile(t, "plain.sse"), []byte("event: "), []byte("x: "))
	cases := []struct {
		name string
		body []byte
		says string
	}{
		{"nothing at all", nil, "empty"},
		{"events without names", nameless, "event: lines"},
		{"cut after a delta", sseFile(t, "eof_after_delta.sse"), "before message_stop"},
		{"second start", sse(evStart, evStart, evEndTurn, evStop), "second message_start"},
		{"block before start", sse(evText), "before message_start"},
		{"same block twice", sse(evStart, evText, evText), "starts twice"},
		{"delta of no block", sse(evStart, evTextDelta), "not open"},
		{"delta of a stopped block", sse(evStart, evText, evBlockStop, evTextDelta), "not open"},
		{"stop of no block", sse(evStart, evBlockStop), "not open"},
		{"block never stopped", sse(evStart, evText, evEndTurn, evStop), "never ended"},
		{"no stop reason", sse(evStart, evText, evBlockStop, evStop), "stop reason"},
		{"stop without start", sse(evStop), "without message_start"},
		{"half an input, tool_use", sse(evStart, evTool, evHalfInput, evBlockStop, evToolUse, evStop), "not whole JSON"},
		{"broken JSON", sse(`message_start {"type":`), "not the JSON"},
		{"start without message", sse(`message_start {}`), "without a message"},
		{"block without type", sse(evStart, `content_block_start {"index":0,"content_block":{}}`), "no type"},
		{"block that is a list", sse(evStart, `content_block_start {"index":0,"content_block":[]}`), "not a JSON object"},
		{"text that is a number", sse(evStart, evText, `content_block_delta {"index":0,"delta":{"type":"text_delta","text":1}}`), "not the JSON"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := streamBytes(t, c.body)
			e := mustError(t, err)
			if !e.Retryable() || e.Type != TypeMalformed || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %v, want a retryable fault that says %q", e, c.says)
			}
		})
	}
}

func TestAPageOfHTMLIsAFaultThatNamesIt(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<html>\n\nlog in</html>")
	})
	_, err := newClient(t, Options{BaseURL: server.URL}).Stream(t.Context(), request, new(recorder))
	if e := mustError(t, err); !e.Retryable() || !strings.Contains(e.Message, "text/html") {
		t.Errorf("got %v", e)
	}
}

func TestErrorEventsAreClassifiedByType(t *testing.T) {
	cases := []struct {
		event string
		kind  Kind
	}{
		{`error {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, KindRetryable},
		{`error {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`, KindRetryable},
		{`error {"type":"error","error":{"type":"authentication_error","message":"no"}}`, KindAuth},
		{`error {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 2 > 1"}}`, KindContextOverflow},
		{`error {"type":"error","error":{"type":"invalid_request_error","message":"bad"}}`, KindInvalidRequest},
		{`error {"type":"error","error":{"type":"novel_error","message":"?"}}`, KindRetryable},
		{`error not JSON`, KindRetryable},
	}
	for _, c := range cases {
		_, _, err := streamBytes(t, sse(evStart, evText, evTextDelta, c.event))
		if e := mustError(t, err); e.Kind != c.kind || !e.Partial || e.Status != 200 {
			t.Errorf("%s: got %+v, want %s", c.event, e, c.kind)
		}
	}
}

func TestACallCutByTheOutputLimitKeepsItsHalfInput(t *testing.T) {
	r, reply, err := streamBytes(t, sseFile(t, "tool_cut_max_tokens.sse"))
	want := Block{Type: BlockToolUse, ToolUseID: "toolu_1", ToolName: "write", Input: `{"path":"a.txt","content":"first half `, Cut: true}
	if err != nil || reply.StopReason != "max_tokens" || reply.CutBlock != 0 || !reflect.DeepEqual(r.blocks, []Block{want}) {
		t.Errorf("got %+v %+v %v", r.blocks, reply, err)
	}
}

func TestCutBlockKnowsCutsThatLookLikeNoInput(t *testing.T) {
	cases := []struct {
		name   string
		events []string
		cut    int
	}{
		{"cut before the first byte of input", []string{evTool, evBlockStop, evMaxTokens}, 0},
		{"cut without a block stop", []string{evTool, evHalfInput, evMaxTokens}, 0},
		{"a call without arguments", []string{evTool, evBlockStop, evToolUse}, -1},
		{"text cut", []string{evText, evTextDelta, evBlockStop, evMaxTokens}, -1},
	}
	for _, c := range cases {
		r, reply, err := streamBytes(t, sse(append(append([]string{evStart}, c.events...), evStop)...))
		if err != nil || reply.CutBlock != c.cut || len(r.blocks) != 1 {
			t.Errorf("%s: got %+v %+v %v, want cut block %d", c.name, r.blocks, reply, err, c.cut)
		}
	}
}

func TestThinkingWithoutASignatureIsNeverCompleted(t *testing.T) {
	thinking := `content_block_start {"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`
	think := `content_block_delta {"index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`
	sign := `content_block_delta {"index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`
	r, _, err := streamBytes(t, sse(evStart, thinking, think, evBlockStop, evEndTurn, evStop))
	if err != nil || len(r.blocks) != 0 || r.thinking.String() != "hm" {
		t.Errorf("unsigned: got %+v, %v", r.blocks, err)
	}
	r, _, err = streamBytes(t, sse(evStart, thinking, think, sign, sign, evBlockStop, evEndTurn, evStop))
	want := []Block{{Type: BlockThinking, Thinking: "hm", Signature: "c2lnc2ln"}}
	if err != nil || !reflect.DeepEqual(r.blocks, want) {
		t.Errorf("signed: got %+v, %v", r.blocks, err)
	}
}

func TestBlocksComeInIndexOrderWhenTheyInterleave(t *testing.T) {
	second := strings.ReplaceAll(evText, `"index":0`, `"index":1`)
	secondDelta := strings.ReplaceAll(evTextDelta, `"index":0`, `"index":1`)
	secondStop := strings.ReplaceAll(evBlockStop, `"index":0`, `"index":1`)
	r, _, err := streamBytes(t, sse(evStart, evTool, second, secondDelta, secondStop, evBlockStop, evToolUse, evStop))
	if err != nil || len(r.blocks) != 2 || r.blocks[0].Type != BlockToolUse || r.blocks[1].Text != "hi" {
		t.Errorf("got %+v, %v", r.blocks, err)
	}
}

func TestUnknownBlocksKeepTheirBytes(t *testing.T) {
	cases := []struct {
		name, block string
		deltas      []string
		want        string
	}{
		{"untouched", `{"type":"novel", "b":1.0e1,"a":"<&>\u00e9","z":null}`, nil, `{"type":"novel","b":1.0e1,"a":"<&>\u00e9","z":null}`},
		{"text appended", `{"type":"novel","content":"a"}`, []string{`{"type":"novel_delta","content":"b\n"}`}, `{"type":"novel","content":"ab\n"}`},
		{"null replaced", `{"type":"compaction","content":null}`, []string{`{"type":"compaction_delta","content":"x"}`}, `{"type":"compaction","content":"x"}`},
		{"list extended", `{"type":"novel","parts":[]}`, []string{`{"type":"d","parts":[1]}`, `{"type":"d","parts":[ 2 ]}`}, `{"type":"novel","parts":[1,2]}`},
		{"text delta", `{"type":"novel","text":"<"}`, []string{`{"type":"text_delta","text":">"}`}, `{"type":"novel","text":"<>"}`},
		{"server tool input", `{"type":"server_tool_use","id":"s","input":{},"name":"n"}`, []string{`{"type":"input_json_delta","partial_json":"{\"q\": "}`, `{"type":"input_json_delta","partial_json":"1.0}"}`}, `{"type":"server_tool_use","id":"s","input":{"q":1.0},"name":"n"}`},
		{"citations", `{"type":"text","text":"","citations":[]}`, []string{`{"type":"citations_delta","citation":{"a":1}}`, `{"type":"text_delta","text":"t"}`}, `{"type":"text","text":"t","citations":[{"a":1}]}`},
	}
	for _, c := range cases {
		events := []string{evStart, `content_block_start {"index":0,"content_block":` + c.block + `}`}
		for _, d := range c.deltas {
			events = append(events, `content_block_delta {"index":0,"delta":`+d+`}`)
		}
		r, _, err := streamBytes(t, sse(append(events, evBlockStop, evEndTurn, evStop)...))
		if err != nil || len(r.blocks) != 1 || string(r.blocks[0].Raw) != c.want {
			t.Errorf("%s: got %+v %v, want %s", c.name, r.blocks, err, c.want)
		}
	}
}

func TestAHandlersErrorEndsTheStreamAndIsReturned(t *testing.T) {
	refuse := errors.New("disk full")
	server := serve(t, replay(sseFile(t, "duplicate_ids.sse"), 1))
	r := &recorder{refuse: refuse}
	_, err := newClient(t, Options{BaseURL: server.URL}).Stream(t.Context(), request, r)
	if err != refuse || len(r.blocks) != 1 {
		t.Errorf("got %v after %d blocks", err, len(r.blocks))
	}
}

func TestTextThatIsNotUnicodeBecomesUnicode(t *testing.T) {
	half := `content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\ud83db"}}`
	bytes := `content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + "\xff\xfe" + `"}}`
	r, _, err := streamBytes(t, sse(evStart, evText, half, bytes, evBlockStop, evEndTurn, evStop))
	if err != nil || r.blocks[0].Text != "a\uFFFDb\uFFFD\uFFFD" {
		t.Errorf("got %+v, %v", r.blocks, err)
	}
}

func TestARefusalWithoutBlocksIsAnAnswer(t *testing.T) {
	r, reply, err := streamBytes(t, sseFile(t, "refusal_empty.sse"))
	if err != nil || reply.StopReason != "refusal" || len(r.blocks) != 0 || reply.CutBlock != -1 {
		t.Errorf("got %+v %+v %v", r.blocks, reply, err)
	}
}
