// Package contextengine turns a session's history into the bytes of a request.
//
// It owns the shape of the prompt: tools, the static tier, the session tier,
// then the conversation, with at most four cache breakpoints, so placed that
// a request begins with the bytes of the one before it. A settled block is
// rendered once and appended to one growing buffer; no request is built by
// decoding anything.
//
// It promises that the same facts give the same bytes, in another process and
// after a resume too: tiers are taken from the log, and the breakpoints follow
// from the history alone. Sending is left to model; what stands in the tiers
// to engine. Start reading at Engine.Build.
package contextengine

import (
	"encoding/json"
	"strconv"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// Params are what a request says besides the conversation.
type Params struct {
	Model     string
	MaxTokens int
	Thinking  json.RawMessage // the thinking parameter; nil leaves it out
	// StaticTTL is the life of the cache entries of tools and tiers, "5m" or
	// "1h" (anthropic documentation, prompt caching).
	StaticTTL string
}

// Blob reads media kept with the session.
type Blob func(sha256 string) ([]byte, error)

// Request is a request ready to be sent.
type Request struct {
	Body  []byte // valid until the next Build
	Stats event.ContextStats
}

// Engine renders one session's conversation. It is not safe for concurrent use.
type Engine struct {
	blob Blob
	conv conversation
	body []byte
}

// New makes an engine that finds pictures through blob.
func New(blob Blob) *Engine { return &Engine{blob: blob} }

// Build renders the request for a session as it stands.
func (e *Engine) Build(s fold.Session, p Params) Request {
	tools, _ := s.State.Tier(event.TierTools)
	static, _ := s.State.Tier(event.TierStatic)
	session, _ := s.State.Tier(event.TierSession)
	e.conv.update(s.History, e.blob)

	b := e.body[:0]
	b = append(b, `{"model":`...)
	b = appendString(b, p.Model)
	b = append(b, `,"max_tokens":`...)
	b = strconv.AppendInt(b, int64(p.MaxTokens), 10)
	b = append(b, `,"stream":true`...)
	if p.Thinking != nil {
		b = append(append(b, `,"thinking":`...), p.Thinking...)
	}
	if tools.Text != "" && tools.Text != "[]" {
		b = append(append(b, `,"tools":`...), tools.Text...)
	}
	b = appendSystem(b, ttlMark(p.StaticTTL), static.Text, session.Text)
	b = append(b, `,"messages":[`...)
	b = e.conv.appendMarked(b)
	b = append(b, `]}`...)
	e.body = b
	return Request{Body: b, Stats: stats(tools.Text, static.Text, session.Text, e.conv.size())}
}

// Release forgets the last body, for when its request may still be read.
func (e *Engine) Release() { e.body = nil }

const mark = `,"cache_control":{"type":"ephemeral"}`

func ttlMark(ttl string) string {
	if ttl == "1h" {
		return `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	}
	return mark
}

// appendSystem ends each tier that is there with a breakpoint.
func appendSystem(b []byte, mark string, tiers ...string) []byte {
	open := `,"system":[`
	for _, text := range tiers {
		if text == "" {
			continue
		}
		b = append(append(b, open...), `{"type":"text","text":`...)
		b = append(append(appendString(b, text), mark...), '}')
		open = ","
	}
	if open == "," {
		b = append(b, ']')
	}
	return b
}

// bytesPerToken is the rule of thumb that estimates go by; they are labelled
// as estimates wherever they are shown.
const bytesPerToken = 4

func stats(tools, static, session string, conversation int) event.ContextStats {
	var s event.ContextStats
	for _, part := range []struct {
		name string
		size int
	}{{"tools", len(tools)}, {"static", len(static)}, {"session", len(session)}, {"conversation", conversation}} {
		n := int64(part.size+bytesPerToken-1) / bytesPerToken
		if n > 0 {
			s.Sections = append(s.Sections, event.Section{Name: part.name, EstimatedTokens: n})
			s.EstimatedInputTokens += n
		}
	}
	return s
}
