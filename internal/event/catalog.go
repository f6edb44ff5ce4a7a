package event

import (
	"bytes"
	"encoding/json"
)

// kind is what the codec knows of one type of fact or notice.
type kind struct {
	name   string
	decode func(payload []byte) (Fact, error)
	walk   func(*walker) Fact // nil for most
}

// fast decodes a payload that is valid UTF-8, or leaves it to others.
func (k kind) fast(payload []byte) (Fact, bool) {
	if k.walk != nil {
		w := walker{rest: payload, ok: true}
		f := k.walk(&w)
		return f, w.at(`}`) && len(w.rest) == 1
	}
	f, err := k.decode(payload)
	return f, err == nil
}

// fact lists one type of fact in its family.
func fact[P Fact]() kind {
	var zero P
	decode := func(payload []byte) (Fact, error) {
		var p P
		err := json.Unmarshal(payload, &p)
		return p, err
	}
	return kind{name: zero.durable(), decode: decode, walk: walks[zero.durable()]}
}

// families are all facts, in the order in which the documentation lists them.
var families = [][]kind{
	sessionFacts, userFacts, modelFacts, permissionFacts, toolFacts, fileFacts, processFacts,
	contextFacts, taskFacts, phaseFacts, memoryFacts, repoFacts, subtaskFacts,
}

var catalog = index(families)

func index(families [][]kind) map[string]kind {
	all := map[string]kind{}
	for _, family := range families {
		for _, k := range family {
			all[k.name] = k
		}
	}
	return all
}

// Names are the wire names of all facts, in the order of the documentation.
func Names() []string {
	var names []string
	for _, family := range families {
		for _, k := range family {
			names = append(names, k.name)
		}
	}
	return names
}

// marshal is json.Marshal without the escaping of <, > and &.
func marshal(v any) ([]byte, error) { return appendJSON(nil, v) }

func appendJSON(dst []byte, v any) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return dst, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
