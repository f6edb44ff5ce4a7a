package builtin

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/khaelor/khaelor/internal/wording"
)

// window is the part of a text that a read shows. It holds no more than that,
// however large the file and however long its lines.
type window struct {
	first, limit int // lines wanted, from 1

	text  strings.Builder
	last  int  // the last line in text
	lines int  // lines seen so far
	ended bool // lines are all there are
	full  bool // the next line wanted does not fit
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
	return nil
}

// line takes one line.
func (w *window) line(in *bufio.Reader) error {
	wanted := w.lines+1 >= w.first && !w.full
	var kept []byte
	size, length := 0, 0
	for {
		part, err := in.ReadSlice('\n')
		size += len(part)
		if wanted {
			length += characters(part)
			kept = append(kept, part[:min(len(part), lineLength*utf8.UTFMax-len(kept))]...)
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
		w.show(kept, length)
	}
	return nil
}

func characters(part []byte) int {
	n := 0
	for _, b := range part {
		if b&0xc0 != 0x80 {
			n++
		}
	}
	return n
}

// show adds a line, or finds that there is no room for it.
func (w *window) show(line []byte, length int) {
	end := ""
	if rest, ok := bytes.CutSuffix(line, []byte("\n")); ok {
		line, end = bytes.TrimSuffix(rest, []byte("\r")), "\n"
	}
	if length > lineLength+1 {
		line = fmt.Appendf(wording.Prefix(line, lineLength), " [… cut; line %d has %d characters]", w.lines, length)
		end = "\n"
	}
	if w.lines >= w.first+w.limit || w.text.Len()+len(line)+len(end) > readBytes {
		w.full = true
		return
	}
	w.text.Write(line)
	w.text.WriteString(end)
	w.last = w.lines
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
	case !w.complete():
		notes = append(notes, w.extent())
		if !w.ended || w.last < w.lines {
			notes = append(notes, fmt.Sprintf("continue with offset %d", w.last+1))
		}
	}
	if charset != "" {
		notes = append(notes, "decoded from "+charset)
	}
	if len(notes) == 0 {
		return ""
	}
	return "[" + strings.Join(notes, "; ") + "]\n"
}
