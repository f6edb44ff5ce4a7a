package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
)

// object is a JSON object that keeps the order and the bytes of its members.
type object struct{ members []member }

type member struct {
	name  string
	value json.RawMessage
}

func parseObject(data []byte) (object, error) {
	var o object
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return o, fault("a block is not a JSON object")
	}
	for dec.More() {
		var m member
		name, err := dec.Token()
		if err == nil {
			err = dec.Decode(&m.value)
		}
		if err != nil {
			return o, fault("a block is broken JSON: " + err.Error())
		}
		m.name, _ = name.(string)
		o.members = append(o.members, m)
	}
	return o, nil
}

func (o *object) get(name string) json.RawMessage {
	if i := o.find(name); i >= 0 {
		return o.members[i].value
	}
	return nil
}

func (o *object) set(name string, value json.RawMessage) {
	if i := o.find(name); i >= 0 {
		o.members[i].value = value
		return
	}
	o.members = append(o.members, member{name: name, value: value})
}

func (o *object) find(name string) int {
	return slices.IndexFunc(o.members, func(m member) bool { return m.name == name })
}

// text is a member that is a string; "" when it is none.
func (o *object) text(name string) string {
	var s string
	if json.Unmarshal(o.get(name), &s) != nil {
		return ""
	}
	return s
}

// merge adds a delta of unknown type to a block the way the known ones work:
// text is appended to the text of that name, a list to the list, anything else
// takes its place.
func (o *object) merge(d object) {
	for _, m := range d.members {
		if m.name != "type" {
			o.set(m.name, joined(o.get(m.name), m.value))
		}
	}
}

func joined(old, more json.RawMessage) json.RawMessage {
	switch {
	case isKind(old, '"') && isKind(more, '"'):
		return slices.Concat(old[:len(old)-1], more[1:])
	case isKind(old, '[') && isKind(more, '['):
		return joinedLists(old, more)
	}
	return bytes.Clone(more)
}

func joinedLists(old, more json.RawMessage) json.RawMessage {
	a, b := bytes.TrimSpace(old[1:len(old)-1]), bytes.TrimSpace(more[1:len(more)-1])
	comma := ""
	if len(a) > 0 && len(b) > 0 {
		comma = ","
	}
	return slices.Concat([]byte("["), a, []byte(comma), b, []byte("]"))
}

func isKind(value json.RawMessage, first byte) bool { return len(value) > 1 && value[0] == first }

// bytes writes the object compactly and otherwise as it came.
func (o *object) bytes() []byte {
	out := []byte{'{'}
	for i, m := range o.members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, quoted(m.name)...), ':'), m.value...)
	}
	return compacted(append(out, '}'))
}

// quoted is s as a JSON string, without escaping what only HTML minds.
func quoted(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return []byte(`""`) // not reached: every string can be encoded
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// compacted drops white space between tokens of valid JSON, and nothing else.
func compacted(data []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil {
		return nil
	}
	return b.Bytes()
}
