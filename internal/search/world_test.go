package search

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/khaelor/khaelor/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// failer is what a test and a rapid check have in common.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func must(t failer, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// world is a folder to search, and the home folder of whoever does.
type world struct {
	dir, home string
	ws        *workspace.Local
}

func newWorld(t testing.TB, files map[string]string) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	w := &world{dir: filepath.Join(base, "project"), home: filepath.Join(base, "home")}
	must(t, os.MkdirAll(w.dir, 0o777), os.MkdirAll(w.home, 0o777))
	for name, content := range files {
		w.put(t, name, content)
	}
	w.ws, err = workspace.NewLocal(w.dir, workspace.WithEnviron([]string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH")}))
	must(t, err)
	t.Cleanup(func() { must(t, w.ws.Close()) })
	return w
}

// put writes a file; a name that begins with ~/ is one at home.
func (w *world) put(t failer, name, content string) {
	t.Helper()
	file := filepath.Join(w.dir, name)
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		file = filepath.Join(w.home, rest)
	}
	must(t, os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(content), 0o666))
}

func (w *world) tree(root string) Tree {
	return Tree{
		Workspace: w.ws, Root: filepath.Join(w.dir, root), Room: 30_000,
		Name: func(path string) string { return strings.TrimPrefix(path, w.dir+"/") },
	}
}

func (w *world) grep(t testing.TB, root string, q Query, expr string) string {
	t.Helper()
	var err error
	q.Pattern, err = Compile(expr)
	must(t, err)
	if q.Mode == "" {
		q.Mode = Content
	}
	r, err := w.tree(root).Grep(t.Context(), q)
	must(t, err)
	return r.Text
}

func (w *world) list(t testing.TB, root, pattern string) string {
	t.Helper()
	r, err := w.tree(root).List(t.Context(), pattern, !strings.Contains(pattern, "/"))
	must(t, err)
	return r.Text
}

func equal(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
