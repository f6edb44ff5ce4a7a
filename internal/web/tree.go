package web

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// mostDepth and mostNodes bound the tree of a page. What is nested deeper
// becomes part of the deepest element; a page with more nodes ends there.
const (
	mostDepth = 80
	mostNodes = 200_000
)

// tree makes a page of HTML a tree for Markdown. It is no browser's: each tag
// of the source makes at most one node, where the standard's rules for
// misplaced tags let a small page grow to any size.
func tree(source string) (root *html.Node, whole bool) {
	b := builder{open: []*html.Node{{Type: html.DocumentNode}}}
	z := html.NewTokenizer(strings.NewReader(source))
	for nodes := 0; nodes < mostNodes; nodes++ {
		switch z.Next() {
		case html.ErrorToken:
			b.flush()
			return b.open[0], true
		case html.TextToken:
			b.pending.WriteString(z.Token().Data)
		case html.StartTagToken, html.SelfClosingTagToken:
			b.start(z.Token())
		case html.EndTagToken:
			name, _ := z.TagName()
			b.end(string(name))
		}
	}
	b.flush()
	return b.open[0], false
}

type builder struct {
	open    []*html.Node    // elements, the document first
	pending strings.Builder // text in the deepest of them
}

func (b *builder) top() *html.Node { return b.open[len(b.open)-1] }

// flush makes a node of the text so far.
func (b *builder) flush() {
	if b.pending.Len() > 0 {
		b.top().AppendChild(&html.Node{Type: html.TextNode, Data: b.pending.String()})
		b.pending.Reset()
	}
}

func (b *builder) start(t html.Token) {
	if within := closedBy(t.Data); within != nil {
		b.close(within.names, within.borders)
	}
	b.flush()
	n := &html.Node{Type: html.ElementNode, DataAtom: t.DataAtom, Data: t.Data, Attr: t.Attr}
	b.top().AppendChild(n)
	if !isVoid(t.DataAtom) && len(b.open) < mostDepth {
		b.open = append(b.open, n)
	}
}

// end closes the element of that name that is open, unless it is around the
// one that holds this part of the page.
func (b *builder) end(name string) {
	borders := cells
	switch name {
	case "table", "thead", "tbody", "tfoot", "tr", "td", "th", "caption":
		borders = []string{"table"}
	case "li":
		borders = append([]string{"ul", "ol"}, cells...)
	}
	b.close([]string{name}, borders)
}

// close closes the innermost open element of one of the names, and what is in
// it, looking no further than a border.
func (b *builder) close(names, borders []string) {
	for i := len(b.open) - 1; i > 0; i-- {
		switch name := b.open[i].Data; {
		case slices.Contains(names, name):
			b.flush()
			b.open = b.open[:i]
			return
		case slices.Contains(borders, name):
			return
		}
	}
}

// closing says which open elements a start tag ends, and where to stop looking.
type closing struct{ names, borders []string }

var (
	cells  = []string{"td", "th", "table"}
	blocks = []string{
		"td", "th", "table", "caption", "li", "dd", "dt", "div", "section", "article", "main", "aside", "nav", "blockquote", "figure", "details", "button", "body",
	}
	headings = []string{"h1", "h2", "h3", "h4", "h5", "h6"}
)

// closedBy is what a start tag closes; nil when nothing.
func closedBy(name string) *closing {
	switch name {
	case "li":
		return &closing{[]string{"li"}, append([]string{"ul", "ol"}, cells...)}
	case "dt", "dd":
		return &closing{[]string{"dt", "dd"}, append([]string{"dl"}, cells...)}
	case "td", "th":
		return &closing{[]string{"td", "th"}, []string{"tr", "table"}}
	case "tr":
		return &closing{[]string{"tr"}, []string{"table"}}
	case "thead", "tbody", "tfoot":
		return &closing{[]string{"thead", "tbody", "tfoot", "caption"}, []string{"table"}}
	case "a":
		return &closing{[]string{"a"}, blocks}
	case "option", "optgroup":
		return &closing{[]string{"option"}, []string{"select"}}
	case "body":
		return &closing{[]string{"head"}, nil}
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return &closing{append([]string{"p"}, headings...), blocks}
	case "address", "article", "aside", "blockquote", "details", "div", "dl", "fieldset", "figure", "footer", "form",
		"header", "hr", "main", "nav", "ol", "p", "pre", "section", "table", "ul":
		return &closing{[]string{"p"}, blocks}
	}
	return nil
}

func isVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Param,
		atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}
