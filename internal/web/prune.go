package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of what a small page may make large text of.
const (
	mostLists = 12      // lists and quotes within each other: each indents every line
	mostSpan  = 20      // columns or rows of a cell; more is meant as "all", and each would be an empty cell
	mostCells = 40_000  // of a table's rectangle, whose rows are filled up
	mostAdded = 1 << 20 // bytes that making links absolute adds to a page
)

// pruner makes a tree fit to be Markdown, in place.
type pruner struct {
	base  *url.URL
	cells int // that what is visited stands in
	added int // bytes of absolute links that were relative
	title string
}

// prune takes out what no reader looks for, bounds what is left, makes links
// absolute and returns the title.
func prune(root *html.Node, at *url.URL) (title string) {
	p := pruner{base: baseOf(root, at)}
	p.visit(root, 0)
	return strings.Join(strings.Fields(p.title), " ")
}

// baseOf is what links are relative to.
func baseOf(root *html.Node, at *url.URL) *url.URL {
	base := *at
	base.RawQuery = ""
	if n := find(root, func(n *html.Node) bool { return n.DataAtom == atom.Base && attribute(n, "href") != "" }); n != nil {
		if own, err := at.Parse(attribute(n, "href")); err == nil && (own.Scheme == "http" || own.Scheme == "https") {
			base = *own
		}
	}
	return &base
}

// dropped are elements without anything to read, and the ways around a site.
var dropped = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Template: true, atom.Noscript: true, atom.Svg: true, atom.Math: true, atom.Iframe: true,
	atom.Object: true, atom.Canvas: true, atom.Audio: true, atom.Video: true, atom.Nav: true, atom.Dialog: true, atom.Button: true,
	atom.Select: true, atom.Input: true, atom.Textarea: true, atom.Link: true, atom.Meta: true, atom.Base: true, atom.Noembed: true,
	atom.Noframes: true, atom.Footer: true,
}

func isDropped(n *html.Node) bool {
	if n.Type == html.CommentNode || n.Type == html.DoctypeNode || n.Type == html.ElementNode && dropped[n.DataAtom] {
		return true
	}
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
		switch a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			return a.Val == "true"
		case "role":
			return slices.Contains([]string{"navigation", "search", "banner", "contentinfo", "dialog"}, a.Val)
		}
		return false
	})
}

func (p *pruner) visit(n *html.Node, lists int) {
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		switch {
		case child.DataAtom == atom.Title:
			if p.title == "" {
				p.title = textOf(child)
			}
			n.RemoveChild(child)
		case isDropped(child):
			n.RemoveChild(child)
		case child.Type == html.ElementNode:
			p.element(child, lists)
		case p.cells > 0:
			child.Data = strings.ReplaceAll(child.Data, "|", `\|`)
		}
		child = next
	}
	joinTexts(n)
}

// joinTexts makes one node of texts that stand side by side, which the
// converter would copy once for each of them.
func joinTexts(n *html.Node) {
	for first := n.FirstChild; first != nil; first = first.NextSibling {
		if first.Type != html.TextNode || first.NextSibling == nil || first.NextSibling.Type != html.TextNode {
			continue
		}
		var b strings.Builder
		b.WriteString(first.Data)
		for next := first.NextSibling; next != nil && next.Type == html.TextNode; next = first.NextSibling {
			b.WriteString(next.Data)
			n.RemoveChild(next)
		}
		first.Data = b.String()
	}
}

func (p *pruner) element(n *html.Node, lists int) {
	switch n.DataAtom {
	case atom.Ul, atom.Ol, atom.Blockquote, atom.Dl:
		if lists++; lists > mostLists {
			rename(n)
		}
	case atom.Li:
		if lists > mostLists {
			rename(n)
		}
	case atom.Table:
		if tableSize(n) > mostCells {
			flatten(n)
		}
	}
	inCell := n.DataAtom == atom.Td || n.DataAtom == atom.Th
	if inCell {
		p.cells++
	}
	p.visit(n, lists)
	if inCell {
		p.cells--
	}
	switch n.DataAtom {
	case atom.A:
		p.link(n)
	case atom.Img:
		p.image(n)
	}
}

func rename(n *html.Node) { n.Data, n.DataAtom, n.Attr = "div", atom.Div, nil }

// link makes a link absolute, or plain text when it leads nowhere else.
func (p *pruner) link(n *html.Node) {
	href := strings.TrimSpace(attribute(n, "href"))
	target, ok := p.absolute(href)
	switch {
	case strings.HasPrefix(href, "#") && utf8.RuneCountInString(strings.TrimSpace(textOf(n))) <= 1:
		n.FirstChild, n.LastChild = nil, nil // the mark beside a heading
		n.Data, n.DataAtom, n.Attr = "span", atom.Span, nil
	case !ok || strings.HasPrefix(href, "#"):
		n.Data, n.DataAtom, n.Attr = "span", atom.Span, nil
	default:
		n.Attr = []html.Attribute{{Key: "href", Val: target}}
	}
}

func (p *pruner) image(n *html.Node) {
	alt := strings.TrimSpace(attribute(n, "alt"))
	target, ok := p.absolute(strings.TrimSpace(attribute(n, "src")))
	if !ok || alt == "" {
		n.Type, n.DataAtom, n.Data, n.Attr = html.TextNode, 0, alt, nil
		return
	}
	n.Attr = []html.Attribute{{Key: "alt", Val: alt}, {Key: "src", Val: target}}
}

// absolute is the address of a link to something that can be fetched.
func (p *pruner) absolute(ref string) (string, bool) {
	u, err := url.Parse(ref)
	if err != nil || ref == "" || u.User != nil || len(ref) > mostURL {
		return "", false
	}
	if full := p.base.ResolveReference(u); !u.IsAbs() && p.added < mostAdded {
		u = full
		p.added += len(full.String()) - len(ref)
	}
	switch u.Scheme {
	case "http", "https", "mailto", "":
		return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20").Replace(u.String()), true
	}
	return "", false
}

// tableSize is rows times columns, and bounds the spans of the cells.
func tableSize(table *html.Node) int {
	rows, most, columns := 0, 0, 0
	var look func(n *html.Node)
	look = func(n *html.Node) {
		switch n.DataAtom {
		case atom.Tr:
			rows, columns = rows+1, 0
		case atom.Td, atom.Th:
			columns += bounded(n, "colspan")
			rows += bounded(n, "rowspan") - 1
			most = max(most, columns)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			look(c)
		}
	}
	look(table)
	return rows * most
}

// bounded is a span of a cell, which is set to it.
func bounded(cell *html.Node, key string) int {
	for i, a := range cell.Attr {
		if a.Key == key {
			n, err := strconv.Atoi(strings.TrimSpace(a.Val))
			if err != nil || n < 1 || n > mostSpan {
				n = 1
			}
			cell.Attr[i].Val = strconv.Itoa(n)
			return n
		}
	}
	return 1
}

// flatten makes a table rows of text.
func flatten(n *html.Node) {
	switch n.DataAtom {
	case atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption:
		rename(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		flatten(c)
	}
}

// body is the part of a page that is read: its main part when it says which
// that is.
func body(root *html.Node) *html.Node {
	isMain := func(n *html.Node) bool { return n.DataAtom == atom.Main || attribute(n, "role") == "main" }
	if main := find(root, isMain); main != nil && len(strings.TrimSpace(textOf(main))) > 200 {
		return main
	}
	return root
}

func find(n *html.Node, is func(*html.Node) bool) *html.Node {
	if is(n) {
		return n
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if found := find(c, is); found != nil {
			return found
		}
	}
	return nil
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// textOf is all text in an element.
func textOf(n *html.Node) string {
	var b strings.Builder
	var add func(n *html.Node)
	add = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			add(c)
		}
	}
	add(n)
	return b.String()
}
