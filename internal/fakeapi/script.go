package fakeapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Script is everything a fake will say. Invariant: after ParseScript or Start
// every turn is one that can be served.
type Script struct {
	Prompt         string  `json:"prompt"`           // what the user types; not used by the server
	Window         int     `json:"window"`           // context window in tokens; 0: 200,000
	MinCachePrefix int     `json:"min_cache_prefix"` // the shortest prefix that is cached, in tokens; 0: 1,024
	Models         []Model `json:"models"`           // the models there are; empty: every name is accepted
	Turns          []Turn  `json:"turns"`
}

// Turn is the answer to one message request. The first unused turn whose When
// fits is served; a request that breaks a rule uses none.
//
// In text, tool inputs, When and Expect, {{name}} stands for a value of
// Options.Vars and {{n}} for how often the turn has been used, from 1.
type Turn struct {
	When     []string `json:"when"`     // substrings of the body of a request this turn is for; none: any request
	Expect   []string `json:"expect"`   // substrings the body must have, else the request fails as a problem
	Repeat   int      `json:"repeat"`   // how many requests it answers; 0: one; -1: any number, none included
	Optional bool     `json:"optional"` // no problem if nobody asks for it
	// NewPrefix allows the request to begin differently from the one before: a
	// compaction, a prune, a fork.
	NewPrefix bool `json:"new_prefix"`

	Blocks     []Block `json:"blocks"`
	StopReason string  `json:"stop_reason"` // empty: tool_use when there is such a block, else end_turn
	Usage      *Usage  `json:"usage"`       // reported in place of the simulated usage
	Raw        string  `json:"raw"`         // a whole stream, served byte for byte in place of Blocks
	Error      *Fault  `json:"error"`       // an error answer in place of Blocks

	DeltaBytes  int  `json:"delta_bytes"`   // size of a delta; 0: 80
	DelayMS     int  `json:"delay_ms"`      // pause after each delta, or chunk of Raw
	FirstByteMS int  `json:"first_byte_ms"` // pause before anything is sent
	ChunkBytes  int  `json:"chunk_bytes"`   // size of a network write, at any byte position; 0: as large as is good
	CRLF        bool `json:"crlf"`          // lines of the stream end in CR LF

	CutAfterEvents   int    `json:"cut_after_events"`   // then the connection breaks; 0: never; -1: before the answer
	CutClean         bool   `json:"cut_clean"`          // the cut looks like the proper end of the body
	MidError         *Fault `json:"mid_error"`          // an error event (type and message) ...
	ErrorAfterEvents int    `json:"error_after_events"` // ... after so many others
	StallAfterEvents int    `json:"stall_after_events"` // then silence until the client goes; 0: never; -1: before the answer
	PingsOnly        bool   `json:"pings_only"`         // after message_start nothing but pings, DelayMS apart
}

// Block is one content block of an answer. Type is text, thinking,
// redacted_thinking, tool_use, or raw: a block served as it is, whole. Thinking is
// served whether or not the request asked for it.
type Block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"` // empty: one that is valid for this text and the request's model
	Data      string          `json:"data"`      // of redacted_thinking
	ID        string          `json:"id"`        // of tool_use; empty: a new one
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"` // any JSON, streamed byte for byte; absent: {}
	// PartialInput is streamed in place of Input and need not be JSON: an input
	// that the output limit cut.
	PartialInput string          `json:"partial_input"`
	Raw          json.RawMessage `json:"raw"`
}

// Text is a text block.
func Text(s string) Block { return Block{Type: "text", Text: s} }

// Think is a thinking block with a valid signature.
func Think(s string) Block { return Block{Type: "thinking", Thinking: s} }

// Call is a tool_use block; input is JSON.
func Call(name, input string) Block {
	return Block{Type: "tool_use", Name: name, Input: json.RawMessage(input)}
}

// ParseScript reads a script. Its errors name the turn, the block and the field;
// a field it does not know is one.
func ParseScript(data []byte) (Script, error) {
	var file struct {
		Script
		Turns []json.RawMessage `json:"turns"`
	}
	if err := decodeStrict(data, &file); err != nil {
		return Script{}, fmt.Errorf("parse script: %w", err)
	}
	script := file.Script
	for i, raw := range file.Turns {
		turn, err := parseTurn(raw)
		if err != nil {
			return Script{}, fmt.Errorf("parse script: turns[%d]%w", i, err)
		}
		script.Turns = append(script.Turns, turn)
	}
	if len(script.Turns) == 0 {
		return Script{}, errors.New("parse script: turns: there is none")
	}
	if err := script.check(); err != nil {
		return Script{}, fmt.Errorf("parse script: %w", err)
	}
	return script, nil
}

func parseTurn(data []byte) (Turn, error) {
	var file struct {
		Turn
		Blocks []json.RawMessage `json:"blocks"`
	}
	if err := decodeStrict(data, &file); err != nil {
		return Turn{}, fmt.Errorf(": %w", err)
	}
	turn := file.Turn
	for i, raw := range file.Blocks {
		var block Block
		if err := decodeStrict(raw, &block); err != nil {
			return Turn{}, fmt.Errorf(".blocks[%d]: %w", i, err)
		}
		turn.Blocks = append(turn.Blocks, block)
	}
	return turn, nil
}

// decodeStrict refuses unknown fields and anything after the value.
func decodeStrict(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the end of the value")
	}
	return nil
}

func (s Script) check() error {
	if s.Window < 0 || s.MinCachePrefix < 0 {
		return errors.New("window, min_cache_prefix: must not be negative")
	}
	for i, m := range s.Models {
		if m.ID == "" {
			return fmt.Errorf("models[%d].id: required", i)
		}
	}
	for i, t := range s.Turns {
		if err := t.check(); err != nil {
			return fmt.Errorf("turns[%d].%w", i, err)
		}
	}
	return nil
}

func (t Turn) check() error {
	for _, field := range []struct {
		name     string
		n, least int
	}{
		{"repeat", t.Repeat, -1},
		{"delta_bytes", t.DeltaBytes, 0},
		{"delay_ms", t.DelayMS, 0},
		{"first_byte_ms", t.FirstByteMS, 0},
		{"chunk_bytes", t.ChunkBytes, 0},
		{"cut_after_events", t.CutAfterEvents, before},
		{"error_after_events", t.ErrorAfterEvents, 0},
		{"stall_after_events", t.StallAfterEvents, before},
	} {
		if field.n < field.least {
			return fmt.Errorf("%s: %d is less than %d", field.name, field.n, field.least)
		}
	}
	if err := t.checkKind(); err != nil {
		return err
	}
	for i, b := range t.Blocks {
		if err := b.check(); err != nil {
			return fmt.Errorf("blocks[%d].%w", i, err)
		}
	}
	return nil
}

// checkKind holds a turn to one kind of answer.
func (t Turn) checkKind() error {
	switch {
	case t.Error != nil && (t.Raw != "" || len(t.Blocks) > 0 || t.MidError != nil):
		return errors.New("error: excludes blocks, raw and mid_error")
	case t.Raw != "" && (len(t.Blocks) > 0 || t.MidError != nil || t.PingsOnly || t.CutAfterEvents > 0 || t.StallAfterEvents > 0):
		return errors.New("raw: excludes blocks and everything counted in events")
	case t.ErrorAfterEvents > 0 && t.MidError == nil:
		return errors.New("error_after_events: needs mid_error")
	case t.CutClean && t.CutAfterEvents <= 0:
		return errors.New("cut_clean: needs cut_after_events")
	}
	if t.Error != nil {
		if err := t.Error.check(false); err != nil {
			return fmt.Errorf("error: %w", err)
		}
	}
	if t.MidError != nil {
		if err := t.MidError.check(true); err != nil {
			return fmt.Errorf("mid_error: %w", err)
		}
	}
	return nil
}

func (b Block) check() error {
	switch b.Type {
	case "text", "thinking":
	case "redacted_thinking":
		if b.Data == "" {
			return errors.New("data: required")
		}
	case "tool_use":
		if b.Name == "" {
			return errors.New("name: required")
		}
		if len(b.Input) > 0 && b.PartialInput != "" {
			return errors.New("partial_input: excludes input")
		}
		if len(b.Input) > 0 && !json.Valid(b.Input) {
			return errors.New("input: not JSON")
		}
	case "raw":
		if !json.Valid(b.Raw) || kindOf(b.Raw) == "" {
			return errors.New("raw: must be an object with a type")
		}
	default:
		return fmt.Errorf("type: %q is not text, thinking, redacted_thinking, tool_use or raw", b.Type)
	}
	return nil
}

// kindOf is the type of a block given as JSON; empty when it has none.
func kindOf(raw []byte) string {
	var head struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(raw, &head) != nil {
		return ""
	}
	return head.Type
}

// defaultWindow and defaultMinPrefix are the service's documented figures for
// most models.
const (
	defaultWindow    = 200_000
	defaultMinPrefix = 1024
	defaultDelta     = 80
)

func (s Script) window() int         { return orDefault(s.Window, defaultWindow) }
func (s Script) minCachePrefix() int { return orDefault(s.MinCachePrefix, defaultMinPrefix) }
func (t Turn) deltaBytes() int       { return orDefault(t.DeltaBytes, defaultDelta) }
func (t Turn) delay() time.Duration  { return time.Duration(t.DelayMS) * time.Millisecond }

func orDefault(n, def int) int {
	if n == 0 {
		return def
	}
	return n
}
