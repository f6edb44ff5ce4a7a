package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

func TestTheUsersIgnoreFilesAreFollowed(t *testing.T) {
	w := newWorld(t, map[string]string{
		".git/HEAD": "", ".git/info/exclude": "excluded\n!kept.bak\n", ".gitignore": "!kept.tmp\n", "~/.gitconfig": "[core]\n  excludesFile = \"~/my ignore\"\n",
		"~/my ignore": "*.tmp\n*.bak\n/top\n", "a.tmp": "", "kept.tmp": "", "kept.bak": "", "a.bak": "", "top": "", "sub/top": "", "excluded": "",
		"nested/.git/HEAD": "", "nested/top": "", "nested/excluded": "", "nested/a.bak": "", "A.TMP": "",
	})
	equal(t, w.grep(t, "", Query{Mode: Files}, "."), "no matches\n[6 hidden or ignored entries not searched; give one as path to search it]\n")
	for _, name := range []string{"A.TMP", "kept.bak", "kept.tmp", "nested/excluded", "sub/top"} {
		w.put(t, name, "x")
	}
	equal(t, w.grep(t, "", Query{Mode: Files}, "x"), "A.TMP\nkept.bak\nkept.tmp\nnested/excluded\nsub/top\n")
}

// The user decides what git configuration is; a repository does not.
func TestARepositoryCannotNameAnIgnoreFile(t *testing.T) {
	w := newWorld(t, map[string]string{".git/HEAD": "", ".git/config": "[core]\n\texcludesFile = /proc/self/environ\n", "x": "x"})
	must(t, os.Symlink("/etc/passwd", filepath.Join(w.dir, ".gitignore")))
	equal(t, w.list(t, "", "*"), "x\n[1 hidden file left out; name the folder, or begin the name with a dot, to see them]\n")
}

func TestAWorktreeAndASubmoduleHaveTheirOwnExclude(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	w := newWorld(t, map[string]string{"main/f": "x\n"})
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = filepath.Join(w.dir, "main")
		cmd.Env = append(os.Environ(), "HOME="+w.home, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("add", "f")
	git("commit", "-qm", "f")
	git("worktree", "add", "-q", "../other")
	w.put(t, "main/.git/info/exclude", "secret\n")
	w.put(t, "other/secret", "x\n")
	w.put(t, "other/deep/secret", "x\n")
	w.put(t, "module/.git", "gitdir: ../gitdirs/module\n")
	w.put(t, "gitdirs/module/info/exclude", "own\n")
	w.put(t, "module/own", "x\n")
	w.put(t, "module/secret", "x\n")
	for _, root := range []string{"", "other", "other/deep", "module"} {
		want := map[string]string{
			"": "main/f\nmodule/secret\nother/f\n", "other": "other/f\n", "module": "module/secret\n",
			"other/deep": "no matches\n[1 hidden or ignored entry not searched; give one as path to search it]\n",
		}[root]
		equal(t, w.grep(t, root, Query{Mode: Files}, "x"), want)
	}
}

// What may not be read without asking is not opened, and what is said of it
// does not depend on what is in it.
func TestFilesToAskForAreLeftOutUnread(t *testing.T) {
	w := newWorld(t, map[string]string{"conf/prod.env": "TOKEN=1", "conf/a.txt": "TOKEN=1"})
	tree := w.tree("")
	var asked atomic.Int64
	tree.Skip = func(path string) bool {
		asked.Add(1)
		return strings.HasSuffix(path, ".env")
	}
	for expr, want := range map[string]string{"TOKEN": "conf/a.txt\n1:TOKEN=1\n", "nowhere": "no matches\n"} {
		p, err := Compile(expr)
		must(t, err)
		r, err := tree.Grep(t.Context(), Query{Pattern: p, Mode: Content})
		must(t, err)
		equal(t, r.Text, want+"[1 file not searched: reading needs permission; name one as path to ask]\n")
	}
	r, err := tree.List(t.Context(), "**", false)
	must(t, err)
	equal(t, r.Text, "conf/a.txt\n[1 file left out: reading needs permission]\n")
	if asked.Load() != 6 {
		t.Errorf("asked %d times", asked.Load())
	}
}

// Grep 8: the same text each time, with exact totals.
func TestALargeTreeGivesABoundedAndStableResult(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 3000 {
		w.put(t, fmt.Sprintf("d%d/f%04d-with-a-long-name", i%7, i), "some text here\nnothing\ntext\n")
	}
	for mode, last := range map[Mode]string{
		Content: " left out of 6000 in 3000; narrow the pattern, path or glob]\n",
		Count:   " left out of 6000 in 3000; narrow the pattern, path or glob]\n",
		Files:   " left out of 3000; narrow the pattern, path or glob]\n",
	} {
		text := w.grep(t, "", Query{Mode: mode}, "t.xt")
		if len(text) > 30_200 || !strings.HasSuffix(text, last) || !strings.HasPrefix(text, "d0/f0000") {
			t.Errorf("%s: %d bytes, …%q", mode, len(text), text[len(text)-100:])
		}
		for range 3 {
			equal(t, w.grep(t, "", Query{Mode: mode}, "t.xt"), text)
		}
	}
	text := w.list(t, "", "**")
	if !strings.HasSuffix(text, "[the newest 200 of 3000; narrow the pattern or path]\n") {
		t.Errorf("…%q", text[len(text)-100:])
	}
	equal(t, w.list(t, "", "**"), text)
}

func TestASearchEndsWhenItsContextDoes(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 2000 {
		w.put(t, fmt.Sprintf("d%d/f%d", i%50, i), "text\n")
	}
	p, err := Compile("nowhere")
	must(t, err)
	stop := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	tree := w.tree("")
	var opened atomic.Int64
	tree.Skip = func(string) bool {
		if opened.Add(1) == 100 {
			cancel(stop)
		}
		return false
	}
	if _, err := tree.Grep(ctx, Query{Pattern: p, Mode: Content}); !errors.Is(err, stop) || opened.Load() > 200 {
		t.Errorf("%v after %d files", err, opened.Load())
	}
	if _, err := tree.List(ctx, "**", false); !errors.Is(err, stop) {
		t.Errorf("list: %v", err)
	}
}

// A panic of the caller's function is the caller's, not the process's end.
func TestAPanicInAWorkerComesOutOfTheCall(t *testing.T) {
	w := newWorld(t, map[string]string{"a/b": "x", "c": "x"})
	tree := w.tree("")
	tree.Skip = func(string) bool { panic("boom") }
	defer func() {
		if got := recover(); got != "boom" {
			t.Errorf("got %v", got)
		}
	}()
	p, err := Compile("x")
	must(t, err)
	_, err = tree.Grep(t.Context(), Query{Pattern: p, Mode: Content})
	t.Errorf("no panic, %v", err)
}

func TestFoldersThatCannotBeReadAreCounted(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads every folder")
	}
	w := newWorld(t, map[string]string{"a/x": "KEY", "b/x": "KEY", "c": "KEY"})
	must(t, os.Chmod(filepath.Join(w.dir, "a"), 0), os.Chmod(filepath.Join(w.dir, "c"), 0))
	defer os.Chmod(filepath.Join(w.dir, "a"), 0o777)
	equal(t, w.grep(t, "", Query{}, "KEY"), "b/x\n1:KEY\n[1 file could not be read]\n[1 folder could not be read]\n")
	equal(t, w.list(t, "", "x"), "b/x\n[1 folder could not be read]\n")
}

// Grep 3, and no pipe or socket is opened.
func TestAWalkOpensNoPipeAndFollowsNoLink(t *testing.T) {
	w := newWorld(t, map[string]string{"d/x.txt": "KEY\n"})
	for link, to := range map[string]string{"d/loop": "..", "d/self": ".", "d/out": "/etc", "d/y.txt": "x.txt"} {
		must(t, os.Symlink(to, filepath.Join(w.dir, link)))
	}
	must(t, syscall.Mkfifo(filepath.Join(w.dir, "d", "pipe.txt"), 0o666))
	equal(t, w.grep(t, "", Query{}, "KEY"), "d/x.txt\n1:KEY\n")
	must(t, os.Remove(filepath.Join(w.dir, "d/y.txt")))
	equal(t, w.list(t, "", "**/*.txt"), "d/x.txt\n")
}

func TestADeepChainOfFoldersIsWalked(t *testing.T) {
	w := newWorld(t, nil)
	deep := strings.Repeat("d/", 1500)
	root, err := os.OpenRoot(w.dir)
	must(t, err)
	defer root.Close()
	must(t, root.MkdirAll(deep, 0o777), root.WriteFile(deep+"x", []byte("KEY"), 0o666))
	p, err := Compile("KEY")
	must(t, err)
	r, err := w.tree("").Grep(t.Context(), Query{Pattern: p, Mode: Files})
	if err != nil || r.Files != 1 {
		t.Errorf("%d files, %v", r.Files, err)
	}
}

func TestAGlobIsAboutNamesOrPaths(t *testing.T) {
	for glob, fit := range map[string]string{
		"*.go": "b.go", "**/*.go": "b.go", "b.go": "b.go", "a/b.go": "b.go", "./a/*": "b.go", "/a/*": "b.go", "a/**": "b.go", "**": "b.go", "p/a/*.go": "b.go",
		"*.{go,rs}": "b.go", "[ab].go": "b.go", "!*.rs": "b.go", "a/": "b.go", "!a/*.rs": "b.go", "a/b.g?": "b.go", "**/a/b.go": "b.go",
		"*.rs": "", "!*.go": "", "a": "", "x/*.go": "", "!**": "", "!a/b.go": "", "*/b.rs": "",
	} {
		g, ok := NewGlob(glob, "p")
		e := entry{dir: &folder{rel: "a/"}, name: "b.go"}
		if !ok || g.fits(e) != (fit != "") {
			t.Errorf("%q: %v, %v", glob, ok, g.fits(e))
		}
	}
	for _, glob := range []string{"[a", "{a", "a\\"} {
		if _, ok := NewGlob(glob, ""); ok {
			t.Errorf("%q is taken for a glob", glob)
		}
	}
	for glob, fit := range map[string]bool{"/p/a/*.go": true, "/p/**": true, "/*/a/b.go": true, "/a/b.go": false, "/a/*": false, "/*.go": false, "/p/*.go": false} {
		g, ok := NewGlob(glob, "/p")
		if !ok || g.fits(entry{dir: &folder{rel: "a/"}, name: "b.go"}) != fit {
			t.Errorf("%q: %v, %v", glob, ok, !fit)
		}
	}
}

func TestAListOfGlobsIsAFilter(t *testing.T) {
	for list, want := range map[string][]string{
		"*.txt, *.go": {"*.txt", "*.go"}, "*.txt,*.go": {"*.txt", "*.go"}, "go.mod,a/x": {"go.mod", "a/x"}, "*.{a,b},c.d": {"*.{a,b}", "c.d"}, "!*.go , *": {"!*.go", "*"},
		"*.{a,b}": nil, "*,v": nil, "[,.].x": nil, `a\,.b`: nil, "": nil, "a b": nil, "*.go,": nil, " x": nil,
	} {
		if want == nil {
			want = []string{list}
		}
		if got := Globs(list); !slices.Equal(got, want) {
			t.Errorf("%q: got %q", list, got)
		}
	}
	for list, fit := range map[string]bool{"*.rs,*.go": true, "*.rs,a/*": true, "*.rs,*.c": false, "*.go,!b.*": false, "!b.*,*.go": false, "!*.rs,!*.c": true, "!*.rs,!*.go": false} {
		var f Filter
		for _, glob := range Globs(list) {
			g, _ := NewGlob(glob, "")
			f = append(f, g)
		}
		if f.fits(entry{dir: &folder{rel: "a/"}, name: "b.go"}) != fit {
			t.Errorf("%q: fits is %v", list, !fit)
		}
	}
}
