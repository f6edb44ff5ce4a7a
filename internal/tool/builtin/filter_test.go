package builtin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/workspace"
)

func TestAGlobMayLeadToTheFolderThatIsSearched(t *testing.T) {
	p := newProject(t, map[string]string{"a.txt": "K", "b.go": "K", "s[1]/c.txt": "K", "s[1]/d/e.txt": "K", ".h/f.txt": "K"},
		workspace.WithEnviron([]string{"HOME=/", "PATH=" + os.Getenv("PATH")}))
	name := filepath.Base(p.dir)
	top := "a.txt\n"
	all := top + "s[1]/c.txt\ns[1]/d/e.txt\n"
	for _, tt := range []struct{ path, glob, want string }{
		{"", p.dir + "/*.txt", top},
		{"", p.dir + "/**/*.txt", all},
		{"", filepath.Dir(p.dir) + "/*/*.txt", top},
		{"", filepath.Dir(p.dir) + "/**/*.txt", all},
		{"", "../" + name + "/*.txt", top},
		{"", "../**/*.txt", all},
		{"", "~" + p.dir + "/*.txt", top},
		{"", "!" + p.dir + "/*.txt", "b.go\ns[1]/c.txt\ns[1]/d/e.txt\n"},
		{"", p.dir + `/s\[1]/*.txt`, "s[1]/c.txt\n"},
		{"", p.dir + `/s\[1]/d/`, "s[1]/d/e.txt\n"},
		{"", p.dir + "/.h/*", ".h/f.txt\n"},
		{"", p.dir + "/a.txt", top},
		{"", "/*.txt", all},
		{"", `/s\[1]/*.txt`, "s[1]/c.txt\n"},
		{"s[1]", p.dir + "/**/*.txt", "s[1]/c.txt\ns[1]/d/e.txt\n"},
		{"s[1]", p.dir + "/*/*.txt", "s[1]/c.txt\n"},
		{"s[1]", p.dir + `/s\[1]/d/*`, "s[1]/d/e.txt\n"},
		{"", "*.txt, *.go", top + "b.go\ns[1]/c.txt\ns[1]/d/e.txt\n"},
		{"", p.dir + "/*.txt,*.go,!a.*", "b.go\n"},
	} {
		if got := p.grep(grepInput{Pattern: "K", Path: tt.path, Glob: tt.glob, Mode: "files"}); got != tt.want {
			t.Errorf("%s in %q: got %q, want %q", tt.glob, tt.path, got, tt.want)
		}
	}
	equal(t, p.grep(grepInput{Pattern: "K", Path: "a.txt", Glob: p.dir + "/*.txt", Mode: "files"}), top)
	for _, tt := range []struct{ path, glob string }{
		{"", "../*.txt"},
		{"", t.TempDir() + "/*.txt"},
		{"", "/tmp/*.txt"},
		{"s[1]", p.dir + "/*.txt"},
		{"s[1]", p.dir + "/.h/*.txt"},
	} {
		_, err := grep(t.Context(), p.env, grepInput{Pattern: "K", Path: tt.path, Glob: tt.glob})
		p.refused(err, event.ToolInvalidInput, "outside", "as path")
	}
}
