package event

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// notices are all notices: there is no catalog of them, for none is ever
// decoded.
var notices = []Notice{
	ModelTextDelta{},
	ModelThinkingDelta{},
	ToolCallStarted{},
	ToolInputDelta{},
	ModelRetryScheduled{},
	ToolOutput{},
	ProcessOutput{},
}

// facts are the zero values of everything in the catalog, in its order.
func facts(tb testing.TB) []Fact {
	tb.Helper()
	var all []Fact
	for _, name := range Names() {
		f, err := catalog[name].decode([]byte("{}"))
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

func goName(v any) string { return reflect.TypeOf(v).Name() }

// source is what the package's own files say.
type source struct {
	types   map[string]sourceType
	methods map[string][]string    // names of the types that have the method
	values  map[string][]enumValue // of the types that are wire enums
}

type sourceType struct {
	file string
	doc  string
	expr ast.Expr
}

type enumValue struct{ name, value, comment string }

func parseSource(tb testing.TB) source {
	tb.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		tb.Fatal(err)
	}
	src := source{types: map[string]sourceType{}, methods: map[string][]string{}, values: map[string][]enumValue{}}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			tb.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				src.addSpecs(name, d)
			case *ast.FuncDecl:
				if d.Recv != nil {
					receiver, _ := d.Recv.List[0].Type.(*ast.Ident)
					if receiver != nil {
						src.methods[d.Name.Name] = append(src.methods[d.Name.Name], receiver.Name)
					}
				}
			}
		}
	}
	return src
}

func (src source) addSpecs(file string, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc := spec.Doc
			if doc == nil {
				doc = d.Doc
			}
			src.types[spec.Name.Name] = sourceType{file: file, doc: sentence(doc), expr: spec.Type}
		case *ast.ValueSpec:
			kind, _ := spec.Type.(*ast.Ident)
			if d.Tok != token.CONST || kind == nil {
				continue
			}
			for i, v := range spec.Values {
				if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					value, _ := strconv.Unquote(lit.Value)
					src.values[kind.Name] = append(src.values[kind.Name], enumValue{spec.Names[i].Name, value, sentence(spec.Comment)})
				}
			}
		}
	}
}

// sentence is a comment on one line.
func sentence(c *ast.CommentGroup) string {
	if c == nil {
		return ""
	}
	return strings.Join(strings.Fields(c.Text()), " ")
}
