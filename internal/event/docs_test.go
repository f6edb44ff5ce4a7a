package event

import (
	"flag"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/events.md")

func TestDocsListEveryEvent(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "events.md")
	want := newPage(t).write()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("docs/events.md does not say what the code says; run go test ./internal/event -run Docs -update")
	}
}

func TestEveryEventHasADocComment(t *testing.T) {
	src := parseSource(t)
	for name, typ := range src.types {
		if ast.IsExported(name) && !strings.HasPrefix(typ.doc, name+" ") {
			t.Errorf("%s: doc comment %q", name, typ.doc)
		}
	}
}

const intro = `# Events

A session is a log: one file of lines, one line for each fact, in the order in which things happened. This page says what
stands on a line. It is made from the code (` + "`go test ./internal/event -run Docs -update`" + `).

## A line

    {"v":1,"id":"01JD…","sessionId":"01JC…","seq":17,"ts":1732000000000,"type":"tool.started","payload":{"toolUseId":"toolu_01","toolName":"bash"}}

| field | type | meaning |
|---|---|---|
| ` + "`v`" + ` | integer | the version of the schema that this line was written in, %d today; a log may hold lines of several |
| ` + "`id`" + ` | string | a ULID: unique, and in the order of time |
| ` + "`sessionId`" + ` | string | the session that the fact belongs to |
| ` + "`seq`" + ` | integer | 1, 2, 3 … without gaps within a session |
| ` + "`ts`" + ` | integer | milliseconds since the Unix epoch |
| ` + "`parentId`" + ` | string, optional | reserved; not written today |
| ` + "`type`" + ` | string | what happened; the names below |
| ` + "`critical`" + ` | boolean, optional | true when a reader that does not know the type may not skip the line |
| ` + "`payload`" + ` | object | the fact itself; its fields follow below |

Fields stand in the order of these tables. The file is UTF-8, without a byte order mark, and nothing is escaped that JSON does
not want escaped, except U+2028 and U+2029. A line is written once and never changed.

**Fields you do not know** are to be ignored: new optional ones may come at any time, without a new version. A program that copies
lines copies them whole.

**Types you do not know** come from a newer program. Skip them, unless the line is ` + "`critical`" + `: then the log cannot be continued by a
program that does not know the type. A line whose ` + "`v`" + ` is higher than you know is of an unknown type whatever its name says.

**Older versions** are brought up to date when they are read; the file stays as it is.

In the tables, a field marked *optional* is absent when there is nothing to say (a note that speaks of "" then means that);
every other field is always there. An array without elements is ` + "`[]`" + `. A type with a link is described under [Shapes](#shapes) or [Values](#values).

# Facts
`

const noticesIntro = `
# Notices

Notices are seen by live subscribers only and never stored: pieces of what will be a fact once it has settled. They have no ` + "`v`" + ` and
no ` + "`seq`" + `:

    {"id":"01JD…","sessionId":"01JC…","ts":1732000000000,"type":"model.text-delta","payload":{"requestId":"…","blockIndex":0,"text":"Hel"}}

`

// page writes docs/events.md and remembers which types it has mentioned.
type page struct {
	strings.Builder
	src    source
	facts  []Fact
	wire   map[string]string // what the log calls what the code calls by another name
	shapes []string
	enums  []string
}

func newPage(t *testing.T) *page {
	p := &page{src: parseSource(t), facts: facts(t), wire: map[string]string{"nil": "null"}}
	for _, f := range p.facts {
		p.wire[goName(f)] = "`" + NameOf(f) + "`"
	}
	for _, n := range notices {
		p.wire[goName(n)] = "`" + NoticeNameOf(n) + "`"
	}
	for _, values := range p.src.values {
		for _, v := range values {
			p.wire[v.name] = "`" + v.value + "`"
		}
	}
	return p
}

var word = regexp.MustCompile(`\w+`)

// say is a comment in the words of the log, fit for a cell of a table.
func (p *page) say(comment string) string {
	comment = word.ReplaceAllStringFunc(comment, func(w string) string {
		if wire, ok := p.wire[w]; ok {
			return wire
		}
		return w
	})
	return strings.ReplaceAll(comment, "|", `\|`)
}

func (p *page) write() string {
	fmt.Fprintf(p, intro, Version)
	file := ""
	for _, f := range p.facts {
		name := goName(f)
		if at := p.src.types[name].file; at != file {
			file = at
			family := strings.TrimSuffix(file, ".go")
			fmt.Fprintf(p, "\n## %s\n\n| type | meaning | payload |\n|---|---|---|\n", strings.ToUpper(family[:1])+family[1:])
		}
		p.row(NameOf(f), name)
	}
	p.WriteString(noticesIntro + "| type | meaning | payload |\n|---|---|---|\n")
	for _, n := range notices {
		p.row(NoticeNameOf(n), goName(n))
	}
	p.WriteString("\n# Shapes\n\n| shape | meaning | fields |\n|---|---|---|\n")
	for i := 0; i < len(p.shapes); i++ { // a shape may mention further ones
		name := p.shapes[i]
		fmt.Fprintf(p, "| <a id=\"%s\"></a>%s | %s | %s |\n", strings.ToLower(name), name, p.say(p.src.types[name].doc), p.fields(name))
	}
	p.WriteString("\n# Values\n\n| name | meaning | values |\n|---|---|---|\n")
	for _, name := range p.enums {
		fmt.Fprintf(p, "| <a id=\"%s\"></a>%s | %s | %s |\n", strings.ToLower(name), name, p.say(p.src.types[name].doc), p.values(name))
	}
	return p.String()
}

func (p *page) row(wire, name string) {
	fmt.Fprintf(p, "| `%s` | %s | %s |\n", wire, p.say(p.src.types[name].doc), p.fields(name))
}

func (p *page) fields(name string) string {
	var lines []string
	for _, f := range p.src.types[name].expr.(*ast.StructType).Fields.List {
		tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
		wire, optional := strings.CutSuffix(tag, ",omitempty")
		line := "`" + wire + "` " + p.typeName(f.Type)
		if _, pointer := f.Type.(*ast.StarExpr); pointer && !optional {
			line += " or null"
		}
		if optional {
			line += ", *optional*"
		}
		if comment := strings.TrimSpace(sentence(f.Doc) + " " + sentence(f.Comment)); comment != "" {
			line += ": " + p.say(comment)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "<br>")
}

func (p *page) typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return p.typeName(e.X)
	case *ast.ArrayType:
		return "array of " + p.typeName(e.Elt)
	case *ast.IndexExpr: // List[T]
		return "array of " + p.typeName(e.Index)
	case *ast.SelectorExpr: // json.RawMessage
		return "any JSON"
	}
	name := types.ExprString(e)
	switch name {
	case "int", "int64":
		return "integer"
	case "bool":
		return "boolean"
	case "string":
		return name
	}
	list := &p.enums
	if _, ok := p.src.types[name].expr.(*ast.StructType); ok {
		list = &p.shapes
	}
	if !slices.Contains(*list, name) {
		*list = append(*list, name)
	}
	return "[" + name + "](#" + strings.ToLower(name) + ")"
}

func (p *page) values(name string) string {
	var all []string
	for _, v := range p.src.values[name] {
		text := "`" + v.value + "`"
		if v.comment != "" {
			text += " (" + p.say(v.comment) + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}
