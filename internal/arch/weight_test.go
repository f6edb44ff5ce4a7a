package arch

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// heavy are packages that must not come into the main program, with all that
// is below them, and what they would cost. Times are of one start.
var heavy = []struct {
	pkg, cost string
	unless    string // an importer that only uses it when asked to
}{
	{pkg: "text/template", cost: "executing one makes the linker keep every method", unless: "github.com/spf13/cobra"},
	{pkg: "html/template", cost: "executing one makes the linker keep every method"},
	{pkg: "github.com/alecthomas/chroma/v2/lexers", cost: "14 to 17 ms"},
	{pkg: "github.com/alecthomas/chroma/v2/styles", cost: "10 to 11 ms"},
	{pkg: "charm.land/glamour", cost: "42 ms"},
	{pkg: "github.com/charmbracelet/glamour", cost: "42 ms"},
	{pkg: "github.com/santhosh-tekuri/jsonschema", cost: "12 ms"},
}

// executesTemplates is the function whose presence in the binary says that a
// template can be executed; cobra's import alone does not link it.
const executesTemplates = "text/template.(*Template).Execute"

func TestTheMainProgramStaysLight(t *testing.T) {
	root := filepath.Join("..", "..")
	if files, _ := filepath.Glob(filepath.Join(root, "cmd", "khaelor", "*.go")); len(files) == 0 {
		t.Skip("there is no cmd/khaelor to weigh")
	}
	listed := output(t, root, "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./cmd/khaelor")
	for _, problem := range overweight(listed) {
		t.Error(problem)
	}
	binary := filepath.Join(t.TempDir(), "khaelor")
	output(t, root, "build", "-o", binary, "./cmd/khaelor")
	if symbols := output(t, root, "tool", "nm", binary); strings.Contains(symbols, executesTemplates) {
		t.Errorf("the binary holds %s: something sets a help, usage or version template, "+
			"or executes one; print with fmt instead", executesTemplates)
	}
}

func output(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// overweight finds heavy packages in lines of an importer and its imports.
func overweight(listed string) []string {
	var found []string
	for line := range strings.Lines(listed) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		for _, imported := range words[1:] {
			for _, h := range heavy {
				inside := imported == h.pkg || strings.HasPrefix(imported, h.pkg+"/")
				if inside && words[0] != h.unless && words[0] != h.pkg && !strings.HasPrefix(words[0], h.pkg+"/") {
					found = append(found, fmt.Sprintf("%s imports %s, which costs the main program: %s", words[0], imported, h.cost))
				}
			}
		}
	}
	return found
}

func TestHeavyImportsAreFoundByWhoImportsThem(t *testing.T) {
	listed := strings.Join([]string{
		"github.com/spf13/cobra text/template fmt",
		"text/template text/template/parse",
		module + "/internal/cli github.com/spf13/cobra text/template",
		"example.org/schema github.com/santhosh-tekuri/jsonschema/v6",
		"example.org/md charm.land/glamour-like",
	}, "\n")
	got := overweight(listed)
	want := []string{"internal/cli imports text/template", "example.org/schema imports github.com/santhosh-tekuri/jsonschema/v6"}
	if len(got) != len(want) {
		t.Fatalf("found %q", got)
	}
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, w) }) {
			t.Errorf("%q is missing in %q", w, got)
		}
	}
}
