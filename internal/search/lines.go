package search

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/khaelor/khaelor/internal/charset"
)

// Bounds of the room that a file is read in, in bytes. A file of any size is
// searched; only one line has to fit.
const (
	windowSize  = 128 << 10
	longestLine = 16 << 20
)

var (
	errBinary   = errors.New("binary file")
	errLongLine = errors.New("a line is too long")
)

// lineReader reads files as windows of whole lines, with LF at their ends. It
// belongs to one goroutine and keeps its room from file to file.
type lineReader struct {
	room []byte
	// decode takes lines that are not UTF-8 for what charset.Detect says; else
	// their bytes are taken as they are.
	decode bool
}

// read calls each with a window: text[fresh:] are lines not seen before. What
// each returns is where the next window is to begin. At errBinary the windows
// before do not count.
func (l *lineReader) read(ctx context.Context, f io.Reader, size int64, each func(text []byte, fresh int) (keep int)) error {
	if l.room == nil {
		l.room = make([]byte, windowSize)
	}
	f, have, total, err := l.begin(f)
	decode := l.decode
	for fresh := 0; ; {
		if err != nil && err != io.EOF {
			return err
		}
		// A short read that reaches the file's size is its end.
		last := err == io.EOF || total == size && have < len(l.room)
		if decode && foreign(l.room[fresh:have], last) {
			decode = false
			if set, ok := charset.Detect(l.room[fresh:have]); ok {
				f = decoded(io.MultiReader(bytes.NewReader(bytes.Clone(l.room[fresh:have])), f), set)
				have, total, err = fresh, untold, nil
				last = false
			}
		}
		end := have
		if !last {
			end = max(bytes.LastIndexByte(l.room[fresh:have], '\n')+1+fresh, fresh)
		}
		if end > fresh {
			shorter := withoutCR(l.room[fresh:end])
			have = end - shorter + copy(l.room[end-shorter:], l.room[end:have])
			end -= shorter
			keep := each(l.room[:end:end], fresh)
			have = copy(l.room, l.room[keep:have])
			fresh = end - keep
		}
		if last || ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := l.grow(have); err != nil {
			return err
		}
		var n int
		n, err = f.Read(l.room[have:])
		if bytes.IndexByte(l.room[have:have+n], 0) >= 0 {
			return errBinary
		}
		have += n
		total += int64(n)
	}
}

// begin reads the first piece, and with it what the file is written in.
func (l *lineReader) begin(f io.Reader) (text io.Reader, have int, total int64, err error) {
	n, err := f.Read(l.room)
	head := l.room[:n]
	total = int64(n)
	set, ok := charset.Marked(head)
	binary := bytes.IndexByte(head, 0) >= 0
	if binary && !ok {
		set, ok = unmarked16(head)
	}
	if ok && set.Name != "" {
		f = set.Reader(io.MultiReader(bytes.NewReader(bytes.Clone(head)), f))
		n, err = f.Read(l.room)
		total, binary = untold, bytes.IndexByte(l.room[:n], 0) >= 0
	} else if ok {
		n = copy(l.room, head[len("\ufeff"):])
	}
	if binary {
		return f, 0, 0, errBinary
	}
	return f, n, total, err
}

// untold is a number of bytes read that says nothing of how many are to come:
// the size of a file is not that of its text.
const untold = -1 << 62

// grow makes room for more when there is none.
func (l *lineReader) grow(have int) error {
	if have < len(l.room) {
		return nil
	}
	if have >= longestLine {
		l.room = nil
		return errLongLine
	}
	room := make([]byte, 2*have)
	copy(room, l.room)
	l.room = room
	return nil
}

// withoutCR makes CR LF one LF, and says by how many bytes the text is shorter.
func withoutCR(text []byte) int {
	at := bytes.IndexByte(text, '\r')
	if at < 0 {
		return 0
	}
	to := at
	for ; at < len(text); at++ {
		if text[at] == '\r' && at+1 < len(text) && text[at+1] == '\n' {
			continue
		}
		text[to] = text[at]
		to++
	}
	return len(text) - to
}
