package fold

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/khaelor/khaelor/internal/event"
)

// log numbers facts as a session would: fact n has the id "en" and happens at
// n seconds.
type log struct{ records []event.Record }

func (l *log) add(facts ...event.Fact) {
	for _, f := range facts {
		seq := int64(len(l.records) + 1)
		l.records = append(l.records, event.Record{
			V: event.Version, ID: fmt.Sprintf("e%d", seq), SessionID: "s", Seq: seq, TS: seq * 1000, Fact: f,
		})
	}
}

func records(facts ...event.Fact) []event.Record {
	var l log
	l.add(facts...)
	return l.records
}

// folded applies records to any projection.
func folded[P interface{ Apply(event.Record) P }](p P, records []event.Record) P {
	for _, r := range records {
		p = p.Apply(r)
	}
	return p
}

func said(text string) event.Fact { return event.UserMessageCreated{Text: text} }

func started(request string) event.Fact {
	return event.ModelRequestStarted{RequestID: request, Model: "m", Purpose: event.PurposeMain}
}

func text(request, text string) event.Fact {
	return event.ModelTextBlockCompleted{RequestID: request, Text: text}
}

func thought(request, text string) event.Fact {
	return event.ModelThinkingBlockCompleted{RequestID: request, Thinking: text, Signature: "sig"}
}

func opaque(request, blockType string) event.Fact {
	return event.ModelOpaqueBlockCompleted{RequestID: request, BlockType: blockType, Raw: json.RawMessage(`{"type":"` + blockType + `"}`)}
}

func called(request, id, tool, input string) event.Fact {
	return event.ToolRequested{RequestID: request, ToolUseID: id, ToolName: tool, Input: json.RawMessage(input)}
}

func answered(request string, stop event.StopReason) event.Fact {
	return event.ModelResponseCompleted{RequestID: request, StopReason: stop}
}

func attemptFailed(request string, kind event.ModelErrorKind) event.Fact {
	return event.ModelRequestFailed{RequestID: request, Kind: kind}
}

func completed(id string) event.Fact {
	return event.ToolCompleted{ToolUseID: id, ModelText: "result of " + id}
}

func toolFailed(id string) event.Fact {
	return event.ToolFailed{ToolUseID: id, ModelText: "error of " + id, ErrorKind: event.ToolNotFound}
}

func cancelled(id string) event.Fact {
	return event.ToolCancelled{ToolUseID: id, ModelText: "cancelled " + id, Reason: event.CancelInterrupted}
}

// lines are the blocks of a history, one short line each.
func lines(h History) []string {
	var out []string
	for _, b := range h.Blocks() {
		line := string(b.Role)
		switch b.Kind {
		case TextBlock:
			line += " says " + b.Text
		case ThinkingBlock:
			line += " thinks " + b.Text + " " + b.Signature
		case OpaqueBlock:
			line += " sends " + string(b.Raw)
		case ToolUseBlock:
			line += " calls " + b.ID + " " + b.Name + string(b.Raw)
		case ToolResultBlock:
			line += " answers " + b.ID + " " + b.Text
			if b.IsError {
				line += " (error)"
			}
		case ImageBlock:
			line += " shows"
		}
		for _, m := range b.Media {
			line += " " + m.SHA256
		}
		out = append(out, line)
	}
	return out
}

// difference says where two lists part; "" when they do not.
func difference(got, want []string) string {
	if slices.Equal(got, want) {
		return ""
	}
	return fmt.Sprintf("got\n  %s\nwant\n  %s", indented(got), indented(want))
}

func indented(lines []string) string {
	out := ""
	for _, l := range lines {
		out += fmt.Sprintf("%q\n  ", l)
	}
	return out
}
