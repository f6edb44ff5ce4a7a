package contextengine

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"pgregory.net/rapid"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// log folds facts from the lines they are written as.
type log struct {
	records []event.Record
	folded  fold.Session
}

func (l *log) add(facts ...event.Fact) {
	for _, f := range facts {
		seq := int64(len(l.records) + 1)
		line, err := event.AppendLine(nil, event.Record{
			V: event.Version, ID: fmt.Sprintf("e%d", seq), SessionID: "s", Seq: seq, TS: seq, Fact: f,
		})
		if err != nil {
			panic(err)
		}
		r, err := event.DecodeLine(line[:len(line)-1])
		if err != nil {
			panic(err)
		}
		l.records = append(l.records, r)
		l.folded = l.folded.Apply(r)
	}
}

// replayed is the fold of the lines, read anew.
func (l *log) replayed() fold.Session {
	var s fold.Session
	for _, old := range l.records {
		r, err := event.DecodeLine(old.Line)
		if err != nil {
			panic(err)
		}
		s = s.Apply(r)
	}
	return s
}

func logOf(facts ...event.Fact) *log {
	l := &log{}
	l.add(facts...)
	return l
}

// blob keeps one picture; every other content is gone.
func blob(sha string) ([]byte, error) {
	if sha == "gone" {
		return nil, fs.ErrNotExist
	}
	return []byte("bytes of " + sha), nil
}

var params = Params{Model: "m", MaxTokens: 100}

func says(text string) event.Fact { return event.UserMessageCreated{Text: text} }

func started(request string) event.Fact {
	return event.ModelRequestStarted{RequestID: request, Model: "m", Purpose: event.PurposeMain}
}

func calls(request, id, tool, input string) event.Fact {
	return event.ToolRequested{RequestID: request, ToolUseID: id, ToolName: tool, Input: json.RawMessage(input)}
}

func answered(request string, stop event.StopReason) event.Fact {
	return event.ModelResponseCompleted{RequestID: request, StopReason: stop}
}

func completed(id, text string, media ...event.Media) event.Fact {
	return event.ToolCompleted{ToolUseID: id, ModelText: text, Media: media}
}

// parsed is a request as a server reads it, with every block by its position.
type parsed struct {
	blocks   []block
	marks    []int // positions of blocks with a breakpoint
	allMarks int   // tiers included
}

type block struct {
	role string
	kind string
	raw  map[string]json.RawMessage
}

func parse(t rapid.TB, body []byte) parsed {
	t.Helper()
	var request struct {
		System   []map[string]json.RawMessage `json:"system"`
		Messages []struct {
			Role    string                       `json:"role"`
			Content []map[string]json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, body)
	}
	var p parsed
	for i, m := range request.Messages {
		if i > 0 && request.Messages[i-1].Role == m.Role || len(m.Content) == 0 {
			t.Fatalf("message %d of %s follows one of its own or is empty", i, m.Role)
		}
		for _, raw := range m.Content {
			if raw["cache_control"] != nil {
				p.marks = append(p.marks, len(p.blocks))
			}
			var kind string
			if err := json.Unmarshal(raw["type"], &kind); err != nil {
				t.Fatalf("a block without a type: %v", raw)
			}
			p.blocks = append(p.blocks, block{role: m.Role, kind: kind, raw: raw})
		}
	}
	p.allMarks = len(p.marks)
	for _, part := range request.System {
		if part["cache_control"] != nil {
			p.allMarks++
		}
	}
	return p
}

// bare is a body without its breakpoints and closing brackets. No text can
// hold a breakpoint, because its quotes would be escaped.
func bare(body []byte) string {
	return strings.TrimSuffix(strings.ReplaceAll(string(body), mark, ""), "]}]}")
}
