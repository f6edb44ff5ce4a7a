package session

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/khaelor/khaelor/internal/event"
)

// Fork copies a session's first facts, up to and with seq at (0: all), into a
// new session that goes on from there. Every line of the copy carries the new
// session's id; its own id, number, time and payload stay as they are. The cut
// may be anywhere: Open closes what it left open. A damaged log can be forked
// before the damage.
func (s *Store) Fork(id string, at int64) (newID string, err error) {
	from, err := s.Find(id)
	if err != nil {
		return "", err
	}
	if at < 0 {
		return "", fmt.Errorf("fork session %s: there is no event %d", from.ID, at)
	}
	l, err := s.begin(Ref{ID: s.clock.ID(), Project: from.Project})
	if err != nil {
		return "", err
	}
	if err := l.copyFrom(from, at); err != nil {
		l.discard()
		return "", fmt.Errorf("fork session %s: %w", from.ID, err)
	}
	return l.ref.ID, l.Close()
}

// copyFrom fills a new log.
func (l *Log) copyFrom(from Ref, at int64) error {
	const chunk = 1 << 20
	var buf []byte
	flush := func() error {
		if err := l.file.Append(buf); err != nil {
			return failedWrite(l.ref.file(logSuffix), err)
		}
		buf = buf[:0]
		return nil
	}
	_, err := l.store.replay(from, func(r event.Record) error {
		before := len(buf)
		var err error
		if buf, err = appendCopy(buf, r, l.session); err != nil {
			return err
		}
		r.SessionID = l.session
		l.fold(r, int64(len(buf)-before))
		if err := l.store.copyBlobs(from, l.ref, r.Fact); err != nil {
			return err
		}
		if len(buf) > chunk {
			if err := flush(); err != nil {
				return err
			}
		}
		if r.Seq == at {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	last := l.folded.State.LastSeq
	if last == 0 || at > last {
		return fmt.Errorf("it has %d events, not %d", last, at)
	}
	if err := flush(); err != nil {
		return err
	}
	l.unsynced = true
	_, err = l.Publish(event.SessionForked{FromSessionID: from.ID, AtSeq: last})
	return err
}

// appendCopy writes a record's line for another session, with the payload's
// own bytes: what this program does not know of it stays, too.
func appendCopy(dst []byte, r event.Record, session string) ([]byte, error) {
	var line struct {
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
	}
	if err := json.Unmarshal(r.Line, &line); err != nil {
		return dst, err
	}
	r.SessionID, r.Line = session, nil
	r.Fact = event.Unknown{Type: line.Type, Raw: line.Payload}
	return event.AppendLine(dst, r)
}
