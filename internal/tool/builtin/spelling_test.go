package builtin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/workspace"
)

// exists fails unless a file is there, or is not.
func exists(t testing.TB, path string, want bool) {
	t.Helper()
	if _, err := os.Lstat(path); (err == nil) != want {
		t.Errorf("%q: there is %v, want %v", path, err == nil, want)
	}
}

func TestATildeIsTheHomeFolder(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Mkdir(filepath.Join(home, "d"), 0o777), os.WriteFile(filepath.Join(home, "d", "f.txt"), []byte("KEY\n"), 0o666))
	file := filepath.Join(home, "d", "f.txt")
	p := newProject(t, map[string]string{"a~": "x\n", "~b": "y\n"}, workspace.WithEnviron([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}))
	for _, write := range []bool{false, true} {
		need, err := pathNeed(p.env, "~/d/f.txt", write)
		must(t, err)
		if got := need.Paths[0]; got.Path != file || got.Given != file || got.Inside {
			t.Errorf("what is judged is %+v", got)
		}
	}
	equal(t, p.read(readInput{Path: "~/d/f.txt"}).Text, "KEY\n")
	equal(t, p.grep(grepInput{Pattern: "K", Path: "~", Mode: "files"}), file+"\n")
	equal(t, p.done(glob(t.Context(), p.env, globInput{Pattern: "*.txt", Path: "~/d"})).Text, file+"\n")
	equal(t, p.glob("~/d/*.txt"), file+"\n")
	equal(t, p.done(glob(t.Context(), p.env, globInput{Pattern: "~/d/*.txt", Path: "."})).Text, file+"\n")
	p.done(p.edit("~/d/f.txt", "KEY", "LOCK"))
	p.done(p.write("~/d/new", "n"))
	exists(t, filepath.Join(home, "d", "new"), true)
	equal(t, p.done(bash(t.Context(), p.env, bashInput{Command: "pwd", Cwd: "~/d"})).Text, filepath.Join(home, "d")+"\n")
	exists(t, filepath.Join(p.dir, "~"), false)
	equal(t, p.read(readInput{Path: "a~"}).Text+p.read(readInput{Path: "~b"}).Text, "x\ny\n")

	p.put("~/mine", "literal\n")
	equal(t, p.read(readInput{Path: "~/mine"}).Text, "literal\n")
	need, err := pathNeed(p.env, "~/other", true)
	must(t, err)
	if !need.Paths[0].Inside || need.Capabilities[0] != tool.FileWrite {
		t.Errorf("a folder called ~ is not meant: %+v", need)
	}
}

// Grep 7. A name that had to be quoted is one to give back.
func TestQuotedNamesAreTaken(t *testing.T) {
	p := newProject(t, map[string]string{"nl\nname.txt": "nl\n", "bad\xff.txt": "bad\n", "d\nir/sub/t\tab": "tab\n", `q"`: "q\n"})
	for given, want := range map[string]string{
		`"nl\nname.txt"`: "nl\n", `"bad\xff.txt"`: "bad\n", `"d\nir/sub/t\tab"`: "tab\n", `"d\nir/"sub/t\tab`: "", `"d\nir"/sub/"t\tab"`: "tab\n",
		`./"nl\nname.txt"`: "nl\n", p.dir + `/"nl\nname.txt"`: "nl\n", `"` + p.dir + `/nl\nname.txt"`: "nl\n", `q"`: "q\n",
	} {
		r, err := read(t.Context(), p.env, readInput{Path: given})
		if (err == nil) != (want != "") || r.Text != want {
			t.Errorf("%s: got %q, %v", given, r.Text, err)
		}
	}
	for _, tool := range []string{p.grep(grepInput{Pattern: ".", Mode: "files"}), p.glob("*")} {
		for line := range strings.Lines(tool) {
			name := strings.TrimSuffix(line, "\n")
			equal(t, p.grep(grepInput{Pattern: ".", Path: name, Mode: "files"}), line)
		}
	}
	for line := range strings.Lines(p.read(readInput{Path: "."}).Text) {
		if line[0] != '[' {
			p.read(readInput{Path: strings.TrimSuffix(line, "\n")})
		}
	}
	_, err := read(t.Context(), p.env, readInput{Path: "none"})
	p.refused(err, event.ToolNotFound, `has: "bad\xff.txt", "d\nir", "nl\nname.txt", q".`)
	p.read(readInput{Path: "nl\nname.txt"})
	p.done(p.write(`"nl\nname.txt"`, "new\n"))
	p.holds("nl\nname.txt", "new\n")

	p.put(`"a"`, "quotes\n")
	p.put("a", "none\n")
	equal(t, p.read(readInput{Path: `"a"`}).Text, "quotes\n")
}

func TestANameInAnotherNormalFormIsTheFile(t *testing.T) {
	const nfc, nfd = "\u00fc.txt", "u\u0308.txt"
	for disk, given := range map[string]string{nfc: nfd, nfd: nfc} {
		p := newProject(t, map[string]string{disk: "one\n", "d" + disk + "/f": "x\n"})
		equal(t, p.read(readInput{Path: given}).Text, "one\n")
		p.done(p.edit(given, "one", "two"))
		p.holds(disk, "two\n")
		p.done(p.write(given, "three\n"))
		p.holds(disk, "three\n")
		p.done(p.write("d"+given+"/new", "n\n"))
		p.holds("d"+disk+"/new", "n\n")
		equal(t, p.grep(grepInput{Pattern: "x", Path: "d" + given, Mode: "files"}), "d"+disk+"/f\n")
		need, err := pathNeed(p.env, given, true)
		must(t, err)
		equal(t, need.Paths[0].Path, filepath.Join(p.dir, disk))
		exists(t, filepath.Join(p.dir, given), false)

		p.put(given, "own\n")
		equal(t, p.read(readInput{Path: given}).Text+p.read(readInput{Path: disk}).Text, "own\nthree\n")
	}
	// Which of two is meant nobody knows.
	p := newProject(t, map[string]string{"\u1e69": "", "s\u0323\u0307": ""})
	_, err := read(t.Context(), p.env, readInput{Path: "\u1e63\u0307"})
	p.refused(err, event.ToolNotFound)
}

func TestAPathThatNoFileCanHaveIsRefused(t *testing.T) {
	p := newProject(t, nil)
	must(t, os.Symlink("two", filepath.Join(p.dir, "one")), os.Symlink("one", filepath.Join(p.dir, "two")))
	for path, says := range map[string]string{
		strings.Repeat("x", 300): "too long", "./" + strings.Repeat("x", 300) + "/y": "too long", "one": "circle", "one/x": "circle",
	} {
		_, err := read(t.Context(), p.env, readInput{Path: path})
		p.refused(err, event.ToolInvalidInput, says)
		_, err = p.write(path, "x")
		p.refused(err, event.ToolInvalidInput, says)
		_, err = p.edit(path, "x", "y")
		p.refused(err, event.ToolInvalidInput, says)
		_, err = grep(t.Context(), p.env, grepInput{Pattern: "x", Path: path})
		p.refused(err, event.ToolInvalidInput, says)
		_, err = glob(t.Context(), p.env, globInput{Pattern: "*", Path: path})
		p.refused(err, event.ToolInvalidInput, says)
		_, err = bash(t.Context(), p.env, bashInput{Command: "true", Cwd: path})
		p.refused(err, event.ToolInvalidInput, says)
	}
}
