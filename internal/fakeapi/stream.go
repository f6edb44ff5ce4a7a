package fakeapi

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strconv"
	"unicode/utf8"
)

// flushAt is how much of a stream is gathered before it goes out in one write: a
// flush for each small delta would cost more than all the rest.
const flushAt = 16 << 10

// eventWriter writes server-sent events. Invariant: the last event appended is
// still in buf, until flush.
type eventWriter struct {
	w     http.ResponseWriter
	ctl   *http.ResponseController
	eol   string
	chunk int // bytes in one network write; 0: all there is
	buf   []byte
}

func newEventWriter(w http.ResponseWriter, turn Turn) *eventWriter {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	out := &eventWriter{w: w, ctl: http.NewResponseController(w), eol: "\n", chunk: turn.ChunkBytes}
	if turn.CRLF {
		out.eol = "\r\n"
	}
	return out
}

func (out *eventWriter) append(name string, data []byte) {
	b := append(out.buf, "event: "...)
	b = append(b, name...)
	b = append(b, out.eol...)
	b = append(b, "data: "...)
	b = append(b, data...)
	b = append(b, out.eol...)
	out.buf = append(b, out.eol...)
}

// flush sends what is buffered, in network writes of the scripted size.
func (out *eventWriter) flush() error {
	rest := out.buf
	for len(rest) > 0 {
		n := len(rest)
		if out.chunk > 0 {
			n = min(n, out.chunk)
		}
		if _, err := out.w.Write(rest[:n]); err != nil {
			return err
		}
		if err := out.ctl.Flush(); err != nil {
			return err
		}
		rest = rest[n:]
	}
	out.buf = out.buf[:0]
	return nil
}

// stream plays one answer as events.
type stream struct {
	ctx    context.Context
	out    *eventWriter
	turn   Turn
	events int
	delta  []byte // of the event being built; its memory is used again
}

const pingData = `{"type":"ping"}`

// play sends the whole answer, or as much as the script wants.
func (s *stream) play(a answer) error {
	if err := s.send("message_start", a.startData()); err != nil {
		return err
	}
	for i, b := range a.blocks {
		if err := s.block(i, b); err != nil {
			return err
		}
	}
	if err := s.send("message_delta", a.endData()); err != nil {
		return err
	}
	if err := s.send("message_stop", []byte(`{"type":"message_stop"}`)); err != nil {
		return err
	}
	return s.turn.breakStream(s.ctx, s.out, s.events)
}

func (s *stream) send(name string, data []byte) error {
	if err := s.turn.breakStream(s.ctx, s.out, s.events); err != nil {
		return err
	}
	if len(s.out.buf) >= flushAt {
		if err := s.out.flush(); err != nil {
			return err
		}
	}
	s.out.append(name, data)
	s.events++
	return nil
}

func (s *stream) block(i int, b Block) error {
	index := strconv.Itoa(i)
	if err := s.send("content_block_start", []byte(`{"type":"content_block_start","index":`+index+`,"content_block":`+b.opening()+`}`)); err != nil {
		return err
	}
	if i == 0 {
		if err := s.send("ping", []byte(pingData)); err != nil {
			return err
		}
	}
	if err := s.deltas(index, b); err != nil {
		return err
	}
	return s.send("content_block_stop", []byte(`{"type":"content_block_stop","index":`+index+`}`))
}

func (s *stream) deltas(index string, b Block) error {
	switch b.Type {
	case "text":
		return s.pieces(index, "text_delta", "text", b.Text)
	case "thinking":
		if err := s.pieces(index, "thinking_delta", "thinking", b.Thinking); err != nil {
			return err
		}
		return s.piece(index, "signature_delta", "signature", b.Signature)
	case "tool_use":
		// The service begins every input with an empty piece.
		if err := s.piece(index, "input_json_delta", "partial_json", ""); err != nil {
			return err
		}
		return s.pieces(index, "input_json_delta", "partial_json", b.inputText())
	}
	return nil
}

func (s *stream) pieces(index, kind, field, text string) error {
	for piece := range split(text, s.turn.deltaBytes()) {
		if err := s.piece(index, kind, field, piece); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) piece(index, kind, field, text string) error {
	d := append(s.delta[:0], `{"type":"content_block_delta","index":`...)
	d = append(d, index...)
	d = append(d, `,"delta":{"type":"`...)
	d = append(d, kind...)
	d = append(d, `","`...)
	d = append(d, field...)
	d = append(d, `":`...)
	d = appendString(d, text)
	s.delta = append(d, "}}"...)
	if err := s.send("content_block_delta", s.delta); err != nil {
		return err
	}
	if s.turn.DelayMS == 0 {
		return nil
	}
	if err := s.out.flush(); err != nil {
		return err
	}
	return pause(s.ctx, s.turn.delay())
}

// split cuts text into runs of about n bytes, never inside a character.
func split(text string, n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			end := min(n, len(text))
			for end < len(text) && !utf8.RuneStart(text[end]) {
				end++
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

// inputText is a tool input as it is streamed.
func (b Block) inputText() string {
	if b.PartialInput != "" {
		return b.PartialInput
	}
	return string(b.Input)
}

// opening is the block as content_block_start shows it.
func (b Block) opening() string {
	switch b.Type {
	case "text":
		return `{"type":"text","text":""}`
	case "thinking":
		return `{"type":"thinking","thinking":"","signature":""}`
	case "tool_use":
		b.Input = json.RawMessage("{}")
	}
	return string(b.whole())
}

// whole is the block as a finished message shows it.
func (b Block) whole() []byte {
	var out []byte
	member := func(lead, value string) { out = appendString(append(out, lead...), value) }
	switch b.Type {
	case "text":
		member(`{"type":"text","text":`, b.Text)
	case "thinking":
		member(`{"type":"thinking","thinking":`, b.Thinking)
		member(`,"signature":`, b.Signature)
	case "redacted_thinking":
		member(`{"type":"redacted_thinking","data":`, b.Data)
	case "tool_use":
		member(`{"type":"tool_use","id":`, b.ID)
		member(`,"name":`, b.Name)
		out = append(append(out, `,"input":`...), b.Input...)
	default:
		return b.Raw
	}
	return append(out, '}')
}

// message is a message as the API shows it.
type message struct {
	ID           string            `json:"id"`
	Type         string            `json:"type"`
	Role         string            `json:"role"`
	Model        string            `json:"model"`
	Content      []json.RawMessage `json:"content"`
	StopReason   *string           `json:"stop_reason"`
	StopSequence *string           `json:"stop_sequence"`
	Usage        Usage             `json:"usage"`
}

// message is the finished answer, for a client that does not stream.
func (a answer) message() message {
	m := message{ID: a.id, Type: "message", Role: "assistant", Model: a.model.ID, Content: []json.RawMessage{}, StopReason: &a.stop, Usage: a.usage}
	for _, b := range a.blocks {
		m.Content = append(m.Content, b.whole())
	}
	return m
}

// startData is message_start: the prompt is charged, the output has one token.
func (a answer) startData() []byte {
	m := a.message()
	m.Content, m.StopReason = []json.RawMessage{}, nil
	m.Usage.OutputTokens = min(1, a.usage.OutputTokens)
	return mustJSON(struct {
		Type    string  `json:"type"`
		Message message `json:"message"`
	}{"message_start", m})
}

// endData is message_delta: totals, not what was added since message_start.
func (a answer) endData() []byte {
	type ending struct {
		StopReason   string  `json:"stop_reason"`
		StopSequence *string `json:"stop_sequence"`
	}
	return mustJSON(struct {
		Type  string `json:"type"`
		Delta ending `json:"delta"`
		Usage Usage  `json:"usage"`
	}{"message_delta", ending{StopReason: a.stop}, a.usage})
}

// mustJSON is for values that always marshal.
func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("fakeapi: " + err.Error())
	}
	return data
}
