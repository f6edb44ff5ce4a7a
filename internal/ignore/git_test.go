package ignore

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// failer is what a test and a rapid check have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// git answers for one repository. The process lives on from question to
// question; each asks about a folder of its own, for git keeps what it has read.
type git struct {
	dir    string
	asks   io.Writer
	says   *bufio.Reader
	folder int
}

func startGit(t testing.TB) *git {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not here")
	}
	dir := t.TempDir()
	env := append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	create := exec.Command(program, "init", "-q", dir)
	create.Env = env
	must(t, create.Run())
	cmd := exec.Command(program, "check-ignore", "--no-index", "--stdin", "-z", "--verbose", "--non-matching")
	cmd.Dir, cmd.Env = dir, env
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { must(t, errors.Join(in.Close(), ignoreExit(cmd.Wait()))) })
	return &git{dir: dir, asks: in, says: bufio.NewReader(out)}
}

// ignoreExit takes git's 1, nothing matched, for an answer.
func ignoreExit(err error) error {
	if exit := (&exec.ExitError{}); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil
	}
	return err
}

// ignored asks git about a file among ignore files, which are given by their
// folders.
func (g *git) ignored(t failer, files map[string]string, file string) bool {
	t.Helper()
	g.folder++
	base := "c" + strconv.Itoa(g.folder)
	root := filepath.Join(g.dir, base)
	must(t, os.MkdirAll(filepath.Join(root, path.Dir(file)), 0o777), os.WriteFile(filepath.Join(root, file), nil, 0o666))
	for folder, content := range files {
		must(t, os.MkdirAll(filepath.Join(root, folder), 0o777), os.WriteFile(filepath.Join(root, folder, ".gitignore"), []byte(content), 0o666))
	}
	_, err := fmt.Fprintf(g.asks, "%s/%s\x00", base, file)
	must(t, err)
	var fields [4]string // source, line, pattern, path
	for i := range fields {
		fields[i], err = g.says.ReadString(0)
		must(t, err)
	}
	must(t, os.RemoveAll(root))
	return fields[2] != "\x00" && fields[2][0] != '!'
}

// plainPath makes a path of a text that can be created; "" when there is none.
func plainPath(s string) string {
	var elems []string
	for elem := range strings.SplitSeq(s, "/") {
		elem = strings.ReplaceAll(elem, "\x00", "")
		if elem == "" || strings.Trim(elem, ".") == "" || len(elem) > 100 || strings.HasPrefix(strings.ToLower(elem), ".git") || strings.HasPrefix(strings.ToLower(elem), "git~") {
			continue
		}
		if elems = append(elems, elem); len(elems) == 5 {
			break
		}
	}
	return strings.Join(elems, "/")
}

// compare asks git and ourselves.
func (g *git) compare(t failer, files map[string]string, file string) {
	t.Helper()
	if file = plainPath(file); file == "" {
		return
	}
	if first, _, nested := strings.Cut(file, "/"); nested {
		files = map[string]string{"": files[""], first: files["sub"]}
	} else {
		files = map[string]string{"": files[""]}
	}
	if got, want := ignoredIn(files, file), g.ignored(t, files, file); got != want {
		t.Fatalf("%q among %q: got %v, git says %v", file, files, got, want)
	}
}

func FuzzIgnore(f *testing.F) {
	g := startGit(f)
	for _, seed := range [][3]string{
		{"*.log\n!keep.log\n", "", "a/keep.log"},
		{"/build/\nfoo/**\n**/x\na/**/b", "!y\n", "a/c/b"},
		{"[[:alpha:]]?.o\n[!a-c]x\n[]-]\n[a\\]]\n", "[]]\n", "ab.o"},
		{"\\#a\n\\!b\nc\\ \nd  \ne\\", "\ufefff\r\n", "c "},
		{"foo**/bar\n*a*b*c\n**\n!**/\n", "/x\n", "foo/q/bar"},
		{"a{b,c}\n?\n\xc3\xbc?\n", "\xff*\n", "\xc3\xbc"},
		{"[z-a]\n[a-\n[[:x:]]\n[\\", "[a-\\z]\n", "q/[a-"},
		{"x/\n!x/\nx\n", "/y/z\n", "x/y/z"},
		{"a\x00b\n*/c\n*//d\n/\n!\n//\n", "", "a/c"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, root, sub, file string) {
		g.compare(t, map[string]string{"": root, "sub": sub}, file)
	})
}

// What chance makes of letters seldom is a rule that fits; this makes them of
// few pieces.
func TestRulesOfAFewPiecesAreJudgedAsGitDoes(t *testing.T) {
	g := startGit(t)
	pieces := []string{
		"a", "b", "ab", "*", "**", "/", "/", "?", "[ab]", "[!a]", "[^b]", "[a-b]", "[[:alpha:]]", "[]]", "[", "]", "\\", "\\*", "!", "#", " ", "\\ ", "-",
		".", ".a", "{", "}", ",", "\r", "\t", "ü", "\xff", "A",
	}
	line := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6), func(p []string) string { return strings.Join(p, "") })
	file := rapid.Map(rapid.SliceOfN(line, 0, 4), func(l []string) string { return strings.Join(l, "\n") })
	names := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "/", "/", ".a", "*", "[", "\\", " ", "ü", "A", "]", "-", "\xff", "{"}), 1, 8),
		func(p []string) string { return strings.Join(p, "") })
	rapid.Check(t, func(t *rapid.T) {
		root, sub := file.Draw(t, "root"), file.Draw(t, "sub")
		for range 5 {
			g.compare(t, map[string]string{"": root, "sub": sub}, names.Draw(t, "file"))
		}
	})
}
