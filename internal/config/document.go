package config

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// document is one parsed file of JSON with comments.
type document struct {
	file string
	text []byte // without byte order mark, so that offsets are hujson's
	root hujson.Value
}

// byteOrderMark is what some Windows editors put in front of a UTF-8 file.
const byteOrderMark = "\ufeff"

func parseDocument(file string, data []byte) (document, error) {
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}")
	}
	root, err := hujson.Parse(data)
	if err != nil {
		return document{}, syntaxError(file, err)
	}
	doc := document{file: file, text: data, root: root}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return document{}, doc.errorAt(root, "want an object in braces")
	}
	return doc, nil
}

// syntaxError takes the place out of the parser's text, which is the only way
// it tells it.
func syntaxError(file string, err error) *Error {
	e := &Error{File: file, Line: 1, Col: 1, Msg: err.Error()}
	head, msg, found := strings.Cut(err.Error(), ": ")
	if found && head == "hujson" {
		head, msg, found = strings.Cut(msg, ": ")
	}
	if _, scan := fmt.Sscanf(head, "line %d, column %d", &e.Line, &e.Col); found && scan == nil {
		e.Msg = msg
	}
	return e
}

// position is 1-based and counts characters; 0, 0 outside of a file.
func (d document) position(v hujson.Value) (line, col int) {
	if d.text == nil {
		return 0, 0
	}
	before := d.text[:min(v.StartOffset, len(d.text))]
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

func (d document) errorAt(v hujson.Value, format string, args ...any) *Error {
	line, col := d.position(v)
	return &Error{File: d.file, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

func (d document) warnAt(v hujson.Value, key, format string, args ...any) Warning {
	line, col := d.position(v)
	return Warning{File: d.file, Line: line, Col: col, Key: key, Msg: fmt.Sprintf(format, args...)}
}

// object returns the members of v, or false when v is something else.
func object(v hujson.Value) ([]hujson.ObjectMember, bool) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, false
	}
	return o.Members, true
}

func name(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// display is a value as an error quotes it: short, on one line.
func display(v hujson.Value) string {
	v = v.Clone()
	v.Minimize()
	text := []rune(string(v.Pack()))
	if len(text) > 40 {
		return string(text[:40]) + "…"
	}
	return string(text)
}
