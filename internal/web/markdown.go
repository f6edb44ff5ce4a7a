package web

import (
	"net/url"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// markdown makes Markdown of a page. When the converter fails on it the text
// is what is left.
func markdown(source string, at *url.URL) (title, text string, whole bool) {
	root, whole := tree(source)
	title = prune(root, at)
	content := body(root)
	text, ok := converted(content)
	if !ok {
		root, _ = tree(source)
		prune(root, at)
		text = textOf(body(root))
	}
	return title, text, whole
}

// converted runs the converter, which is not trusted with every tree.
func converted(n *html.Node) (text string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	if n.Parent != nil {
		n.Parent.RemoveChild(n)
	}
	if n.Type != html.DocumentNode {
		root := &html.Node{Type: html.DocumentNode}
		root.AppendChild(n)
		n = root
	}
	out, err := newConverter().ConvertNode(n)
	return string(out), err == nil
}

// The angle brackets of a text, while the converter would make entities of
// them: these two are no characters.
const (
	less    = "\ufdd0"
	greater = "\ufdd1"
)

func newConverter() *converter.Converter {
	c := converter.NewConverter(
		converter.WithPlugins(
			base.NewBasePlugin(),
			commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false)),
			table.NewTablePlugin(
				table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal),
				table.WithHeaderPromotion(true), table.WithNewlineBehavior(table.NewlineBehaviorPreserve),
			),
		),
		converter.WithEscapeMode(converter.EscapeModeDisabled), // text is copied into code, where a backslash is wrong
	)
	hide, show := strings.NewReplacer(less, "", greater, "", "<", less, ">", greater), strings.NewReplacer(less, "<", greater, ">")
	c.Register.TextTransformer(func(_ converter.Context, text string) string { return hide.Replace(text) }, converter.PriorityEarly)
	c.Register.TextTransformer(func(_ converter.Context, text string) string { return show.Replace(text) }, converter.PriorityLate)
	for _, name := range []atom.Atom{atom.Dt, atom.Dd, atom.Summary, atom.Details, atom.Figcaption} {
		c.Register.TagType(name.String(), converter.TagTypeBlock, converter.PriorityStandard)
	}
	return c
}
