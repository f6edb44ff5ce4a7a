package anthropic

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// delta is one content_block_delta. Of its texts the one for its type is set.
type delta struct {
	index int
	kind  string
	text  string          // text_delta, thinking_delta, signature_delta, input_json_delta
	raw   json.RawMessage // the delta object, for every other type
}

const (
	textDelta      = "text_delta"
	thinkingDelta  = "thinking_delta"
	signatureDelta = "signature_delta"
	inputDelta     = "input_json_delta"
)

func parseDelta(data []byte) (delta, error) {
	if d, ok := fastDelta(data); ok {
		return d, nil
	}
	return slowDelta(data)
}

// slowDelta is the general decoder, right for every well-formed event.
func slowDelta(data []byte) (delta, error) {
	var event struct {
		Index *int            `json:"index"`
		Delta json.RawMessage `json:"delta"`
	}
	if err := decode(data, &event); err != nil {
		return delta{}, err
	}
	if event.Index == nil {
		return delta{}, fault("a content_block_delta names no block")
	}
	kind, err := typeOf(event.Delta)
	d := delta{index: *event.Index, kind: kind}
	if err != nil {
		return d, err
	}
	switch kind {
	case textDelta, thinkingDelta, signatureDelta, inputDelta:
		d.text, err = deltaText(kind, event.Delta)
	default:
		d.raw = event.Delta
	}
	return d, err
}

func deltaText(kind string, data []byte) (string, error) {
	var body struct {
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
	}
	err := decode(data, &body)
	switch kind {
	case textDelta:
		return body.Text, err
	case thinkingDelta:
		return body.Thinking, err
	case signatureDelta:
		return body.Signature, err
	}
	return body.PartialJSON, err
}

func typeOf(data []byte) (string, error) {
	var typed struct {
		Type string `json:"type"`
	}
	err := decode(data, &typed)
	return typed.Type, err
}

// fastDelta reads the three deltas a long answer is made of, in the member
// order in which servers write them. Whatever differs is not ok and goes to
// slowDelta; a fuzz test holds both to the same answers.
func fastDelta(data []byte) (d delta, ok bool) {
	c := cursor{rest: data, ok: true}
	c.literals(`{`, `"type"`, `:`, `"content_block_delta"`, `,`, `"index"`, `:`)
	d.index = c.number()
	c.literals(`,`, `"delta"`, `:`, `{`, `"type"`, `:`)
	switch {
	case c.accept(`"text_delta"`):
		d.kind = textDelta
		c.literals(`,`, `"text"`, `:`)
	case c.accept(`"input_json_delta"`):
		d.kind = inputDelta
		c.literals(`,`, `"partial_json"`, `:`)
	case c.accept(`"thinking_delta"`):
		d.kind = thinkingDelta
		c.literals(`,`, `"thinking"`, `:`)
	default:
		return delta{}, false
	}
	d.text = c.text()
	c.literals(`}`, `}`)
	return d, c.ok && len(c.rest) == 0
}

// cursor walks JSON of a known shape. Once something differs, ok is false for
// good.
type cursor struct {
	rest []byte
	ok   bool
}

// literals takes tokens in order, with any blanks after each.
func (c *cursor) literals(tokens ...string) {
	for _, token := range tokens {
		c.ok = c.ok && c.accept(token)
	}
}

func (c *cursor) accept(token string) bool {
	if len(c.rest) < len(token) || string(c.rest[:len(token)]) != token {
		return false
	}
	c.rest = c.rest[len(token):]
	for len(c.rest) > 0 && c.rest[0] == ' ' {
		c.rest = c.rest[1:]
	}
	return true
}

func (c *cursor) number() int {
	n, digits := 0, 0
	for digits < len(c.rest) && digits < 7 && c.rest[digits] >= '0' && c.rest[digits] <= '9' {
		n = n*10 + int(c.rest[digits]-'0')
		digits++
	}
	// A leading zero is no JSON number.
	c.ok = c.ok && digits > 0 && (digits == 1 || c.rest[0] != '0')
	c.rest = c.rest[digits:]
	return n
}

// text takes a JSON string.
func (c *cursor) text() string {
	end := stringEnd(c.rest)
	if !c.ok || end < 0 {
		c.ok = false
		return ""
	}
	token := c.rest[:end]
	c.rest = c.rest[end:]
	inner := token[1 : end-1]
	if isPlain(inner) {
		return string(inner)
	}
	var s string
	c.ok = json.Unmarshal(token, &s) == nil
	return s
}

// stringEnd is the length of the JSON string b begins with, or -1.
func stringEnd(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return -1
	}
	for i := 1; i < len(b); i++ {
		q := bytes.IndexByte(b[i:], '"')
		if q < 0 {
			return -1
		}
		slash := bytes.IndexByte(b[i:i+q], '\\')
		if slash < 0 {
			return i + q + 1
		}
		i += slash + 1
	}
	return -1
}

func isPlain(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c == '\\' {
			return false
		}
	}
	return utf8.Valid(b)
}
