package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/khaelor/khaelor/internal/event"
)

// blobFile is where a content is kept. It refuses what is no SHA-256, so that
// a log cannot name any other file.
func blobFile(ref Ref, sha string) (string, error) {
	if raw, err := hex.DecodeString(sha); err != nil || len(raw) != sha256.Size {
		return "", fmt.Errorf("blob %q: not a SHA-256 in hex", sha)
	}
	return ref.file(blobsSuffix) + "/" + sha, nil
}

// PutBlob keeps data beside the log and names it. The same data is kept once.
//
// It returns when the data would survive a power loss, so that no fact names a
// blob that the device may never get: a change would be recorded that cannot be
// taken back, or a picture that no request can be rebuilt with. That takes two
// of the six waits for the device of a turn with one edit (file and folder;
// two are the log's, two the user's file's), because a disk.Dir writes one file
// at a time. It is not put off to the log's own wait: the user's file is
// replaced before that, and by then what it held must be safe.
func (l *Log) PutBlob(data []byte) (sha string, err error) { return l.store.putBlob(l.ref, data) }

// Blob is the content of that name. One that is missing is fs.ErrNotExist.
func (l *Log) Blob(sha string) ([]byte, error) { return l.store.blob(l.ref, sha) }

func (s *Store) putBlob(ref Ref, data []byte) (string, error) {
	sum := sha256.Sum256(data)
	sha := hex.EncodeToString(sum[:])
	if s.hasBlob(ref, sha) {
		return sha, nil
	}
	name := ref.file(blobsSuffix) + "/" + sha
	if err := s.dir.WriteFile(name, data); err != nil {
		return "", failedWrite(name, err)
	}
	return sha, nil
}

func (s *Store) hasBlob(ref Ref, sha string) bool {
	name, err := blobFile(ref, sha)
	if err != nil {
		return false
	}
	file, err := s.dir.Open(name)
	if err != nil {
		return false
	}
	return file.Close() == nil
}

func (s *Store) blob(ref Ref, sha string) ([]byte, error) {
	name, err := blobFile(ref, sha)
	if err != nil {
		return nil, err
	}
	file, err := s.dir.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read blob: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("read blob %s: %w", name, err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != sha {
		return nil, fmt.Errorf("read blob %s: its content is not what its name says", name)
	}
	return data, nil
}

// mediaOf are the blobs without which a request cannot be rebuilt.
func mediaOf(f event.Fact) []string {
	var media []event.Media
	switch p := f.(type) {
	case event.UserMessageCreated:
		media = p.Images
	case event.MessageQueued:
		media = p.Images
	case event.ToolCompleted:
		media = p.Media
	}
	var shas []string
	for _, m := range media {
		shas = append(shas, m.SHA256)
	}
	return shas
}

// contentsOf are the blobs without which a change cannot be taken back.
func contentsOf(f event.Fact) []string {
	var shas []string
	if p, ok := f.(event.FileModified); ok {
		for _, sha := range []string{p.BeforeSHA256, p.AfterSHA256} {
			if sha != "" {
				shas = append(shas, sha)
			}
		}
	}
	return shas
}

// copyBlobs brings what the fact names from one session to another. What is
// not there cannot be copied, and is not there in the copy.
func (s *Store) copyBlobs(from, to Ref, f event.Fact) error {
	for _, sha := range append(mediaOf(f), contentsOf(f)...) {
		if s.hasBlob(to, sha) {
			continue
		}
		data, err := s.blob(from, sha)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := s.putBlob(to, data); err != nil {
			return err
		}
	}
	return nil
}
