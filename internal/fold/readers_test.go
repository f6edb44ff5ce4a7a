package fold

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

// unknown stands for every name that the catalog does not have.
const unknown = "(unknown)"

var update = flag.Bool("update", false, "rewrite testdata/readers.golden")

// The file is for a reviewer: a new fact with nothing after it asks whether
// any fold should have a case for it.
func TestTheReadersOfEachFactAreListed(t *testing.T) {
	var b bytes.Buffer
	known := readers(t)
	for _, name := range event.Names() {
		fmt.Fprintln(&b, strings.TrimSpace(name+": "+strings.Join(known[name], " ")))
	}
	golden := filepath.Join("testdata", "readers.golden")
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("readers are now\n%s\nwrite them with: go test ./internal/fold -run Readers -update", b.String())
	}
}

// readers are, by wire name, the projections with a case for the fact.
func readers(t *testing.T) map[string][]string {
	t.Helper()
	wire := wireNames(t)
	all := map[string][]string{}
	for _, f := range parsed(t, ".") {
		for _, d := range f.Decls {
			apply, ok := d.(*ast.FuncDecl)
			if !ok || apply.Name.Name != "Apply" {
				continue
			}
			projection := apply.Recv.List[0].Type.(*ast.Ident).Name
			for _, fact := range cases(apply) {
				all[wire[fact]] = append(all[wire[fact]], projection)
			}
		}
	}
	for _, folds := range all {
		slices.Sort(folds)
	}
	return all
}

// cases are the types of package event in a function's type switches.
func cases(f *ast.FuncDecl) []string {
	var types []string
	ast.Inspect(f, func(n ast.Node) bool {
		clause, ok := n.(*ast.CaseClause)
		if !ok {
			return true
		}
		for _, e := range clause.List {
			if s, ok := e.(*ast.SelectorExpr); ok {
				types = append(types, s.Sel.Name)
			}
		}
		return true
	})
	return types
}

var durable = regexp.MustCompile(`func \((\w+)\) durable\(\) string\s+\{ return "([^"]+)" \}`)

// wireNames are the names of facts by their types, as package event's source
// pairs them.
func wireNames(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "event", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"Unknown": unknown}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range durable.FindAllStringSubmatch(string(src), -1) {
			names[m[1]] = m[2]
		}
	}
	for _, name := range event.Names() {
		if !slices.Contains(slices.Collect(maps.Values(names)), name) {
			t.Fatalf("no type is found for %s", name)
		}
	}
	return names
}

func parsed(t *testing.T, dir string) []*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}
