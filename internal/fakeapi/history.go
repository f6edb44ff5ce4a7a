package fakeapi

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
)

// signKey is no secret: signatures show that a text was changed, and they hold
// across servers, so that a resumed session can go on with another one.
const signKey = "fakeapi thinking"

// sign is the signature under a thinking block that model made.
func sign(model, thinking string) string {
	mac := hmac.New(sha256.New, []byte(signKey))
	mac.Write([]byte(model + "\x00" + thinking))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// history is what was sent that must come back unchanged.
type history struct {
	thoughts map[string]thought  // by signature, or by the data of a redacted one
	calls    map[string]reply    // by tool_use id: what was thought before it
	opaque   map[string]struct{} // blocks passed through, compact; or only their type when they were built from deltas
}

// thought is a thinking block with a signature of its own. An empty model stands
// for any: it is in the script but was not sent by this server.
type thought struct{ text, model string }

type reply struct {
	model    string
	thoughts []string
}

// newHistory knows the blocks of the script from the start, since a client may
// resume a session that another server began.
func newHistory(script Script) history {
	h := history{thoughts: map[string]thought{}, calls: map[string]reply{}, opaque: map[string]struct{}{}}
	for _, turn := range script.Turns {
		h.add("", turn.content())
	}
	return h
}

// content is a turn's blocks, also those of a raw stream.
func (t Turn) content() []Block {
	if t.Raw != "" {
		return collect(t.Raw)
	}
	return t.Blocks
}

// add remembers blocks as sent by model.
func (h *history) add(model string, blocks []Block) {
	var before []string
	for _, b := range blocks {
		if b.Type == "raw" {
			b = blockOf(b.Raw)
		}
		switch b.Type {
		case "thinking":
			before = append(before, b.Signature)
			if b.Signature != "" {
				h.thoughts[b.Signature] = thought{b.Thinking, model}
			}
		case "redacted_thinking":
			before = append(before, b.Data)
			h.thoughts[b.Data] = thought{"", model}
		case "tool_use":
			if model != "" && len(before) > 0 {
				h.calls[b.ID] = reply{model, before}
			}
		case "raw":
			h.opaque[compact(b.Raw)] = struct{}{}
		case "built":
			h.opaque[kindOf(b.Raw)] = struct{}{}
		}
	}
}

// knows tells whether a thinking block with this signature (or redacted data)
// was sent with this text, by this model.
func (h *history) knows(signature, text, model string) bool {
	t, ok := h.thoughts[signature]
	return ok && t.text == text && (t.model == "" || t.model == model)
}

// before is the thinking that model sent in front of a call; nil when there was none.
func (h *history) before(callID, model string) []string {
	if r := h.calls[callID]; r.model == model {
		return r.thoughts
	}
	return nil
}

// sent tells whether a block of a type the API does not read was sent like this.
func (h *history) sent(p Part) bool {
	_, exact := h.opaque[compact(p.Raw)]
	_, built := h.opaque[p.Type]
	return exact || built
}

func compact(raw []byte) string {
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		return string(raw)
	}
	return out.String()
}
