package excerpt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"

	"github.com/khaelor/khaelor/internal/wording"
	"github.com/khaelor/khaelor/internal/workspace"
)

// What the Messages API takes of a document. It grows by a third on its way and
// shares the 32 MB of a request. More pages are taken of models with a larger
// window, where they would fill it.
const (
	documentLimit = 20 << 20 // bytes
	pageLimit     = 100
)

func readDocument(f workspace.File, q Request) (Excerpt, error) {
	data, ok, err := whole(f, documentLimit)
	if err != nil {
		return Excerpt{}, err
	}
	if !ok {
		return Excerpt{}, refusef("%s (%s) has %d bytes; at most %d can be shown. Take a part of it, or its text, with bash (qpdf, pdftotext).",
			q.Name, typePDF, f.Info().Size, documentLimit)
	}
	pages := pagesOf(data)
	switch {
	case !bytes.Contains(data, []byte("startxref")):
		return Excerpt{}, refusef("%s is a damaged PDF: its end is missing. It is not shown.", q.Name)
	case encrypted.Match(data):
		return Excerpt{}, refusef("%s is an encrypted PDF, which cannot be shown. Take its text with bash (pdftotext), or decrypt it (qpdf --decrypt).", q.Name)
	case pages > pageLimit:
		return Excerpt{}, refusef("%s (%s) has %d pages; at most %d can be shown. Take a part of it, or its text, with bash (qpdf --pages, pdftotext -f -l).",
			q.Name, typePDF, pages, pageLimit)
	}
	extent := typePDF
	if pages > 0 {
		extent += ", " + wording.Count(pages, "page")
	}
	sum := sha256.Sum256(data)
	return Excerpt{
		Head:   fmt.Sprintf("[%s: %s, %d bytes]", wording.Name(q.Name), extent, len(data)),
		Extent: extent, SHA256: hex.EncodeToString(sum[:]), Media: &Media{Type: typePDF, Data: data},
	}, nil
}

var (
	pageTree  = regexp.MustCompile(`/Type\s*/Pages\b`)
	pageCount = regexp.MustCompile(`/Count\s+(\d{1,9})\b`)
	encrypted = regexp.MustCompile(`/Encrypt\s+\d+\s+\d+\s+R`)
)

// Bounds of what is looked through for the number of pages: nodes of the page
// tree, and bytes on each side of where one says that it is one. Only the list
// of a node's children is long, and the root of a tree has few.
const (
	pageNodes = 1000
	nodeReach = 8 << 10
)

// pagesOf is what the page tree of a document says; 0 when that is compressed.
func pagesOf(data []byte) int {
	most := 0
	for _, at := range pageTree.FindAllIndex(data, pageNodes) {
		before, after := data[max(at[0]-nodeReach, 0):at[0]], data[at[1]:min(at[1]+nodeReach, len(data))]
		if begin := bytes.LastIndex(before, []byte("<<")); begin >= 0 {
			before = before[begin:]
		}
		if end := bytes.Index(after, []byte(">>")); end >= 0 {
			after = after[:end]
		}
		m := pageCount.FindSubmatch(before)
		if m == nil {
			m = pageCount.FindSubmatch(after)
		}
		if m != nil {
			n, _ := strconv.Atoi(string(m[1])) // nine digits are a number
			most = max(most, n)
		}
	}
	return most
}
