package spill

import (
	"errors"
	"path"
	"unicode/utf8"

	"github.com/khaelor/khaelor/internal/disk"
)

// bufferSize spares a write for each line, in bytes.
const bufferSize = 32 << 10

// File is a text on its way to the disk. A write that fails ends the file, and
// loses nothing of what came before it.
type File struct {
	store  *Store
	name   string
	file   disk.File
	buffer []byte
	size   int64 // bytes taken, written or in the buffer
	cut    bool
	err    error
}

// Path is where the file is.
func (f *File) Path() string { return path.Join(f.store.path, f.name) }

// Write adds a piece of text that begins and ends with a character, as far as
// the bound lets it.
func (f *File) Write(text []byte) {
	if f.cut || f.err != nil {
		return
	}
	if room := f.store.maxFile - f.size; int64(len(text)) > room {
		for room > 0 && !utf8.RuneStart(text[room]) {
			room--
		}
		text, f.cut = text[:room], true
	}
	f.size += int64(len(text))
	if f.buffer = append(f.buffer, text...); len(f.buffer) >= bufferSize {
		f.flush()
	}
}

func (f *File) flush() {
	if len(f.buffer) == 0 || f.err != nil {
		return
	}
	if f.err = f.file.Append(f.buffer); f.err != nil {
		f.size -= int64(len(f.buffer))
	}
	f.buffer = f.buffer[:0]
}

// errLost reports a file that somebody removed while it was written.
var errLost = errors.New("the file was removed meanwhile")

// Close writes what is left. It returns the first error there was.
func (f *File) Close() error {
	f.flush()
	err := errors.Join(f.err, f.file.Close(), f.store.closed(f.name))
	if !f.store.has(f.name) {
		f.size, f.cut, err = 0, true, errors.Join(err, errLost)
	}
	return err
}

// Size is how much of the text the closed file holds, in bytes, and whether
// that is less than there was.
func (f *File) Size() (bytes int64, cut bool) { return f.size, f.cut || f.err != nil }
