package search

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// The names and contents that trees are made of.
var (
	someNames = []string{
		"a", "b.go", "c.txt", ".hidden", "skip.log", "keep.log", "n\nl.go", "a b.txt", "q\"'.txt", "ünï.txt", "-e", "--pre=x", "[x]", "A", "*", "lat\xe9",
	}
	someFolders = []string{"", "", "d/", "d/e/", "build/", ".cfg/", "d/build/", "ü b/", "-dir/", "nested/", "nested/in/"}
	someRules   = []string{
		"*.log", "build", "!keep.log", "/build/", "d/*", "e", "!e/", "*.txt", "!a*.txt", "/d/e", "**/in", "d/**/b.go", "?", "[ab]*", "\\*", "# no", "", "nested/", "ü*", "*/a",
		"-e", "A", "!*/", ".*", "!.hidden", "{a,b}.go", "foo**", "\\-e",
	}
)

// grow makes a random tree of a repository, with links, pipes and repositories
// in it, and says which folders are repositories of their own.
func (w *world) grow(t *rapid.T, words []string) (root string) {
	root, err := os.MkdirTemp(w.dir, "tree")
	must(t, err)
	rel := func(name string) string { return strings.TrimPrefix(filepath.Join(root, name), w.dir+"/") }
	repository := func(name string) {
		w.put(t, rel(name+".git/HEAD"), "ref: refs/heads/main\n")
		must(t, os.MkdirAll(filepath.Join(root, name+".git/objects"), 0o777), os.MkdirAll(filepath.Join(root, name+".git/refs"), 0o777))
		if rapid.Bool().Draw(t, "exclude") {
			w.put(t, rel(name+".git/info/exclude"), drawRules(t))
		}
	}
	repository("")
	for _, name := range rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom(someFolders).Draw(t, "folder") + rapid.SampledFrom(someNames).Draw(t, "name")
	}), 1, 12, rapid.ID).Draw(t, "files") {
		switch kind := rapid.IntRange(0, 12).Draw(t, "kind"); kind {
		case 0, 1:
			must(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o777))
			must(t, os.Symlink(rapid.SampledFrom([]string{"..", ".", "/etc", "a", "nowhere"}).Draw(t, "link"), filepath.Join(root, name)))
		case 2:
			must(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o777), syscall.Mkfifo(filepath.Join(root, name), 0o666))
		default:
			w.put(t, rel(name), drawText(t, words))
		}
	}
	for _, folder := range []string{"", "d/", "nested/"} {
		if rapid.Bool().Draw(t, "rules") {
			w.put(t, rel(folder+".gitignore"), drawRules(t))
		}
	}
	if rapid.Bool().Draw(t, "nested") {
		repository("nested/")
	}
	if rapid.Bool().Draw(t, "global") {
		w.put(t, "~/.gitconfig", "[core]\n\texcludesFile = ~/ig\n")
	}
	w.put(t, "~/ig", drawRules(t))
	return root
}

func drawRules(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(someRules), 0, 4).Draw(t, "rules"), "\n")
}

func drawText(t *rapid.T, words []string) string {
	lines := rapid.SliceOfN(rapid.Map(rapid.SliceOfN(rapid.SampledFrom(words), 0, 3), func(w []string) string {
		return strings.Join(w, " ")
	}), 0, 4).Draw(t, "lines")
	text := strings.Join(lines, rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "end of line"))
	switch rapid.IntRange(0, 9).Draw(t, "form") {
	case 0:
		return utf16(text + "\n")
	case 1:
		return "\ufeff" + text + "\n"
	case 2:
		return text + "\n" + strings.Repeat("long ", 20_000) + "foo\n"
	}
	return text + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
}

// utf16 is a text of the lowest plane as UTF-16 with its mark.
func utf16(text string) string {
	out := []byte("\xff\xfe")
	for _, r := range strings.ToValidUTF8(text, "?") {
		out = append(out, byte(r), byte(r>>8))
	}
	return string(out)
}

// searched are the files that a search would look at.
func (w *world) searched(t *rapid.T, root string) []string {
	var mutex sync.Mutex
	var files []string
	walk := &walk{workspace: w.ws, root: root, visitor: func() func(entry) {
		return func(e entry) {
			if !e.ignored && !e.hidden && (e.kind.IsRegular() || e.kind&os.ModeSymlink != 0) {
				mutex.Lock()
				files = append(files, e.rel())
				mutex.Unlock()
			}
		}
	}}
	must(t, walk.run(t.Context()))
	slices.Sort(files)
	return files
}

// listed are the files that git has not ignored, but for hidden ones.
func (w *world) listed(t *rapid.T, root, prefix string) []string {
	cmd := exec.Command("git", "ls-files", "-o", "--exclude-standard", "-z")
	cmd.Dir = filepath.Join(root, prefix)
	cmd.Env = append(os.Environ(), "HOME="+w.home, "XDG_CONFIG_HOME="+filepath.Join(w.home, ".config"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	out, err := cmd.Output()
	must(t, err)
	var files []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		name = prefix + name
		switch {
		case name == prefix || strings.HasPrefix(name, ".") || strings.Contains(name, "/."):
		case strings.HasSuffix(name, "/"):
			if _, err := os.Stat(filepath.Join(root, name, ".git")); err == nil {
				files = append(files, w.listed(t, root, name)...)
			}
		default:
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files
}

func TestAWalkComesByTheFilesThatGitDoesNotIgnore(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	w := newWorld(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		must(t, os.RemoveAll(filepath.Join(w.home, ".gitconfig")))
		root := w.grow(t, []string{"x"})
		defer os.RemoveAll(root)
		if got, want := w.searched(t, root), w.listed(t, root, ""); !slices.Equal(got, want) {
			t.Fatalf("%s\ngot  %q\ngit: %q", root, got, want)
		}
	})
}

// counted asks ripgrep. It gets the files one by one, since of ignoring git
// knows more.
func counted(t *rapid.T, root, expr string, files []string) []hit {
	args := []string{"--no-config", "--no-messages", "--color=never", "--crlf", "--count", "--null", "--no-ignore", "--hidden", "--no-heading", "-e", asciiBoundaries(expr), "--", "."}
	cmd := exec.Command("rg", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
		must(t, err)
	}
	var hits []hit
	for rest := string(out); rest != ""; {
		var name, n string
		name, rest, _ = strings.Cut(rest, "\x00")
		n, rest, _ = strings.Cut(rest, "\n")
		lines, err := strconv.Atoi(strings.TrimSuffix(n, "\r"))
		must(t, err)
		if rel := strings.TrimPrefix(name, "./"); slices.Contains(files, rel) {
			hits = append(hits, hit{rel, lines})
		}
	}
	order(hits)
	return hits
}

// asciiBoundaries makes ripgrep's classes and word boundaries those of RE2.
func asciiBoundaries(expr string) string {
	for _, c := range []string{"b", "B", "d", "w"} {
		expr = strings.ReplaceAll(expr, `\`+c, `(?-u:\`+c+`)`)
	}
	return expr
}

// Ripgrep holds what stands in files to another opinion. The expressions are
// those that both read alike.
func TestRipgrepCountsTheSameLines(t *testing.T) {
	if _, err := exec.LookPath("rg"); err != nil {
		t.Skip("ripgrep is not here")
	}
	expressions := []string{
		"foo|bar", "a{2}", `\bx\b`, "(?i)ABC", `^\s*$`, "ü", `\w+é`, `\d`, "x*", "foo$", `^b`, `\Bx`, "a.?b", `\.`, `interface\{\}`, `[[:alpha:]]$`,
		`\x{e9}`, "-e", "^foo bar$", "(?i)É", "--pre=touch x",
	}
	words := []string{"foo", "bar", "aa", "x", "Abc", "b", "é", "ü", "9", "", "a b", "interface{}", ".", "-e", "\t", "\x00", "\xe9", "--pre=touch x"}
	w := newWorld(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		root := w.grow(t, words)
		defer os.RemoveAll(root)
		expr := rapid.SampledFrom(expressions).Draw(t, "expr")
		p, err := Compile(expr)
		must(t, err)
		p.wide = false // ripgrep decodes nothing that has no mark
		s := &sweep{tree: Tree{Workspace: w.ws, Root: root}, query: Query{Pattern: p, Mode: Count}}
		walk := &walk{workspace: w.ws, root: root, visitor: func() func(entry) { return s.visitor(t.Context()) }}
		must(t, walk.run(t.Context()))
		order(s.hits)
		if want := counted(t, root, expr, w.searched(t, root)); !slices.Equal(s.hits, want) {
			t.Fatalf("%s in %s\ngot     %q\nripgrep %q", expr, root, shown(s.hits), shown(want))
		}
	})
}

func shown(hits []hit) []string {
	var list []string
	for _, h := range hits {
		list = append(list, h.rel+":"+strconv.Itoa(h.lines))
	}
	return list
}
