// Package ignore says which files of a tree are left out: by the rules of git
// (gitignore(5)) and by those of .khaelorignore, which have the same form.
//
// Its verdicts are git's, byte for byte and case for case: a fuzz test asks git
// itself. The package is pure: whoever walks the tree reads the files and hands
// their content over. Start reading at Parse, then Rules.
package ignore

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// File holds the rules of one file, as they apply below a folder.
type File struct {
	folder string // canonical, with a slash at the end
	rules  *ruleSet
}

// ruleSet is what one file says. Most rules are a name or an ending and are
// looked up; only the rest is tried one by one. Invariant: all indexes are
// into all, the last line of the file first.
type ruleSet struct {
	all   []rule
	names map[string][]int // by the last element of a rule without wildcards
	exts  map[string][]int // by the ending of a rule such as *.o
	rest  []int
}

// Parse reads an ignore file of a folder that is given by its canonical path.
func Parse(folder string, data []byte) File {
	s := &ruleSet{names: map[string][]int{}, exts: map[string][]int{}}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for line := range strings.SplitSeq(string(data), "\n") {
		line, _, _ = strings.Cut(strings.TrimSuffix(line, "\r"), "\x00") // git's lines are C strings
		if r, ok := parseRule(line); ok {
			s.all = append(s.all, r)
		}
	}
	for i, r := range slices.Backward(s.all) {
		switch {
		case r.plain:
			_, name := path.Split(r.glob)
			s.names[name] = append(s.names[name], i)
		case r.suffix && strings.LastIndexByte(r.glob, '.') == len("*"):
			s.exts[r.glob[len("*"):]] = append(s.exts[r.glob[len("*"):]], i)
		default:
			s.rest = append(s.rest, i)
		}
	}
	return File{rules: s}.At(folder)
}

// At is the same rules for another folder.
func (f File) At(folder string) File {
	f.folder = strings.TrimSuffix(folder, "/") + "/"
	return f
}

// Empty reports a file that says nothing.
func (f File) Empty() bool { return f.rules == nil || len(f.rules.all) == 0 }

// verdict is what the last rule that fits says; ok is false when none does.
func (f File) verdict(folder, name string, isFolder bool) (ignored, ok bool) {
	if f.Empty() || !strings.HasPrefix(folder, f.folder) {
		return false, false
	}
	below := folder[len(f.folder):]
	s := f.rules
	last := s.lastOf(s.names[name], -1, below, name, isFolder)
	if len(s.exts) > 0 {
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			last = s.lastOf(s.exts[name[dot:]], last, below, name, isFolder)
		}
	}
	last = s.lastOf(s.rest, last, below, name, isFolder)
	return last >= 0 && !s.all[last].keep, last >= 0
}

// lastOf is the latest of some rules that fits, or the one known before.
func (s *ruleSet) lastOf(indexes []int, known int, below, name string, isFolder bool) int {
	for _, i := range indexes {
		if i <= known {
			break
		}
		if s.all[i].fits(below, name, isFolder) {
			return i
		}
	}
	return known
}

// Rules are the ignore files in force in a folder, the outermost first. What
// .khaelorignore says goes before what git's files say, and the user's global
// file comes last.
type Rules struct {
	Git, Own []File
}

// Ignored judges an entry of a folder that is not ignored itself. The folder is
// given by its canonical path with a slash at the end.
func (g Rules) Ignored(folder, name string, isFolder bool) bool {
	for _, files := range [][]File{g.Own, g.Git} {
		for _, f := range slices.Backward(files) {
			if ignored, ok := f.verdict(folder, name, isFolder); ok {
				return ignored
			}
		}
	}
	return false
}

// And adds a file; the receiver stays as it is.
func (g Rules) And(own bool, f File) Rules {
	switch {
	case f.Empty():
	case own:
		g.Own = append(slices.Clip(g.Own), f)
	default:
		g.Git = append(slices.Clip(g.Git), f)
	}
	return g
}
