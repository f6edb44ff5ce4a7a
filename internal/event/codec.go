package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Version is the schema version that lines are written in (seed 003 §5.4).
const Version = 1

// AppendLine appends the record's canonical line, with its newline, to dst.
// A record that was read from a line is written as that line. What would not
// be valid UTF-8 is refused, for it could not be read again.
func AppendLine(dst []byte, r Record) ([]byte, error) {
	if r.Line != nil {
		return append(append(dst, r.Line...), '\n'), nil
	}
	line := strconv.AppendInt(append(dst, `{"v":`...), int64(r.V), 10)
	line = appendString(line, `,"id":`, r.ID)
	line = appendString(line, `,"sessionId":`, r.SessionID)
	line = strconv.AppendInt(append(line, `,"seq":`...), r.Seq, 10)
	line = strconv.AppendInt(append(line, `,"ts":`...), r.TS, 10)
	if r.ParentID != "" {
		line = appendString(line, `,"parentId":`, r.ParentID)
	}
	line = appendString(line, `,"type":`, r.Name())
	if r.Critical {
		line = append(line, `,"critical":true`...)
	}
	line, err := appendPayload(append(line, `,"payload":`...), r.Fact)
	if err == nil && !utf8.Valid(line[len(dst):]) {
		err = errUTF8
	}
	if err != nil {
		return dst, fmt.Errorf("encode %s: %w", r.Name(), err)
	}
	return append(line, '}', '\n'), nil
}

// AppendNotice appends the notice's line, with its newline, to dst.
func AppendNotice(dst []byte, l Live) ([]byte, error) {
	line := appendString(dst, `{"id":`, l.ID)
	line = appendString(line, `,"sessionId":`, l.SessionID)
	line = strconv.AppendInt(append(line, `,"ts":`...), l.TS, 10)
	line = appendString(line, `,"type":`, l.Name())
	line, err := appendJSON(append(line, `,"payload":`...), l.Notice)
	if err != nil {
		return dst, fmt.Errorf("encode %s: %w", l.Name(), err)
	}
	return append(line, '}', '\n'), nil
}

func appendPayload(dst []byte, f Fact) ([]byte, error) {
	if u, ok := f.(Unknown); ok {
		return append(dst, u.Raw...), nil
	}
	return appendJSON(dst, f)
}

func appendString(dst []byte, key, s string) []byte {
	dst = append(dst, key...)
	if plain(s) {
		return append(append(append(dst, '"'), s...), '"')
	}
	quoted, _ := marshal(s) // a string always marshals
	return append(dst, quoted...)
}

// plain says that s stands between quotes as it is.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// DecodeLine reads one line, without its newline. The record's Line is line
// itself, not a copy.
func DecodeLine(line []byte) (Record, error) { return standard.decode(line) }

// decoder reads lines of its own version and, through its steps, of earlier
// ones. There is one; tests make others.
type decoder struct {
	version int
	steps   map[int]migration // from version n to n+1
}

// migration rewrites one line's type and payload to the next version.
type migration func(name string, payload []byte) (string, []byte, error)

var standard = decoder{version: Version}

var (
	errEnvelope = errors.New("not an event envelope")
	errUTF8     = errors.New("invalid UTF-8")
)

func (d decoder) decode(line []byte) (Record, error) {
	if r, ok := d.fast(line); ok {
		return r, nil
	}
	return d.general(line)
}

type envelope struct {
	V         int             `json:"v"`
	ID        string          `json:"id"`
	SessionID string          `json:"sessionId"`
	Seq       int64           `json:"seq"`
	TS        int64           `json:"ts"`
	ParentID  string          `json:"parentId"`
	Type      string          `json:"type"`
	Critical  bool            `json:"critical"`
	Payload   json.RawMessage `json:"payload"`
}

// missing names the first field that has to be there and is not.
func (e envelope) missing() string {
	switch {
	case e.V < 1:
		return "v"
	case e.ID == "":
		return "id"
	case e.SessionID == "":
		return "sessionId"
	case e.Seq < 1:
		return "seq"
	case e.Type == "":
		return "type"
	case !bytes.HasPrefix(e.Payload, []byte("{")):
		return "payload"
	}
	return ""
}

// general decodes any valid line. It is the definition of the format; fast is
// held to it by a fuzz test.
func (d decoder) general(line []byte) (Record, error) {
	if !utf8.Valid(line) {
		return Record{}, fmt.Errorf("%w: %w", errEnvelope, errUTF8)
	}
	var e envelope
	if err := json.Unmarshal(line, &e); err != nil {
		return Record{}, fmt.Errorf("%w: %w", errEnvelope, err)
	}
	if field := e.missing(); field != "" {
		return Record{}, fmt.Errorf("%w: %s is missing or not valid", errEnvelope, field)
	}
	f, err := d.factOf(e.V, e.Type, e.Payload)
	if err != nil {
		return Record{}, fmt.Errorf("decode %s: %w", e.Type, err)
	}
	return Record{
		V: e.V, ID: e.ID, SessionID: e.SessionID, Seq: e.Seq, TS: e.TS, ParentID: e.ParentID,
		Critical: e.Critical, Fact: f, Line: line,
	}, nil
}

func (d decoder) factOf(v int, name string, payload []byte) (Fact, error) {
	if v > d.version {
		// A newer version may have given the same name another meaning.
		return Unknown{Type: name, Raw: payload}, nil
	}
	for ; v < d.version; v++ {
		step, ok := d.steps[v]
		if !ok {
			continue
		}
		var err error
		if name, payload, err = step(name, payload); err != nil {
			return nil, fmt.Errorf("migrate from version %d: %w", v, err)
		}
	}
	k, ok := catalog[name]
	if !ok {
		return Unknown{Type: name, Raw: payload}, nil
	}
	return k.decode(payload)
}

// fast decodes a line in canonical form by walking the envelope's literal
// prefixes. It answers ok only where general would answer the same.
func (d decoder) fast(line []byte) (Record, bool) {
	w := walker{rest: line, ok: utf8.Valid(line)}
	r := Record{
		V:         int(w.number(`{"v":`)),
		ID:        w.text(`,"id":`),
		SessionID: w.text(`,"sessionId":`),
		Seq:       w.number(`,"seq":`),
		TS:        w.number(`,"ts":`),
		Line:      line,
	}
	k, known := catalog[w.text(`,"type":`)]
	payload, ok := w.payload()
	if !ok || !known || r.V != d.version || r.ID == "" || r.SessionID == "" || r.Seq < 1 {
		return Record{}, false
	}
	r.Fact, ok = k.fast(payload)
	return r, ok
}

// maxDepth is below the depth at which encoding/json gives up, which it counts
// from the start of what it is given.
const maxDepth = 9_000

// payload is the rest of the line up to its last brace.
func (w *walker) payload() ([]byte, bool) {
	w.literal(`,"payload":`)
	n := len(w.rest) - 1
	if !w.ok || n < 2 || w.rest[0] != '{' || w.rest[n-1] != '}' || w.rest[n] != '}' {
		return nil, false
	}
	p := w.rest[:n]
	return p, n < maxDepth || bytes.Count(p, []byte("{"))+bytes.Count(p, []byte("[")) < maxDepth
}
