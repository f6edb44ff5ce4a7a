package search

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Glob is a glob that files have to fit. The nil Glob is fitted by every file.
type Glob struct {
	text   string
	not    bool // what fits is left out
	byName bool // about the last element of a path
	how    comparison
	prefix string // paths may also be written with this in front
}

// comparison is how a glob is tried; most are a name or an ending.
type comparison int

const (
	byGlob comparison = iota
	byText
	bySuffix
	always
)

// NewGlob prepares a glob for paths below a folder: without a slash it is about
// names, with ! in front it leaves out what fits. The folder's own path may be
// written in front (prefix, "" for none). ok is false when it is no glob.
func NewGlob(glob, prefix string) (g *Glob, ok bool) {
	if glob == "" {
		return nil, true
	}
	glob, not := strings.CutPrefix(glob, "!")
	glob = strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/")
	g = compiled(glob, !strings.Contains(glob, "/"))
	g.not, g.prefix = not, prefix
	return g, doublestar.ValidatePattern(glob)
}

func compiled(glob string, byName bool) *Glob {
	for !byName && strings.HasPrefix(glob, "**/") && !strings.Contains(glob[len("**/"):], "/") {
		glob, byName = glob[len("**/"):], true
	}
	g := &Glob{text: glob, byName: byName}
	special := func(s string) bool { return strings.ContainsAny(s, `*?[{\`) }
	switch {
	case glob == "**", byName && glob == "*":
		g.how = always
	case !special(glob):
		g.how = byText
	case byName && glob[0] == '*' && !special(glob[1:]):
		g.how = bySuffix
	}
	return g
}

// dotted reports a glob that names something hidden.
func (g *Glob) dotted() bool {
	return g != nil && !g.not && (strings.HasPrefix(g.text, ".") || strings.Contains(g.text, "/."))
}

// fits judges a file.
func (g *Glob) fits(e entry) bool {
	switch {
	case g == nil:
		return true
	case g.byName:
		return g.compare(e.name) != g.not
	case g.how == always:
		return !g.not
	}
	rel := e.rel()
	return (g.compare(rel) || g.prefix != "" && g.compare(path.Join(g.prefix, rel))) != g.not
}

func (g *Glob) compare(s string) bool {
	switch g.how {
	case always:
		return true
	case byText:
		return s == g.text
	case bySuffix:
		return strings.HasSuffix(s, g.text[1:])
	}
	return doublestar.MatchUnvalidated(g.text, s)
}
