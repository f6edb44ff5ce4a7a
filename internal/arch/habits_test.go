package arch

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

var commentRule = rule{
	name:   "package comment",
	reason: "a reader starts with what the package owns, promises and leaves to others, and finds it in one place",
	find: func(u unit) []finding {
		var found []finding
		comments := 0
		for _, f := range u.files {
			if strings.TrimSpace(f.Doc.Text()) == "" {
				continue
			}
			if comments++; comments > 1 {
				found = append(found, u.at(f.Doc, "%s has a second package comment", u.room))
			}
		}
		if comments == 0 {
			found = append(found, u.at(u.files[0], "%s has no package comment", u.room))
		}
		return found
	},
}

// vague are names that say nothing of what a package holds.
var vague = []string{
	"util", "utils", "common", "types", "shared", "helper", "helpers", "misc",
}

var nameRule = rule{
	name:   "package names",
	reason: "a helper lives with its first user, and moves down when a second one needs it; a drawer for everything only grows",
	find: func(u unit) []finding {
		if name := path.Base(u.room); slices.Contains(vague, name) {
			return []finding{u.at(u.files[0].Name, "a package named %s", name)}
		}
		return nil
	},
}

var dotRule = rule{
	name:   "dot imports",
	reason: "a name without its package hides where it comes from, from readers and from these rules",
	find: func(u unit) []finding {
		var found []finding
		for _, f := range u.files {
			for _, s := range usesIn(f) {
				if s.name == "." {
					found = append(found, u.at(s.node, "%s imports the names of %s", u.room, s.path))
				}
			}
		}
		return found
	},
}

var initRule = rule{
	name:   "init functions",
	reason: "what runs before main runs in every start and in no visible order; put it in a list or a constructor",
	find: func(u unit) []finding {
		var found []finding
		u.walk(func(_ *ast.File, n ast.Node) {
			if f, ok := n.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				found = append(found, u.at(f, "%s has an init function", u.room))
			}
		})
		return found
	},
}

var stateRule = rule{
	name:   "package state",
	reason: "two conversations in one process, and two tests, must not meet in a variable; keep it in a value that somebody owns",
	find: func(u unit) []finding {
		vars := packageVars(u)
		found := synchronised(u)
		u.walk(func(_ *ast.File, n ast.Node) {
			for _, target := range changedBy(n) {
				id := rootOf(target)
				if id == nil {
					continue
				}
				if decl, ok := vars[id.Name]; ok && denotes(id, decl) {
					found = append(found, u.at(n, "%s changes the package variable %s", u.room, id.Name))
				}
			}
		})
		return found
	},
}

// packageVars are the variables of a package by name.
func packageVars(u unit) map[string]*ast.ValueSpec {
	vars := map[string]*ast.ValueSpec{}
	for _, f := range u.files {
		for _, spec := range varSpecs(f) {
			for _, name := range spec.Names {
				if name.Name != "_" {
					vars[name.Name] = spec
				}
			}
		}
	}
	return vars
}

func varSpecs(f *ast.File) []*ast.ValueSpec {
	var specs []*ast.ValueSpec
	for _, d := range f.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			continue
		}
		for _, s := range gen.Specs {
			specs = append(specs, s.(*ast.ValueSpec))
		}
	}
	return specs
}

// denotes says that id is the package variable and not a local one that
// shadows it: the parser resolves names within a file and leaves those of the
// package's other files open.
func denotes(id *ast.Ident, decl *ast.ValueSpec) bool {
	return id.Obj == nil || id.Obj.Decl == decl
}

// changedBy are the places that a node assigns to, or hands out so that
// somebody else can.
func changedBy(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && f.Obj == nil && (f.Name == "delete" || f.Name == "clear") {
			return n.Args[:1]
		}
	}
	return nil
}

// rootOf is the variable that a place belongs to: v of v.field[i].
func rootOf(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// synchronised finds variables whose type exists only to be changed. (The
// functions of sync that make a value once are no types, and pass.)
func synchronised(u unit) []finding {
	var found []finding
	for _, f := range u.files {
		for _, spec := range varSpecs(f) {
			for _, s := range typesOf(f, spec) {
				found = append(found, u.at(spec, "%s has a package variable of type %s.%s", u.room, s.path, s.name))
			}
		}
	}
	return found
}

// typesOf are the types of sync and sync/atomic that a variable is declared
// with, by type or by literal.
func typesOf(f *ast.File, spec *ast.ValueSpec) []use {
	places := []ast.Expr{spec.Type}
	for _, v := range spec.Values {
		if addr, ok := v.(*ast.UnaryExpr); ok {
			v = addr.X
		}
		if lit, ok := v.(*ast.CompositeLit); ok {
			places = append(places, lit.Type)
		}
	}
	var found []use
	for _, s := range usesIn(f) {
		inside := func(e ast.Expr) bool { return e != nil && e.Pos() <= s.node.Pos() && s.node.End() <= e.End() }
		if (s.path == "sync" || s.path == "sync/atomic") && slices.ContainsFunc(places, inside) {
			found = append(found, s)
		}
	}
	return found
}
