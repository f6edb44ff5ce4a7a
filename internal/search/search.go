// Package search finds files by name and by what is in them, for the tools
// glob and grep.
//
// It goes through a tree with all processors, judges files by the ignore rules
// of git and .khaelorignore, and finds the lines that fit an expression. What
// it says does not depend on the number of processors, nor on which programs
// are installed: the order is that of names, counts are exact, and text is cut
// where the caller's room ends. Pipes and devices are never opened, links never
// followed, and no goroutine outlives a call.
//
// A file is binary, and not searched, when it holds a NUL byte anywhere and is
// not UTF-16. What is not UTF-8 is decoded (see charset) when it is searched by
// name or for characters beyond ASCII; else its bytes are compared as they are,
// which is quicker. A line ends at LF or CR LF.
//
// Which paths a call may touch is decided by the caller, who gives the root and
// Tree.Skip. Start reading at Tree, then Tree.Grep and walk.
package search

import (
	"github.com/khaelor/khaelor/internal/workspace"
)

// Tree is a folder to search, or for GrepFile a file.
type Tree struct {
	Workspace workspace.Workspace
	Root      string // canonical
	// Name is how a file is called in a result; it gets a canonical path.
	Name func(path string) string
	// Skip reports files that may not be opened or named without asking; nil is
	// none. It is called from several goroutines with canonical paths.
	Skip func(path string) bool
	// Room is how many characters a result may have.
	Room int
}

// Result is what a search has to say.
type Result struct {
	Text  string
	Files int // that fit, also those that Text had no room for
	Lines int // that fit; of the mode files unknown
}
