// Package excerpt is what a model is shown of a file.
//
// It owns how each kind of file looks to the model: the lines of a text, the
// cells of a notebook, a picture made to fit, a document, the entries of a
// folder. It promises that an excerpt is bounded valid text however large or
// broken the file is, that the memory it takes does not grow with a text, and
// that a picture or document in it is one that the Messages API takes. What is
// none of this is a *Refusal that names it and says what to do instead; a pipe,
// a socket or a device is never opened.
//
// Who may read a file, and where an excerpt goes, is for others to decide (tool,
// mention). Start reading at Read.
package excerpt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/khaelor/khaelor/internal/charset"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/workspace"
)

// Bounds of an excerpt (contract §8).
const (
	Lines = 2000
	Bytes = 50_000
)

// hashLimit is up to which size, in bytes, a file is read to its end: its lines
// are counted and its content is remembered. A larger one is read as far as
// asked, has no hash, and so cannot be overwritten as read.
const hashLimit = 10 << 20

// Request is what of a file is wanted.
type Request struct {
	Name  string // of the file, in what is shown
	First int    // first line, from 1; 0 is the first
	Limit int    // number of lines; 0 is Lines, but no more than fit
	Bytes int    // of text; 0 is Bytes
	// Named says that the lines are named beside the excerpt. The head leaves
	// them out when they are those asked for.
	Named bool
}

// part says that lines were asked for by number.
func (q Request) part() bool { return q.First > 0 || q.Limit > 0 }

// Excerpt is what is shown.
type Excerpt struct {
	Head   string      // what the body does not say by itself, a line in [ ]; often ""
	Body   string      // of a file of text or a folder
	Extent string      // how much that is, for a summary
	Range  *event.Span // the lines in Body; nil when they are all
	Cut    bool        // there is more behind Body
	SHA256 string      // lower-case hex of the whole file; "" for a folder and what is too large
	Info   workspace.FileInfo
	Media  *Media
}

// Media is a picture or a document as the API takes it.
type Media struct {
	Type string // image/png …
	Data []byte
}

// Text is the whole of what is said.
func (e Excerpt) Text() string { return e.Head + e.Body }

// Folder says that a folder is shown.
func (e Excerpt) Folder() bool { return e.Info.IsDir }

// Refusal is why a file is not shown and what to do instead, as sentences that
// name the file.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }

func refusef(format string, args ...any) error { return &Refusal{Text: fmt.Sprintf(format, args...)} }

// Read shows a file or folder. The path is as for workspace.Open. The error is
// a *Refusal or one of the workspace's.
func Read(ws workspace.Workspace, path string, q Request) (Excerpt, error) {
	f, err := workspace.Open(ws, path)
	switch {
	case errors.Is(err, workspace.ErrIsDir):
		return readFolder(ws, path, q)
	case errors.Is(err, workspace.ErrNotRegular):
		return Excerpt{}, special(ws, path, q.Name)
	case err != nil:
		return Excerpt{}, err
	}
	defer f.Close()
	head := make([]byte, charset.Sniff)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Excerpt{}, fmt.Errorf("read %s: %w", q.Name, err)
	}
	head = head[:n]
	e, err := show(f, head, q)
	e.Info = f.Info()
	return e, err
}

func show(f workspace.File, head []byte, q Request) (Excerpt, error) {
	switch kind := mediaType(head); kind {
	case "":
	case typePDF:
		return readDocument(f, q)
	default:
		return readImage(f, kind, q)
	}
	set, ok := charset.Detect(head)
	switch {
	case !ok:
		return Excerpt{}, refusef("%s is a binary file of %d bytes, which is not shown. Examine it with bash (file, strings, xxd).",
			q.Name, f.Info().Size)
	case strings.EqualFold(filepath.Ext(f.Info().Path), ".ipynb") && !q.part():
		return readNotebook(f, head, set, q)
	}
	return readText(f, head, set, q)
}

// special refuses what is neither a file nor a folder.
func special(ws workspace.Workspace, path, name string) error {
	kind := "special file"
	if info, err := workspace.Stat(ws, path); err == nil {
		switch info.Mode.Type() &^ fs.ModeCharDevice {
		case fs.ModeNamedPipe:
			kind = "named pipe"
		case fs.ModeSocket:
			kind = "socket"
		case fs.ModeDevice:
			kind = "device"
		}
	}
	return refusef("%s is a %s, not a regular file: it is not opened.", name, kind)
}

// mediaType goes by the bytes: the API refuses an image that is not what it is
// called, and goes on refusing it with every later request.
func mediaType(head []byte) string {
	switch s := string(head[:min(len(head), 16)]); {
	case strings.HasPrefix(s, "\x89PNG\r\n\x1a\n"):
		return typePNG
	case strings.HasPrefix(s, "\xff\xd8\xff"):
		return typeJPEG
	case strings.HasPrefix(s, "GIF87a"), strings.HasPrefix(s, "GIF89a"):
		return typeGIF
	case len(s) >= 12 && s[:4] == "RIFF" && s[8:12] == "WEBP":
		return typeWebP
	case strings.HasPrefix(s, "%PDF-"):
		return typePDF
	}
	return ""
}

const (
	typePNG  = "image/png"
	typeJPEG = "image/jpeg"
	typeGIF  = "image/gif"
	typeWebP = "image/webp"
	typePDF  = "application/pdf"
)

// whole reads a file of at most so many bytes.
func whole(f workspace.File, limit int64) (data []byte, ok bool, err error) {
	size := f.Info().Size
	if size > limit {
		return nil, false, nil
	}
	data = make([]byte, size)
	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("read: %w", err)
	}
	return data[:n], true, nil
}

// LogPath is the name of a file in facts and results: relative to the working
// directory when inside it, else the canonical path. Both arguments are
// canonical.
func LogPath(cwd, canonical string) string {
	rel, err := filepath.Rel(cwd, canonical)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return canonical
	}
	return rel
}

// Fact is what the model has seen of the file of that LogPath.
func (e Excerpt) Fact(path string) event.FileRead {
	size := int64(len(e.Body))
	if e.Media != nil {
		size = e.Info.Size
	}
	return event.FileRead{Path: path, Range: e.Range, Bytes: size, MtimeMS: e.Info.ModTime.UnixMilli(), SHA256: e.SHA256}
}
