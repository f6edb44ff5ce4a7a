package fold

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
)

// Role is who speaks.
type Role string

const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// BlockKind is what a block of the conversation is.
type BlockKind int

const (
	TextBlock BlockKind = iota
	ThinkingBlock
	OpaqueBlock
	ToolUseBlock
	ToolResultBlock
	ImageBlock
)

// Block is one content block of the conversation. Which fields hold something
// depends on the kind.
type Block struct {
	Role      Role
	Kind      BlockKind
	Text      string          // text, thinking, result
	Signature string          // thinking
	ID        string          // tool use, tool result
	Name      string          // tool use; the block type of an opaque block
	Raw       json.RawMessage // input of a tool use; a whole opaque block
	IsError   bool            // tool result
	Media     []event.Media   // tool result, image
	Seq       int64           // the fact it came from
}

// History is the conversation as the model sees it (seed 003 §6.2). Blocks of
// the same role in a row are one message; a message of the user that answers
// calls begins with their results, in the order of the calls.
//
// Invariant: every tool use in Blocks is followed, before the assistant
// speaks again, by exactly one result, once its calls are closed.
type History struct {
	blocks list[Block]
	// Epoch counts how often blocks that may have been sent were changed: by
	// pruning, compaction or a change of model. Within an epoch the history
	// only grows.
	Epoch int

	request string  // the conversational call whose blocks arrive
	since   int64   // the fact that began it
	tail    []Block // of the answer: what may not end a message, see spoken
	calls   []openCall
	held    []Block // what was said while calls were open or an answer arrived
	queued  []Queued
}

type openCall struct {
	id     string
	result *Block // nil while it runs
}

// Blocks are the blocks so far. The slice must not be changed.
func (h History) Blocks() []Block { return h.blocks.items }

// LastRole is who spoke last; the assistant has not spoken in an empty history.
func (h History) LastRole() Role {
	if n := len(h.blocks.items); n > 0 {
		return h.blocks.items[n-1].Role
	}
	return User
}

// Apply folds one fact.
func (h History) Apply(r event.Record) History {
	switch p := r.Fact.(type) {
	case event.UserMessageCreated:
		return h.message(r.Seq, p.Text, p.Mentions, p.Images)
	case event.SteeringQueued:
		h.queued = with(h.queued, Queued{EventID: r.ID, Text: p.Text})
	case event.MessageQueued:
		h.queued = with(h.queued, Queued{EventID: r.ID, Text: p.Text, Mentions: p.Mentions, Images: p.Images})
	case event.SteeringWithdrawn:
		h.queued = unqueued(h.queued, p.QueuedEventID)
	case event.SteeringInjected:
		return h.fromQueue(r.Seq, p.QueuedEventID, true)
	case event.MessageDequeued:
		return h.fromQueue(r.Seq, p.QueuedEventID, p.By == event.TakenByEngine)
	case event.ShellRun:
		return h.say(r.Seq, fmt.Sprintf("The user ran `%s`; exit code %d. Output:\n%s", p.Command, p.ExitCode, p.Output))
	case event.ContextNoted:
		return h.say(r.Seq, p.Text)
	case event.VerificationRequested:
		return h.say(r.Seq, p.ModelText)
	case event.ChecksCompleted:
		return h.say(r.Seq, p.ModelText)

	case event.SessionResumed:
		return h.answered(h.request, false) // no more of it will come
	case event.ModelRequestStarted:
		h = h.answered(h.request, false)
		if p.Purpose.Conversational() {
			h.request, h.since = p.RequestID, r.Seq
		}
	case event.ModelTextBlockCompleted:
		if strings.TrimSpace(p.Text) != "" { // the API refuses blank text
			return h.spoken(p.RequestID, Block{Kind: TextBlock, Text: p.Text, Seq: r.Seq})
		}
	case event.ModelThinkingBlockCompleted:
		return h.spoken(p.RequestID, Block{Kind: ThinkingBlock, Text: p.Thinking, Signature: p.Signature, Seq: r.Seq})
	case event.ModelOpaqueBlockCompleted:
		return h.spoken(p.RequestID, Block{Kind: OpaqueBlock, Name: p.BlockType, Raw: p.Raw, Seq: r.Seq})
	case event.ToolRequested:
		return h.called(r.Seq, p)
	case event.ModelResponseCompleted:
		return h.answered(p.RequestID, true)
	case event.ModelRequestFailed:
		return h.failed(p)

	case event.ToolCompleted:
		return h.result(p.ToolUseID, Block{Text: p.ModelText, Media: p.Media, Seq: r.Seq})
	case event.ToolFailed:
		return h.result(p.ToolUseID, Block{Text: p.ModelText, IsError: true, Seq: r.Seq})
	case event.ToolCancelled:
		return h.result(p.ToolUseID, Block{Text: p.ModelText, IsError: true, Seq: r.Seq})

	case event.ContextPruned:
		return h.pruned(p)
	case event.ContextCompacted:
		return h.compacted(r.Seq, p)
	case event.ModelChanged:
		return h.rewritten(Block.thought, nil)
	}
	return h
}

// message adds a message of the user: its text, then the pictures, then the
// contents of the files it mentions.
func (h History) message(seq int64, text string, mentions []event.Mention, images []event.Media) History {
	h = h.say(seq, text)
	for _, m := range images {
		h = h.add(Block{Role: User, Kind: ImageBlock, Media: []event.Media{m}, Seq: seq})
	}
	for _, m := range mentions {
		if m.Content != nil {
			h = h.say(seq, FileBlock(m))
		}
	}
	return h
}

// FileBlock is a file that the user mentions, with its content, as the model sees
// it. A file that holds the tag itself is put between others, so that its text
// never seems to be the user's.
func FileBlock(m event.Mention) string {
	tag, lines, end := "file", "", "\n"
	for n := 2; strings.Contains(*m.Content, "</"+tag); n++ {
		tag = fmt.Sprintf("file%d", n)
	}
	if m.Range != nil {
		lines = fmt.Sprintf(` lines="%d-%d"`, m.Range.Start, m.Range.End)
	}
	if strings.HasSuffix(*m.Content, "\n") {
		end = ""
	}
	return fmt.Sprintf("<%s path=%q%s>\n%s%s</%[1]s>", tag, m.Path, lines, *m.Content, end)
}

// say adds text of the user's side, in the last message when that is the
// user's (the steering rule, seed 003 §6.2 rule 4).
func (h History) say(seq int64, text string) History {
	if strings.TrimSpace(text) == "" {
		return h
	}
	return h.add(Block{Role: User, Kind: TextBlock, Text: text, Seq: seq})
}

// add appends a block of the user: not between the blocks of an answer that
// arrives, behind the results of calls that are open, and behind what was said
// before.
func (h History) add(b Block) History {
	h.held = with(h.held, b)
	if h.request != "" || len(h.calls) > 0 {
		return h
	}
	return h.release()
}

func (h History) fromQueue(seq int64, id string, enters bool) History {
	for _, q := range h.queued {
		if q.EventID == id && enters {
			h = h.message(seq, q.Text, q.Mentions, q.Images)
		}
	}
	h.queued = unqueued(h.queued, id)
	return h
}

// spoken adds a block of the call that is being answered. What may not end a
// message waits for what follows it.
func (h History) spoken(request string, b Block) History {
	if request != h.request || request == "" {
		return h
	}
	b.Role = Assistant
	h.tail = with(h.tail, b)
	if b.thought() || b.serverCall() {
		return h
	}
	return h.follow(len(h.tail))
}

// thought says that the block is thinking. The API refuses an assistant message
// that ends in it.
func (b Block) thought() bool {
	return b.Kind == ThinkingBlock || b.Kind == OpaqueBlock && b.Name == "redacted_thinking"
}

// serverCall says that the block is a call which the service itself answers.
// Its result is a block of the same answer, unless that was cut off.
func (b Block) serverCall() bool {
	return b.Kind == OpaqueBlock && strings.HasSuffix(b.Name, "tool_use")
}

// follow moves the first n waiting blocks into the history and drops the rest.
func (h History) follow(n int) History {
	for _, b := range h.tail[:n] {
		h.blocks = h.blocks.add(b)
	}
	h.tail = nil
	return h
}

func (h History) called(seq int64, p event.ToolRequested) History {
	if p.RequestID != h.request || p.RequestID == "" {
		return h
	}
	h.calls = with(h.calls, openCall{id: p.ToolUseID})
	return h.spoken(p.RequestID, Block{Kind: ToolUseBlock, ID: p.ToolUseID, Name: p.ToolName, Raw: p.Input, Seq: seq})
}

// answered ends the arrival of a call's blocks.
func (h History) answered(request string, whole bool) History {
	if request != h.request || request == "" {
		return h
	}
	n := len(h.tail)
	for n > 0 && (h.tail[n-1].thought() || !whole && h.tail[n-1].serverCall()) {
		n--
	}
	h = h.follow(n)
	h.request = ""
	if len(h.calls) > 0 {
		return h
	}
	return h.release()
}

// failed takes back the blocks of an attempt that has no answer. What the
// user interrupted stays: it was seen.
func (h History) failed(p event.ModelRequestFailed) History {
	if p.RequestID != h.request || p.RequestID == "" {
		return h
	}
	if p.Kind != event.ErrorCancelled {
		h.blocks, h.calls, h.tail = h.before(h.since), nil, nil
	}
	return h.answered(p.RequestID, false)
}

// before are the blocks without those of the assistant that came after a fact.
func (h History) before(seq int64) list[Block] {
	all := h.blocks.items
	n := len(all)
	for n > 0 && all[n-1].Seq > seq {
		n--
	}
	kept := h.blocks.first(n)
	for _, b := range all[n:] {
		if b.Role == User {
			kept = kept.add(b)
		}
	}
	return kept
}

// result keeps the result of an open call; when it was the last one, all
// results enter in the order of the calls.
func (h History) result(id string, b Block) History {
	b.Role, b.Kind, b.ID = User, ToolResultBlock, id
	calls := append([]openCall(nil), h.calls...)
	open := 0
	for i := range calls {
		if calls[i].id == id && calls[i].result == nil {
			calls[i].result = &b
		}
		if calls[i].result == nil {
			open++
		}
	}
	h.calls = calls
	if open > 0 || len(calls) == 0 {
		return h
	}
	for _, c := range calls {
		h.blocks = h.blocks.add(*c.result)
	}
	h.calls = nil
	return h.release()
}

// release adds what was said meanwhile.
func (h History) release() History {
	for _, b := range h.held {
		h.blocks = h.blocks.add(b)
	}
	h.held = nil
	return h
}

func (h History) pruned(p event.ContextPruned) History {
	blank := map[string]bool{}
	for _, id := range p.ToolUseIDs {
		blank[id] = true
	}
	return h.rewritten(nil, func(b Block) Block {
		if b.Kind == ToolResultBlock && blank[b.ID] {
			b.Text, b.Media = p.Placeholder, nil
		}
		return b
	})
}

// compacted puts the checkpoint where the cut was.
func (h History) compacted(seq int64, p event.ContextCompacted) History {
	inside := func(b Block) bool { return p.Cut.FromSeq <= b.Seq && b.Seq <= p.Cut.ToSeq }
	checkpoint := Block{
		Role: User, Kind: TextBlock, Seq: seq,
		Text: "The conversation up to here was summarised to save space. Checkpoint:\n\n" + p.CheckpointYAML,
	}
	var kept list[Block]
	placed := false
	for _, b := range h.blocks.items {
		if inside(b) {
			continue
		}
		if !placed && b.Seq > p.Cut.ToSeq {
			kept, placed = kept.add(checkpoint), true
		}
		kept = kept.add(b)
	}
	if !placed {
		kept = kept.add(checkpoint)
	}
	h.blocks = kept
	h.Epoch++
	return h
}

// rewritten copies the history without what drop names, changed by change.
func (h History) rewritten(drop func(Block) bool, change func(Block) Block) History {
	var kept list[Block]
	for _, b := range h.blocks.items {
		if drop != nil && drop(b) {
			continue
		}
		if change != nil {
			b = change(b)
		}
		kept = kept.add(b)
	}
	h.blocks = kept
	h.Epoch++
	return h
}
