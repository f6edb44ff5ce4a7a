// Package ignore says which files of a tree are left out: by the rules of git
// (gitignore(5)) and by those of .khaelorignore, which have the same form.
//
// Its verdicts are git's. The package is pure: whoever walks the tree reads
// the files and hands their content over. Start reading at Parse, then Rules.
package ignore

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// rule is one line of an ignore file (gitignore(5)).
type rule struct {
	glob    string // of doublestar
	plain   bool   // glob is a name or path without wildcards
	suffix  bool   // glob is a star and then plain
	byName  bool   // compared with the last element only
	folders bool   // fits folders only
	keep    bool   // takes an earlier rule back
}

// File holds the rules of one file.
type File struct {
	folder string // its place: the canonical path with a slash at the end
	rules  []rule
}

func Parse(folder string, data []byte) File {
	f := File{folder: strings.TrimSuffix(folder, "/") + "/"}
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		if r, ok := parseRule(strings.TrimRight(line, "\r\n")); ok {
			f.rules = append(f.rules, r)
		}
	}
	return f
}

func parseRule(line string) (rule, bool) {
	line = trimBlanks(line)
	if line == "" || line[0] == '#' {
		return rule{}, false
	}
	var r rule
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
// themselves, and x/** means what is in x, but not x. A pattern that fits
// nothing becomes one that is not valid.
func toDoublestar(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '\\':
			b.WriteByte(c)
			if i++; i < len(pattern) {
				b.WriteByte(pattern[i])
			}
		case '[':
			set, length := characterClass(pattern[i:])
			if length == 0 {
				return "["
			}
			b.WriteString(set)
			i += length - 1
		case '{', '}':
			b.WriteString(`\` + string(c))
		default:
			b.WriteByte(c)
		}
	}
	glob := b.String()
	if inside, ok := strings.CutSuffix(glob, "/**"); ok {
		glob = inside + "/**/*"
	}
	return glob
}

// characterClass writes the class at the beginning of s with all its members
// escaped: git takes a bracket that comes first as a member, and knows classes
// by name. A class that git does not understand has no length.
func characterClass(s string) (set string, length int) {
	var b strings.Builder
	b.WriteByte('[')
	i := 1
	if strings.HasPrefix(s[i:], "!") || strings.HasPrefix(s[i:], "^") {
		b.WriteByte('^')
		i++
	}
	for first := i; i < len(s); {
		if s[i] == ']' && i > first {
			return b.String() + "]", i + 1
		}
		if name, ok := className(s[i:]); ok {
			members := namedClass(name)
			if members == "" {
				return "", 0
			}
			b.WriteString(members)
			i += len("[::]") + len(name)
			continue
		}
		if s[i] == '-' && i > first && i+1 < len(s) && s[i+1] != ']' {
			b.WriteByte('-')
			i++
		}
		if s[i] == '\\' {
			i++
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		b.WriteString(`\` + string(r))
		i += size
	}
	return "", 0
}

// className is the name in [:name:] at the beginning of s.
func className(s string) (string, bool) {
	s, isName := strings.CutPrefix(s, "[:")
	name, _, _ := strings.Cut(s, "]")
	name, ended := strings.CutSuffix(name, ":")
	return name, isName && ended
}

// namedClass are the members of a class such as digit.
func namedClass(name string) string {
	switch name {
	case "alpha":
		return "a-zA-Z"
	case "digit":
		return "0-9"
	case "alnum":
		return "a-zA-Z0-9"
	case "upper":
		return "A-Z"
	case "lower":
		return "a-z"
	case "xdigit":
		return "0-9a-fA-F"
	case "space":
		return " \t-\r"
	case "blank":
		return " \t"
	case "punct":
		return "!-/:-@\\[-`{-~"
	case "graph":
		return "!-~"
	case "print":
		return " -~"
	case "cntrl":
		return "\x01-\x1f\x7f"
	}
	return ""
}

// fits compares a path below the rule's folder.
func (r rule) fits(rel string, isFolder bool) bool {
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

// Rules are the ignore files in force in a folder, the outermost first. What
// .khaelorignore says goes before what git's files say.
type Rules struct {
	Git, Own []File
}

// Ignored judges an entry whose folder is not ignored.
func (g Rules) Ignored(canonical string, isFolder bool) bool {
	for _, files := range [][]File{g.Own, g.Git} {
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

// And adds a file; the receiver stays as it is.
func (g Rules) And(own bool, f File) Rules {
	if own {
		g.Own = append(slices.Clip(g.Own), f)
	} else {
		g.Git = append(slices.Clip(g.Git), f)
	}
	return g
}

// KeepsIgnored reports that a .khaelorignore takes back what git may ignore.
func (g Rules) KeepsIgnored() bool {
	return slices.ContainsFunc(g.Own, func(f File) bool {
		return slices.ContainsFunc(f.rules, func(r rule) bool { return r.keep })
	})
}
