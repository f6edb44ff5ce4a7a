package permission

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

func checkGlob(pattern string) error {
	if pattern != "" && !doublestar.ValidatePattern(pattern) {
		return errors.New("the pattern is no valid glob")
	}
	return nil
}

// within compares path elements, not prefixes of text.
func within(folder, p string) bool {
	return folder != "" && (p == folder || folder == "/" || strings.HasPrefix(p, folder+"/"))
}

// pathRule compares a rule's glob with an absolute path. Relative patterns are
// below the project root. Strict comparison, for deny and ask rules, ignores
// case and takes a pattern without a slash as a name at any depth.
func (f *fold) pathRule(rule Rule, p string, strict bool) bool {
	if rule.everything() {
		return true
	}
	pattern := rule.Pattern
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = path.Join(f.opt.Home, rest)
	}
	name := p
	if !path.IsAbs(pattern) {
		if !within(f.opt.Root, p) {
			return false
		}
		name = strings.TrimPrefix(strings.TrimPrefix(p, f.opt.Root), "/")
	}
	if !strict {
		return globMatch(pattern, name)
	}
	pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	return globMatch(pattern, name) || (!strings.Contains(pattern, "/") && globMatch(pattern, path.Base(name)))
}

func globMatch(pattern, name string) bool {
	ok, err := doublestar.Match(pattern, name)
	return ok && err == nil
}

// escapeGlob makes a pattern of a name that matches only it.
func escapeGlob(name string) string {
	var b strings.Builder
	for _, c := range name {
		if strings.ContainsRune(`*?[]{}\!`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// elements are the names a path goes through, in lower case: some file systems
// ignore case.
func elements(p string) []string { return strings.Split(strings.Trim(strings.ToLower(p), "/"), "/") }

// pathPatterns are split once. A pattern that ends in ** means everything
// below a folder.
func pathPatterns(list string) [][]string {
	var patterns [][]string
	for _, p := range strings.Fields(list) {
		patterns = append(patterns, elements(p))
	}
	return patterns
}

// mayMatch reports whether a path, which may hold globs itself, can mean what
// a pattern names.
func mayMatch(pattern, p []string) bool {
	for i, w := range pattern {
		if w == "**" {
			return len(p) > i
		}
		if i >= len(p) || !mayBe(w, p[i]) {
			return false
		}
	}
	return len(pattern) == len(p)
}

func anyMatch(patterns [][]string, p []string) bool {
	return slices.ContainsFunc(patterns, func(pattern []string) bool { return mayMatch(pattern, p) })
}

// anyDepth compares the patterns with every tail of a path.
func anyDepth(patterns [][]string, p []string) bool {
	for i := range p {
		if anyMatch(patterns, p[i:]) {
			return true
		}
	}
	return false
}

func mayBe(pattern, name string) bool {
	switch {
	case pattern == name:
		return true
	case pattern == "" || name == "":
		return false
	case pattern[0] != name[0] && !meta(pattern[0]) && !meta(name[0]):
		return false // nearly all pairs end here
	}
	if ok, err := path.Match(pattern, name); ok && err == nil {
		return true
	}
	// The shell matches a leading dot only when it is written out.
	ok, err := path.Match(name, pattern)
	return ok && err == nil && (name[0] == '.') == (pattern[0] == '.')
}

func meta(c byte) bool { return c == '*' || c == '?' || c == '[' || c == '\\' }
