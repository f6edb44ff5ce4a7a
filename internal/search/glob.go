package search

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Filter is what files have to fit: one of the globs, and none of those that
// begin with !. The empty Filter is fitted by every file.
type Filter []*Glob

// dotted reports a filter that names something hidden.
func (f Filter) dotted() bool { return slices.ContainsFunc(f, (*Glob).dotted) }

// fits judges a file.
func (f Filter) fits(e entry) bool {
	wanted, any := false, true
	for _, g := range f {
		fits := g.fits(e)
		switch {
		case g.not && !fits:
			return false
		case !g.not:
			wanted, any = wanted || fits, false
		}
	}
	return wanted || any
}

// Globs are the globs of a list with commas, outside braces and classes. A
// comma that no list would have, as in *,v, belongs to a name.
func Globs(list string) []string {
	var globs []string
	depth, from := 0, 0
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '\\':
			i++
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				globs = append(globs, list[from:i])
				from = i + 1
			}
		}
	}
	globs = append(globs, list[from:])
	for i, g := range globs {
		globs[i] = strings.TrimSpace(g)
		if len(globs) > 1 && !strings.ContainsAny(globs[i], ".*/") {
			return []string{list}
		}
	}
	if len(globs) == 1 {
		return []string{list}
	}
	return globs
}

// Glob is a glob that files have to fit.
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
// written in front (prefix, "" for none); if that begins with a slash, a glob
// that does so, too, is compared with the two together only. ok is false when it
// is no glob.
func NewGlob(glob, prefix string) (g *Glob, ok bool) {
	glob, not := strings.CutPrefix(glob, "!")
	glob = strings.TrimPrefix(glob, "./")
	if !strings.HasPrefix(prefix, "/") {
		glob = strings.TrimPrefix(glob, "/")
	}
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
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
	return !g.not && (strings.HasPrefix(g.text, ".") || strings.Contains(g.text, "/."))
}

// fits judges a file.
func (g *Glob) fits(e entry) bool {
	switch {
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
