package excerpt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/khaelor/khaelor/internal/charset"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/workspace"
)

// readText shows lines of a text whose first bytes are head.
func readText(f workspace.File, head []byte, set charset.Charset, q Request) (Excerpt, error) {
	counted := f.Info().Size <= hashLimit
	var source io.Reader = io.MultiReader(bytes.NewReader(head), f)
	sum := sha256.New()
	if counted {
		source = io.TeeReader(source, sum)
	}
	w := windowOf(q)
	if err := w.scan(set.Reader(source), counted); err != nil {
		return Excerpt{}, err
	}
	e := w.excerpt(set.Name)
	if counted {
		e.SHA256 = hex.EncodeToString(sum.Sum(nil))
	}
	return e, nil
}

// excerpt is the window as it is shown.
func (w *window) excerpt(charset string) Excerpt {
	body := w.text.String()
	if !utf8.ValidString(body) {
		body = strings.ToValidUTF8(body, "\uFFFD")
		if charset == "" {
			charset = "UTF-8 with invalid bytes"
		}
	}
	e := Excerpt{Head: w.head(charset), Body: body, Extent: w.extent(), Cut: !w.ended || w.last < w.lines}
	if !w.complete() {
		e.Range = &event.Span{Start: w.first, End: max(w.last, w.first)}
	}
	return e
}
