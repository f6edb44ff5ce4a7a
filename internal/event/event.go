// Package event is the vocabulary: every fact a session log can hold, every
// notice the live bus can carry, and the one codec for both.
//
// A Fact is durable: it is a line of the log, numbered without gaps, and the
// truth. A Notice is ephemeral: streaming deltas and the like, seen by live
// subscribers and never stored. Both sets are closed, because their one method
// is unexported; that method also holds the wire name, so it stands once.
//
// The package promises that a line decodes to a Record whose Line is that
// line byte for byte, that encoding is canonical (envelope and payload in
// declared field order, no HTML escaping), that unknown fields are tolerated
// and kept with the line, and that an unknown type survives as Unknown. What
// facts mean is left to fold; where they are kept, to session.
//
// Start reading here, then codec.go, then one family: tool.go.
package event

// Fact is something that happened and is kept.
type Fact interface {
	durable() string
}

// Notice is something that happens and is not kept.
type Notice interface {
	ephemeral() string
}

// Record is a fact with its envelope: its place in one session's log.
type Record struct {
	V         int    // schema version of the line this was read from or is written as
	ID        string // ULID
	SessionID string
	Seq       int64 // 1, 2, 3 … without gaps within a session
	TS        int64 // milliseconds since the Unix epoch
	ParentID  string
	// Critical marks a fact that a reader which does not know it may not skip.
	Critical bool
	Fact     Fact
	// Line is the line this record was decoded from, without its newline: nil
	// in a record that was never written.
	Line []byte
}

// Name is the wire name of the record's fact, "tool.completed".
func (r Record) Name() string { return r.Fact.durable() }

// Live is a notice with its envelope.
type Live struct {
	ID        string
	SessionID string
	TS        int64 // milliseconds since the Unix epoch
	Notice    Notice
}

// Name is the wire name of the notice, "model.text-delta".
func (l Live) Name() string { return l.Notice.ephemeral() }

// NameOf is the wire name of a fact.
func NameOf(f Fact) string { return f.durable() }

// NoticeNameOf is the wire name of a notice.
func NoticeNameOf(n Notice) string { return n.ephemeral() }

// Unknown is a fact of a type this program does not know, from a newer one.
type Unknown struct {
	Type string
	Raw  []byte // the payload as it stands on the line
}

func (u Unknown) durable() string { return u.Type }

// Span is an inclusive range of 1-based lines.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// DiffStats counts lines.
type DiffStats struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// Media names a picture or document kept in the session's blobs folder.
type Media struct {
	MediaType string `json:"mediaType"`
	SHA256    string `json:"sha256"` // lower-case hex of the bytes
}
