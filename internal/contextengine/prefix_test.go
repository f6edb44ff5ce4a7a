package contextengine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// talk grows a history the way sessions do, and looks at each request.
type talk struct {
	t      *rapid.T
	log    *log
	live   *Engine
	n      int
	ids    []string // of calls with results
	before *request
	builds int
}

// request is what was sent, and what the history was like then.
type request struct {
	body   []byte
	parsed parsed
	epoch  int
	role   fold.Role // of the last block
}

func (k *talk) id(prefix string) string {
	k.n++
	return fmt.Sprintf("%s%d", prefix, k.n)
}

var anyText = rapid.OneOf(
	rapid.String(), rapid.SampledFrom([]string{"plain", "<b>&amp;</b>", "\u2028\u2029", "\\u0041", `{"a":["]}]}`, mark, "\xff\xfe", " \n"}),
)

func (k *talk) text() string { return event.Text(anyText.Draw(k.t, "text")) }

func (k *talk) media() []event.Media {
	return rapid.SampledFrom([][]event.Media{
		nil, nil, nil, {{MediaType: "image/png", SHA256: "p"}}, {{MediaType: "application/pdf", SHA256: "gone"}, {MediaType: "image/png", SHA256: "q"}},
	}).Draw(k.t, "media")
}

// userSide is a message, or words that enter otherwise.
func (k *talk) userSide() {
	switch rapid.IntRange(0, 4).Draw(k.t, "from the user's side") {
	case 0:
		k.log.add(event.ContextNoted{Text: k.text()})
	case 1:
		k.log.add(event.SteeringQueued{Text: k.text()})
		k.log.add(event.SteeringInjected{QueuedEventID: k.log.records[len(k.log.records)-1].ID})
	case 2:
		k.log.add(event.VerificationRequested{Attempt: 1, ModelText: k.text()})
	default:
		k.log.add(event.UserMessageCreated{Text: k.text(), Images: k.media()})
	}
}

// answer is an attempt with its blocks; a failed one leaves nothing.
func (k *talk) answer() {
	r := k.id("r")
	k.log.add(started(r))
	blocks := rapid.IntRange(0, 4).Draw(k.t, "blocks")
	if rapid.IntRange(0, 9).Draw(k.t, "many") == 0 {
		blocks = 40
	}
	var open []string
	for i := range blocks {
		switch rapid.IntRange(0, 4).Draw(k.t, "block") {
		case 0:
			k.log.add(event.ModelThinkingBlockCompleted{RequestID: r, BlockIndex: i, Thinking: k.text(), Signature: "s"})
		case 1:
			k.log.add(event.ModelOpaqueBlockCompleted{RequestID: r, BlockIndex: i, BlockType: "redacted_thinking", Raw: json.RawMessage(`{"type":"redacted_thinking","data":"x"}`)})
		case 2:
			k.log.add(event.ModelTextBlockCompleted{RequestID: r, BlockIndex: i, Text: k.text()})
		default:
			id := k.id("t")
			open = append(open, id)
			input, err := json.Marshal(map[string]string{"k": k.text()})
			if err != nil {
				k.t.Fatal(err)
			}
			k.log.add(calls(r, id, "bash", string(input)))
		}
	}
	switch rapid.IntRange(0, 9).Draw(k.t, "end") {
	case 0:
		k.log.add(event.ModelRequestFailed{RequestID: r, Kind: event.ErrorRetryable})
		for _, id := range open {
			k.log.add(event.ToolCancelled{ToolUseID: id, Reason: event.CancelResponseFailed, ModelText: "x"})
		}
		return
	case 1:
		k.log.add(event.ModelRequestFailed{RequestID: r, Kind: event.ErrorCancelled})
	default:
		k.log.add(answered(r, event.StopToolUse))
	}
	for _, id := range rapid.Permutation(open).Draw(k.t, "order") {
		k.result(id)
	}
	k.ids = append(k.ids, open...)
}

func (k *talk) result(id string) {
	switch rapid.IntRange(0, 4).Draw(k.t, "result") {
	case 0:
		k.log.add(event.ToolFailed{ToolUseID: id, ModelText: "failed: " + k.text()})
	case 1:
		k.log.add(event.ToolCancelled{ToolUseID: id, ModelText: "[cancelled]", Reason: event.CancelInterrupted})
	default:
		k.log.add(completed(id, "said "+k.text(), k.media()...))
	}
}

// rewrite changes what was sent already.
func (k *talk) rewrite() {
	switch rapid.IntRange(0, 2).Draw(k.t, "rewrite") {
	case 0:
		k.log.add(event.ContextPruned{ToolUseIDs: k.ids, Placeholder: "[pruned]"})
	case 1:
		k.log.add(event.ModelChanged{From: "m", To: "n"})
	default:
		k.log.add(event.ContextCompacted{CheckpointYAML: "objective: x\n", Cut: event.Cut{FromSeq: 1, ToSeq: k.log.folded.State.LastSeq}})
	}
}

// build makes the next request and holds it against the one before.
func (k *talk) build() {
	h := k.log.folded.History
	if len(h.Blocks()) == 0 {
		return
	}
	body := bytes.Clone(k.live.Build(k.log.folded, params).Body)
	now := &request{body: body, parsed: parse(k.t, body), epoch: h.Epoch, role: h.LastRole()}
	if fresh := New(blob).Build(k.log.replayed(), params).Body; !bytes.Equal(fresh, body) {
		k.t.Fatalf("an engine on the replayed log builds\n%s\nthe live one\n%s", fresh, body)
	}
	k.builds++
	k.content(now.parsed)
	k.breakpoints(now)
	if was := k.before; was != nil && was.epoch == now.epoch && !strings.HasPrefix(bare(body), bare(was.body)) {
		k.t.Fatalf("request\n%s\nis not a beginning of\n%s", was.body, body)
	}
	k.before = now
}

// content holds the blocks against the history.
func (k *talk) content(p parsed) {
	blocks := k.log.folded.History.Blocks()
	if len(p.blocks) != len(blocks) {
		k.t.Fatalf("%d blocks of %d", len(p.blocks), len(blocks))
	}
	for i, b := range blocks {
		var text string
		if raw := p.blocks[i].raw["text"]; b.Kind == fold.TextBlock && (json.Unmarshal(raw, &text) != nil || text != b.Text) {
			k.t.Fatalf("text %q became %s", b.Text, raw)
		}
		if p.blocks[i].role != string(b.Role) {
			k.t.Fatalf("block %d is of %s", i, p.blocks[i].role)
		}
	}
}

// breakpoints: at most four, none on thinking or an opaque block, the newest
// at the end, and the one before where the last request ended.
func (k *talk) breakpoints(now *request) {
	if now.parsed.allMarks > 4 || len(now.parsed.marks) > 2 {
		k.t.Fatalf("%d breakpoints", now.parsed.allMarks)
	}
	for _, i := range now.parsed.marks {
		if kind := now.parsed.blocks[i].kind; kind == "thinking" || kind == "redacted_thinking" {
			k.t.Fatalf("a breakpoint on %s", kind)
		}
	}
	if last := len(now.parsed.blocks) - 1; now.role == fold.User && !slices.Contains(now.parsed.marks, last) {
		k.t.Fatalf("breakpoints at %v of %d blocks", now.parsed.marks, last+1)
	}
	was := k.before
	if was == nil || was.epoch != now.epoch || was.role != fold.User || !k.spokenSince(was) {
		return
	}
	if end := len(was.parsed.blocks) - 1; !slices.Contains(now.parsed.marks, end) {
		k.t.Fatalf("breakpoints at %v, but the last request ended at %d", now.parsed.marks, end)
	}
}

func (k *talk) spokenSince(was *request) bool {
	return slices.ContainsFunc(k.log.folded.History.Blocks()[len(was.parsed.blocks):], func(b fold.Block) bool { return b.Role == fold.Assistant })
}

func TestARequestBeginsWithTheOneBeforeIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := &talk{t: t, log: logOf(tier(event.TierTools, `[{"name":"bash"}]`), tier(event.TierStatic, "static"), tier(event.TierSession, "session")), live: New(blob)}
		k.log.add(says("begin"))
		for range rapid.IntRange(1, 12).Draw(t, "turns") {
			k.build()
			k.answer()
			for k.log.folded.History.LastRole() == fold.Assistant || rapid.IntRange(0, 3).Draw(t, "more") == 0 {
				k.userSide()
			}
			if rapid.IntRange(0, 7).Draw(t, "rewritten") == 0 {
				k.rewrite()
			}
		}
		k.build()
	})
}

func TestAnEpochOfTheHistoryIsRenderedAnew(t *testing.T) {
	turn := []event.Fact{
		says("look"), started("1"),
		event.ModelThinkingBlockCompleted{RequestID: "1", Thinking: "THOUGHT", Signature: "s"},
		calls("1", "a", "read", `{}`), answered("1", event.StopToolUse), completed("a", "RESULT"),
	}
	for _, c := range []struct {
		name       string
		fact       event.Fact
		gone, kept string
	}{
		{"pruning", event.ContextPruned{ToolUseIDs: []string{"a"}, Placeholder: "[PRUNED]"}, "RESULT", "[PRUNED]"},
		{"compaction", event.ContextCompacted{CheckpointYAML: "CHECKPOINT", Cut: event.Cut{FromSeq: 1, ToSeq: 6}}, "RESULT", "CHECKPOINT"},
		{"another model", event.ModelChanged{From: "m", To: "n"}, "THOUGHT", "RESULT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, e := logOf(turn...), New(blob)
			if body := string(e.Build(l.folded, params).Body); !strings.Contains(body, c.gone) {
				t.Fatalf("no %s in %s", c.gone, body)
			}
			l.add(c.fact)
			body := string(e.Build(l.folded, params).Body)
			if strings.Contains(body, c.gone) || !strings.Contains(body, c.kept) {
				t.Errorf("after %s: %s", c.name, body)
			}
			if again := string(New(blob).Build(l.replayed(), params).Body); again != body {
				t.Errorf("another engine builds %s", again)
			}
		})
	}
}

func TestAReleasedBodyStaysWhatItWas(t *testing.T) {
	l, e := logOf(says("first")), New(blob)
	body := e.Build(l.folded, params).Body
	kept := bytes.Clone(body)
	e.Release()
	l.add(says("second"))
	e.Build(l.folded, params)
	if !bytes.Equal(body, kept) {
		t.Errorf("the released body became %s", body)
	}
}
