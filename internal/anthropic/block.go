package anthropic

import (
	"bytes"
	"encoding/json"
)

// Types of block that are taken apart; every other one is kept whole.
const (
	BlockText     = "text"
	BlockThinking = "thinking"
	BlockToolUse  = "tool_use"
)

// Block is one whole block of an answer.
type Block struct {
	Index int
	Type  string
	// Text is the text of a text block.
	Text string
	// Thinking and Signature belong to a thinking block. Invariant: a thinking
	// block has a signature; without one it is never handed out.
	Thinking, Signature string
	// ToolUseID, ToolName and Input belong to a tool_use block. Input is the
	// joined partial JSON exactly as it came; "" when none came, which means an
	// empty object unless Reply.CutBlock names this block.
	ToolUseID, ToolName string
	Input               string
	// Cut is set when Input is not whole JSON: such a call must not be run.
	Cut bool
	// Raw is the block as compact JSON, with its deltas merged in. It is set
	// for every type but the three above, and for a text block with citations:
	// a block that has it goes back to the server as it is.
	Raw []byte
}

// building is a block whose deltas are still arriving.
type building struct {
	index   int
	kind    string
	start   object
	text    []byte // text or thinking
	input   []byte // partial JSON, joined
	sign    []byte
	opaque  bool
	settled bool
}

// newBuilding takes a content_block. What it holds already counts like deltas.
func newBuilding(index int, content json.RawMessage) (*building, error) {
	start, err := parseObject(content)
	if err != nil {
		return nil, err
	}
	b := &building{index: index, kind: start.text("type"), start: start}
	switch b.kind {
	case "":
		return nil, fault("a block has no type")
	case BlockText:
		b.text = []byte(start.text("text"))
		b.opaque = isFilledList(start.get("citations"))
	case BlockThinking:
		b.text, b.sign = []byte(start.text("thinking")), []byte(start.text("signature"))
	case BlockToolUse:
		b.input = wholeInput(start.get("input"))
	default:
		b.opaque = true
	}
	return b, nil
}

func isFilledList(value json.RawMessage) bool {
	return isKind(value, '[') && len(bytes.TrimSpace(value[1:len(value)-1])) > 0
}

// wholeInput is the input some gateways send with the block's start instead of
// in deltas; the service sends an empty object there.
func wholeInput(value json.RawMessage) []byte {
	whole := compacted(value)
	if string(whole) == "{}" || string(whole) == "null" {
		return nil
	}
	return whole
}

// add takes one delta. A type that does not fit the block changes nothing.
func (b *building) add(d delta) {
	switch {
	case d.kind == textDelta && b.kind == BlockText, d.kind == thinkingDelta && b.kind == BlockThinking:
		b.text = append(b.text, d.text...)
	case d.kind == signatureDelta && b.kind == BlockThinking:
		b.sign = append(b.sign, d.text...)
	case d.kind == inputDelta:
		b.input = append(b.input, d.text...)
	case d.kind == "citations_delta":
		b.cite(d.raw)
	case b.opaque && b.kind != BlockText:
		b.mergeUnknown(d)
	}
}

func (b *building) cite(raw json.RawMessage) {
	d, err := parseObject(raw)
	citation := d.get("citation")
	if err != nil || citation == nil {
		return
	}
	list := b.start.get("citations")
	if !isKind(list, '[') {
		list = json.RawMessage("[]")
	}
	b.start.set("citations", joinedLists(list, append(append([]byte{'['}, citation...), ']')))
	b.opaque = true
}

func (b *building) mergeUnknown(d delta) {
	switch d.kind {
	case textDelta:
		b.start.set("text", joined(b.start.get("text"), quoted(d.text)))
	case thinkingDelta:
		b.start.set("thinking", joined(b.start.get("thinking"), quoted(d.text)))
	case signatureDelta:
		b.start.set("signature", joined(b.start.get("signature"), quoted(d.text)))
	default:
		if more, err := parseObject(d.raw); err == nil {
			b.start.merge(more)
		}
	}
}

// block is the finished block; not ok when it must not be handed out.
func (b *building) block() (block Block, ok bool) {
	block = Block{Index: b.index, Type: b.kind}
	switch b.kind {
	case BlockText:
		block.Text = string(b.text)
	case BlockThinking:
		block.Thinking, block.Signature = string(b.text), string(b.sign)
		return block, len(b.sign) > 0
	case BlockToolUse:
		block.ToolUseID, block.ToolName = b.start.text("id"), b.start.text("name")
		block.Input, block.Cut = string(b.input), b.cutInput()
		return block, true
	}
	if b.opaque {
		block.Raw = b.raw()
	}
	return block, true
}

func (b *building) cutInput() bool { return len(b.input) > 0 && !json.Valid(b.input) }

// raw is the block as JSON. An input that was cut is left as the block began,
// because half of it would break the whole request.
func (b *building) raw() []byte {
	if b.kind == BlockText {
		b.start.set("text", quoted(string(b.text)))
	}
	if len(b.input) > 0 && json.Valid(b.input) {
		b.start.set("input", b.input)
	}
	return b.start.bytes()
}
