package builtin

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreRule is one line of an ignore file (gitignore(5)).
type ignoreRule struct {
	glob    string // of doublestar
	plain   bool   // glob is a name or path without wildcards
	suffix  bool   // glob is a star and then plain
	byName  bool   // compared with the last element only
	folders bool   // fits folders only
	keep    bool   // takes an earlier rule back
}

// ignoreFile holds the rules of one file.
type ignoreFile struct {
	folder string // its place: the canonical path with a slash at the end
	rules  []ignoreRule
}

func parseIgnore(folder string, data []byte) ignoreFile {
	f := ignoreFile{folder: strings.TrimSuffix(folder, "/") + "/"}
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		if r, ok := parseRule(strings.TrimRight(line, "\r\n")); ok {
			f.rules = append(f.rules, r)
		}
	}
	return f
}

func parseRule(line string) (ignoreRule, bool) {
	line = trimBlanks(line)
	if line == "" || line[0] == '#' {
		return ignoreRule{}, false
	}
	var r ignoreRule
	line, r.keep = strings.CutPrefix(line, "!")
	line, r.folders = strings.CutSuffix(line, "/")
	r.byName = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	r.plain = !strings.ContainsAny(line, `*?[\`)
	r.suffix = strings.HasPrefix(line, "*") && !strings.ContainsAny(line[1:], `*?[\`)
	r.glob = line
	if !r.plain && !r.suffix {
		r.glob = toDoublestar(line)
	}
	return r, line != "" && doublestar.ValidatePattern(r.glob) || r.plain || r.suffix
}

// trimBlanks cuts blanks at the end, but for one behind a backslash.
func trimBlanks(line string) string {
	cut := strings.TrimRight(line, " ")
	if cut != line && (len(cut)-len(strings.TrimRight(cut, `\`)))%2 == 1 {
		cut += " "
	}
	return cut
}

// toDoublestar writes a pattern of gitignore for doublestar: braces mean
// themselves, and x/** means what is in x, but not x.
func toDoublestar(pattern string) string {
	var b strings.Builder
	inClass := false
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\' && i+1 < len(pattern):
			b.WriteByte(c)
			i++
			c = pattern[i]
		case c == '[' && inClass && strings.HasPrefix(pattern[i:], "[:"):
			if set, n := namedClass(pattern[i:]); n > 0 {
				b.WriteString(set)
				i += n - 1
				continue
			}
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '{' || c == '}':
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	glob := b.String()
	if inside, ok := strings.CutSuffix(glob, "/**"); ok {
		glob = inside + "/**/*"
	}
	return glob
}

// namedClass writes out a named class such as [:digit:].
func namedClass(s string) (set string, length int) {
	end := strings.Index(s, ":]")
	if end < 0 {
		return "", 0
	}
	sets := map[string]string{
		"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z",
		"space": " \t", "blank": " \t", "xdigit": "0-9a-fA-F",
	}
	return sets[s[2:end]], end + 2
}

// fits compares a path below the rule's folder.
func (r ignoreRule) fits(rel string, isFolder bool) bool {
	if r.folders && !isFolder {
		return false
	}
	if r.byName {
		rel = path.Base(rel)
	}
	switch {
	case r.plain:
		return rel == r.glob
	case r.suffix:
		return strings.HasSuffix(rel, r.glob[1:]) && !strings.Contains(rel[:len(rel)-len(r.glob)+1], "/")
	}
	return doublestar.MatchUnvalidated(r.glob, rel)
}

// ignores are the ignore files in force in a folder, the outermost first. What
// .khaelorignore says goes before what git's files say.
type ignores struct {
	git, own []ignoreFile
}

// ignored judges an entry whose folder is not ignored.
func (g ignores) ignored(canonical string, isFolder bool) bool {
	for _, files := range [][]ignoreFile{g.own, g.git} {
		for _, f := range slices.Backward(files) {
			rel := strings.TrimPrefix(canonical, f.folder)
			for _, r := range slices.Backward(f.rules) {
				if r.fits(rel, isFolder) {
					return !r.keep
				}
			}
		}
	}
	return false
}

// and adds a file; the receiver stays as it is.
func (g ignores) and(own bool, f ignoreFile) ignores {
	if own {
		g.own = append(slices.Clip(g.own), f)
	} else {
		g.git = append(slices.Clip(g.git), f)
	}
	return g
}
