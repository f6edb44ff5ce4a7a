// Package verify knows the checks of a project.
//
// It owns the table of commands whose exit code is evidence. A command counts
// only when it is wholly such a check: one simple command of the table, or
// commands joined by && of which one is, because then exit code 0 proves that
// every part passed. A pipe, a semicolon, an || or anything the shell expands
// can hide a failure, and counts for nothing; nor does a check behind which
// the same line may still change something.
//
// Start reading at IsCheck; the table is in checks.go.
package verify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// IsCheck says whether exit code 0 of the command proves that a check of the
// project passed.
func IsCheck(command string) bool {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) != 1 {
		return false
	}
	parts, ok := conjunction(file.Stmts[0])
	for ok && len(parts) > 0 && changesNothing(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	return ok && len(parts) > 0 && inTable(parts[len(parts)-1])
}

// conjunction is the words of the simple commands that && joins.
func conjunction(s *syntax.Stmt) (parts [][]string, ok bool) {
	if s.Negated || s.Background || s.Coprocess || !harmless(s.Redirs) {
		return nil, false
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		words, ok := literals(c)
		return [][]string{words}, ok
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

// harmless says that the redirections only lead output elsewhere, which no
// exit code depends on.
func harmless(redirs []*syntax.Redirect) bool {
	for _, r := range redirs {
		switch r.Op {
		case syntax.DplOut, syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll:
		default:
			return false
		}
	}
	return true
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
