package event

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// walks read the payloads that a log mostly consists of, several times as fast
// as encoding/json; all others go through it. A walk that meets anything but
// the canonical form gives up, and the line is decoded in general.
var walks = map[string]func(*walker) Fact{
	ModelRequestStarted{}.durable():         walkRequestStarted,
	ModelTextBlockCompleted{}.durable():     walkTextBlock,
	ModelThinkingBlockCompleted{}.durable(): walkThinkingBlock,
	ModelResponseCompleted{}.durable():      walkResponseCompleted,
	ToolRequested{}.durable():               walkToolRequested,
	ToolApproved{}.durable():                walkToolApproved,
	ToolStarted{}.durable():                 walkToolStarted,
	ToolCompleted{}.durable():               walkToolCompleted,
	FileRead{}.durable():                    walkFileRead,
}

func walkRequestStarted(w *walker) Fact {
	f := ModelRequestStarted{
		RequestID: w.text(`{"requestId":`),
		Model:     w.text(`,"model":`),
		Purpose:   Purpose(w.text(`,"purpose":`)),
	}
	f.ContextStats.EstimatedInputTokens = w.number(`,"contextStats":{"estimatedInputTokens":`)
	f.ContextStats.Sections = List[Section]{}
	w.literal(`,"sections":[`)
	for key := `{"name":`; w.ok && !w.at(`]`); key = `,{"name":` {
		s := Section{Name: w.text(key), EstimatedTokens: w.number(`,"estimatedTokens":`)}
		w.literal(`}`)
		f.ContextStats.Sections = append(f.ContextStats.Sections, s)
	}
	w.literal(`]}`)
	return f
}

func walkTextBlock(w *walker) Fact {
	return ModelTextBlockCompleted{
		RequestID:  w.text(`{"requestId":`),
		BlockIndex: int(w.number(`,"blockIndex":`)),
		Text:       w.text(`,"text":`),
	}
}

func walkThinkingBlock(w *walker) Fact {
	return ModelThinkingBlockCompleted{
		RequestID:  w.text(`{"requestId":`),
		BlockIndex: int(w.number(`,"blockIndex":`)),
		Thinking:   w.text(`,"thinking":`),
		Signature:  w.text(`,"signature":`),
	}
}

func walkResponseCompleted(w *walker) Fact {
	f := ModelResponseCompleted{
		RequestID:  w.text(`{"requestId":`),
		StopReason: StopReason(w.text(`,"stopReason":`)),
		Usage: ModelUsage{
			InputTokens:      w.number(`,"usage":{"inputTokens":`),
			OutputTokens:     w.number(`,"outputTokens":`),
			CacheReadTokens:  w.number(`,"cacheReadTokens":`),
			CacheWriteTokens: w.number(`,"cacheWriteTokens":`),
		},
	}
	f.DurationMS = w.number(`},"durationMs":`)
	return f
}

func walkToolRequested(w *walker) Fact {
	return ToolRequested{
		RequestID:  w.text(`{"requestId":`),
		BlockIndex: int(w.number(`,"blockIndex":`)),
		ToolUseID:  w.text(`,"toolUseId":`),
		ToolName:   w.text(`,"toolName":`),
		Input:      w.raw(`,"input":`),
	}
}

func walkToolApproved(w *walker) Fact {
	return ToolApproved{ToolUseID: w.text(`{"toolUseId":`), Via: ApprovalVia(w.text(`,"via":`))}
}

func walkToolStarted(w *walker) Fact {
	return ToolStarted{ToolUseID: w.text(`{"toolUseId":`), ToolName: w.text(`,"toolName":`)}
}

// walkToolCompleted leaves results with media to encoding/json.
func walkToolCompleted(w *walker) Fact {
	f := ToolCompleted{
		ToolUseID: w.text(`{"toolUseId":`),
		ModelText: w.text(`,"modelText":`),
	}
	if w.at(`,"spillFile":`) {
		f.SpillFile = w.text(`,"spillFile":`)
	}
	f.DurationMS = w.number(`,"durationMs":`)
	f.UI.Kind = UIKind(w.text(`,"ui":{"kind":`))
	f.UI.Summary = w.text(`,"summary":`)
	if w.at(`,"diffStats":`) {
		f.UI.DiffStats = &DiffStats{
			Added:   int(w.number(`,"diffStats":{"added":`)),
			Removed: int(w.number(`,"removed":`)),
		}
		w.literal(`}`)
	}
	f.UI.ExitCode = w.maybeInt(`,"exitCode":`)
	f.UI.MatchCount = w.maybeInt(`,"matchCount":`)
	w.literal(`}`)
	return f
}

func walkFileRead(w *walker) Fact {
	f := FileRead{Path: w.text(`{"path":`)}
	if w.at(`,"range":`) {
		f.Range = &Span{Start: int(w.number(`,"range":{"start":`)), End: int(w.number(`,"end":`))}
		w.literal(`}`)
	}
	f.Bytes = w.number(`,"bytes":`)
	f.MtimeMS = w.number(`,"mtimeMs":`)
	f.ToolUseID = w.text(`,"toolUseId":`)
	if w.at(`,"sha256":`) {
		f.SHA256 = w.text(`,"sha256":`)
	}
	return f
}

// walker reads canonical JSON piece by piece; once something differs it is not
// ok and stays so.
type walker struct {
	rest []byte
	ok   bool
}

// at says whether s comes next.
func (w *walker) at(s string) bool {
	return w.ok && len(w.rest) >= len(s) && string(w.rest[:len(s)]) == s
}

func (w *walker) literal(s string) {
	w.ok = w.at(s)
	if w.ok {
		w.rest = w.rest[len(s):]
	}
}

// number reads a non-negative integer in its shortest form.
func (w *walker) number(key string) int64 {
	w.literal(key)
	n := 0
	for w.ok && n < len(w.rest) && '0' <= w.rest[n] && w.rest[n] <= '9' {
		n++
	}
	if !w.ok || n == 0 || n > 18 || (n > 1 && w.rest[0] == '0') {
		w.ok = false
		return 0
	}
	var v int64
	for _, digit := range w.rest[:n] {
		v = v*10 + int64(digit-'0')
	}
	w.rest = w.rest[n:]
	return v
}

func (w *walker) maybeInt(key string) *int {
	if !w.at(key) {
		return nil
	}
	n := int(w.number(key))
	return &n
}

// text reads a string. That its bytes are UTF-8 is for the caller to see to.
func (w *walker) text(key string) string {
	w.literal(key)
	w.literal(`"`)
	if !w.ok {
		return ""
	}
	n := run(w.rest)
	if n < len(w.rest) && w.rest[n] == '"' {
		s := string(w.rest[:n])
		w.rest = w.rest[n+1:]
		return s
	}
	return w.escaped()
}

// escaped reads the rest of a string that has escapes in it.
func (w *walker) escaped() string {
	end := closing(w.rest)
	if end < 0 {
		w.ok = false
		return ""
	}
	var b strings.Builder
	b.Grow(end)
	for w.ok {
		n := run(w.rest)
		b.Write(w.rest[:n])
		w.rest = w.rest[n:]
		if w.at(`"`) {
			w.rest = w.rest[1:]
			return b.String()
		}
		w.escape(&b)
	}
	return ""
}

// shortEscapes are what may follow a backslash, and what each stands for.
var shortEscapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// escape reads one escape sequence. Surrogates, which are never written, are
// left to encoding/json.
func (w *walker) escape(b *strings.Builder) {
	w.literal(`\`)
	if !w.ok || len(w.rest) == 0 {
		w.ok = false
		return
	}
	if c := shortEscapes[w.rest[0]]; c != 0 {
		b.WriteByte(c)
		w.rest = w.rest[1:]
		return
	}
	if w.literal(`u`); !w.ok || len(w.rest) < 4 {
		w.ok = false
		return
	}
	code, err := strconv.ParseUint(string(w.rest[:4]), 16, 16)
	if w.ok = err == nil && utf8.ValidRune(rune(code)); w.ok {
		b.WriteRune(rune(code))
		w.rest = w.rest[4:]
	}
}

// run is the number of bytes before the first that does not stand for itself
// inside a JSON string.
func run(s []byte) int {
	for i, c := range s {
		if c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return len(s)
}

// closing is the place of the quote that ends a string, or -1.
func closing(s []byte) int {
	for from := 0; ; {
		end := bytes.IndexByte(s[from:], '"')
		if end < 0 {
			return -1
		}
		end += from
		slashes := 0
		for end-slashes > 0 && s[end-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end
		}
		from = end + 1
	}
}

// raw reads the object that is the payload's last field, which runs to the
// payload's own brace.
func (w *walker) raw(key string) json.RawMessage {
	w.literal(key)
	n := len(w.rest) - 1
	if !w.ok || n < 2 || w.rest[0] != '{' || w.rest[n-1] != '}' || !json.Valid(w.rest[:n]) {
		w.ok = false
		return nil
	}
	raw := json.RawMessage(bytes.Clone(w.rest[:n]))
	w.rest = w.rest[n:]
	return raw
}
