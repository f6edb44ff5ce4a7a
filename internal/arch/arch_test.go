package arch

import (
	"path/filepath"
	"strings"
	"testing"
)

func allRules() []rule {
	rules := []rule{layerRule, goroutineRule, commentRule, nameRule, dotRule, initRule, stateRule}
	for _, g := range gates {
		rules = append(rules, g.rule())
	}
	return rules
}

func TestTheTreeKeepsTheRules(t *testing.T) {
	src, err := sources(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	units, err := parse(src)
	if err != nil {
		t.Fatal(err)
	}
	if len(units) < 5 {
		t.Fatalf("only %d packages found: the search itself is broken", len(units))
	}
	for _, f := range check(units, allRules()) {
		t.Error(f)
	}
}

// ours is an import of a room of this module.
func ours(room string) string { return `import _ "` + module + "/internal/" + room + `"` }

// planted are files that break rules. What is expected is "file:line rule",
// where a file without a comment begins at line 2: see commented.
var planted = []struct {
	name  string
	files map[string]string
	want  []string
}{
	{
		name:  "a lower room imports a higher one",
		files: map[string]string{"internal/fold/a.go": "package fold\n" + ours("engine")},
		want:  []string{"internal/fold/a.go:3 layers"},
	},
	{
		name: "rooms of one layer import each other without an arrow",
		files: map[string]string{
			"internal/model/a.go":         "package model\n" + ours("contextengine") + "\n" + ours("tool"),
			"internal/contextengine/a.go": "package contextengine\n" + ours("model"),
		},
		want: []string{"internal/contextengine/a.go:3 layers", "internal/model/a.go:4 layers"},
	},
	{
		name:  "the kernel imports a service of a lower layer",
		files: map[string]string{"internal/kernel/a.go": "package kernel\n" + ours("event") + "\n" + ours("tool")},
		want:  []string{"internal/kernel/a.go:4 layers"},
	},
	{
		name:  "a room that is in no layer",
		files: map[string]string{"internal/novelty/a.go": "package novelty"},
		want:  []string{"internal/novelty/a.go:2 layers"},
	},
	{
		name: "product code imports a suite of tests",
		files: map[string]string{
			"internal/engine/a.go":                      "package engine\n" + ours("workspace/workspacetest"),
			"internal/workspace/workspacetest/suite.go": "package workspacetest\nimport (\n\"os\"\n\"" + module + "/internal/workspace\"\n)\nvar _ = os.Open",
		},
		want: []string{"internal/engine/a.go:3 layers"},
	},
	{
		name: "files outside workspace, whatever the import is called",
		files: map[string]string{
			"internal/session/a.go":   "package session\nimport disk2 \"os\"\nvar _ = disk2.Open",
			"internal/workspace/a.go": "package workspace\nimport \"os\"\nvar _ = os.Open",
			"internal/tool/a.go":      "package tool\nimport \"os/exec\"\nvar _ = exec.Command",
			"internal/process/a.go":   "package process\nimport _ \"golang.org/x/sys/unix\"",
			"internal/engine/a.go":    "package engine\nimport \"os\"\nvar _ os.Signal = os.Interrupt",
		},
		want: []string{
			"internal/process/a.go:3 files, processes, environment",
			"internal/session/a.go:4 files, processes, environment",
			"internal/tool/a.go:4 files, processes, environment",
		},
	},
	{
		name: "a command may exit but not open files",
		files: map[string]string{
			"cmd/khaelor/a.go": "package main\nimport (\n\"os\"\n\"os/signal\"\n\"syscall\"\n)\n" +
				"func main() {\nsignal.Ignore(syscall.SIGHUP)\nos.Remove(os.Args[1])\nos.Exit(0)\n}",
		},
		want: []string{"cmd/khaelor/a.go:10 files, processes, environment"},
	},
	{
		name:  "a path that looks at the disk, beside one that does not",
		files: map[string]string{"internal/repo/a.go": "package repo\nimport \"path/filepath\"\nvar _, _ = filepath.Join, filepath.Abs"},
		want:  []string{"internal/repo/a.go:4 paths that look at the disk"},
	},
	{
		name:  "signals below the commands",
		files: map[string]string{"internal/cli/a.go": "package cli\nimport \"os/signal\"\nvar _ = signal.Notify"},
		want:  []string{"internal/cli/a.go:4 signals"},
	},
	{
		name: "network where there should be none",
		files: map[string]string{
			"internal/tool/a.go":      "package tool\nimport (\n\"net/http/httptrace\"\n\"net/url\"\n)\nvar _, _ = httptrace.WithClientTrace, url.Parse",
			"internal/anthropic/a.go": "package anthropic\nimport \"net/http\"\nvar _ = http.NewRequest",
		},
		want: []string{"internal/tool/a.go:7 network"},
	},
	{
		name: "the clock read, and a local variable of its name",
		files: map[string]string{
			"internal/engine/a.go": "package engine\nimport \"time\"\nvar _ = time.Now\nfunc f(time struct{ Now int }) int { return time.Now }",
			"internal/model/a.go":  "package model\nimport \"math/rand/v2\"\nvar _ = rand.N[int]",
		},
		want: []string{"internal/engine/a.go:4 time and chance", "internal/model/a.go:4 time and chance"},
	},
	{
		name: "a timer below the rooms that wait",
		files: map[string]string{
			"internal/tool/a.go":   "package tool\nimport \"time\"\nvar _ = time.After\nvar _ = time.Second",
			"internal/engine/a.go": "package engine\nimport \"time\"\nvar _ = time.NewTimer",
		},
		want: []string{"internal/tool/a.go:4 timers"},
	},
	{
		name:  "the terminal below the screen",
		files: map[string]string{"internal/engine/a.go": "package engine\nimport tea \"charm.land/bubbletea/v2\"\nvar _ = tea.Quit"},
		want:  []string{"internal/engine/a.go:4 terminal"},
	},
	{
		name:  "a sleep",
		files: map[string]string{"internal/workspace/a.go": "package workspace\nimport \"time\"\nfunc f() { time.Sleep(1) }"},
		want:  []string{"internal/workspace/a.go:4 sleeping"},
	},
	{
		name:  "reflection",
		files: map[string]string{"internal/event/a.go": "package event\nimport \"reflect\"\nvar _ = reflect.TypeOf(0)"},
		want:  []string{"internal/event/a.go:4 reflection"},
	},
	{
		name: "goroutines, by statement and by wait group",
		files: map[string]string{
			"internal/session/a.go": "package session\nimport \"sync\"\nfunc f() {\ngo f()\nvar wg sync.WaitGroup\nwg.Go(f)\n}",
			"internal/tool/a.go":    "package tool\nfunc f() { go f() }",
		},
		want: []string{"internal/session/a.go:5 goroutines", "internal/session/a.go:7 goroutines"},
	},
	{
		name: "no package comment, and two",
		files: map[string]string{
			"internal/bus/a.go":   "\n\npackage bus",
			"internal/clock/a.go": "package clock",
			"internal/clock/b.go": "// And more of it.\npackage clock",
		},
		want: []string{"internal/bus/a.go:3 package comment", "internal/clock/b.go:1 package comment"},
	},
	{
		name:  "a drawer for everything",
		files: map[string]string{"internal/tool/helpers/a.go": "package helpers"},
		want:  []string{"internal/tool/helpers/a.go:2 layers", "internal/tool/helpers/a.go:2 package names"},
	},
	{
		name:  "a dot import",
		files: map[string]string{"internal/tool/a.go": "package tool\nimport . \"strings\"\nvar _ = ToUpper"},
		want:  []string{"internal/tool/a.go:3 dot imports"},
	},
	{
		name:  "an init function, beside a method of that name",
		files: map[string]string{"internal/tool/a.go": "package tool\ntype t int\nfunc (t) init() {}\nfunc init() {}"},
		want:  []string{"internal/tool/a.go:5 init functions"},
	},
	{
		name: "package state that changes, in every way it can",
		files: map[string]string{
			"internal/tool/a.go": "package tool\nimport \"sync\"\nvar n, m, p = 0, map[int]int{}, struct{ a []int }{}\nvar mu sync.Mutex\n" +
				"var once = &sync.Once{}\nvar names = sync.OnceValue(func() int { return 1 })",
			"internal/tool/b.go": "package tool\nfunc f() {\nn = 1\nn++\nm[1] = 2\ndelete(m, 1)\np.a[0] += 1\n_ = &n\nfor n = range 3 {\n}\n" +
				"func(n int) { n = 2; m := m; m[0]++ }(n)\n}",
		},
		want: []string{
			"internal/tool/a.go:5 package state", "internal/tool/a.go:6 package state",
			"internal/tool/b.go:3 package state", "internal/tool/b.go:4 package state", "internal/tool/b.go:5 package state",
			"internal/tool/b.go:6 package state", "internal/tool/b.go:7 package state", "internal/tool/b.go:8 package state",
			"internal/tool/b.go:9 package state",
		},
	},
}

func TestEveryRuleIsSeenFailing(t *testing.T) {
	seen := map[string]bool{}
	for _, tt := range planted {
		t.Run(tt.name, func(t *testing.T) {
			units, err := parse(commented(tt.files))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range check(units, allRules()) {
				seen[f.rule] = true
				place, _, _ := strings.Cut(f.String(), ": ")
				got = append(got, place+" "+f.rule)
				if f.reason == "" {
					t.Errorf("%s: the rule has no reason", f)
				}
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
	for _, r := range allRules() {
		if !seen[r.name] {
			t.Errorf("no planted violation breaks the rule %q", r.name)
		}
	}
}

// commented puts a comment before the package clause when the file begins
// with it, except in a package's second file, b.go.
func commented(files map[string]string) map[string]string {
	all := map[string]string{}
	for name, src := range files {
		if strings.HasPrefix(src, "package") && !strings.HasSuffix(name, "/b.go") {
			src = "// Package of a test.\n" + src
		}
		all[name] = src
	}
	return all
}
