package excerpt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/khaelor/khaelor/internal/ansi"
	"github.com/khaelor/khaelor/internal/charset"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/wording"
	"github.com/khaelor/khaelor/internal/workspace"
)

// outputLimit is how many characters of one output of a cell are shown. What a
// program printed is worth less than what it is.
const outputLimit = 3000

// readNotebook shows the cells of a notebook. One that cannot be understood is
// shown as the text it is.
func readNotebook(f workspace.File, head []byte, set charset.Charset, q Request) (Excerpt, error) {
	data, small, err := whole(f, hashLimit)
	if err != nil {
		return Excerpt{}, err
	}
	why := fmt.Sprintf("larger than %d MB", hashLimit>>20)
	if small {
		text, err := set.Text(data)
		if err == nil {
			var book notebook
			if book, err = parseNotebook(text); err == nil {
				e := book.excerpt(q)
				sum := sha256.Sum256(data)
				e.SHA256 = hex.EncodeToString(sum[:])
				return e, nil
			}
		}
		why = "malformed: " + misfit(err)
	}
	e, err := readText(f, head, set, q)
	e.Head = "[the raw JSON of a notebook that is " + event.Text(why) + "]\n" + e.Head
	return e, err
}

// notebook is what the formats 3 and 4 of nbformat have in common.
type notebook struct {
	language string
	cells    []cell
}

// cell is one cell, as text.
type cell struct {
	line int // of the raw JSON, where it begins
	text string
}

// misfit says what is wrong with a notebook's JSON in the words of JSON.
func misfit(err error) string {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		return err.Error()
	case wrong.Field == "":
		return "it is " + wrong.Value + ", not a notebook"
	}
	return fmt.Sprintf("%s is %s", wrong.Field, wrong.Value)
}

var errNoNotebook = errors.New("it has no cells")

// parseNotebook reads the JSON of a notebook.
func parseNotebook(text []byte) (notebook, error) {
	var raw struct {
		Cells      []json.RawMessage `json:"cells"`
		Worksheets []struct {        // format 3
			Cells []json.RawMessage `json:"cells"`
		} `json:"worksheets"`
		Metadata struct {
			Kernelspec struct {
				Language multiline `json:"language"`
			} `json:"kernelspec"`
			LanguageInfo struct {
				Name multiline `json:"name"`
			} `json:"language_info"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return notebook{}, err
	}
	cells := raw.Cells
	for _, sheet := range raw.Worksheets {
		cells = append(cells, sheet.Cells...)
	}
	if raw.Cells == nil && raw.Worksheets == nil {
		return notebook{}, errNoNotebook
	}
	book := notebook{language: string(raw.Metadata.LanguageInfo.Name)}
	if book.language == "" {
		book.language = string(raw.Metadata.Kernelspec.Language)
	}
	at, line := 0, 1
	for i, one := range cells {
		if found := bytes.Index(text[at:], one); found >= 0 { // a RawMessage keeps its bytes
			line += bytes.Count(text[at:at+found], []byte("\n"))
			at += found
		}
		shown, err := cellText(i+1, one)
		if err != nil {
			return notebook{}, fmt.Errorf("cell %d: %w", i+1, err)
		}
		book.cells = append(book.cells, cell{line: line, text: shown})
		line += bytes.Count(one, []byte("\n"))
		at += len(one)
	}
	return book, nil
}

// multiline is a text that may be spelled as a list of its lines. What is
// neither, as an output of structured data, is its JSON.
type multiline string

// UnmarshalJSON implements json.Unmarshaler.
func (m *multiline) UnmarshalJSON(raw []byte) error {
	var lines []string
	var text string
	switch {
	case json.Unmarshal(raw, &text) == nil:
		*m = multiline(text)
	case json.Unmarshal(raw, &lines) == nil:
		*m = multiline(strings.Join(lines, ""))
	default:
		*m = multiline(raw)
	}
	return nil
}

func cellText(number int, raw []byte) (string, error) {
	var c struct {
		Type    string    `json:"cell_type"`
		Source  multiline `json:"source"`
		Input   multiline `json:"input"` // format 3
		Count   *int      `json:"execution_count"`
		Prompt  *int      `json:"prompt_number"` // format 3
		Outputs []output  `json:"outputs"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[cell %d: %s", number, wording.Name(c.Type))
	for _, run := range []*int{c.Count, c.Prompt} {
		if run != nil {
			fmt.Fprintf(&b, ", run %d", *run)
		}
	}
	b.WriteString("]\n")
	ended(&b, string(c.Source+c.Input))
	for _, o := range c.Outputs {
		if text := o.text(); strings.TrimSpace(text) != "" {
			b.WriteString("[output]\n")
			ended(&b, tail(text))
		}
	}
	return b.String(), nil
}

func ended(b *strings.Builder, text string) {
	b.WriteString(text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
}

// tail keeps the end of an output, where errors stand, behind some of its
// beginning.
func tail(text string) string {
	runes := []rune(text)
	if len(runes) <= outputLimit {
		return text
	}
	const head = outputLimit / 3
	left := len(runes) - outputLimit
	return fmt.Sprintf("%s\n[… %d characters left out …]\n%s", string(runes[:head]), left, string(runes[head+left:]))
}

// output is one output of a cell: of format 4 with its data by media type, of
// format 3 with them by short names beside the rest.
type output struct {
	Type      string               `json:"output_type"`
	Text      multiline            `json:"text"`
	Data      map[string]multiline `json:"data"`
	Name      string               `json:"ename"`
	Value     string               `json:"evalue"`
	Traceback []string             `json:"traceback"`
	PNG       multiline            `json:"png"`
	JPEG      multiline            `json:"jpeg"`
}

func (o output) text() string {
	if len(o.Traceback) > 0 {
		return ansi.Text([]byte(strings.Join(o.Traceback, "\n")))
	}
	if o.Name != "" || o.Value != "" {
		return ansi.Text([]byte(o.Name + ": " + o.Value))
	}
	var parts []string
	for _, text := range []multiline{o.Text, o.Data["text/plain"]} {
		if text != "" {
			parts = append(parts, strings.TrimSuffix(ansi.Text([]byte(text)), "\n"))
		}
	}
	return strings.Join(append(parts, o.pictures()...), "\n")
}

// pictures names what is no text. HTML is left out: what it shows is in
// text/plain, too.
func (o output) pictures() []string {
	var list []string
	named := func(kind string, data multiline) {
		if data != "" {
			list = append(list, fmt.Sprintf("[%s output, %d bytes]", wording.Name(kind), len(data)*3/4))
		}
	}
	named(typePNG, o.PNG)
	named(typeJPEG, o.JPEG)
	var kinds []string
	for kind := range o.Data {
		if strings.HasPrefix(kind, "image/") {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		named(kind, o.Data[kind])
	}
	return list
}

// excerpt shows as many cells as there is room for. The offset that it names is
// a line of the raw JSON.
func (n notebook) excerpt(q Request) Excerpt {
	var all strings.Builder
	for _, c := range n.cells {
		all.WriteString(c.text)
	}
	w := windowOf(q)
	_ = w.scan(strings.NewReader(all.String()), true) // a string does not fail
	what := "notebook"
	if n.language != "" {
		what += ", " + event.Clip(wording.Name(n.language), 40)
	}
	e := Excerpt{Extent: wording.Count(len(n.cells), "cell"), Body: strings.ToValidUTF8(w.text.String(), "\uFFFD"), Cut: w.last < w.lines}
	then := "offset 1 shows the raw JSON, which is what edit changes"
	if e.Cut {
		number, line := n.at(w.last + 1)
		then = fmt.Sprintf("cut in cell %d, whose raw JSON begins at offset %d; edit changes the raw JSON", number, line)
	}
	e.Head = fmt.Sprintf("[%s, %s; %s]\n", what, e.Extent, then)
	return e
}

// at finds the cell that a line of the text is of, and where that begins in the
// raw JSON.
func (n notebook) at(line int) (number, offset int) {
	for i, c := range n.cells {
		if line -= strings.Count(c.text, "\n"); line <= 0 {
			return i + 1, c.line
		}
	}
	return len(n.cells), 1
}
