package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/khaelor/khaelor/internal/anthropic"
	"github.com/khaelor/khaelor/internal/event"
)

// answer publishes one attempt's blocks as they come.
type answer struct {
	log       Log
	requestID string
	calls     []written
}

// written is a call as the model wrote it.
type written struct {
	index     int
	toolUseID string
	raw       string
	unusable  bool // raw is not a JSON object
}

func (a *answer) TextDelta(index int, text string) {
	a.log.Notify(event.ModelTextDelta{RequestID: a.requestID, BlockIndex: index, Text: event.Text(text)})
}

func (a *answer) ThinkingDelta(index int, text string) {
	a.log.Notify(event.ModelThinkingDelta{RequestID: a.requestID, BlockIndex: index, Text: event.Text(text)})
}

func (a *answer) ToolCallStarted(index int, id, name string) {
	a.log.Notify(event.ToolCallStarted{RequestID: a.requestID, BlockIndex: index, ToolUseID: id, ToolName: name})
}

func (a *answer) ToolInputDelta(index int, id, partial string) {
	a.log.Notify(event.ToolInputDelta{RequestID: a.requestID, BlockIndex: index, ToolUseID: id, PartialJSON: event.Text(partial)})
}

func (a *answer) BlockCompleted(b anthropic.Block) error {
	fact, err := a.fact(b)
	if err != nil || fact == nil {
		return err
	}
	_, err = a.log.Publish(fact)
	return err
}

func (a *answer) fact(b anthropic.Block) (event.Fact, error) {
	switch {
	case b.Raw != nil:
		return event.ModelOpaqueBlockCompleted{RequestID: a.requestID, BlockIndex: b.Index, BlockType: b.Type, Raw: loneSurrogates(b.Raw)}, nil
	case b.Type == anthropic.BlockText && b.Text == "":
		return nil, nil
	case b.Type == anthropic.BlockText:
		return event.ModelTextBlockCompleted{RequestID: a.requestID, BlockIndex: b.Index, Text: event.Text(b.Text)}, nil
	case b.Type == anthropic.BlockThinking:
		return event.ModelThinkingBlockCompleted{
			RequestID: a.requestID, BlockIndex: b.Index, Thinking: b.Thinking, Signature: b.Signature,
		}, nil
	case b.Type == anthropic.BlockToolUse:
		return a.call(b), nil
	}
	return nil, fmt.Errorf("block %d: type %q came without its bytes", b.Index, b.Type)
}

// What the service accepts as the id of a call and as the name of a tool.
var (
	toolUseID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	toolName  = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
)

// call records a call in a form that the service takes back: an id that it
// accepts and that is used once, a name that it accepts, an input that is an
// object.
func (a *answer) call(b anthropic.Block) event.ToolRequested {
	s := a.log.Fold()
	id := b.ToolUseID
	if !toolUseID.MatchString(id) || s.State.HasCall(id) {
		id = fmt.Sprintf("toolu_k%d", s.State.LastSeq+1)
	}
	input, ok := object(b.Input)
	if !ok {
		input = json.RawMessage(`{}`)
	}
	a.calls = append(a.calls, written{index: b.Index, toolUseID: id, raw: b.Input, unusable: !ok})
	return event.ToolRequested{RequestID: a.requestID, BlockIndex: b.Index, ToolUseID: id, ToolName: named(b.ToolName), Input: input}
}

// odd is a character that no name of a tool has.
var odd = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// named is a name as it can be sent back. One that had to be changed is no
// tool's, and the model is told so.
func named(name string) string {
	if toolName.MatchString(name) {
		return name
	}
	name = odd.ReplaceAllString(name, "_")
	return "unknown_" + name[:min(len(name), 100)]
}

// reject fails the calls whose input cannot be used, once the answer is whole.
// cut is the block that the output limit cut, or -1.
func (a *answer) reject(cut int) error {
	for _, c := range a.calls {
		var text string
		switch {
		case c.index == cut:
			text = "This call was not run: the output limit cut its input. Make it smaller, for example by writing a file in parts."
		case c.unusable:
			text = "This call was not run: its input is not a JSON object. It was: " + event.Clip(c.raw, shownInput)
		default:
			continue
		}
		if _, err := a.log.Publish(event.ToolFailed{
			ToolUseID: c.toolUseID, ModelText: event.Text(text), ErrorKind: event.ToolInvalidInput,
		}); err != nil {
			return err
		}
	}
	return nil
}

// shownInput is how much of an unusable input is quoted, in characters.
const shownInput = 400

// object is the input as the log keeps it: compact, in the model's own key
// order, valid in every character. An input that never came is an empty object.
func object(raw string) (json.RawMessage, bool) {
	if raw == "" {
		return json.RawMessage(`{}`), true
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(event.Text(raw))); err != nil || b.Bytes()[0] != '{' {
		return nil, false
	}
	return loneSurrogates(b.Bytes()), true
}

// escape is one escape sequence of a JSON string, or a surrogate pair of them.
var escape = regexp.MustCompile(`(?i)\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})|\\u(d[89a-f][0-9a-f]{2})|\\.`)

// loneSurrogates replaces halves of surrogate pairs, which are JSON but not
// Unicode, by U+FFFD: the service refuses them.
func loneSurrogates(raw []byte) []byte {
	return escape.ReplaceAllFunc(raw, func(m []byte) []byte {
		if len(m) == len(`\ud83d`) && (m[1] == 'u') {
			return []byte(`\ufffd`)
		}
		return m
	})
}
