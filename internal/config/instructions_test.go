package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// tree creates files (path → text, or "-> target" for a link) and returns the
// canonical root.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if target, link := strings.CutPrefix(text, "-> "); link {
			err = os.Symlink(strings.ReplaceAll(target, "ROOT", root), path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func find(root, cwd string) (names string, found []Instruction, warnings []Warning) {
	found, warnings = Instructions(realFiles{}, filepath.Join(root, "home"), filepath.Join(root, "repo"), filepath.Join(root, cwd))
	var paths []string
	for _, f := range found {
		paths = append(paths, strings.TrimPrefix(f.Path, root+"/"))
	}
	return strings.Join(paths, " "), found, warnings
}

func TestInstructionsGoFromTheStateFolderDownToTheWorkingDirectory(t *testing.T) {
	root := tree(t, map[string]string{
		"home/KHAELOR.md": "h", "home/AGENTS.md": "not read", "AGENTS.md": "above the repository",
		"repo/AGENTS.md": "r", "repo/CLAUDE.md": "second choice",
		"repo/a/KHAELOR.md": "a", "repo/a/AGENTS.md": "second choice",
		"repo/a/b/c/CLAUDE.md": "c", "repo/other/AGENTS.md": "elsewhere",
	})
	names, _, warnings := find(root, "repo/a/b/c")
	if want := "home/KHAELOR.md repo/AGENTS.md repo/a/KHAELOR.md repo/a/b/c/CLAUDE.md"; names != want || len(warnings) != 0 {
		t.Errorf("found %s, warnings %v", names, warnings)
	}
	nested, _ := FolderInstructions(realFiles{}, root+"/home", root+"/repo", root+"/repo/other")
	if len(nested) != 1 || nested[0].Text != "elsewhere" {
		t.Errorf("nested %+v", nested)
	}
	alone, _ := Instructions(realFiles{}, "", "", root+"/repo/a")
	if len(alone) != 1 || alone[0].Text != "a" {
		t.Errorf("without a repository %+v", alone)
	}
}

func TestImportsFollowTheirFileAndStayInside(t *testing.T) {
	root := tree(t, map[string]string{
		"home/KHAELOR.md": "see @notes.md", "home/notes.md": "n", "home/config.json": `{"apiKey": "k"}`,
		"repo/AGENTS.md": "@docs/one.md, `@docs/code.md` me@docs/mail.md @nobody\n```\n@docs/fenced.md\n```\n" +
			"@../outside.md @/etc/passwd @~/.khaelor/config.json @~/.khaelor/notes.md @.env @docs/out.md",
		"repo/docs/one.md": "@two.md @../AGENTS.md", "repo/docs/two.md": "@one.md two",
		"repo/docs/code.md": "no", "repo/docs/mail.md": "no", "repo/docs/fenced.md": "no",
		"repo/.env": "S=1", "outside.md": "no", "repo/docs/out.md": "-> ROOT/outside.md",
	})
	names, _, warnings := find(root, "repo")
	if want := "home/KHAELOR.md home/notes.md repo/AGENTS.md repo/docs/one.md repo/docs/two.md"; names != want {
		t.Errorf("found %s", names)
	}
	if len(warnings) != 5 {
		t.Errorf("%d warnings: %v", len(warnings), warnings)
	}
}

func TestImportsEndAfterFiveInARow(t *testing.T) {
	files := map[string]string{"repo/AGENTS.md": "@1.md"}
	for i := range 8 {
		files[fmt.Sprintf("repo/%d.md", i+1)] = fmt.Sprintf("@%d.md", i+2)
	}
	names, _, warnings := find(tree(t, files), "repo")
	if !strings.HasSuffix(names, "5.md") || len(warnings) != 1 {
		t.Errorf("found %s, warnings %v", names, warnings)
	}
}

func TestALinkThatLeavesIsRefusedAndTheNextNameCounts(t *testing.T) {
	root := tree(t, map[string]string{
		"repo/KHAELOR.md": "-> /etc/passwd", "repo/AGENTS.md": "a",
		"repo/sub/AGENTS.md": "-> ../AGENTS.md", "repo/way": "-> ROOT/elsewhere", "elsewhere/AGENTS.md": "e",
		"repo/broken/AGENTS.md": "-> gone", "repo/broken/CLAUDE.md": "c",
	})
	names, _, warnings := find(root, "repo/sub")
	if names != "repo/AGENTS.md" || len(warnings) != 1 {
		t.Errorf("found %s, warnings %v", names, warnings)
	}
	if names, _, _ := find(root, "repo/broken"); names != "repo/AGENTS.md repo/broken/CLAUDE.md" {
		t.Errorf("found %s", names)
	}
	if found, _ := FolderInstructions(realFiles{}, "", root+"/repo", root+"/repo/way"); len(found) != 0 {
		t.Errorf("through a linked folder: %+v", found)
	}
}

func TestTextIsCleanValidAndBounded(t *testing.T) {
	tests := []struct{ name, data, want string }{
		{"mark", "\ufeffa", "a"},
		{"line ends", "a\r\nb\n", "a\nb\n"},
		{"latin-1", "caf\xe9 ol\xe9", "caf\ufffd ol\ufffd"},
		{"at the cap", strings.Repeat("x", instructionCap), strings.Repeat("x", instructionCap)},
	}
	for _, tt := range tests {
		if got := clean([]byte(tt.data)); got != tt.want {
			t.Errorf("%s: %.40q", tt.name, got)
		}
	}
	for shift := range 4 {
		got := clean([]byte(strings.Repeat("x", shift) + strings.Repeat("€", 700_000)))
		if len(got) > instructionCap+100 || !utf8.ValidString(got) || strings.Contains(got, "\ufffd") || !strings.Contains(got, "cut here") {
			t.Errorf("shift %d: %d bytes, end %q", shift, len(got), got[len(got)-90:])
		}
	}
}
