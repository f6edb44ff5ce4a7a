package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Version is the schema version that lines are written in (seed 003 §5.4).
const Version = 1

// AppendLine appends the record's canonical line, with its newline, to dst.
// A record that was read from a line is written as that line.
func AppendLine(dst []byte, r Record) ([]byte, error) {
	if r.Line != nil {
		return append(append(dst, r.Line...), '\n'), nil
	}
	payload, err := payloadOf(r.Fact)
	if err != nil {
		return dst, fmt.Errorf("encode %s: %w", r.Name(), err)
	}
	dst = append(dst, `{"v":`...)
	dst = strconv.AppendInt(dst, int64(r.V), 10)
	dst = appendString(dst, `,"id":`, r.ID)
	dst = appendString(dst, `,"sessionId":`, r.SessionID)
	dst = strconv.AppendInt(append(dst, `,"seq":`...), r.Seq, 10)
	dst = strconv.AppendInt(append(dst, `,"ts":`...), r.TS, 10)
	if r.ParentID != "" {
		dst = appendString(dst, `,"parentId":`, r.ParentID)
	}
	dst = appendString(dst, `,"type":`, r.Name())
	if r.Critical {
		dst = append(dst, `,"critical":true`...)
	}
	dst = append(append(dst, `,"payload":`...), payload...)
	return append(dst, '}', '\n'), nil
}

// AppendNotice appends the notice's line, with its newline, to dst.
func AppendNotice(dst []byte, l Live) ([]byte, error) {
	payload, err := marshal(l.Notice)
	if err != nil {
		return dst, fmt.Errorf("encode %s: %w", l.Name(), err)
	}
	dst = appendString(dst, `{"id":`, l.ID)
	dst = appendString(dst, `,"sessionId":`, l.SessionID)
	dst = strconv.AppendInt(append(dst, `,"ts":`...), l.TS, 10)
	dst = appendString(dst, `,"type":`, l.Name())
	dst = append(append(dst, `,"payload":`...), payload...)
	return append(dst, '}', '\n'), nil
}

func payloadOf(f Fact) ([]byte, error) {
	if u, ok := f.(Unknown); ok {
		return u.Raw, nil
	}
	return marshal(f)
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

var errEnvelope = errors.New("not an event envelope")

func (d decoder) decode(line []byte) (Record, error) {
	if r, ok := d.fast(line); ok {
		return r, nil
	}
	return d.general(line)
}

// general decodes any valid line. It is the definition of the format; fast is
// held to it by a fuzz test.
func (d decoder) general(line []byte) (Record, error) {
	var e struct {
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
	if !utf8.Valid(line) {
		return Record{}, fmt.Errorf("%w: invalid UTF-8", errEnvelope)
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return Record{}, fmt.Errorf("%w: %w", errEnvelope, err)
	}
	if e.V < 1 || e.ID == "" || e.SessionID == "" || e.Seq < 1 || e.Type == "" || !bytes.HasPrefix(e.Payload, []byte("{")) {
		return Record{}, fmt.Errorf("%w: v, id, sessionId, seq, type and payload are required", errEnvelope)
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
		return Unknown{Type: name, Raw: bytes.Clone(payload)}, nil
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
		return Unknown{Type: name, Raw: bytes.Clone(payload)}, nil
	}
	return k.decode(payload)
}

// fast decodes a line in canonical form by walking the envelope's literal
// prefixes. It answers ok only where general would answer the same.
func (d decoder) fast(line []byte) (Record, bool) {
	w := walker{rest: line, ok: true}
	var r Record
	r.V = int(w.number(`{"v":`))
	r.ID = w.text(`,"id":"`)
	r.SessionID = w.text(`,"sessionId":"`)
	r.Seq = w.number(`,"seq":`)
	r.TS = w.number(`,"ts":`)
	name := w.text(`,"type":"`)
	payload := w.object(`,"payload":`)
	if !w.ok || r.V != d.version || r.ID == "" || r.SessionID == "" || r.Seq < 1 {
		return Record{}, false
	}
	k, known := catalog[name]
	if !known || !utf8.Valid(payload) {
		return Record{}, false
	}
	f, err := k.decode(payload)
	if err != nil {
		return Record{}, false
	}
	r.Fact, r.Line = f, line
	return r, true
}

// walker reads a canonical envelope piece by piece; once something differs it
// is not ok and stays so.
type walker struct {
	rest []byte
	ok   bool
}

func (w *walker) literal(s string) {
	if !w.ok || !bytes.HasPrefix(w.rest, []byte(s)) {
		w.ok = false
		return
	}
	w.rest = w.rest[len(s):]
}

// number reads a non-negative integer in its shortest form.
func (w *walker) number(key string) int64 {
	w.literal(key)
	n := 0
	for w.ok && n < len(w.rest) && n < 19 && '0' <= w.rest[n] && w.rest[n] <= '9' {
		n++
	}
	if !w.ok || n == 0 || n > 18 || (n > 1 && w.rest[0] == '0') {
		w.ok = false
		return 0
	}
	v, err := strconv.ParseInt(string(w.rest[:n]), 10, 64)
	w.ok = err == nil
	w.rest = w.rest[n:]
	return v
}

// text reads a string of plain ASCII and its closing quote.
func (w *walker) text(key string) string {
	w.literal(key)
	if !w.ok {
		return ""
	}
	end := bytes.IndexByte(w.rest, '"')
	if end < 0 || !plain(string(w.rest[:end])) {
		w.ok = false
		return ""
	}
	s := string(w.rest[:end])
	w.rest = w.rest[end+1:]
	return s
}

// object reads the payload, which runs to the line's last brace.
func (w *walker) object(key string) []byte {
	w.literal(key)
	n := len(w.rest)
	if !w.ok || n < 3 || w.rest[0] != '{' || w.rest[n-1] != '}' || w.rest[n-2] != '}' {
		w.ok = false
		return nil
	}
	return w.rest[:n-1]
}

// Text makes s fit for a fact: bytes that are not UTF-8 become U+FFFD.
func Text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
