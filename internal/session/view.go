package session

import (
	"errors"
	"iter"

	"github.com/khaelor/khaelor/internal/event"
)

// View reads a session without its lock and without repairing anything: for
// showing, exporting and attaching, while another program writes to it too.
type View struct {
	Ref
	store *Store
}

// View finds a session for reading.
func (s *Store) View(id string) (*View, error) {
	ref, err := s.Find(id)
	if err != nil {
		return nil, err
	}
	return &View{Ref: ref, store: s}, nil
}

var errEnough = errors.New("enough")

// Records are the facts in order, streamed: a record's Line is valid only
// until the next one. A torn last line is left out; at any other damage the
// sequence ends with a *DamagedError.
func (v *View) Records() iter.Seq2[event.Record, error] {
	return func(yield func(event.Record, error) bool) {
		_, err := v.store.replay(v.Ref, func(r event.Record) error {
			if !yield(r, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(event.Record{}, err)
		}
	}
}

// Blob is the content that a fact names.
func (v *View) Blob(sha string) ([]byte, error) { return v.store.blob(v.Ref, sha) }
