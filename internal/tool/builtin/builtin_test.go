package builtin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/process"
	"github.com/khaelor/khaelor/internal/spill"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/workspace"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// project is a folder with what a call may use of it.
type project struct {
	testing.TB
	dir     string
	env     *tool.Env
	ws      *workspace.Local
	blobs   map[string]string
	output  strings.Builder
	changes fold.Changes
}

func newProject(t testing.TB, files map[string]string, opts ...workspace.Option) *project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	p := &project{TB: t, dir: dir, blobs: map[string]string{}}
	for name, content := range files {
		p.put(name, content)
	}
	p.ws, err = workspace.NewLocal(dir, opts...)
	must(t, err)
	p.env = &tool.Env{
		ToolUseID: "toolu_1", Workspace: p.ws, Processes: process.New(p.ws, 0, process.Hooks{}),
		Seen:   func(path string) (fold.Sighting, bool) { return p.changes.Seen(path) },
		Output: func(chunk string) { p.output.WriteString(chunk) },
		PutBlob: func(data []byte) (string, error) {
			sum := hash(string(data))
			p.blobs[sum] = string(data)
			return sum, nil
		},
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	state, err := workspace.OpenDir(home)
	must(t, err)
	p.env.Spill = spill.New(state, home, "session", clock.System())
	p.env.SpillDir = p.env.Spill.Folder()
	t.Cleanup(func() {
		must(t, state.Close())
		must(t, p.env.Processes.StopAll(t.Context()), p.ws.Close())
	})
	return p
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil && !strings.Contains(err.Error(), "context canceled") {
		t.Fatal(err)
	}
}

func (p *project) put(name, content string) {
	p.Helper()
	path := filepath.Join(p.dir, name)
	must(p.TB, os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(content), 0o666))
}

func (p *project) content(name string) string {
	p.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	must(p.TB, err)
	return string(data)
}

func (p *project) holds(name, want string) {
	p.Helper()
	if got := p.content(name); got != want {
		p.Errorf("%s holds %q\nwant %q", name, got, want)
	}
}

// done takes the facts of a result into account as a session does.
func (p *project) done(r tool.Result, err error) tool.Result {
	p.Helper()
	if err != nil {
		p.Fatalf("the call failed: %v", err)
	}
	for _, f := range r.Facts {
		p.changes = p.changes.Apply(event.Record{Fact: f})
	}
	return r
}

// refused checks the kind of a failure and the words in it.
func (p *project) refused(err error, kind event.ToolErrorKind, words ...string) {
	p.Helper()
	var failed *tool.Error
	if !errors.As(err, &failed) || failed.Kind != kind {
		p.Errorf("got %v, want %s", err, kind)
		return
	}
	for _, w := range words {
		if !strings.Contains(failed.Text, w) {
			p.Errorf("%q does not say %q", failed.Text, w)
		}
	}
}

func (p *project) read(in readInput) tool.Result {
	p.Helper()
	return p.done(read(p.Context(), p.env, in))
}

func (p *project) write(path, content string) (tool.Result, error) {
	return write(p.Context(), p.env, writeInput{Path: path, Content: &content})
}

func (p *project) edit(path, old, new string) (tool.Result, error) {
	return edit(p.Context(), p.env, editInput{Path: path, OldString: old, NewString: new})
}

func (p *project) grep(in grepInput) string {
	p.Helper()
	return p.done(grep(p.Context(), p.env, in)).Text
}

func (p *project) glob(pattern string) string {
	p.Helper()
	return p.done(glob(p.Context(), p.env, globInput{Pattern: pattern})).Text
}

func (p *project) bash(command string) tool.Result {
	p.Helper()
	return p.done(bash(p.Context(), p.env, bashInput{Command: command}))
}

// equal compares texts.
func equal(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// shared is a file of the recorded cases.
func shared(t *testing.T, elem ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "..", "..", "shared"}, elem...)...)
	data, err := os.ReadFile(path)
	if err != nil && os.Getenv("KHAELOR_REQUIRE_SHARED") == "" {
		t.Skip("shared data not here: " + path)
	}
	must(t, err)
	return string(data)
}

func TestTheToolsKeepTheirBytes(t *testing.T) {
	golden := filepath.Join("testdata", "wire.golden")
	got := All().Wire() + "\n"
	if *update {
		must(t, os.MkdirAll("testdata", 0o777), os.WriteFile(golden, []byte(got), 0o666))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	equal(t, got, string(want))
}

func TestTheToolsStandInLittleRoom(t *testing.T) {
	size := 0
	for _, tl := range All() {
		size += len(tl.Name) + len(tl.Doc) + len(tl.Schema)
	}
	if size < 2000 || size > 3400 {
		t.Errorf("names, descriptions and schemas have %d bytes; the prompt has room for 3,400", size)
	}
	equal(t, strings.Join(All().Names(), " "), "read write edit grep glob bash process todo ask_user web_fetch")
}
