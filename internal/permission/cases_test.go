package permission

import (
	"bufio"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// permissionCase is one line of the shared case file.
type permissionCase struct {
	ID    string
	Kind  string
	Tool  string
	Cwd   string
	Root  string
	Mode  string
	Phase string
	Input struct {
		Command, Path, Pattern, Op, Cmd, Input string
		CommandGen                             *struct {
			Prefix, Repeat, Suffix, Close string
			Count                         int
		} `json:"command_gen"`
	}
	Rules        []caseRule
	ProjectRules []caseRule `json:"project_rules"`
	Prior        []struct{ Command, Answer, Root string }
	FS           caseFiles
	Change       caseFiles
	Accept       []string
	Capabilities []string
	Floor        string
}

type caseRule struct{ Capability, Pattern, Action string }

type caseFiles struct{ Symlinks map[string]string }

func sharedCases(t *testing.T) []permissionCase {
	t.Helper()
	name := filepath.Join("..", "..", "..", "shared", "security", "permission-cases.jsonl")
	f, err := os.Open(name)
	if err != nil {
		if os.Getenv("KHAELOR_REQUIRE_SHARED") != "" {
			t.Fatal(err)
		}
		t.Skip("shared data not here: " + name)
	}
	defer f.Close()
	var cases []permissionCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c permissionCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

const (
	caseHome = "/home/dev"
	caseRoot = "/home/dev/app"
)

func (c permissionCase) root() string {
	if c.Root != "" {
		return c.Root
	}
	return caseRoot
}

func (c permissionCase) evaluator(t *testing.T) *Evaluator {
	opt := Options{
		Root: c.root(), Home: caseHome, State: caseHome + "/.khaelor",
		ProtectedBranches: []string{"main", "master", "release/*"},
	}
	if c.Phase == "explore" {
		opt.Mode = ModePlan
	}
	for _, r := range slices.Concat(c.Rules, c.ProjectRules) {
		if r.Action == "allow" && slices.Contains(c.ProjectRules, r) {
			continue // the configuration leaves these out
		}
		rule := mustRule(t, r.Capability+"("+r.Pattern+")")
		rule.Action = Action(r.Action)
		opt.Rules = append(opt.Rules, rule)
	}
	e := New(opt)
	for _, p := range c.Prior {
		if p.Answer != "always" || (p.Root != "" && p.Root != c.root()) {
			continue
		}
		if grant := e.Evaluate(Request{Tool: "bash", Command: p.Command, Cwd: c.root()}).Suggestion; grant != nil {
			e.AddSession(*grant)
		}
	}
	return e
}

func (c permissionCase) request() Request {
	req := Request{Tool: c.Tool, Cwd: c.Cwd}
	in := c.Input
	switch c.Tool {
	case "bash":
		req.Command = in.Command
		if g := in.CommandGen; g != nil {
			req.Command = g.Prefix + strings.Repeat(g.Repeat, g.Count) + g.Suffix + strings.Repeat(g.Close, g.Count)
		}
	case "process":
		req.Command = in.Cmd + in.Input
	case "glob":
		base := "."
		if folder, _, found := strings.Cut(in.Pattern, "*"); found && strings.Contains(folder, "/") {
			base = path.Dir(folder + "x")
		}
		req.Paths = []Path{c.path(base, false)}
	case "grep":
		req.Paths = []Path{c.path(in.Path, false)}
	default:
		req.Paths = []Path{c.path(in.Path, c.Tool != "read")}
	}
	return req
}

func (c permissionCase) path(given string, write bool) Path {
	p := given
	if !path.IsAbs(p) {
		p = path.Join(c.Cwd, p)
	}
	p = path.Clean(p)
	for range 4 {
		for _, links := range []map[string]string{c.FS.Symlinks, c.Change.Symlinks} {
			for link, target := range links {
				if rest, ok := strings.CutPrefix(p, link); ok && (rest == "" || rest[0] == '/') {
					p = target + rest
				}
			}
		}
	}
	return Path{Given: given, Canonical: p, Inside: within(c.root(), p), Write: write}
}

func TestNoAttackOfTheSharedCasesIsAllowed(t *testing.T) {
	let, asked, harmless, floors := 0, 0, 0, 0
	for _, c := range sharedCases(t) {
		d := c.evaluator(t).Evaluate(c.request())
		action := d.Action
		if action == Ask && c.Mode == "headless" {
			action = Deny
		}
		ok := slices.Contains(c.Accept, string(action))
		switch {
		case c.Kind == "harmless":
			harmless++
			if !ok {
				asked++
			}
			for _, capability := range []Capability{Network, GitModify, OutsideProject} {
				if slices.Contains(d.Capabilities, capability) && !slices.Contains(c.Capabilities, string(capability)) {
					t.Errorf("%s: %q has %s", c.ID, d.Descriptor, capability)
				}
			}
		case !ok:
			let++
			t.Errorf("%s: %s (%s) for %.200q, want %v", c.ID, action, d.By, d.Descriptor, c.Accept)
		case c.Floor != "":
			floors++
			if !strings.Contains(d.By, c.Floor) {
				t.Logf("%s: want floor %s, got %s for %.100q", c.ID, c.Floor, d.By, d.Descriptor)
			}
		}
		if c.Kind == "attack" && !strings.Contains(d.By, "unreadable") {
			for _, capability := range c.Capabilities {
				if !strings.HasPrefix(capability, "file.") && !slices.Contains(d.Capabilities, Capability(capability)) {
					t.Logf("%s: lacks %s: %.100q", c.ID, capability, d.Descriptor)
				}
			}
		}
	}
	t.Logf("attacks let through: %d; harmless calls that asked: %d of %d; floor entries seen: %d", let, asked, harmless, floors)
}
