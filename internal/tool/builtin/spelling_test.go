package builtin

import (
	"os"
	"path/filepath"
	"testing"

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
