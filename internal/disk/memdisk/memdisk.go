// Package memdisk is a disk.Dir in memory that can lose power.
//
// It keeps what was synced apart from what was only written, and it fails on
// request, so that tests can put the worst moment anywhere. It promises the
// guarantees of the real Dir and not one more: WriteFile, Remove and the
// creation of a file are durable when they return, appended bytes and
// truncations only after Sync. Start reading at Dir.
package memdisk

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/khaelor/khaelor/internal/disk"
)

// Dir is a folder in memory. It is safe for concurrent use.
type Dir struct {
	mu     sync.Mutex
	files  map[string]*content
	locked map[string]bool
	writes int64 // orders modification times
	fault  fault
}

var _ disk.Dir = (*Dir)(nil)

// content is a file. Invariant: synced is never written to, so that it may share
// its bytes with live.
type content struct {
	live, synced []byte
	modTime      time.Time
}

type fault struct {
	after   int // appends that still succeed
	err     error
	partial int
}

// New is an empty folder.
func New() *Dir {
	return &Dir{files: map[string]*content{}, locked: map[string]bool{}}
}

// PowerLoss is the folder as it would be found after the power went now. The
// Dir itself goes on as if nothing had happened; locks are free in the new one.
func (d *Dir) PowerLoss() *Dir { return d.PowerLossKeeping(0) }

// PowerLossKeeping is PowerLoss when the device had got, of each file, the first
// n bytes of what was appended but not synced.
func (d *Dir) PowerLossKeeping(n int) *Dir {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := New()
	found.writes = d.writes
	for name, c := range d.files {
		kept := c.synced
		if unsynced, ok := bytes.CutPrefix(c.live, c.synced); ok {
			kept = slices.Concat(kept, unsynced[:min(n, len(unsynced))])
		}
		found.files[name] = &content{live: slices.Clip(kept), synced: slices.Clip(kept), modTime: c.modTime}
	}
	return found
}

// FailAppendAfter lets n more appends succeed and every later one fail with
// err. Of the first that fails, partial bytes stay in the file, as if the
// device had died before they could be cut off again. A nil err ends the
// failing.
func (d *Dir) FailAppendAfter(n int, err error, partial int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = fault{after: n, err: err, partial: partial}
}

// List names the entries of one folder, sorted by name.
func (d *Dir) List(folder string) ([]disk.Entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	folder = path.Clean("/" + folder)
	found := map[string]disk.Entry{}
	for name, c := range d.files {
		rest, ok := strings.CutPrefix("/"+name, strings.TrimSuffix(folder, "/")+"/")
		if !ok {
			continue
		}
		first, _, isDir := strings.Cut(rest, "/")
		e := disk.Entry{Name: path.Join(folder, first)[1:], IsDir: isDir, ModTime: c.modTime}
		if !isDir {
			e.Size = int64(len(c.live))
		}
		if c.modTime.After(found[e.Name].ModTime) {
			found[e.Name] = e
		}
	}
	var entries []disk.Entry
	for _, e := range found {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b disk.Entry) int { return cmp.Compare(a.Name, b.Name) })
	return entries, nil
}

// Open reads a file as it is now.
func (d *Dir) Open(name string) (io.ReadCloser, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.files[name]
	if !ok {
		return nil, refuse("open", name, fs.ErrNotExist)
	}
	return io.NopCloser(bytes.NewReader(c.live)), nil
}

// OpenAppend opens a file for appending, creating it when it is missing.
func (d *Dir) OpenAppend(name string) (disk.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := check("open", name); err != nil {
		return nil, err
	}
	c, ok := d.files[name]
	if !ok {
		c = &content{}
		d.files[name] = c
		d.touch(c)
	}
	return &file{dir: d, name: name, content: c}, nil
}

// WriteFile replaces a file whole; a reader or appender of the old one keeps it.
func (d *Dir) WriteFile(name string, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := check("write", name); err != nil {
		return err
	}
	data = slices.Clip(slices.Clone(data))
	c := &content{live: data, synced: data}
	d.files[name] = c
	d.touch(c)
	return nil
}

// Remove deletes a file or, with all it holds, a folder.
func (d *Dir) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := check("remove", name); err != nil {
		return err
	}
	before := len(d.files)
	for file := range d.files {
		if file == name || strings.HasPrefix(file, name+"/") {
			delete(d.files, file)
		}
	}
	if len(d.files) == before {
		return refuse("remove", name, fs.ErrNotExist)
	}
	return nil
}

// Lock takes a lock that every other user of this Dir sees.
func (d *Dir) Lock(name string) (disk.Unlocker, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := check("lock", name); err != nil {
		return nil, err
	}
	if d.locked[name] {
		return nil, refuse("lock", name, disk.ErrLocked)
	}
	d.locked[name] = true
	return &lock{dir: d, name: name}, nil
}

// touch gives a file the next moment; there is no clock here, only an order.
func (d *Dir) touch(c *content) {
	d.writes++
	c.modTime = time.Unix(d.writes, 0)
}

// check refuses what the real Dir refuses; the root itself is no file either.
func check(op, name string) error {
	if !fs.ValidPath(name) || name == "." {
		return refuse(op, name, fs.ErrInvalid)
	}
	return nil
}

func refuse(op, name string, err error) error { return fmt.Errorf("%s %q: %w", op, name, err) }

type lock struct {
	dir  *Dir
	name string
}

func (l *lock) Unlock() error {
	l.dir.mu.Lock()
	defer l.dir.mu.Unlock()
	delete(l.dir.locked, l.name)
	return nil
}

// file is one open file; several may share a content.
type file struct {
	dir  *Dir
	name string
	*content
}

func (f *file) Append(data []byte) error {
	f.dir.mu.Lock()
	defer f.dir.mu.Unlock()
	if fault := &f.dir.fault; fault.err != nil {
		if fault.after <= 0 {
			f.live = append(f.live, data[:min(fault.partial, len(data))]...)
			fault.partial = 0
			return refuse("append to", f.name, fault.err)
		}
		fault.after--
	}
	f.live = append(f.live, data...)
	f.dir.touch(f.content)
	return nil
}

func (f *file) Truncate(size int64) error {
	f.dir.mu.Lock()
	defer f.dir.mu.Unlock()
	if size < 0 || size > int64(len(f.live)) {
		return refuse("truncate", f.name, fs.ErrInvalid)
	}
	f.live = slices.Clone(f.live[:size]) // what follows must not overwrite synced
	f.dir.touch(f.content)
	return nil
}

func (f *file) Size() (int64, error) {
	f.dir.mu.Lock()
	defer f.dir.mu.Unlock()
	return int64(len(f.live)), nil
}

func (f *file) Sync() error {
	f.dir.mu.Lock()
	defer f.dir.mu.Unlock()
	f.synced = slices.Clip(f.live)
	return nil
}

func (f *file) Close() error { return nil }
