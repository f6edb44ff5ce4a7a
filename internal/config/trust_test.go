package config

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/disk"
)

// folder is the part of a state folder that this package uses.
type folder struct {
	disk.Dir
	path string
}

func (f folder) Open(name string) (io.ReadCloser, error) { return os.Open(filepath.Join(f.path, name)) }

func (f folder) WriteFile(name string, data []byte) error {
	return os.WriteFile(filepath.Join(f.path, name), data, 0o600)
}

// realFiles reads the disk.
type realFiles struct{}

func (realFiles) ReadFile(path string) ([]byte, error) { return os.ReadFile(path) }

func (realFiles) Canonical(path string) (string, error) { return filepath.EvalSymlinks(path) }

func TestTrustIsForAFolderWithItsFilesAsTheyWere(t *testing.T) {
	home := folder{path: t.TempDir()}
	trust, err := OpenTrust(home)
	if err != nil {
		t.Fatal(err)
	}
	if got := trust.Trusted("/r", "1"); got != Unknown {
		t.Errorf("before: %v", got)
	}
	if err := trust.Remember("/r", "1"); err != nil {
		t.Fatal(err)
	}
	again, err := OpenTrust(home)
	if err != nil {
		t.Fatal(err)
	}
	if again.Trusted("/r", "1") != Trusted || again.Trusted("/r", "2") != Changed || again.Trusted("/r2", "1") != Unknown {
		t.Error("the list was not kept")
	}
}

func TestABrokenTrustListTrustsNothing(t *testing.T) {
	home := folder{path: t.TempDir()}
	if err := home.WriteFile("trust.json", []byte(`{"folders": {"/r"`)); err != nil {
		t.Fatal(err)
	}
	trust, err := OpenTrust(home)
	if err == nil || trust.Trusted("/r", "") != Unknown {
		t.Errorf("error %v, trusted %v", err, trust.Trusted("/r", ""))
	}
}

func TestTheConfigHashFollowsTheProjectsFiles(t *testing.T) {
	hash := func(files memory) string {
		got, err := ConfigHash(files, "/r")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	seen := map[string]int{}
	for i, files := range []memory{
		{},
		{"/r/.khaelor/config.json": "{}"},
		{"/r/.khaelor/config.local.json": "{}"},
		{"/r/.khaelor/config.json": "{} "},
		{"/r/.mcp.json": "{}"},
	} {
		if j, twice := seen[hash(files)]; twice {
			t.Errorf("%d and %d have one hash", i, j)
		}
		seen[hash(files)] = i
	}
}

func TestAProjectIsNamedByItsPath(t *testing.T) {
	a, b := ProjectHash("/r/.git"), ProjectHash("/r/.git/")
	if a != b || len(a) != 16 || a == ProjectHash("/s/.git") {
		t.Errorf("hashes %s %s", a, b)
	}
}

func TestAGrantKeepsTheFilesComments(t *testing.T) {
	dir := folder{path: t.TempDir()}
	text := "\ufeff{\n  // mine\n  \"model\": \"m\", // why\n  \"permissions\": {\"allow\": [\"a\" /* first */,], \"deny\": [\"b\"]},\n}\n"
	if err := dir.WriteFile("config.local.json", []byte(text)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := PersistGrant(dir, `process.execute(echo "x" *)`); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir.path, "config.local.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range []string{"// mine", "// why", "/* first */"} {
		if !strings.Contains(string(data), keep) {
			t.Errorf("lost %s in\n%s", keep, data)
		}
	}
	cfg, _ := mustLoad(t, memory{"/r/.khaelor/config.local.json": string(data)}, everywhere)
	var rules []string
	for _, r := range cfg.Permissions.Rules {
		rules = append(rules, r.Action+" "+r.Text)
	}
	if got := strings.Join(rules, "; "); got != `allow a; allow process.execute(echo "x" *); deny b` {
		t.Errorf("rules %s", got)
	}
}

func TestAGrantMakesTheFileAndRefusesABrokenOne(t *testing.T) {
	dir := folder{path: t.TempDir()}
	if err := PersistGrant(dir, "file.read"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir.path, "config.local.json"))
	if err != nil || !strings.Contains(string(data), `"allow": ["file.read"]`) {
		t.Errorf("file %s, %v", data, err)
	}
	for _, broken := range []string{"{", `{"permissions": 1}`, `{"permissions": {"allow": {}}}`} {
		if err := dir.WriteFile("config.local.json", []byte(broken)); err != nil {
			t.Fatal(err)
		}
		if err := PersistGrant(dir, "x"); err == nil {
			t.Errorf("%s: no error", broken)
		}
		if data, _ := os.ReadFile(filepath.Join(dir.path, "config.local.json")); string(data) != broken {
			t.Errorf("%s was overwritten with %s", broken, data)
		}
	}
}
