// Package mention attaches the files that a user names in a message.
//
// It owns what a mention looks like (@path, @path:10-20, @"a path":3, @folder/)
// and what goes along with the message for it: the content of a file as a read
// shows it (excerpt), pictures and documents. It promises that the message
// itself is not touched, that what is attached is bounded over all mentions of a
// message, and that a mention which cannot be attached is a warning and nothing
// worse. What names no file is text.
//
// Nobody is asked about a file that the user named; what may be read under no
// circumstances the caller says. Start reading at Attach; the words are found by
// Find.
package mention

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/excerpt"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/workspace"
)

// Bounds over all mentions of a message, in bytes.
const (
	textLimit = 200_000
	leastText = 10_000 // there is no use in less
	// mediaLimit leaves room in the 32 MB of a request, which holds its pictures
	// in base64; with more than mediaCount of them the API takes smaller ones.
	mediaLimit = 20 << 20
	mediaCount = 20
)

// World is where the files are.
type World struct {
	Workspace workspace.Workspace
	Home      string // for ~/
	// Denied says why a file must not be read, "" when it may be.
	Denied func(given string, place workspace.Place) string
	// PutBlob keeps content with the session and returns its SHA-256.
	PutBlob func(data []byte) (sha256 string, err error)
	// TextOnly says that pictures and documents have no place.
	TextOnly bool
}

// Attached is what goes along with a message.
type Attached struct {
	Mentions []event.Mention
	Images   []event.Media
	Reads    []event.FileRead // what the model sees of files by that
	Warnings []string         // for the user
}

// Attach captures what a message mentions. The error is one of PutBlob.
func Attach(text string, w World) (Attached, error) {
	if !strings.Contains(text, "@") {
		return Attached{}, nil
	}
	c := collector{World: w, taken: map[string]bool{}, text: textLimit, media: mediaLimit}
	met := map[string]bool{}
	for _, word := range Find(text, c.exists) {
		written := text[word.Start:word.End]
		if met[written] {
			continue // what there is to say of it is said
		}
		met[written] = true
		if err := c.take(word); err != nil {
			return Attached{}, err
		}
	}
	return c.Attached, nil
}

// Text is the mentions as a part of a text, for what is said while a task runs.
func (a Attached) Text() string {
	var b strings.Builder
	for _, m := range a.Mentions {
		b.WriteString("\n\n" + fold.FileBlock(m))
	}
	return b.String()
}

type collector struct {
	World
	Attached
	taken map[string]bool // what is attached: canonical path and lines
	text  int             // bytes left
	media int             // bytes left
}

// resolve follows a path as the user writes it.
func (c *collector) resolve(path string) (workspace.Place, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && c.Home != "" {
		path = c.Home + "/" + rest
	}
	return workspace.Resolve(c.Workspace, path)
}

func (c *collector) exists(path string) bool {
	place, err := c.resolve(path)
	return err == nil && (place.Exists || place.Dangling) || errors.Is(err, fs.ErrPermission)
}

func (c *collector) warn(w Word, format string, args ...any) {
	c.Warnings = append(c.Warnings, "@"+w.Path+" is not attached: "+fmt.Sprintf(format, args...))
}

// take attaches one mention, or says why not.
func (c *collector) take(w Word) error {
	place, err := c.resolve(w.Path)
	if err != nil {
		c.warn(w, "%v", reason(err))
		return nil
	}
	key := place.Path
	if w.Lines != nil {
		key = fmt.Sprintf("%s\n%d-%d", place.Path, w.Lines.Start, w.Lines.End)
	}
	switch {
	case c.taken[place.Path], c.taken[key]:
		return nil
	case w.Wrong:
		c.warn(w, "the lines behind it are no range")
		return nil
	case place.Dangling:
		c.warn(w, "it is a link to %s, which does not exist", place.Path)
		return nil
	case c.text < leastText:
		c.warn(w, "the files before it fill what a message holds (%d bytes)", textLimit)
		return nil
	}
	if why := c.Denied(w.Path, place); why != "" {
		c.warn(w, "%s", why)
		return nil
	}
	shown := event.Text(excerpt.LogPath(c.Workspace.Cwd(), place.Path))
	q := excerpt.Request{Name: shown, Bytes: min(excerpt.Bytes, c.text)}
	if w.Lines != nil {
		q.First, q.Limit, q.Named = w.Lines.Start, w.Lines.End-w.Lines.Start+1, true
	}
	e, err := excerpt.Read(c.Workspace, place.Path, q)
	if err != nil {
		c.warn(w, "%v", reason(err))
		return nil
	}
	if e.Media != nil {
		if ok, err := c.keep(w, *e.Media); !ok {
			return err
		}
	}
	c.taken[key] = true
	c.attach(shown, e)
	return nil
}

// attach adds an excerpt to the message.
func (c *collector) attach(shown string, e excerpt.Excerpt) {
	content := e.Text()
	c.text -= len(content)
	c.Mentions = append(c.Mentions, event.Mention{Path: shown, Range: e.Range, Content: &content})
	if !e.Folder() {
		c.Reads = append(c.Reads, e.Fact(shown))
	}
}

// keep stores a picture or document, when there is room for it.
func (c *collector) keep(w Word, m excerpt.Media) (ok bool, err error) {
	if c.TextOnly {
		c.warn(w, "a running task takes text only; send it when the task has ended")
		return false, nil
	}
	if len(m.Data) > c.media || len(c.Images) == mediaCount {
		c.warn(w, "a message holds %d pictures and documents, and %d MB of them", mediaCount, mediaLimit>>20)
		return false, nil
	}
	sum, err := c.PutBlob(m.Data)
	if err != nil {
		return false, fmt.Errorf("keep %s: %w", w.Path, err)
	}
	c.media -= len(m.Data)
	c.Images = append(c.Images, event.Media{MediaType: m.Type, SHA256: sum})
	return true, nil
}

// reason is an error without the path, which the warning has already.
func reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
