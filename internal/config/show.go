package config

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// Setting is one effective value.
type Setting struct {
	Key    string
	Value  string // JSON; a credential shows only that it is set
	Origin Origin
}

// Show lists the effective settings in the order of the table.
func (c Config) Show() []Setting {
	var out []Setting
	for _, f := range Fields() {
		out = append(out, f.show(c)...)
	}
	return out
}

// schemaNode is the part of JSON Schema that the table needs.
type schemaNode struct {
	Schema      string                 `json:"$schema,omitempty"`
	Title       string                 `json:"title,omitempty"`
	Description string                 `json:"description,omitempty"`
	Type        string                 `json:"type,omitempty"`
	Enum        []string               `json:"enum,omitempty"`
	Default     json.RawMessage        `json:"default,omitempty"`
	Items       *schemaNode            `json:"items,omitempty"`
	Properties  map[string]*schemaNode `json:"properties,omitempty"`
	Additional  *schemaNode            `json:"additionalProperties,omitempty"`
}

// Schema is the JSON Schema of a configuration file.
func Schema() []byte {
	root := &schemaNode{
		Schema: "https://json-schema.org/draft/2020-12/schema", Title: "KHAELOR configuration",
		Type: "object", Properties: map[string]*schemaNode{"$schema": {Type: "string"}},
	}
	for _, f := range Fields() {
		root.add(strings.Split(f.Key, "."), f.schema())
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		panic("config: schema does not encode: " + err.Error())
	}
	return out.Bytes()
}

func (n *schemaNode) add(path []string, leaf *schemaNode) {
	if len(path) == 1 {
		n.Properties[path[0]] = leaf
		return
	}
	child := n.Properties[path[0]]
	if child == nil {
		child = &schemaNode{Type: "object", Properties: map[string]*schemaNode{}}
		n.Properties[path[0]] = child
	}
	child.add(path[1:], leaf)
}

func (f Field) schema() *schemaNode {
	n := &schemaNode{Description: f.Doc, Type: f.Type, Enum: f.Enum}
	plain, err := hujson.Minimize([]byte(f.Default))
	if err != nil {
		panic("config: default of " + f.Key + ": " + err.Error())
	}
	n.Default = plain
	switch {
	case f.Type == "array":
		n.Items = &schemaNode{Type: "string"}
	case f.Type == "object":
		n.Enum, n.Additional = nil, &schemaNode{Enum: f.Enum}
	}
	return n
}
