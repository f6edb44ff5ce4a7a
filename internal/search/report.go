package search

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/khaelor/khaelor/internal/charset"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/wording"
)

// The modes of a search.
type Mode string

const (
	Content Mode = "content" // the lines that fit, under their file's name
	Files   Mode = "files"   // the names of the files
	Count   Mode = "count"   // the names, each with the number of its lines
)

// Bounds of a line that is shown, in characters.
const (
	shownLine   = 500
	beforeMatch = 100 // before the match, in a line that is cut
)

// report writes what was found, as far as there is room, and counts the rest.
// Files come in the order in which they are to stand.
type report struct {
	*matcher
	reader  lineReader
	mode    Mode
	context int // lines around one that fits

	text  strings.Builder
	room  int // characters
	full  bool
	files int // that fit
	lines int
	// What there was no room for.
	leftFiles, leftLines int
}

// write adds text when there is room.
func (r *report) write(s string) bool {
	n := utf8.RuneCountInString(s)
	if r.full || n > r.room {
		r.full = true
		return false
	}
	r.room -= n
	r.text.WriteString(s)
	return true
}

// count takes in a file of which the number of lines is known.
func (r *report) count(shown string, lines int) {
	r.files++
	r.lines += lines
	line := shown
	if r.mode == Count {
		line += ":" + strconv.Itoa(lines)
	}
	if r.mode == Content || !r.write(line+"\n") {
		r.leftFiles++
		r.leftLines += lines
	}
}

// content shows the lines of one file.
func (r *report) content(ctx context.Context, shown string, f io.Reader, size int64) error {
	v := &view{report: r, shown: shown}
	err := r.reader.read(ctx, f, size, v.window)
	if v.found == 0 {
		return err
	}
	r.files++
	r.lines += v.found
	r.leftLines += v.left
	if v.left > 0 {
		r.leftFiles++
	}
	return err
}

// view writes the matching lines of one file under its name.
type view struct {
	*report
	shown string
	text  []byte           // the window
	set   *charset.Charset // of lines that are not UTF-8; nil is unknown

	found, left int
	at          int  // the text before is done with
	line        int  // lines before at
	gap         bool // lines were left out since the last shown
	owed        int  // lines of context behind the last match
}

// window takes the next lines, and says which of them can still be context.
func (v *view) window(text []byte, fresh int) int {
	v.text = text
	v.matcher.lines(text[fresh:], func(start, end int) bool {
		v.match(fresh + start)
		return true
	})
	if v.full {
		return len(text)
	}
	v.after(len(text))
	v.skip(v.before(len(text)))
	keep := v.at
	v.at = 0
	return keep
}

// match takes the next line that fits.
func (v *view) match(start int) {
	v.found++
	if v.full {
		v.left++
		return
	}
	v.after(start)
	v.skip(v.before(start))
	switch {
	case v.found == 1:
		v.write(v.shown + "\n")
	case v.gap && v.context > 0:
		v.write("--\n")
	}
	v.gap = false
	for v.at < start {
		v.show('-')
	}
	if !v.show(':') {
		v.left++
	}
	v.owed = v.context
}

// before is where the context of a line begins.
func (v *view) before(start int) int {
	for range v.context {
		if start <= v.at {
			return v.at
		}
		start = bytes.LastIndexByte(v.text[:start-1], '\n') + 1
	}
	return max(start, v.at)
}

// after writes the context behind the last match, but for what begins at end.
func (v *view) after(end int) {
	for ; v.owed > 0 && v.at < end; v.owed-- {
		v.show('-')
	}
}

func (v *view) skip(to int) {
	v.gap = v.gap || to > v.at
	v.line += bytes.Count(v.text[v.at:to], []byte("\n"))
	v.at = to
}

// show writes the line at v.at, marked as a match or as context.
func (v *view) show(mark byte) bool {
	end := endOfLine(v.text, v.at)
	v.line++
	line := v.text[v.at:end]
	v.at = min(end+1, len(v.text))
	return v.write(strconv.Itoa(v.line) + string(mark) + event.Text(v.clip(v.legible(line))) + "\n")
}

// legible is a line as text, if it was searched as bytes.
func (v *view) legible(line []byte) []byte {
	if utf8.Valid(line) {
		return line
	}
	if v.set == nil {
		set, _ := charset.Detect(v.text) // of no text bytes stay what they are
		v.set = &set
	}
	return legible(line, *v.set)
}

// clip shows a long line around its match.
func (r *report) clip(line []byte) string {
	length := 0
	if len(line) > shownLine {
		length = utf8.RuneCount(line)
	}
	if length <= shownLine {
		return string(line)
	}
	from := 0
	if loc := r.re.FindIndex(line); loc != nil {
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

// end says how much was left out.
func (r *report) end() {
	switch {
	case r.files == 0:
		r.text.WriteString("no matches\n")
	case r.leftFiles > 0 && r.mode == Files:
		fmt.Fprintf(&r.text, "[%s left out of %d; narrow the pattern, path or glob]\n", wording.Count(r.leftFiles, "file"), r.files)
	case r.leftFiles > 0:
		fmt.Fprintf(&r.text, "[%s in %s left out of %d in %d; narrow the pattern, path or glob]\n",
			wording.Count(r.leftLines, "match"), wording.Count(r.leftFiles, "file"), r.lines, r.files)
	}
}
