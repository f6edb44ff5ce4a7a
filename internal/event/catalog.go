package event

import (
	"bytes"
	"encoding/json"
)

// kind is what the codec knows of one type of fact or notice.
type kind struct {
	name   string
	decode func(payload []byte) (Fact, error)
}

// fact lists one type of fact in its family.
func fact[P Fact]() kind {
	var zero P
	return kind{name: zero.durable(), decode: func(payload []byte) (Fact, error) {
		var p P
		err := json.Unmarshal(payload, &p)
		return p, err
	}}
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
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
