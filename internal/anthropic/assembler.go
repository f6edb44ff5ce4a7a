package anthropic

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// fault is a way in which a stream is not a well-formed answer.
type fault string

func (f fault) Error() string { return string(f) }

// errorEvent is an error the server reported inside a stream.
type errorEvent struct{ kind, message, requestID string }

func (e errorEvent) Error() string { return e.kind + ": " + e.message }

// assembler turns the events of one stream into calls of a handler and a
// reply. Invariant: blocks is in index order, and its first `delivered` ones
// have been handed out.
type assembler struct {
	h         Handler
	reply     Reply
	blocks    []*building
	delivered int
	started   bool
	stopped   bool
	shown     bool
	nameless  bool  // an event came without its name
	refused   error // what the handler returned
}

// event takes one event. Names that are not known are skipped, as the API's
// versioning asks of clients.
func (a *assembler) event(name string, data []byte) error {
	switch name {
	case "content_block_delta":
		return a.delta(data)
	case "message_start":
		return a.start(data)
	case "content_block_start":
		return a.blockStart(data)
	case "content_block_stop":
		return a.blockStop(data)
	case "message_delta":
		return a.messageDelta(data)
	case "message_stop":
		return a.stop()
	case "error":
		return parseErrorEvent(data)
	case "":
		a.nameless = true
	}
	return nil
}

func (a *assembler) start(data []byte) error {
	if a.started {
		return fault("a second message_start")
	}
	var event struct {
		Message *struct {
			ID    string     `json:"id"`
			Model string     `json:"model"`
			Usage *wireUsage `json:"usage"`
		} `json:"message"`
	}
	if err := decode(data, &event); err != nil {
		return err
	}
	if event.Message == nil {
		return fault("a message_start without a message")
	}
	a.started = true
	a.reply.MessageID, a.reply.Model = event.Message.ID, event.Message.Model
	a.reply.Usage.replace(event.Message.Usage)
	return nil
}

func (a *assembler) blockStart(data []byte) error {
	var event struct {
		Index   *int            `json:"index"`
		Content json.RawMessage `json:"content_block"`
	}
	if err := decode(data, &event); err != nil {
		return err
	}
	switch {
	case !a.started:
		return fault("a block before message_start")
	case event.Index == nil:
		return fault("a block without an index")
	case len(a.blocks) > 0 && *event.Index <= a.blocks[len(a.blocks)-1].index:
		return fault(fmt.Sprintf("block %d starts twice or out of order", *event.Index))
	}
	b, err := newBuilding(*event.Index, event.Content)
	if err != nil {
		return err
	}
	a.blocks = append(a.blocks, b)
	a.announce(b)
	return nil
}

// announce tells the handler what a block brings with its start.
func (a *assembler) announce(b *building) {
	switch {
	case b.kind == BlockToolUse:
		a.shown = true
		a.h.ToolCallStarted(b.index, b.start.text("id"), b.start.text("name"))
		a.show(b, inputDelta, string(b.input))
	case b.kind == BlockText:
		a.show(b, textDelta, string(b.text))
	case b.kind == BlockThinking:
		a.show(b, thinkingDelta, string(b.text))
	}
}

func (a *assembler) show(b *building, kind, text string) {
	if text == "" {
		return
	}
	switch {
	case kind == textDelta && b.kind == BlockText:
		a.h.TextDelta(b.index, text)
	case kind == thinkingDelta && b.kind == BlockThinking:
		a.h.ThinkingDelta(b.index, text)
	case kind == inputDelta && b.kind == BlockToolUse:
		a.h.ToolInputDelta(b.index, b.start.text("id"), text)
	default:
		return
	}
	a.shown = true
}

func (a *assembler) delta(data []byte) error {
	d, err := parseDelta(data)
	if err != nil {
		return err
	}
	b, err := a.open(d.index)
	if err != nil {
		return err
	}
	b.add(d)
	a.show(b, d.kind, d.text)
	return nil
}

// open finds a block that has started and not stopped, most likely the last.
func (a *assembler) open(index int) (*building, error) {
	for i := len(a.blocks) - 1; i >= a.delivered; i-- {
		if b := a.blocks[i]; b.index == index && !b.settled {
			return b, nil
		}
	}
	return nil, fault(fmt.Sprintf("block %d is not open", index))
}

func (a *assembler) blockStop(data []byte) error {
	var event struct {
		Index *int `json:"index"`
	}
	if err := decode(data, &event); err != nil {
		return err
	}
	if event.Index == nil {
		return fault("a content_block_stop names no block")
	}
	b, err := a.open(*event.Index)
	if err != nil {
		return err
	}
	b.settled = true
	return a.deliver()
}

// deliver hands out the settled blocks before which none is open.
func (a *assembler) deliver() error {
	for a.delivered < len(a.blocks) && a.blocks[a.delivered].settled {
		block, ok := a.blocks[a.delivered].block()
		a.delivered++
		if !ok {
			continue
		}
		a.shown = true
		if a.refused = a.h.BlockCompleted(block); a.refused != nil {
			return a.refused
		}
	}
	return nil
}

func (a *assembler) messageDelta(data []byte) error {
	var event struct {
		Delta struct {
			StopReason   *string `json:"stop_reason"`
			StopSequence *string `json:"stop_sequence"`
		} `json:"delta"`
		Usage *wireUsage `json:"usage"`
	}
	if err := decode(data, &event); err != nil {
		return err
	}
	if !a.started {
		return fault("a message_delta before message_start")
	}
	if event.Delta.StopReason != nil {
		a.reply.StopReason = *event.Delta.StopReason
	}
	if event.Delta.StopSequence != nil {
		a.reply.StopSequence = *event.Delta.StopSequence
	}
	a.reply.Usage.replace(event.Usage)
	return nil
}

// stop decides whether all of it is an answer. A stop reason by which the
// model meant to end makes an open block or half an input a fault; with any
// other one the block was cut, and is handed out as such.
func (a *assembler) stop() error {
	if !a.started || a.reply.StopReason == "" {
		return fault("a message_stop without message_start or stop reason")
	}
	meant := meantToEnd(a.reply.StopReason)
	for _, b := range a.blocks {
		switch {
		case meant && !b.settled:
			return fault(fmt.Sprintf("block %d never ended", b.index))
		case meant && b.kind == BlockToolUse && b.cutInput():
			return fault(fmt.Sprintf("the input of call %d is not whole JSON", b.index))
		}
		b.settled = true
	}
	if err := a.deliver(); err != nil {
		return err
	}
	a.reply.CutBlock = -1
	if last := len(a.blocks) - 1; !meant && last >= 0 && a.blocks[last].wasCut() {
		a.reply.CutBlock = a.blocks[last].index
	}
	a.stopped = true
	return nil
}

func meantToEnd(stopReason string) bool {
	return stopReason == "tool_use" || stopReason == "end_turn" || stopReason == "pause_turn"
}

// wasCut reports whether a last block is a call the output limit cut: cut
// before its first byte, an input looks like an empty one.
func (b *building) wasCut() bool {
	return b.kind == BlockToolUse && (len(b.input) == 0 || b.cutInput())
}

// unfinished is the fault of a stream that ended here.
func (a *assembler) unfinished(contentType string) fault {
	switch {
	case a.started:
		return "the stream ended before message_stop"
	case a.nameless:
		return "the events have no names: a gateway drops the event: lines"
	case contentType != "" && contentType != "text/event-stream":
		return fault("the answer is " + contentType + ", not an event stream: is something between here and the API?")
	}
	return "the answer is empty"
}

func parseErrorEvent(data []byte) error {
	var event struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
		RequestID string `json:"request_id"`
	}
	if decode(data, &event) != nil {
		return errorEvent{message: string(data)}
	}
	return errorEvent{kind: event.Error.Type, message: event.Error.Message, requestID: event.RequestID}
}

// requestIDOf is the request id in the body of an error, if it has one.
func requestIDOf(body string) string {
	var e struct {
		RequestID string `json:"request_id"`
	}
	if json.Unmarshal([]byte(body), &e) != nil {
		return ""
	}
	return e.RequestID
}

// decode reads the JSON of one event. What it cannot read is a fault.
func decode(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return fault("an event is not the JSON it should be: " + err.Error())
	}
	return nil
}

// validText makes every later piece of an event valid UTF-8, also those that
// are kept raw.
func validText(data []byte) []byte {
	if utf8.Valid(data) {
		return data
	}
	return []byte(string([]rune(string(data))))
}
