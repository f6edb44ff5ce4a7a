package engine_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/bus"
	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
	"github.com/khaelor/khaelor/internal/fold"
)

// message is a finished message as the official SDK makes it of a stream.
type message struct {
	Model      string            `json:"model"`
	Content    []json.RawMessage `json:"content"`
	StopReason string            `json:"stop_reason"`
	Usage      struct {
		Input      int64 `json:"input_tokens"`
		Output     int64 `json:"output_tokens"`
		CacheRead  int64 `json:"cache_read_input_tokens"`
		CacheWrite int64 `json:"cache_creation_input_tokens"`
	} `json:"usage"`
}

// block is a content block, as far as the comparison takes it apart.
type block struct {
	Type, Text, Thinking, Signature, ID, Name string
	Input                                     json.RawMessage
	Citations                                 []json.RawMessage
}

// recordings are the recorded streams of a folder, with what stands beside.
func recordings(t *testing.T, folder string, least int) map[string][2][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(shared(t, "data", "anthropic", folder), "*.sse"))
	if err != nil || len(files) < least {
		t.Fatalf("%d streams, want at least %d (%v)", len(files), least, err)
	}
	found := map[string][2][]byte{}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".sse")
		found[filepath.Base(name)] = [2][]byte{read(t, file), read(t, name+".json")}
	}
	return found
}

func TestEveryRecordedStreamIsInTheLogAndComesBackToTheService(t *testing.T) {
	for name, files := range recordings(t, "streams", 79) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var recorded struct{ Expected message }
			if err := json.Unmarshal(files[1], &recorded); err != nil {
				t.Fatal(err)
			}
			replayStream(t, string(files[0]), recorded.Expected)
		})
	}
}

// replayStream lets a session get the stream as its first answer and go on.
func replayStream(t *testing.T, stream string, want message) {
	w := newWorld(t, fakeapi.Options{Responder: func(n int, _ *fakeapi.Request) fakeapi.Turn {
		if n == 0 {
			return fakeapi.Turn{Raw: stream}
		}
		return turn(fakeapi.Text("Good."))
	}})
	w.do(command.SetModel{Model: want.Model}) // whose signatures they are
	w.say("hello")
	w.say("and further")
	w.completed()

	all := w.records()
	begun := slices.IndexFunc(all, func(r event.Record) bool { return is[event.ModelRequestStarted](r.Fact) })
	id := all[begun].Fact.(event.ModelRequestStarted).RequestID
	ended := begun + slices.IndexFunc(all[begun:], func(r event.Record) bool { return is[event.ModelResponseCompleted](r.Fact) })
	done := all[ended].Fact.(event.ModelResponseCompleted)
	usage := event.ModelUsage{
		InputTokens: want.Usage.Input, OutputTokens: want.Usage.Output,
		CacheReadTokens: want.Usage.CacheRead, CacheWriteTokens: want.Usage.CacheWrite,
	}
	if done.RequestID != id || string(done.StopReason) != want.StopReason || done.Usage != usage {
		t.Errorf("the answer is %+v, want %s with %+v", done, want.StopReason, usage)
	}
	cut := want.StopReason == "max_tokens"
	settled := slices.DeleteFunc(slices.Clone(all[begun+1:ended]), func(r event.Record) bool {
		return is[event.BaselineRecorded](r.Fact)
	})
	compareFacts(t, settled, want.Content, cut)
	compareRequest(w, want.Content, cut)
}

func is[P event.Fact](f event.Fact) bool {
	_, ok := f.(P)
	return ok
}

// compareFacts holds the facts of an answer to the blocks it is made of.
func compareFacts(t *testing.T, got []event.Record, want []json.RawMessage, cut bool) {
	t.Helper()
	for _, raw := range want {
		b := parse(t, raw)
		if b.Type == "text" && b.Text == "" && len(b.Citations) == 0 {
			continue // the service would refuse it
		}
		if len(got) == 0 {
			t.Fatalf("no fact for %s", raw)
		}
		var same bool
		switch p := got[0].Fact.(type) {
		case event.ModelTextBlockCompleted:
			same = b.Type == "text" && p.Text == b.Text
		case event.ModelThinkingBlockCompleted:
			same = b.Type == "thinking" && p.Thinking == b.Thinking && p.Signature == b.Signature
		case event.ToolRequested:
			same = b.Type == "tool_use" && p.ToolUseID == b.ID && p.ToolName == b.Name && (cut || sameJSON(p.Input, b.Input))
		case event.ModelOpaqueBlockCompleted:
			same = p.BlockType == b.Type && sameJSON(p.Raw, raw)
		}
		if !same {
			t.Errorf("%s became %+v", raw, got[0].Fact)
		}
		got = got[1:]
	}
	if len(got) > 0 {
		t.Errorf("facts too many: %+v", got)
	}
}

func parse(t *testing.T, raw json.RawMessage) block {
	t.Helper()
	var b block
	if err := json.Unmarshal(raw, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// compareRequest holds what is sent back to the log and to the blocks.
func compareRequest(w *world, want []json.RawMessage, cut bool) {
	w.Helper()
	all := w.asked()
	var parts []fakeapi.Part
	for _, m := range all[len(all)-1].Messages {
		if m.Role == "assistant" {
			parts = append(parts, m.Parts...)
		}
	}
	var blocks []fold.Block
	for _, b := range w.log.Fold().History.Blocks() {
		if b.Role == fold.Assistant {
			blocks = append(blocks, b)
		}
	}
	for i, raw := range slices.DeleteFunc(slices.Clone(want), func(raw json.RawMessage) bool {
		b := parse(w.T, raw)
		return b.Type == "text" && strings.TrimSpace(b.Text) == "" && len(b.Citations) == 0
	}) {
		b, part, held := parse(w.T, raw), parts[i], blocks[i]
		same := part.Type == b.Type && part.Text == b.Text && part.Thinking == b.Thinking && part.Signature == b.Signature
		switch held.Kind {
		case fold.ToolUseBlock:
			same = part.ID == b.ID && part.Name == b.Name && bytes.Equal(part.Input, held.Raw) && (cut || sameJSON(part.Input, b.Input))
		case fold.OpaqueBlock:
			same = bytes.Equal(unmarked(part.Raw), held.Raw) && sameJSON(held.Raw, raw)
		}
		if !same {
			w.Errorf("%s was sent back as %s", raw, part.Raw)
		}
	}
}

// unmarked is a block without the breakpoint that a request may put on it.
func unmarked(raw []byte) []byte {
	return bytes.Replace(raw, []byte(`,"cache_control":{"type":"ephemeral"}`), nil, 1)
}

func TestAfterEveryMalformedStreamTheAttemptIsRepeatedAndLeavesNothing(t *testing.T) {
	for name, files := range recordings(t, "malformed", 10) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, script(fakeapi.Turn{Raw: string(files[0])}, turn(fakeapi.Text("Whole."))))
			retries := noticed[event.ModelRetryScheduled](w)
			w.say("hello")
			w.completed()
			f := only[event.ModelRequestFailed](w)
			if f.Kind != event.ErrorRetryable || f.RetriesExhausted || f.Message == "" {
				t.Errorf("logged as %+v", f)
			}
			if n := await(w, "the notice", retries); n.RequestID != f.RequestID || n.Attempt != 2 {
				t.Errorf("announced as %+v", n)
			}
			if got := w.asked(); len(got) != 2 || !bytes.Equal(got[0].Body, got[1].Body) {
				t.Error("the second request is not the first one again")
			}
			for _, b := range w.log.Fold().History.Blocks() {
				if b.Role == fold.Assistant && b.Text != "Whole." {
					t.Errorf("the history holds %+v", b)
				}
			}
			for _, c := range facts[event.ToolCancelled](w) {
				if c.Reason != event.CancelResponseFailed {
					t.Errorf("a call of the attempt ended as %+v", c)
				}
			}
		})
	}
}

// failure is a recorded error answer.
type failure struct {
	ID       string
	Status   int
	Headers  map[string]string
	Body     string
	Expected struct {
		Kind  event.ModelErrorKind
		Retry bool    `json:"retry_blindly"`
		Wait  float64 `json:"wait_seconds"`
	}
}

func TestEveryRecordedErrorIsLoggedByItsKindAndRepeatedOnlyWhereThatHelps(t *testing.T) {
	for line := range bytes.Lines(read(t, shared(t, "data", "anthropic", "errors.jsonl"))) {
		var f failure
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		t.Run(f.ID, func(t *testing.T) {
			t.Parallel()
			serveFailure(t, f)
		})
	}
}

var harmless = regexp.MustCompile(`(?i)^(content-type|x-should-retry|retry-after)$`)

// serveFailure lets a session get the error first; then it must be able to go
// on. A wait that the service asks for is looked at and cut short.
func serveFailure(t *testing.T, f failure) {
	fault := &fakeapi.Fault{Status: f.Status, Body: f.Body, Headers: map[string]string{}}
	for name, value := range f.Headers {
		if harmless.MatchString(name) {
			fault.Headers[http.CanonicalHeaderKey(name)] = value
		}
	}
	w := newWorld(t, script(fakeapi.Turn{Error: fault}, turn(fakeapi.Text("Good."))))
	var announced []time.Duration
	bus.OnNotice(w.log.Bus(), func(_ event.Live, n event.ModelRetryScheduled) {
		announced = append(announced, time.Duration(n.DelayMS)*time.Millisecond)
		if f.Expected.Wait > 1 {
			w.send(command.Interrupt{})
		}
	})
	w.say("hello")
	got := facts[event.ModelRequestFailed](w)[0]
	if f.Expected.Kind != "" && got.Kind != f.Expected.Kind || got.Status != f.Status || got.RetriesExhausted == f.Expected.Retry {
		t.Errorf("logged as %+v, want %+v", got, f.Expected)
	}
	if wait := time.Duration(f.Expected.Wait * float64(time.Second)); (len(announced) > 0) != f.Expected.Retry ||
		f.Expected.Retry && announced[0] < wait {
		t.Errorf("announced waits %v, want one of at least %s: %v", announced, wait, f.Expected.Retry)
	}
	if !f.Expected.Retry {
		detail := w.failed(event.FailedModel)
		t.Log(detail)
	}
	if len(w.asked()) == 1 {
		w.say("again")
	}
	w.completed()
	if n := len(w.asked()); n != 2 {
		t.Errorf("%d requests", n)
	}
}
