package ignore

import (
	"bufio"
	"encoding/json"
	"path"
	"strings"
	"testing"
)

// The verdicts are git's own.
func TestIgnoreRulesGiveGitsVerdicts(t *testing.T) {
	type verdict struct {
		ID        string
		Gitignore map[string]string
		Paths     []struct {
			Path    string
			Ignored bool
		}
	}
	cases := bufio.NewScanner(strings.NewReader(shared(t, "data", "gitignore", "cases.jsonl")))
	cases.Buffer(nil, 1<<20)
	wrong, all := 0, 0
	for cases.Scan() {
		var v verdict
		must(t, json.Unmarshal(cases.Bytes(), &v))
		for _, p := range v.Paths {
			all++
			if got := ignoredIn(v.Gitignore, p.Path); got != p.Ignored {
				wrong++
				t.Errorf("%s: %q: got %v, want %v", v.ID, p.Path, got, p.Ignored)
			}
		}
	}
	t.Logf("%d of %d verdicts differ", wrong, all)
}

// ignoredIn walks to a file as walk does.
func ignoredIn(files map[string]string, file string) bool {
	var rules Rules
	elems := strings.Split(file, "/")
	for i := range elems {
		folder := strings.Join(elems[:i], "/")
		if content, ok := files[folder]; ok {
			rules = rules.And(false, Parse(path.Join("/", folder), []byte(content)))
		}
		if rules.Ignored(strings.TrimSuffix("/"+folder, "/")+"/", elems[i], i < len(elems)-1) {
			return true
		}
	}
	return false
}
