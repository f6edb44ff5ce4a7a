package repo

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheHeadIsShownAsItIs(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T) place
		want string // "" is no repository
	}{
		{"no repository", folder, ""},
		{"an unborn branch", func(t *testing.T) place { p := folder(t); p.git("init", "-q", "-b", "trunk"); return p }, "trunk"},
		{"a branch", repository, "main"},
		{"a branch with a slash", func(t *testing.T) place { p := repository(t); p.git("checkout", "-qb", "feature/ü-1"); return p }, "feature/ü-1"},
		{"a folder below", func(t *testing.T) place { p := repository(t); p.write("x/y/z", ""); return p.in("x/y") }, "main"},
		{"detached", func(t *testing.T) place { p := repository(t); p.git("checkout", "-q", "--detach"); return p }, "detached at HASH"},
		{"a worktree", func(t *testing.T) place {
			p := repository(t)
			p.git("worktree", "add", "-q", "-b", "side", p.path("../side"))
			return p.in("../side")
		}, "side"},
		{"merging", merging, "main, merging"},
		{"rebasing", func(t *testing.T) place { p := conflict(t); _, _ = p.try("rebase", "side"); return p }, "detached at HASH, rebasing"},
		{"cherry-picking", func(t *testing.T) place { p := conflict(t); _, _ = p.try("cherry-pick", "side"); return p }, "main, cherry-picking"},
		{"reverting", func(t *testing.T) place {
			p := repository(t)
			for _, text := range []string{"2\n", "3\n"} {
				p.write("a.txt", text)
				p.git("commit", "-qam", text)
			}
			_, _ = p.try("revert", "HEAD~1")
			return p
		}, "main, reverting"},
		{"bisecting", func(t *testing.T) place { p := repository(t); p.git("bisect", "start"); return p }, "main, bisecting"},
		{"rebasing in a worktree", func(t *testing.T) place {
			p := conflict(t)
			p.git("worktree", "add", "-q", "-b", "other", p.path("../other"))
			_, _ = p.in("../other").try("rebase", "side")
			return p.in("../other")
		}, "detached at HASH, rebasing"},
		{"the main tree beside it", func(t *testing.T) place {
			p := conflict(t)
			p.git("worktree", "add", "-q", "-b", "other", p.path("../other"))
			_, _ = p.in("../other").try("rebase", "side")
			return p
		}, "main"},
		{"a submodule", func(t *testing.T) place { return withSubmodule(t).in("sub") }, "main"},
		{"a bare repository", func(t *testing.T) place { p := folder(t); p.git("init", "-q", "--bare", "-b", "main"); return p }, "main"},
		{"a git folder behind a link", func(t *testing.T) place {
			p := repository(t)
			if err := os.Rename(p.path(".git"), p.path("../elsewhere")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(p.path("../elsewhere"), p.path(".git")); err != nil {
				t.Fatal(err)
			}
			return p
		}, "main"},
		{"a head that is no branch", func(t *testing.T) place { p := repository(t); p.git("symbolic-ref", "HEAD", "refs/odd/x"); return p }, "refs/odd/x"},
		{"a file that only looks like git's", func(t *testing.T) place { p := folder(t); p.write(".git", "hello"); return p }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.make(t)
			head := p.open().Head()
			want := c.want
			if head.IsRepo != (want != "") {
				t.Fatalf("a repository: %v", head.IsRepo)
			}
			if hash, err := p.try("rev-parse", "HEAD"); err == nil && head.Commit != "" {
				want = replaceHash(want, hash[:10])
			}
			if got := head.String(); head.IsRepo && got != want {
				t.Errorf("head %q, want %q", got, want)
			}
		})
	}
}

func replaceHash(s, hash string) string {
	const word = "HASH"
	for i := range s {
		if len(s) >= i+len(word) && s[i:i+len(word)] == word {
			return s[:i] + hash + s[i+len(word):]
		}
	}
	return s
}

// conflict has a branch side that cannot be merged into main.
func conflict(t *testing.T) place {
	p := repository(t)
	p.git("checkout", "-qb", "side")
	p.write("a.txt", "side\n")
	p.git("commit", "-qam", "side")
	p.git("checkout", "-q", "main")
	p.write("a.txt", "main\n")
	p.git("commit", "-qam", "main")
	return p
}

func merging(t *testing.T) place {
	p := conflict(t)
	_, _ = p.try("merge", "side")
	return p
}

func withSubmodule(t *testing.T) place {
	p := repository(t)
	inner := place{t, filepath.Join(p.dir, "..", "inner")}
	if err := os.Mkdir(inner.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	inner.git("init", "-q", "-b", "main")
	inner.write("s.txt", "sub\n")
	inner.write(".gitignore", "*.log\n")
	inner.git("add", ".")
	inner.git("commit", "-qm", "inner")
	p.git("submodule", "add", "-q", inner.dir, "sub")
	p.git("commit", "-qam", "with a submodule")
	return p
}

func TestAProjectIsKnownByItsCommonGitFolder(t *testing.T) {
	p := repository(t)
	p.write("x/y", "")
	p.git("worktree", "add", "-q", "-b", "side", p.path("../side"))
	want := p.path(".git")
	for _, dir := range []string{".", "x", "../side"} {
		if got := p.in(dir).open().Identity(); got != want {
			t.Errorf("%s is of %s, want %s", dir, got, want)
		}
	}
	if root := p.in("x").open().Root(); root != p.dir {
		t.Errorf("root %s", root)
	}
	plain := folder(t)
	if got := plain.open().Identity(); got != plain.dir {
		t.Errorf("a plain folder is %s", got)
	}
	bare := folder(t)
	bare.git("init", "-q", "--bare")
	if r := bare.open(); !r.Bare() || r.Root() != "" {
		t.Errorf("bare %v, root %q", r.Bare(), r.Root())
	}
}
