package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Instruction is one file that people wrote for the model.
type Instruction struct {
	Path string // as found, not resolved
	Text string // valid UTF-8 with line feeds, no byte order mark
}

// InstructionFiles reads files and resolves links, so that what is read can be
// held inside the repository.
type InstructionFiles interface {
	Files
	// Canonical is the path with all links resolved. A missing file is
	// fs.ErrNotExist.
	Canonical(path string) (string, error)
}

const (
	// instructionCap is how much of one file is read: 100 KB are 25,000
	// tokens, far more than a model follows.
	instructionCap = 100 * 1024
	// importDepth is how many files may import one another in a row.
	importDepth = 5
)

// instructionNames are the names of a folder's file; the first one found counts.
var instructionNames = []string{"KHAELOR.md", "AGENTS.md", "CLAUDE.md"}

// Instructions finds what applies in cwd: KHAELOR.md of the state folder
// (home), then one file of each folder from the repository's root down to cwd.
// A file that imports others with @path is followed by them. Nothing outside
// of root and home is read. Where cwd is not below root, cwd stands alone.
func Instructions(files InstructionFiles, home, root, cwd string) ([]Instruction, []Warning) {
	if !inside(root, cwd) {
		root = cwd
	}
	f := newFinder(files, home, root)
	if home != "" {
		f.first(home, instructionNames[:1])
	}
	for _, folder := range folders(root, cwd) {
		f.first(folder, instructionNames)
	}
	return f.found, f.warnings
}

// FolderInstructions is what one nested folder adds, for when a file below it
// is first touched.
func FolderInstructions(files InstructionFiles, home, root, folder string) ([]Instruction, []Warning) {
	f := newFinder(files, home, root)
	f.first(folder, instructionNames)
	return f.found, f.warnings
}

// folders lists root and the folders between it and cwd, cwd included.
func folders(root, cwd string) []string {
	list := []string{root}
	rel, err := filepath.Rel(root, cwd)
	if err != nil || rel == "." {
		return list
	}
	at := root
	for _, step := range strings.Split(rel, string(filepath.Separator)) {
		at = filepath.Join(at, step)
		list = append(list, at)
	}
	return list
}

func inside(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return folder != "" && err == nil && filepath.IsLocal(rel)
}

type finder struct {
	files    InstructionFiles
	home     string
	realHome string   // canonical, "" = none
	realRoot string   // canonical
	seen     []string // canonical paths: each file counts once, so imports cannot go round
	found    []Instruction
	warnings []Warning
}

func newFinder(files InstructionFiles, home, root string) *finder {
	f := &finder{files: files, home: home}
	f.realHome = f.canonicalOr(home)
	f.realRoot = f.canonicalOr(root)
	return f
}

func (f *finder) canonicalOr(folder string) string {
	if folder == "" {
		return ""
	}
	if real, err := f.files.Canonical(folder); err == nil {
		return real
	}
	return folder
}

// first takes the first of the names that is there and may be read.
func (f *finder) first(folder string, names []string) {
	for _, name := range names {
		path := filepath.Join(folder, name)
		real, err := f.files.Canonical(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			f.warn(path, err.Error())
			continue
		}
		if !inside(f.realRoot, real) && !inside(f.realHome, real) {
			f.warn(path, "leads out of the repository and is not read")
			continue
		}
		f.take(path, real, 0)
		return
	}
}

// take reads a file and what it imports, unless it was read before.
func (f *finder) take(path, real string, depth int) {
	if slices.Contains(f.seen, real) {
		return
	}
	f.seen = append(f.seen, real)
	data, err := f.files.ReadFile(real)
	if err != nil {
		f.warn(path, err.Error())
		return
	}
	text := clean(data)
	f.found = append(f.found, Instruction{Path: path, Text: text})
	for _, target := range imports(text) {
		f.follow(path, target, depth+1)
	}
}

// follow reads one import. A target that is not there is no import: an @ in
// front of a word has other uses.
func (f *finder) follow(from, target string, depth int) {
	path := f.resolve(filepath.Dir(from), target)
	real, err := f.files.Canonical(path)
	if err != nil {
		return
	}
	if why := f.refused(real, depth); why != "" {
		f.warn(from, "@"+target+" "+why)
		return
	}
	f.take(path, real, depth)
}

func (f *finder) resolve(folder, target string) string {
	if rest, ok := strings.CutPrefix(target, "~/.khaelor/"); ok {
		return filepath.Join(f.home, rest)
	}
	if filepath.IsAbs(target) {
		return filepath.Clean(target)
	}
	return filepath.Join(folder, target)
}

// refused says why an import is not read, or "". From the state folder only
// Markdown comes: a repository must not have the user's configuration read.
func (f *finder) refused(real string, depth int) string {
	base := strings.ToLower(filepath.Base(real))
	switch {
	case depth > importDepth:
		return fmt.Sprintf("is imported more than %d files deep and not read", importDepth)
	case strings.HasPrefix(base, ".env"):
		return "is a file of secrets and not read"
	case inside(f.realRoot, real):
		return ""
	case inside(f.realHome, real) && filepath.Ext(base) == ".md":
		return ""
	}
	return "is outside of the repository and not read"
}

func (f *finder) warn(path, msg string) {
	f.warnings = append(f.warnings, Warning{File: path, Msg: msg})
}

// clean makes valid, bounded text of a file's bytes.
func clean(data []byte) string {
	cut := len(data) > instructionCap
	if cut {
		data = data[:instructionCap]
		for len(data) > 0 && !utf8.RuneStart(data[len(data)-1]) {
			data = data[:len(data)-1]
		}
		if r, _ := utf8.DecodeLastRune(data); r == utf8.RuneError && len(data) > 0 {
			data = data[:len(data)-1]
		}
	}
	text := strings.TrimPrefix(strings.ToValidUTF8(string(data), "\ufffd"), byteOrderMark)
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if cut {
		text += "\n[cut here: only the first 100 KB of an instruction file are read]\n"
	}
	return text
}

// imports lists the targets of @path outside of code: an @ at the start of a
// line or after a blank, up to the next blank.
func imports(text string) []string {
	var targets []string
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if fenced {
			continue
		}
		for _, word := range strings.Fields(withoutCode(line)) {
			target, ok := strings.CutPrefix(word, "@")
			if target = strings.TrimRight(target, ".,;:!?)"); ok && target != "" {
				targets = append(targets, target)
			}
		}
	}
	return targets
}

// withoutCode blanks what stands between backticks.
func withoutCode(line string) string {
	parts := strings.Split(line, "`")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = ""
	}
	return strings.Join(parts, " ")
}
