package ignore

import "strings"

// rule is one line of an ignore file.
type rule struct {
	glob    string // without ! and the slashes at its ends
	fixed   int    // bytes of glob before its first wildcard
	plain   bool   // it has no wildcard
	suffix  bool   // it is a star and then plain
	byName  bool   // compared with the last element of a path only
	folders bool   // fits folders only
	keep    bool   // takes an earlier rule back
}

// wildcards are the characters that mean more than themselves.
const wildcards = `*?[\`

func parseRule(line string) (rule, bool) {
	line = trimBlanks(line)
	if line == "" || line[0] == '#' {
		return rule{}, false
	}
	var r rule
	line, r.keep = strings.CutPrefix(line, "!")
	line, r.folders = strings.CutSuffix(line, "/")
	if name, ok := strings.CutPrefix(line, "**/"); ok && !strings.ContainsAny(name, `/\`) && !strings.Contains(name, "**") {
		line = name // the last element in any folder, as it would be without the stars
	}
	r.byName = !strings.Contains(line, "/")
	if r.glob = strings.TrimPrefix(line, "/"); r.glob == "" {
		return r, false
	}
	r.fixed = strings.IndexAny(r.glob, wildcards)
	if r.plain = r.fixed < 0; r.plain {
		r.fixed = len(r.glob)
	}
	r.suffix = r.byName && r.fixed == 0 && r.glob[0] == '*' && !strings.ContainsAny(r.glob[1:], wildcards)
	return r, true
}

// trimBlanks cuts blanks at the end, but for one behind a backslash.
func trimBlanks(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			if i++; i == len(line) {
				return line
			}
		}
		end = i + 1
	}
	return line[:end]
}

// fits compares an entry of a folder, which is given by its path below the
// rule's own: empty, or with a slash at the end.
func (r rule) fits(below, name string, isFolder bool) bool {
	switch {
	case r.folders && !isFolder:
		return false
	case r.plain && r.byName:
		return r.glob == name
	case r.plain:
		return len(r.glob) == len(below)+len(name) && strings.HasPrefix(r.glob, below) && strings.HasSuffix(r.glob, name)
	case r.suffix:
		return strings.HasSuffix(name, r.glob[1:])
	case r.byName:
		return wild(r.glob, name) == matched
	}
	// As in git, what stands before the first wildcard is compared first, and
	// the rest is a glob of its own: in a**/b the stars are at its beginning.
	rel := below + name
	return strings.HasPrefix(rel, r.glob[:r.fixed]) && wild(r.glob[r.fixed:], rel[r.fixed:]) == matched
}
