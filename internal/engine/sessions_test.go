package engine_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/khaelor/khaelor/internal/anthropic"
	"github.com/khaelor/khaelor/internal/bus"
	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/tool"
)

// recordedLine is a line of a recorded session.
type recordedLine struct {
	Role   string
	Blocks []recordedBlock
}

type recordedBlock struct {
	Type, Text, Thinking, ID, Name string
	Input                          json.RawMessage
	ToolUseID                      string `json:"tool_use_id"`
	IsError                        bool   `json:"is_error"`
	Content                        []recordedBlock
}

// step is what the user said, and what the assistant did then. A step in
// which nothing is said goes on from the results of the one before.
type step struct {
	said  string
	reply []recordedBlock
	calls []*recordedCall
}

type recordedCall struct {
	recordedBlock
	result *recordedBlock // nil when the recording has none
}

// recording plays a recorded session: the model is the service's responder,
// the tools give the recorded results, and the user speaks when the session
// comes to rest, steers while the last call of a reply runs, or interrupts a
// call that was never answered.
type recording struct {
	w     *world
	steps []step
	calls []*recordedCall // of all steps, as they are served

	sent []byte // the last request, without breakpoints

	mu      sync.Mutex
	served  int // replies
	steered int
	cut     int // by an interrupt
}

func TestEveryRecordedSessionRunsThroughAWholeEngine(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "data", "sessions"), "*.jsonl*"))
	if err != nil || len(files) < 19 {
		t.Fatalf("%d sessions (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".gz"), func(t *testing.T) {
			t.Parallel()
			if info, err := os.Stat(file); err == nil && testing.Short() && info.Size() > 100_000 {
				t.Skip("a large session")
			}
			r := &recording{steps: stepsOf(t, file)}
			for i := range r.steps {
				r.calls = append(r.calls, r.steps[i].calls...)
			}
			r.w = newWorld(t, r.service(), attended, r.tools, func(o *engine.Options) { o.Client = r })
			r.play()
			r.check()
		})
	}
}

// stepsOf reads a session. What the client wrote for itself is left out; a
// compaction is nothing but its summary, which the user line after it says.
func stepsOf(t *testing.T, file string) []step {
	t.Helper()
	var steps []step
	var said []string
	open := map[string]*recordedCall{}
	for _, line := range linesOf(t, file) {
		switch line.Role {
		case "assistant":
			if n := len(steps); n > 0 && len(said) == 0 && len(steps[n-1].calls) == 0 {
				steps[n-1].reply = append(steps[n-1].reply, line.Blocks...)
			} else {
				steps = append(steps, step{said: strings.Join(said, "\n\n"), reply: line.Blocks})
			}
			said = nil
			now := &steps[len(steps)-1]
			for _, b := range line.Blocks {
				if b.Type == "tool_use" {
					c := &recordedCall{recordedBlock: b}
					now.calls, open[b.ID] = append(now.calls, c), c
				}
			}
		case "user":
			for _, b := range line.Blocks {
				if c := open[b.ToolUseID]; b.Type == "tool_result" && c != nil {
					c.result = &b
					delete(open, b.ToolUseID)
				}
				if b.Type == "text" && strings.TrimSpace(b.Text) != "" {
					said = append(said, b.Text)
				}
			}
		}
	}
	if len(said) > 0 {
		steps = append(steps, step{said: strings.Join(said, "\n\n")})
	}
	return steps
}

func linesOf(t *testing.T, file string) []recordedLine {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var in io.Reader = bufio.NewReader(f)
	if strings.HasSuffix(file, ".gz") {
		if in, err = gzip.NewReader(in); err != nil {
			t.Fatal(err)
		}
	}
	var lines []recordedLine
	for dec := json.NewDecoder(in); ; {
		var l recordedLine
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return lines
		} else if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
}

func (r *recording) service() fakeapi.Options {
	return fakeapi.Options{Responder: r.respond, Script: fakeapi.Script{Window: 10_000_000}}
}

// lifetime is how many requests one service answers; it keeps them all, and
// those of a long session fill the memory.
const lifetime = 40

// Stream holds the request to the one before and sends it.
func (r *recording) Stream(ctx context.Context, body []byte, h anthropic.Handler) (anthropic.Reply, error) {
	now := bytes.ReplaceAll(body, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
	if !bytes.HasPrefix(now, bytes.TrimSuffix(r.sent, []byte("]}]}"))) {
		r.w.Error("a request does not begin with the bytes of the one before")
	}
	r.sent = now
	if len(r.w.server.Requests()) == lifetime {
		r.w.serveNoMore()
		r.w.serve(r.service())
	}
	return r.w.client.Stream(ctx, body, h)
}

// respond is the next reply of the assistant. Its thinking gets signatures of
// the service, since most recordings lack them.
func (r *recording) respond(int, *fakeapi.Request) fakeapi.Turn {
	r.mu.Lock()
	defer r.mu.Unlock()
	var reply []recordedBlock
	if r.served < len(r.steps) {
		reply = r.steps[r.served].reply
	}
	r.served++
	var blocks []fakeapi.Block
	for _, b := range reply {
		switch {
		case b.Type == "text":
			blocks = append(blocks, fakeapi.Text(b.Text))
		case b.Type == "thinking" && b.Thinking != "":
			blocks = append(blocks, fakeapi.Think(b.Thinking))
		case b.Type == "tool_use":
			blocks = append(blocks, call(b.ID, b.Name, string(b.Input)))
		}
	}
	return fakeapi.Turn{Blocks: blocks, DeltaBytes: 4000}
}

// tools are the recorded ones by name; each gives the recorded result.
func (r *recording) tools(o *engine.Options) {
	o.Tools = nil
	for _, c := range r.calls {
		if _, have := o.Tools.Get(c.Name); !have {
			own(c.Name, r.run)(o)
		}
	}
}

// find is the call that an id of ours belongs to, and whether it is the last
// of its reply.
func (r *recording) find(id string) (c *recordedCall, last bool) {
	n := 0
	for _, b := range r.w.log.Fold().History.Blocks() {
		if b.Kind != fold.ToolUseBlock {
			continue
		}
		if b.ID == id {
			c = r.calls[n]
			break
		}
		n++
	}
	for _, s := range r.steps {
		if k := len(s.calls); k > 0 && s.calls[k-1] == c {
			last = true
		}
	}
	return c, last
}

func (r *recording) run(ctx context.Context, env *tool.Env, _ map[string]any) (tool.Result, error) {
	c, last := r.find(env.ToolUseID)
	r.mu.Lock()
	words := ""
	if r.served < len(r.steps) {
		words = r.steps[r.served].said
	}
	r.mu.Unlock()
	if words != "" && c.result == nil { // the user did not wait for it
		r.count(&r.cut)
		r.w.do(command.Interrupt{})
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
	if words != "" && last {
		r.count(&r.steered)
		r.w.do(command.Steer{Text: words})
	}
	return c.outcome()
}

func (r *recording) count(n *int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*n++
}

func (c *recordedCall) outcome() (tool.Result, error) {
	if c.result == nil {
		return tool.Result{Text: "[not recorded]"}, nil
	}
	var texts []string
	for _, b := range c.result.Content {
		texts = append(texts, b.Text)
	}
	text := strings.Join(texts, "\n")
	if c.result.IsError {
		return tool.Result{}, tool.Errorf(event.ToolExecError, "%s", text)
	}
	return tool.Result{Text: text}, nil
}

// play lets the user speak until everything was said.
func (r *recording) play() {
	bus.On(r.w.log.Bus(), func(_ event.Record, q event.QuestionAsked) {
		r.w.send(command.AnswerQuestion{QuestionID: q.QuestionID, Answer: []string{"go on"}})
	})
	for {
		r.mu.Lock()
		next := r.served
		r.mu.Unlock()
		if next >= len(r.steps) {
			return
		}
		if words := r.steps[next].said; words != "" {
			r.w.say(words)
		} else {
			r.w.say("(go on)")
		}
		r.mu.Lock()
		if r.served == next {
			r.w.Errorf("step %d was not asked for; the task ended as %+v", next, r.w.outcome())
			r.served++
		}
		r.mu.Unlock()
	}
}

// check looks at what the session has become. The log's invariants, the
// service's and the replay are looked at when the world ends.
func (r *recording) check() {
	r.w.Helper()
	var ids []string
	results := map[string]string{}
	for _, b := range r.w.log.Fold().History.Blocks() {
		switch b.Kind {
		case fold.ToolUseBlock:
			ids = append(ids, b.ID)
		case fold.ToolResultBlock:
			results[b.ID] = b.Text
		}
	}
	if len(ids) != len(r.calls) {
		r.w.Fatalf("%d calls in the history, want %d", len(ids), len(r.calls))
	}
	replaced, recorded := 0, 0
	for i, c := range r.calls {
		if slices.Index(ids, ids[i]) != i {
			r.w.Errorf("the id %s is used twice", ids[i])
		}
		if ids[i] != c.ID {
			replaced++
		}
		if c.result == nil {
			continue
		}
		recorded++
		result, err := c.outcome()
		want := result.Text
		if err != nil {
			want = err.Error()
		}
		if got := results[ids[i]]; strings.TrimSpace(want) != "" && got != event.Text(want) {
			r.w.Errorf("call %d got %.80q, want %.80q", i, got, want)
		}
	}
	lines := r.w.records()
	r.w.Logf("%d facts, %d requests, %d calls (%d with a recorded result, %d ids replaced), %d steered, %d interrupted, %d bytes of log",
		len(lines), r.served, len(ids), recorded, replaced, r.steered, r.cut, r.size())
}

func (r *recording) size() int64 {
	entries, err := r.w.disk.List("p")
	if err != nil {
		r.w.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name, r.w.log.ID()+".jsonl") {
			return e.Size
		}
	}
	return 0
}
