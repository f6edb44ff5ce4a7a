package excerpt

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/khaelor/khaelor/internal/wording"
)

// LineLength is how many characters of one line are shown.
const LineLength = 2000

// window is the part of a text that a read shows. It holds no more than that,
// however large the file and however long its lines.
type window struct {
	name         string
	first, limit int // lines wanted, from 1
	room         int // bytes of text
	named        bool

	text  strings.Builder
	last  int  // the last line in text
	cut   int  // the first line of which only the beginning is in text
	cutAt int  // how many bytes of that are
	lines int  // lines seen so far
	ended bool // lines are all there are
	full  bool // the next line wanted does not fit
}

// windowOf is the window of a request. A line as it is shown has at most 8.1 KB,
// so that the first one has room in any that is not smaller.
func windowOf(q Request) *window {
	w := &window{name: q.Name, first: max(q.First, 1), limit: Lines, room: Bytes, named: q.Named}
	if q.Limit > 0 {
		w.limit = q.Limit
	}
	if q.Bytes > 0 {
		w.room = q.Bytes
	}
	return w
}

// scan takes the lines of a text, to its end when they are to be counted, else
// as far as they are wanted.
func (w *window) scan(r io.Reader, count bool) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for count || !w.full {
		err := w.line(in)
		if errors.Is(err, io.EOF) {
			w.ended = true
			return nil
		}
		if err != nil {
			return err
		}
	}
	_, err := in.Peek(1)
	w.ended = errors.Is(err, io.EOF)
	return nil
}

// line takes one line.
func (w *window) line(in *bufio.Reader) error {
	wanted := w.lines+1 >= w.first && !w.full
	var kept, last []byte
	size, length := 0, 0
	for {
		part, err := in.ReadSlice('\n')
		size += len(part)
		if wanted {
			length += characters(part)
			kept = append(kept, part[:min(len(part), LineLength*utf8.UTFMax-len(kept))]...)
			last = part
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (size == 0 || !errors.Is(err, io.EOF)) {
			return err
		}
		break
	}
	w.lines++
	if wanted {
		body, ended := bytes.CutSuffix(last, []byte("\n"))
		if ended {
			body = bytes.TrimSuffix(body, []byte("\r"))
		}
		w.show(kept, length-(len(last)-len(body)), ended)
	}
	return nil
}

// characters counts the bytes that begin one, eight at a time: a line may have
// a gigabyte.
func characters(part []byte) int {
	const high = 0x8080808080808080
	n := len(part)
	for ; len(part) >= 8; part = part[8:] {
		word := binary.LittleEndian.Uint64(part)
		n -= bits.OnesCount64(word &^ (word << 1) & high)
	}
	for _, b := range part {
		if b&0xc0 == 0x80 {
			n--
		}
	}
	return n
}

// show adds a line of so many characters, without those that end it, or finds
// that there is no room for it.
func (w *window) show(line []byte, length int, ended bool) {
	end := ""
	if ended {
		end = "\n"
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	}
	cut := length > LineLength
	shown := line
	if cut {
		shown = wording.Prefix(line, LineLength)
		line = fmt.Appendf(shown, " [… cut; line %d has %d characters]", w.lines, length)
		end = "\n"
	}
	if w.text.Len()+len(line)+len(end) > w.room {
		w.full = true
		return
	}
	w.text.Write(line)
	w.text.WriteString(end)
	w.last = w.lines
	w.full = w.lines-w.first+1 >= w.limit
	if cut && w.cut == 0 {
		w.cut, w.cutAt = w.lines, len(shown)
	}
}

// complete reports that text is the whole file.
func (w *window) complete() bool { return w.first == 1 && w.ended && w.last == w.lines }

// extent says how much of the file is shown.
func (w *window) extent() string {
	switch {
	case w.complete():
		return wording.Count(w.lines, "line")
	case w.last == 0:
		return "past the end"
	case w.ended:
		return fmt.Sprintf("lines %d-%d of %d", w.first, w.last, w.lines)
	}
	return fmt.Sprintf("lines %d-%d", w.first, w.last)
}

// head says what the text alone does not: which part of the file it is, and
// from which charset it was decoded.
func (w *window) head(charset string) string {
	var notes []string
	switch {
	case w.lines == 0 && w.ended:
		return "[the file is empty]"
	case w.last == 0 && w.ended:
		return fmt.Sprintf("[the file has %s; offset %d is past its end]", wording.Count(w.lines, "line"), w.first)
	case w.complete(), w.named && w.last-w.first+1 == w.limit:
	default:
		notes = append(notes, w.extent())
		if !w.ended || w.last < w.lines {
			notes = append(notes, fmt.Sprintf("continue with offset %d", w.last+1))
		}
	}
	if w.cut > 0 && charset == "" { // cut(1) counts bytes, and knows one charset
		notes = append(notes, fmt.Sprintf("see more of a cut line with bash: sed -n %dp %s | cut -b%d-%d", w.cut, quoted(w.name), w.cutAt+1, w.cutAt+LineLength))
	}
	if charset != "" {
		notes = append(notes, "decoded from "+charset)
	}
	if len(notes) == 0 {
		return ""
	}
	return "[" + strings.Join(notes, "; ") + "]\n"
}

// quoted is a name as a word of a shell.
func quoted(name string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+,@", r)
	}
	if !strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return name
	}
	return "'" + strings.ReplaceAll(wording.Name(name), "'", `'\''`) + "'"
}
