package builtin

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/khaelor/khaelor/internal/charset"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/wording"
	"github.com/khaelor/khaelor/internal/workspace"
)

// Bounds of a result (contract §8) and of what is worth more than a look.
const (
	readLines  = 2000
	readBytes  = 50_000
	lineLength = 2000 // characters of one line
	// hashLimit is up to which size a file is read to its end: its lines are
	// counted and its content is remembered. A larger one is read as far as
	// asked, has no hash in its facts, and so cannot be overwritten as read.
	hashLimit = 10 << 20
	// imageLimit and documentLimit are what the Messages API takes; a document
	// grows by a third on its way and shares the 32 MB of a request.
	imageLimit    = 5 << 20
	documentLimit = 20 << 20
	folderEntries = 500
)

//go:embed read.md
var readDoc string

type readInput struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
}

func readTool() tool.Tool {
	return tool.Define(tool.Spec[readInput]{
		Name: "read", Doc: readDoc, Kind: event.UIRead,
		Schema: `{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer"},"limit":{"type":"integer"}},"required":["path"]}`,
		Needs:  func(env *tool.Env, in readInput) (tool.Need, error) { return pathNeed(env, in.Path, false) },
		Run:    read,
	})
}

func read(_ context.Context, env *tool.Env, in readInput) (tool.Result, error) {
	if in.Offset < 0 || in.Limit < 0 {
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "offset is the first line, counted from 1, and limit the number of lines; neither can be negative.")
	}
	t, err := locate(env, in.Path, false)
	if err != nil {
		return tool.Result{}, err
	}
	f, err := workspace.Open(env.Workspace, t.Path.Path)
	switch {
	case errors.Is(err, workspace.ErrIsDir):
		return readFolder(env, t)
	case errors.Is(err, fs.ErrNotExist):
		return tool.Result{}, missing(env, t)
	case err != nil:
		return tool.Result{}, failure(err, t.shown)
	}
	defer f.Close()
	head := make([]byte, min(charset.Sniff, f.Info().Size+1))
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return tool.Result{}, failure(err, t.shown)
	}
	head = head[:n]
	if mediaType := mediaTypeOf(head); mediaType != "" {
		return readMedia(env, t, f, mediaType)
	}
	set, ok := charset.Detect(head)
	if !ok {
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput,
			"%s is a binary file of %d bytes, which is not shown. Examine it with bash (file, strings, xxd).", t.shown, f.Info().Size)
	}
	return readText(t, f, head, set, in)
}

func readText(t target, f workspace.File, head []byte, set charset.Charset, in readInput) (tool.Result, error) {
	info := f.Info()
	whole := info.Size <= hashLimit
	var source io.Reader = io.MultiReader(bytes.NewReader(head), f)
	sum := sha256.New()
	if whole {
		source = io.TeeReader(source, sum)
	}
	w := &window{first: max(in.Offset, 1), limit: readLines}
	if in.Limit > 0 {
		w.limit = in.Limit
	}
	if err := w.scan(set.Reader(source), whole); err != nil {
		return tool.Result{}, failure(err, t.shown)
	}
	fact := event.FileRead{Path: t.shown, Bytes: int64(w.text.Len()), MtimeMS: info.ModTime.UnixMilli()}
	if whole {
		fact.SHA256 = hex.EncodeToString(sum.Sum(nil))
	}
	if !w.complete() {
		fact.Range = &event.Span{Start: w.first, End: max(w.last, w.first)}
	}
	return tool.Result{
		Text:  w.head(set.Name) + strings.ToValidUTF8(w.text.String(), "\uFFFD"),
		UI:    event.ToolUI{Kind: event.UIRead, Summary: "Read " + t.shown + " (" + w.extent() + ")"},
		Facts: []event.Fact{fact},
	}, nil
}

func readFolder(env *tool.Env, t target) (tool.Result, error) {
	entries, err := workspace.ReadDir(env.Workspace, t.Path.Path)
	if err != nil {
		return tool.Result{}, failure(err, t.shown)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s is a folder with %s]\n", t.shown, wording.Count(len(entries), "entry"))
	for i, e := range entries {
		if i == folderEntries {
			fmt.Fprintf(&b, "[%d more; list them with glob]\n", len(entries)-i)
			break
		}
		b.WriteString(wording.Name(e.Name()))
		if e.IsDir() {
			b.WriteByte('/')
		}
		b.WriteByte('\n')
	}
	summary := "List " + t.shown + " (" + wording.Count(len(entries), "entry") + ")"
	return tool.Result{Text: b.String(), UI: event.ToolUI{Kind: event.UIRead, Summary: summary}}, nil
}

// mediaTypeOf goes by the bytes: the API refuses an image that is not what it
// is called, and goes on refusing it with every later request.
func mediaTypeOf(head []byte) string {
	switch s := string(head[:min(len(head), 16)]); {
	case strings.HasPrefix(s, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(s, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(s, "GIF87a"), strings.HasPrefix(s, "GIF89a"):
		return "image/gif"
	case len(s) >= 12 && s[:4] == "RIFF" && s[8:12] == "WEBP":
		return "image/webp"
	case strings.HasPrefix(s, "%PDF-"):
		return "application/pdf"
	}
	return ""
}

func readMedia(env *tool.Env, t target, f workspace.File, mediaType string) (tool.Result, error) {
	info := f.Info()
	limit := int64(imageLimit)
	if mediaType == "application/pdf" {
		limit = documentLimit
	}
	if info.Size > limit {
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput,
			"%s (%s) has %d bytes; at most %d can be shown. Make it smaller with bash.", t.shown, mediaType, info.Size, limit)
	}
	data := make([]byte, info.Size)
	if _, err := f.ReadAt(data, 0); err != nil {
		return tool.Result{}, failure(err, t.shown)
	}
	sum, err := env.PutBlob(data)
	if err != nil {
		return tool.Result{}, fmt.Errorf("keep %s: %w", t.shown, err)
	}
	return tool.Result{
		Text:  fmt.Sprintf("[%s: %s, %d bytes]", t.shown, mediaType, info.Size),
		UI:    event.ToolUI{Kind: event.UIRead, Summary: "Read " + t.shown + " (" + mediaType + ")"},
		Media: []event.Media{{MediaType: mediaType, SHA256: sum}},
		Facts: []event.Fact{event.FileRead{Path: t.shown, Bytes: info.Size, MtimeMS: info.ModTime.UnixMilli(), SHA256: sum}},
	}, nil
}
