package fakeapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Request is a body of the messages endpoint, read as far as the rules, the
// cache and a Responder need it.
type Request struct {
	Model       string
	MaxTokens   int
	Stream      bool
	System      []Part
	Tools       []Tool
	Messages    []Message
	Thinking    Thinking
	ToolChoice  json.RawMessage
	Temperature *float64
	Mark        time.Duration // of a top-level cache_control: marks the last block
	Body        []byte        // exactly as it came

	prompt       prompt // in cache order; set when the request is admitted
	hasMaxTokens bool
	hasMessages  bool
}

// Thinking is the thinking parameter; Type is empty when it was not sent.
type Thinking struct {
	Type   string
	Budget int // tokens
	raw    []byte
}

// On tells whether the model thinks in this request.
func (t Thinking) On() bool { return t.Type == "enabled" || t.Type == "adaptive" }

// Tool is one tool definition.
type Tool struct {
	Type, Name, Description string
	InputSchema             json.RawMessage
	Deferred                bool          // not in the prompt
	Mark                    time.Duration // see Part.Mark

	key   []byte
	extra string // the first member a tool of our own may not have
}

// Message is one message; a content that was a bare string is one text part.
type Message struct {
	Role  string
	Parts []Part
}

// Part is one content block of a request.
type Part struct {
	Type, Text, Thinking, Signature, Data, ID, Name, ToolUseID string
	Input                                                      json.RawMessage
	Content                                                    []Part // of a tool_result
	IsError                                                    bool
	Source                                                     Source
	// Mark is how long the cache entry lives that a breakpoint here writes; 0
	// without a breakpoint.
	Mark time.Duration
	Raw  json.RawMessage // the whole block as it came

	key []byte // every member but cache_control, as sent
}

// Source is where an image or document comes from.
type Source struct{ Type, MediaType, Data string }

// reader turns a body into a Request and keeps the first thing that is wrong
// with its shape.
type reader struct{ fault *Fault }

func parseRequest(body []byte) (*Request, *Fault) {
	if f := checkJSON(body); f != nil {
		return nil, f
	}
	var p reader
	req := p.request(body)
	return req, p.fault
}

func (p *reader) fail(path, what string) {
	if p.fault == nil {
		p.fault = invalid("%s: %s", path, what)
	}
}

func (p *reader) request(body []byte) *Request {
	req := &Request{Body: body}
	for key, raw := range p.object("body", body) {
		if string(raw) == "null" {
			continue
		}
		switch key {
		case "model":
			req.Model = p.text(key, raw)
		case "max_tokens":
			req.MaxTokens, req.hasMaxTokens = p.number(key, raw), true
		case "stream":
			req.Stream = p.flag(key, raw)
		case "system":
			req.System = p.content(key, raw)
		case "tools":
			req.Tools = p.tools(raw)
		case "messages":
			req.Messages, req.hasMessages = p.messages(raw), true
		case "thinking":
			req.Thinking = p.thinking(raw)
		case "tool_choice":
			req.ToolChoice = raw
		case "temperature":
			req.Temperature = p.fraction(key, raw)
		case "cache_control":
			req.Mark = p.mark(key, raw)
		case "metadata", "stop_sequences", "top_p", "top_k", "service_tier", "context_management",
			"output_config", "output_format", "container", "mcp_servers", "inference_geo", "speed":
		default:
			p.fail(key, "Extra inputs are not permitted")
		}
	}
	return req
}

func (p *reader) messages(raw []byte) []Message {
	var list []Message
	for i, item := range p.list("messages", raw) {
		path := "messages." + strconv.Itoa(i)
		var m Message
		for key, raw := range p.object(path, item) {
			switch key {
			case "role":
				m.Role = p.text(path+".role", raw)
			case "content":
				m.Parts = p.content(path+".content", raw)
			default:
				p.fail(path+"."+key, "Extra inputs are not permitted")
			}
		}
		if m.Role == "" {
			p.fail(path+".role", "Field required")
		}
		list = append(list, m)
	}
	return list
}

// content reads both forms the API takes: a string or a list of blocks.
func (p *reader) content(path string, raw []byte) []Part {
	if raw[0] == '"' {
		key := append([]byte(`type"text"text`), raw...)
		return []Part{{Type: "text", Text: unquote(raw), Raw: raw, key: key}}
	}
	list := []Part{}
	for i, item := range p.list(path, raw) {
		list = append(list, p.part(path+"."+strconv.Itoa(i), item))
	}
	return list
}

func (p *reader) part(path string, raw []byte) Part {
	part := Part{Raw: raw}
	for key, value := range p.object(path, raw) {
		if key == "type" {
			part.Type = p.text(path+".type", value)
		}
	}
	if part.Type == "" {
		p.fail(path+".type", "Field required")
		return part
	}
	known := fieldsOf(part.Type)
	for key, value := range p.object(path, raw) {
		where := path + "." + part.Type + "." + key
		if known != nil && !slices.Contains(known, key) {
			p.fail(where, "Extra inputs are not permitted")
		}
		if key == "cache_control" {
			part.Mark = p.mark(where, value)
			continue
		}
		part.key = append(part.key, key...)
		if key == "content" && part.Type == "tool_result" {
			part.Content = p.content(where, value)
			for _, inner := range part.Content {
				part.key = append(append(part.key, '['), inner.key...)
			}
			continue
		}
		part.key = append(part.key, value...)
		if known != nil {
			p.field(&part, where, key, value)
		}
	}
	return part
}

// fieldsOf are the members a block may have; nil for a type that is passed
// through unread.
func fieldsOf(kind string) []string {
	switch kind {
	case "text":
		return []string{"type", "text", "cache_control", "citations"}
	case "thinking":
		return []string{"type", "thinking", "signature"}
	case "redacted_thinking":
		return []string{"type", "data"}
	case "tool_use":
		return []string{"type", "id", "name", "input", "cache_control", "caller"}
	case "tool_result":
		return []string{"type", "tool_use_id", "content", "is_error", "cache_control"}
	case "image":
		return []string{"type", "source", "cache_control"}
	case "document":
		return []string{"type", "source", "title", "context", "citations", "cache_control"}
	}
	return nil
}

func (p *reader) field(part *Part, where, key string, value []byte) {
	switch key {
	case "text":
		part.Text = p.text(where, value)
	case "thinking":
		part.Thinking = p.text(where, value)
	case "signature":
		part.Signature = p.text(where, value)
	case "data":
		part.Data = p.text(where, value)
	case "id":
		part.ID = p.text(where, value)
	case "name":
		part.Name = p.text(where, value)
	case "tool_use_id":
		part.ToolUseID = p.text(where, value)
	case "input":
		part.Input = value
	case "is_error":
		part.IsError = p.flag(where, value)
	case "source":
		part.Source = p.source(where, value)
	}
}

func (p *reader) source(path string, raw []byte) Source {
	var s Source
	for key, value := range p.object(path, raw) {
		switch key {
		case "type":
			s.Type = p.text(path+".type", value)
		case "media_type":
			s.MediaType = p.text(path+".media_type", value)
		case "data":
			s.Data = p.text(path+".data", value)
		}
	}
	return s
}

func (p *reader) tools(raw []byte) []Tool {
	var list []Tool
	for i, item := range p.list("tools", raw) {
		path := "tools." + strconv.Itoa(i)
		var t Tool
		for key, value := range p.object(path, item) {
			if key == "cache_control" {
				t.Mark = p.mark(path+"."+key, value)
				continue
			}
			t.key = append(append(t.key, key...), value...)
			switch key {
			case "type":
				t.Type = p.text(path+".type", value)
			case "name":
				t.Name = p.text(path+".custom.name", value)
			case "description":
				t.Description = p.text(path+".custom.description", value)
			case "input_schema":
				t.InputSchema = value
			case "defer_loading":
				t.Deferred = p.flag(path+".custom.defer_loading", value)
			case "strict", "input_examples", "eager_input_streaming", "allowed_callers":
			default:
				t.extra = cmp.Or(t.extra, key)
			}
		}
		list = append(list, t)
	}
	return list
}

func (p *reader) thinking(raw []byte) Thinking {
	t := Thinking{raw: raw}
	hasBudget := false
	for key, value := range p.object("thinking", raw) {
		switch key {
		case "type":
			t.Type = p.text("thinking.type", value)
		case "budget_tokens":
			t.Budget, hasBudget = p.number("thinking.enabled.budget_tokens", value), true
		case "display":
		default:
			p.fail("thinking."+key, "Extra inputs are not permitted")
		}
	}
	switch {
	case t.Type == "enabled" && !hasBudget:
		p.fail("thinking.enabled.budget_tokens", "Field required")
	case t.Type != "enabled" && hasBudget:
		p.fail("thinking."+t.Type+".budget_tokens", "Extra inputs are not permitted")
	}
	return t
}

// mark reads a cache_control.
func (p *reader) mark(path string, raw []byte) time.Duration {
	if string(raw) == "null" {
		return 0
	}
	kind, ttl := "", "5m"
	for key, value := range p.object(path, raw) {
		switch key {
		case "type":
			kind = p.text(path+".type", value)
		case "ttl":
			ttl = p.text(path+".ttl", value)
		default:
			p.fail(path+".ephemeral."+key, "Extra inputs are not permitted")
		}
	}
	if kind != "ephemeral" {
		p.fail(path+".type", "Input should be 'ephemeral'")
	}
	switch ttl {
	case "5m":
		return shortLife
	case "1h":
		return longLife
	}
	p.fail(path+".ephemeral.ttl", "Input should be '5m' or '1h'")
	return 0
}

func (p *reader) object(path string, raw []byte) func(func(string, []byte) bool) {
	raw = raw[next(raw, 0):]
	if raw[0] != '{' {
		p.fail(path, "Input should be an object")
		raw = []byte("{}")
	}
	return members(raw)
}

func (p *reader) list(path string, raw []byte) func(func(int, []byte) bool) {
	if raw[0] != '[' {
		p.fail(path, "Input should be a valid array")
		raw = []byte("[]")
	}
	return elements(raw)
}

func (p *reader) text(path string, raw []byte) string {
	if raw[0] != '"' {
		p.fail(path, "Input should be a valid string")
		return ""
	}
	return unquote(raw)
}

func (p *reader) number(path string, raw []byte) int {
	n, err := strconv.Atoi(string(raw))
	if err != nil {
		p.fail(path, "Input should be a valid integer")
	}
	return n
}

func (p *reader) fraction(path string, raw []byte) *float64 {
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		p.fail(path, "Input should be a valid number")
		return nil
	}
	return &f
}

func (p *reader) flag(path string, raw []byte) bool {
	if s := string(raw); s != "true" && s != "false" {
		p.fail(path, "Input should be a valid boolean")
	}
	return string(raw) == "true"
}

// place is how the service names a block of the history.
func place(message, part int) string {
	return fmt.Sprintf("messages.%d.content.%d", message, part)
}
