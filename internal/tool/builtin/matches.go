package builtin

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/khaelor/khaelor/internal/charset"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/wording"
)

// Bounds of a search.
const (
	shownLine   = 500      // characters of one line
	beforeMatch = 100      // of them before the match, in a line that is cut
	searchLimit = 64 << 20 // bytes of one file
)

// matches writes what a search found, as far as there is room, and counts the
// rest. Files come in the order in which they are to stand.
type matches struct {
	pattern *pattern
	mode    string
	context int

	text  strings.Builder
	room  int // characters
	full  bool
	files int // with a match
	lines int // that match
	// left is what did not fit.
	leftFiles, leftLines int
	tooLarge             int // files
	unread               int // folders
}

func newMatches(p *pattern, mode string, context int) *matches {
	return &matches{pattern: p, mode: mode, context: context, room: tool.ResultLimit}
}

// file searches one file.
func (m *matches) file(shown string, f io.Reader, size int64) error {
	if size > searchLimit {
		m.tooLarge++
		return nil
	}
	var data bytes.Buffer
	data.Grow(int(size) + bytes.MinRead)
	if _, err := data.ReadFrom(f); err != nil {
		return err
	}
	if text, ok := searchable(data.Bytes()); ok {
		m.add(shown, text)
	}
	return nil
}

// searchable is a file's content as text with line feeds; ok is false for a
// binary file.
func searchable(content []byte) (text []byte, ok bool) {
	set, _ := charset.Marked(content) // without a mark the bytes are searched as they are, as ripgrep does
	data, err := set.Text(content)
	if err != nil {
		return nil, false
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, false
	}
	if bytes.IndexByte(data, '\r') >= 0 {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	return data, true
}

// add searches the content of one file.
func (m *matches) add(shown string, text []byte) {
	if m.mode == modeContent && !m.full {
		m.addContent(shown, text)
		return
	}
	n := 0
	m.pattern.lines(text, func(int, int) { n++ })
	m.count(shown, n)
}

// count takes in a file of which the number of matching lines is known.
func (m *matches) count(shown string, n int) {
	if n == 0 {
		return
	}
	m.files++
	m.lines += n
	line := shown
	if m.mode == modeCount {
		line += ":" + strconv.Itoa(n)
	}
	if m.mode == modeContent || !m.write(line+"\n") {
		m.leftFiles++
		m.leftLines += n
	}
}

// write adds text when there is room.
func (m *matches) write(s string) bool {
	n := utf8.RuneCountInString(s)
	if m.full || n > m.room {
		m.full = true
		return false
	}
	m.room -= n
	m.text.WriteString(s)
	return true
}

func (m *matches) addContent(shown string, text []byte) {
	v := &view{m: m, shown: shown, text: text}
	m.pattern.lines(text, v.match)
	v.after(len(text))
	if v.found == 0 {
		return
	}
	m.files++
	m.lines += v.found
	m.leftLines += v.left
	if v.left > 0 {
		m.leftFiles++
	}
}

// view writes the matching lines of one file under its name.
type view struct {
	m     *matches
	shown string
	text  []byte

	found, left int
	at          int // the text before is done with
	line        int // lines before at
}

// match takes the next matching line.
func (v *view) match(start, end int) {
	v.found++
	if v.m.full {
		v.left++
		return
	}
	v.after(start)
	from := v.before(start)
	switch {
	case v.found == 1:
		v.m.write(v.shown + "\n")
	case from > v.at && v.m.context > 0:
		v.m.write("--\n")
	}
	v.skip(from)
	for v.at < start {
		v.show('-')
	}
	if !v.show(':') {
		v.left++
	}
}

// before is where the context of a line begins.
func (v *view) before(start int) int {
	for range v.m.context {
		if start <= v.at {
			return v.at
		}
		start = bytes.LastIndexByte(v.text[:start-1], '\n') + 1
	}
	return max(start, v.at)
}

// after writes the context behind the last match, but for what begins at end.
func (v *view) after(end int) {
	for n := 0; n < v.m.context && v.found > 0 && v.at > 0 && v.at < end; n++ {
		v.show('-')
	}
}

func (v *view) skip(to int) {
	v.line += bytes.Count(v.text[v.at:to], []byte("\n"))
	v.at = to
}

// show writes the line at v.at, marked as a match or as context.
func (v *view) show(mark byte) bool {
	end := lineEnd(v.text, v.at)
	v.line++
	line := v.text[v.at:end]
	v.at = min(end+1, len(v.text))
	return v.m.write(strconv.Itoa(v.line) + string(mark) + event.Text(v.m.clip(line)) + "\n")
}

// clip shows a long line around its match.
func (m *matches) clip(line []byte) string {
	if len(line) <= shownLine {
		return string(line)
	}
	length := utf8.RuneCount(line)
	if length <= shownLine {
		return string(line)
	}
	from := 0
	if loc := m.pattern.re.FindIndex(line); loc != nil {
		from = backOff(line, loc[0], beforeMatch)
	}
	part := string(wording.Prefix(line[from:], shownLine))
	if from > 0 {
		part = "…" + part
	}
	return part + fmt.Sprintf(" [… cut; %d characters]", length)
}

// backOff is the offset of the n-th character before at.
func backOff(line []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(line[:at])
		at -= size
	}
	return at
}

// result is everything found, with what was left out.
func (m *matches) result() string {
	if m.files == 0 {
		m.text.WriteString("no matches\n")
	}
	if m.leftLines > 0 {
		fmt.Fprintf(&m.text, "[%s in %s left out of %d in %d; narrow the pattern, path or glob]\n",
			wording.Count(m.leftLines, "match"), wording.Count(m.leftFiles, "file"), m.lines, m.files)
	}
	if m.tooLarge > 0 {
		fmt.Fprintf(&m.text, "[%s over %d MB not searched]\n", wording.Count(m.tooLarge, "file"), searchLimit>>20)
	}
	if m.unread > 0 {
		fmt.Fprintf(&m.text, "[%s could not be read]\n", wording.Count(m.unread, "folder"))
	}
	return m.text.String()
}
