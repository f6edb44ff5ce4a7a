package repo

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/khaelor/khaelor/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place is a folder with what the tests do to it by hand.
type place struct {
	t   *testing.T
	dir string // canonical
}

// folder is an empty folder; git knows nobody's configuration in it.
func folder(t *testing.T) place {
	t.Helper()
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "HOME": t.TempDir(),
		"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
		"GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z", "GIT_EDITOR": "true",
	} {
		t.Setenv(name, value)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return place{t, dir}
}

// repository is a folder with one commit of a.txt.
func repository(t *testing.T) place {
	p := folder(t)
	p.git("init", "-q", "-b", "main")
	p.write("a.txt", "one\ntwo\n")
	p.git("add", ".")
	p.git("commit", "-qm", "first")
	return p
}

func (p place) path(name string) string { return filepath.Join(p.dir, name) }

func (p place) in(name string) place { return place{p.t, p.path(name)} }

// git runs git as a person would.
func (p place) git(args ...string) string {
	p.t.Helper()
	out, err := p.try(args...)
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

func (p place) try(args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p place) write(name, content string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p place) open() *Repo {
	p.t.Helper()
	ws, err := workspace.NewLocal(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = ws.Close() })
	return Open(ws)
}

func sha(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}
