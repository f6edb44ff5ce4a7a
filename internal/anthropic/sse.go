package anthropic

import (
	"bytes"
	"io"
)

const (
	readSize = 32 << 10
	// maxEvent bounds one event: far above any real one, far below the memory
	// of the machine.
	maxEvent = 64 << 20
	// longestPing is more than a ping or comment ever has in one line. A longer
	// unfinished line is part of an answer.
	longestPing = 512
)

// eventReader cuts a byte stream into server-sent events as the HTML standard
// says: lines end in LF, CRLF or CR, comments and unknown fields are skipped,
// data lines are joined by LF, an event is dispatched by a blank line, and one
// cut off by the end of the stream is not.
type eventReader struct {
	r        io.Reader
	growing  func() // called while a long line is still arriving
	buf      []byte
	from, to int // the unread part of buf
	scanned  int // bytes from `from` on known to hold no line end
	skipLF   bool
	begun    bool

	name, data []byte
}

func newEventReader(r io.Reader, growing func()) *eventReader {
	return &eventReader{r: r, growing: growing, buf: make([]byte, readSize)}
}

// next is the next event that has data. Both slices hold until the next call.
// The end of the stream is io.EOF.
func (e *eventReader) next() (name, data []byte, err error) {
	e.name, e.data = e.name[:0], e.data[:0]
	for {
		line, err := e.line()
		if err != nil {
			return nil, nil, err
		}
		if len(line) > 0 {
			e.field(line)
			if len(e.data) > maxEvent {
				return nil, nil, fault("an event is larger than 64 MiB")
			}
			continue
		}
		if len(e.data) > 0 {
			return e.name, e.data[:len(e.data)-1], nil
		}
		e.name = e.name[:0]
	}
}

func (e *eventReader) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = append(e.name[:0], value...)
	case "data":
		e.data = append(append(e.data, value...), '\n')
	}
}

// line is the next line without its end. A CR ends a line at once, and an LF
// right after it is dropped when it comes, so nothing waits for it.
func (e *eventReader) line() ([]byte, error) {
	for {
		if e.skipLF && e.from < e.to {
			e.skipLF = false
			if e.buf[e.from] == '\n' {
				e.from++
			}
		}
		unread := e.buf[e.from:e.to]
		if i := lineEnd(unread, e.scanned); i >= 0 {
			e.skipLF = unread[i] == '\r'
			e.from += i + 1
			e.scanned = 0
			return e.withoutBOM(unread[:i]), nil
		}
		e.scanned = len(unread)
		if err := e.fill(); err != nil {
			return nil, err
		}
	}
}

func lineEnd(b []byte, from int) int {
	lf := bytes.IndexByte(b[from:], '\n')
	if lf < 0 {
		lf = len(b) - from
	}
	if cr := bytes.IndexByte(b[from:from+lf], '\r'); cr >= 0 {
		return from + cr
	}
	if from+lf == len(b) {
		return -1
	}
	return from + lf
}

func (e *eventReader) withoutBOM(line []byte) []byte {
	if e.begun {
		return line
	}
	e.begun = true
	return bytes.TrimPrefix(line, []byte("\uFEFF"))
}

// fill reads more behind the unread part, making room first.
func (e *eventReader) fill() error {
	if e.from > 0 {
		e.to = copy(e.buf, e.buf[e.from:e.to])
		e.from = 0
	}
	if e.to == len(e.buf) {
		if e.to >= maxEvent {
			return fault("a line is longer than 64 MiB")
		}
		e.buf = append(e.buf, make([]byte, len(e.buf))...)
	}
	n, err := e.r.Read(e.buf[e.to:])
	e.to += n
	if n > 0 {
		if e.scanned > longestPing {
			e.growing()
		}
		return nil
	}
	return err
}
