package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// unit is one package as the rules see it: syntax, without its tests.
type unit struct {
	room  string // the folder below internal ("tool/builtin"), or below the module ("cmd/khaelor")
	fset  *token.FileSet
	files []*ast.File
}

// finding is one place that breaks a rule.
type finding struct {
	at     token.Position
	rule   string
	what   string
	reason string
}

func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %s (%s: %s)", f.at.Filename, f.at.Line, f.what, f.rule, f.reason)
}

// rule looks at one package at a time.
type rule struct {
	name   string
	reason string
	find   func(unit) []finding
}

// check holds every package to every rule.
func check(units []unit, rules []rule) []finding {
	var all []finding
	for _, u := range units {
		for _, r := range rules {
			for _, f := range r.find(u) {
				f.rule, f.reason = r.name, r.reason
				all = append(all, f)
			}
		}
	}
	return all
}

// at makes a finding of a place.
func (u unit) at(n ast.Node, format string, args ...any) finding {
	return finding{at: u.fset.Position(n.Pos()), what: fmt.Sprintf(format, args...)}
}

// walk visits all nodes of all files.
func (u unit) walk(visit func(*ast.File, ast.Node)) {
	for _, f := range u.files {
		ast.Inspect(f, func(n ast.Node) bool {
			visit(f, n)
			return true
		})
	}
}

// parse sorts sources, by their paths in the module, into packages.
func parse(sources map[string]string) ([]unit, error) {
	fset := token.NewFileSet()
	rooms := map[string]*unit{}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		f, err := parser.ParseFile(fset, name, sources[name], parser.ParseComments)
		if err != nil {
			return nil, err
		}
		room := strings.TrimPrefix(path.Dir(name), "internal/")
		if rooms[room] == nil {
			rooms[room] = &unit{room: room, fset: fset}
		}
		rooms[room].files = append(rooms[room].files, f)
	}
	var units []unit
	for _, room := range slices.Sorted(maps.Keys(rooms)) {
		units = append(units, *rooms[room])
	}
	return units, nil
}

// sources reads the module's Go files, tests and other modules left out.
func sources(root string) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipped(root, file, d.Name())
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		all[filepath.ToSlash(rel)] = string(src)
		return err
	})
	return all, err
}

func skipped(root, dir, name string) error {
	if dir == root {
		return nil
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	if err == nil || name == "testdata" || name[0] == '.' || name[0] == '_' {
		return filepath.SkipDir
	}
	return nil
}

// use is one mention of a name of another package.
type use struct {
	path, name string
	node       ast.Node
}

// usesIn lists the names that a file takes from the packages it imports. A
// blank import uses the name "_", a dot import ".".
func usesIn(f *ast.File) []use {
	var all []use
	paths := map[string]string{}
	for _, spec := range f.Imports {
		name := importName(spec)
		paths[name] = importPath(spec)
		if name == "_" || name == "." {
			all = append(all, use{path: importPath(spec), name: name, node: spec})
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		// The parser resolves what is declared in the file, so a local
		// variable named time is not the package.
		if id, ok := s.X.(*ast.Ident); ok && id.Obj == nil && paths[id.Name] != "" {
			all = append(all, use{path: paths[id.Name], name: s.Sel.Name, node: s})
		}
		return true
	})
	return all
}

func importPath(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value) // the parser accepted the literal
	return p
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// importName is the name that an import has in its file.
func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	p := importPath(spec)
	if majorVersion.MatchString(path.Base(p)) {
		p = path.Dir(p)
	}
	return path.Base(p)
}
