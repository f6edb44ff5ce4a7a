package fakeapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// collect reads the blocks out of a raw stream, as far as the history needs
// them. It forgives everything: a broken stream is served on purpose.
func collect(stream string) []Block {
	blocks := map[int]*Block{}
	for data := range strings.SplitSeq(strings.ReplaceAll(stream, "\r\n", "\n"), "\n") {
		data, ok := strings.CutPrefix(data, "data:")
		var e streamEvent
		if !ok || json.Unmarshal([]byte(data), &e) != nil {
			continue
		}
		if e.Type == "content_block_start" {
			b := blockOf(e.Block)
			blocks[e.Index] = &b
		}
		if b := blocks[e.Index]; b != nil && e.Type == "content_block_delta" {
			b.Thinking += e.Delta.Thinking
			b.Signature += e.Delta.Signature
			if b.Type == "raw" {
				b.Type = "built" // its final form depends on how a client joins deltas
			}
		}
	}
	var list []Block
	for _, i := range slices.Sorted(maps.Keys(blocks)) {
		list = append(list, *blocks[i])
	}
	return list
}

// streamEvent is what collect reads of an event.
type streamEvent struct {
	Type  string          `json:"type"`
	Index int             `json:"index"`
	Block json.RawMessage `json:"content_block"`
	Delta struct {
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
	} `json:"delta"`
}

// blockOf reads a block given as JSON; one the API does not read stays raw.
func blockOf(raw json.RawMessage) Block {
	if fieldsOf(kindOf(raw)) == nil {
		return Block{Type: "raw", Raw: raw}
	}
	var b Block
	// A block that does not fit is one no client can send back.
	_ = json.Unmarshal(raw, &b)
	return b
}
