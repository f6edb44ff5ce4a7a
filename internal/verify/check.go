// Package verify knows the checks of a project.
//
// It owns the table of commands whose exit code is evidence. A command counts
// only when it is wholly such a check: one simple command of the table, or
// commands joined by && of which one is, because then exit code 0 proves that
// every part passed. A pipe, a semicolon, an || or anything the shell expands
// can hide a failure, and counts for nothing; nor does a check behind which
// the same line may still change something, one that runs elsewhere than in
// the project, or one before which the line says what its words mean.
//
// Start reading at Project.IsCheck; the tables are in checks.go.
package verify

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/khaelor/khaelor/internal/fold"
)

// Project is the canonical path of the directory that checks are about.
type Project string

// IsCheck says whether exit code 0 of the command proves that a check of the
// project passed.
func (p Project) IsCheck(run fold.Run) bool {
	parts, ok := parsed(run.Command)
	for ok && len(parts) > 0 && parts[len(parts)-1].isOneOf(idle) {
		parts = parts[:len(parts)-1]
	}
	return ok && len(parts) > 0 && inTable(parts[len(parts)-1].words) && p.holds(run.Cwd, parts)
}

// ChangesNothing says whether the command leaves all files as they are,
// however it ends.
func (p Project) ChangesNothing(run fold.Run) bool {
	parts, ok := parsed(run.Command)
	return ok && !slices.ContainsFunc(parts, func(part part) bool { return !part.isOneOf(idle) && !part.isOneOf(looking) })
}

// holds says that the commands run in the project, each as it reads.
func (p Project) holds(cwd string, parts []part) bool {
	at, ok := p.enter(string(p), cwd)
	for _, part := range parts {
		if !ok || diverts(part.words[0]) {
			return false
		}
		if part.words[0] == "cd" {
			if len(part.words) != 2 || strings.HasPrefix(part.words[1], "-") || strings.ContainsAny(part.words[1], "~*?[{") {
				return false
			}
			at, ok = p.enter(at, part.words[1])
		}
	}
	return ok
}

// enter is where a path leads from a folder, if not out of the project.
func (p Project) enter(from, name string) (string, bool) {
	at := path.Join(from, name)
	if path.IsAbs(name) {
		at = path.Clean(name)
	}
	return at, at == string(p) || strings.HasPrefix(at, strings.TrimSuffix(string(p), "/")+"/")
}

// part is one simple command of a line.
type part struct {
	words  []string
	writes bool // its output goes to a file
}

func (p part) isOneOf(table [][]string) bool {
	return !p.writes && begins(p.words, table) && !writesItself(p.words)
}

func parsed(command string) (parts []part, ok bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil, false
	}
	return conjunction(file.Stmts[0])
}

// conjunction is the simple commands that && joins.
func conjunction(s *syntax.Stmt) (parts []part, ok bool) {
	writes, ok := redirected(s.Redirs)
	if s.Negated || s.Background || s.Coprocess || !ok {
		return nil, false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		words, ok := literals(c)
		return []part{{words, writes}}, ok && plainAssigns(c.Assigns)
	case *syntax.BinaryCmd:
		if c.Op != syntax.AndStmt {
			return nil, false
		}
		left, okLeft := conjunction(c.X)
		right, okRight := conjunction(c.Y)
		return append(left, right...), okLeft && okRight
	}
	return nil, false
}

// redirected says whether output goes to a file; ok, that nothing else is led
// elsewhere. No exit code depends on where output goes.
func redirected(redirs []*syntax.Redirect) (writes, ok bool) {
	for _, r := range redirs {
		switch r.Op {
		case syntax.DplOut:
		case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll:
			name, literal := literal(r.Word)
			writes = writes || !literal || name != "/dev/null"
		default:
			return false, false
		}
	}
	return writes, true
}

// plainAssigns says that the command's own variables do not change what it
// does.
func plainAssigns(assigns []*syntax.Assign) bool {
	return !slices.ContainsFunc(assigns, func(a *syntax.Assign) bool {
		if a.Append || a.Naked || a.Index != nil || a.Array != nil || !plainVariable(a.Name.Value) {
			return true
		}
		if a.Value == nil {
			return false
		}
		_, ok := literal(a.Value)
		return !ok
	})
}

func literals(c *syntax.CallExpr) (words []string, ok bool) {
	for _, w := range c.Args {
		word, ok := literal(w)
		if !ok {
			return nil, false
		}
		words = append(words, word)
	}
	return words, len(words) > 0
}

// literal is a word that the shell does not expand.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}
