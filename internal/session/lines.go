package session

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/khaelor/khaelor/internal/event"
)

// readAhead is one read of the file; longer lines are put together.
const readAhead = 256 << 10

// lines reads a log line by line, of any length, in one reused buffer.
type lines struct {
	in   *bufio.Reader
	long []byte
}

func newLines(r io.Reader) *lines { return &lines{in: bufio.NewReaderSize(r, readAhead)} }

// next is the next line with its newline; the last one may lack it. It is
// valid until the next call. The error is io.EOF after the last line.
func (l *lines) next() ([]byte, error) {
	line, err := l.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = l.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			l.long = append(l.long, line...)
			line, err = l.in.ReadSlice('\n')
		}
		l.long = append(l.long, line...)
		line = l.long
	}
	if len(line) > 0 && errors.Is(err, io.EOF) {
		return line, nil
	}
	return line, err
}

var errCutOff = errors.New("the line is cut off")

// decodeRaw reads a line as next returns it.
func decodeRaw(raw []byte) (event.Record, error) {
	line, whole := bytes.CutSuffix(raw, []byte("\n"))
	if !whole {
		return event.Record{}, errCutOff
	}
	return event.DecodeLine(line)
}

// extent is how much of a log is sound.
type extent struct {
	size int64  // bytes of the whole lines
	torn []byte // what follows them: a last line that was cut off
}

// replay hands each record to each, in order. A record's Line is valid only
// until each returns. A last line that cannot be read is torn, not an error;
// anything else that is wrong ends the replay with a *DamagedError.
func (s *Store) replay(ref Ref, each func(event.Record) error) (extent, error) {
	var done extent
	file, err := s.dir.Open(ref.file(logSuffix))
	if err != nil {
		return done, fmt.Errorf("read session %s: %w", ref.ID, err)
	}
	defer file.Close()
	in, session := newLines(file), ""
	for n := int64(1); ; n++ {
		raw, err := in.next()
		if errors.Is(err, io.EOF) {
			return done, nil
		}
		if err != nil {
			return done, fmt.Errorf("read session %s: %w", ref.ID, err)
		}
		r, err := decodeRaw(raw)
		if err != nil {
			torn := bytes.Clone(raw)
			if _, next := in.next(); errors.Is(next, io.EOF) {
				done.torn = torn
				return done, nil
			}
			return done, damaged(ref, n, err.Error())
		}
		if n == 1 {
			session = r.SessionID
		}
		if reason := misplaced(r, n, session); reason != "" {
			return done, damaged(ref, n, reason)
		}
		done.size += int64(len(raw))
		if err := each(r); err != nil {
			return done, err
		}
	}
}

func damaged(ref Ref, line int64, reason string) error {
	return &DamagedError{ID: ref.ID, File: ref.file(logSuffix), Line: line, Reason: reason}
}

// misplaced says what is wrong with the record's place in its log: "" when
// it is the n-th of that session.
func misplaced(r event.Record, n int64, session string) string {
	_, starts := r.Fact.(event.SessionStarted)
	switch {
	case r.Seq != n:
		return fmt.Sprintf("seq %d where %d belongs", r.Seq, n)
	case r.SessionID != session:
		return fmt.Sprintf("a line of session %s in the log of %s", r.SessionID, session)
	case n == 1 && !starts:
		return fmt.Sprintf("the log begins with %s, not with session.started", r.Name())
	}
	return ""
}
