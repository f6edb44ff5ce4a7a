package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/search"
	"github.com/khaelor/khaelor/internal/workspace"
)

// searchTree writes 100,000 files of 0.5 to 8 KB in 1,000 folders, some of 1 MB
// among them.
func searchTree(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dice := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("func return error the if else struct package import value context request response handler config server client file path line")
	endings := []string{"go", "ts", "md", "txt", "json"}
	for i := range 100_000 {
		size := 512 + dice.IntN(7680)
		if dice.IntN(5000) == 0 {
			size = 1 << 20
		}
		var b strings.Builder
		for b.Len() < size {
			for range 3 + dice.IntN(9) {
				b.WriteString(words[dice.IntN(len(words))] + " ")
			}
			if dice.IntN(4000) == 0 {
				b.WriteString("needleInHay")
			}
			if dice.IntN(500) == 0 {
				b.WriteString("id_123")
			}
			b.WriteByte('\n')
		}
		put(fmt.Sprintf("mod%02d/pkg%03d/file%03d.%s", i/5000, i/100, i%100, endings[i%5]), b.String())
	}
	put(".gitignore", "node_modules/\n*.o\n*.tmp\n/dist\n.DS_Store\n*.py[co]\n**/coverage/\ndocs/_build/\n*~\n")
	put(".git/HEAD", "ref: refs/heads/main\n")
	put("mod07/pkg390/only-here.txt", "once\n")
	return root
}

// searchCost compares grep and glob with ripgrep, one after the other in turn.
func searchCost(t *testing.T) []row {
	program, err := exec.LookPath("rg")
	if err != nil {
		return []row{{"grep and glob", "ripgrep is not here", "≤ 1.2x ripgrep"}}
	}
	root := searchTree(t)
	ws, err := workspace.NewLocal(root)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	tree := search.Tree{
		Workspace: ws, Root: root, Room: 30_000,
		Name: func(path string) string { return strings.TrimPrefix(path, root+"/") },
	}
	grep := func(expr string, mode search.Mode) func() error {
		return func() error {
			p, err := search.Compile(expr)
			if err == nil {
				_, err = tree.Grep(t.Context(), search.Query{Pattern: p, Mode: mode})
			}
			return err
		}
	}
	list := func(pattern string, byName bool) func() error {
		return func() error { _, err := tree.List(t.Context(), pattern, byName); return err }
	}
	var rows []row
	for _, m := range []struct {
		what string
		ours func() error
		rg   []string
	}{
		{"grep a word, few hits", grep("needleInHay", search.Content), []string{"-n", "needleInHay"}},
		{"grep a word, no hit", grep("nowhere_at_all", search.Content), []string{"-n", "nowhere_at_all"}},
		{"grep a word in every file", grep("error", search.Content), []string{"-n", "error"}},
		{"… names of the files", grep("error", search.Files), []string{"-l", "error"}},
		{"… counted", grep("error", search.Count), []string{"-c", "error"}},
		{"grep in any case", grep("(?i)NEEDLEinhay", search.Content), []string{"-ni", "NEEDLEinhay"}},
		{"grep one of three words", grep("alpha|needleInHay|omega", search.Content), []string{"-n", "alpha|needleInHay|omega"}},
		{"grep an expression with a letter", grep("[a-z]+_[0-9]{3}", search.Content), []string{"-n", "[a-z]+_[0-9]{3}"}},
		{"grep an expression without one", grep(`[a-z]+[A-Z][a-z]+[A-Z]`, search.Content), []string{"-n", `[a-z]+[A-Z][a-z]+[A-Z]`}},
		{"grep classes, no hit", grep(`\w+\s\d+x`, search.Content), []string{"-n", `(?-u)\w+\s\d+x`}},
		{"glob **/*.go", list("**/*.go", false), []string{"--files", "-g", "*.go"}},
		{"glob one name", list("only-here.txt", true), []string{"--files", "-g", "only-here.txt"}},
		{"glob everything, newest first", list("**", false), []string{"--files"}},
	} {
		ours, theirs := inTurn(t, m.ours, func() error {
			cmd := exec.Command(program, append([]string{"--no-config"}, m.rg...)...)
			cmd.Dir = root
			_, err := cmd.Output()
			if cmd.ProcessState.ExitCode() == 1 {
				return nil // nothing found
			}
			return err
		})
		rows = append(rows, row{
			m.what + ", 100,000 files", fmt.Sprintf("%s, ripgrep %s: %.2fx", ms(ours), ms(theirs), float64(ours)/float64(theirs)),
			"≤ 1.2x ripgrep",
		})
	}
	return rows
}

// inTurn are the medians of seven runs of each.
func inTurn(t *testing.T, a, b func() error) (time.Duration, time.Duration) {
	t.Helper()
	var times [2][]time.Duration
	for range 7 {
		for i, run := range []func() error{a, b} {
			start := time.Now()
			if err := run(); err != nil {
				t.Fatal(err)
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	slices.Sort(times[0])
	slices.Sort(times[1])
	return times[0][3], times[1][3]
}
