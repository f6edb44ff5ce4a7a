package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/khaelor/khaelor/internal/config"
)

// runFlags are the flags of a run, headless or interactive (contract §2, §15).
type runFlags struct {
	Version       bool
	Print         bool
	Model         string
	AuxModel      string
	Cwd           string
	AddDirs       []string
	Continue      bool
	Resume        string // "" without -r; resumeNewest for -r without an id
	Fork          bool
	Mode          string
	Allow         []string
	Ask           []string
	Deny          []string
	Trust         bool
	MaxTurns      int
	MaxCost       float64
	Timeout       time.Duration
	Thinking      string
	SystemAppend  string
	ConfigFile    string
	NoColor       bool
	Verbose       bool
	Output        string
	IncludeDeltas bool
	Name          string
	Bypass        bool
}

// resumeNewest is what -r means without an id.
const resumeNewest = "newest"

func (f *runFlags) register(fs *pflag.FlagSet) {
	fs.BoolVarP(&f.Print, "print", "p", false, "run one task to its end and print the result")
	fs.StringVarP(&f.Model, "model", "m", "", "model id")
	fs.StringVar(&f.AuxModel, "aux-model", "", "model id for summaries")
	fs.StringVarP(&f.Cwd, "cwd", "C", "", "work in this directory")
	fs.StringArrayVar(&f.AddDirs, "add-dir", nil, "further directory that counts as part of the project (repeatable)")
	fs.BoolVarP(&f.Continue, "continue", "c", false, "continue the newest session of this project")
	fs.StringVarP(&f.Resume, "resume", "r", "", "resume a session by its id, or the newest one")
	fs.Lookup("resume").NoOptDefVal = resumeNewest
	fs.BoolVar(&f.Fork, "fork", false, "with -c or -r: go on in a copy")
	fs.StringVar(&f.Mode, "permission-mode", "", "default, accept-edits, plan or bypass")
	fs.StringArrayVar(&f.Allow, "allow", nil, "permission rule that allows (repeatable)")
	fs.StringArrayVar(&f.Ask, "ask", nil, "permission rule that asks (repeatable)")
	fs.StringArrayVar(&f.Deny, "deny", nil, "permission rule that denies (repeatable)")
	fs.BoolVar(&f.Trust, "trust", false, "trust this folder's configuration for this run")
	fs.IntVar(&f.MaxTurns, "max-turns", 0, "most model calls of a task")
	fs.Float64Var(&f.MaxCost, "max-cost", 0, "most US dollars of the session")
	fs.DurationVar(&f.Timeout, "timeout", 0, "most time of a task, as 90s or 10m")
	fs.StringVar(&f.Thinking, "thinking", "", "off, adaptive or always")
	fs.StringVar(&f.SystemAppend, "system-append", "", "further instructions, or @FILE with them")
	fs.StringVar(&f.ConfigFile, "config", "", "further configuration file")
	fs.BoolVar(&f.NoColor, "no-color", false, "no colours")
	fs.BoolVar(&f.Verbose, "verbose", false, "show more of what happens on stderr")
	fs.StringVar(&f.Output, "output-format", "text", "text, json or stream-json")
	fs.BoolVar(&f.IncludeDeltas, "include-deltas", false, "with stream-json: streaming pieces too")
	fs.StringVarP(&f.Name, "name", "n", "", "title of the session")
	fs.BoolVar(&f.Bypass, "dangerously-skip-permissions", false, "same as --permission-mode bypass")
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if ours, ok := flagAliases[name]; ok {
			name = ours
		}
		return pflag.NormalizedName(name)
	})
}

// flagAliases are spellings that users of other agents have in their fingers.
var flagAliases = map[string]string{
	"fork-session":         "fork",
	"append-system-prompt": "system-append",
	"max-budget-usd":       "max-cost",
	"allowedTools":         "allow",
	"allowed-tools":        "allow",
	"disallowedTools":      "deny",
	"disallowed-tools":     "deny",
	"yolo":                 "dangerously-skip-permissions",
}

// modeAliases are the spellings of permission modes elsewhere.
var modeAliases = map[string]string{
	"acceptEdits": "accept-edits", "bypassPermissions": "bypass", "dontAsk": "default",
}

func (f *runFlags) check() error {
	switch f.Output {
	case "text", "json", "stream-json":
	default:
		return usagef("--output-format %q: choose text, json or stream-json", f.Output)
	}
	if f.MaxTurns < 0 || f.MaxCost < 0 || f.Timeout < 0 {
		return usagef("--max-turns, --max-cost and --timeout take no negative values")
	}
	if f.Output != "text" && !f.Print {
		return usagef("--output-format %s needs -p", f.Output)
	}
	if f.IncludeDeltas && f.Output != "stream-json" {
		return usagef("--include-deltas needs --output-format stream-json")
	}
	if f.Fork && !f.Continue && f.Resume == "" {
		return usagef("--fork needs -c or -r: it continues a session in a copy")
	}
	if f.Bypass {
		f.Mode = "bypass"
	}
	if ours, ok := modeAliases[f.Mode]; ok {
		f.Mode = ours
	}
	return nil
}

// settings are the flags that override the configuration.
func (f *runFlags) settings() []config.Flag {
	var set []config.Flag
	add := func(name, key, value string) {
		if value != "" {
			set = append(set, config.Flag{Name: "--" + name, Key: key, Value: value})
		}
	}
	add("model", "model", f.Model)
	add("aux-model", "auxModel", f.AuxModel)
	add("permission-mode", "permissionMode", f.Mode)
	add("thinking", "thinking", f.Thinking)
	if f.MaxTurns > 0 {
		add("max-turns", "maxTurns", fmt.Sprint(f.MaxTurns))
	}
	if f.MaxCost > 0 {
		add("max-cost", "maxCost", fmt.Sprint(f.MaxCost))
	}
	if f.Timeout > 0 {
		add("timeout", "timeout", f.Timeout.String())
	}
	for _, list := range []struct {
		name  string
		rules []string
	}{{"allow", f.Allow}, {"ask", f.Ask}, {"deny", f.Deny}} {
		for _, text := range list.rules {
			for _, rule := range splitRules(text) {
				add(list.name, "permissions."+list.name, rule)
			}
		}
	}
	return set
}

// splitRules takes apart "Read,Bash(git log:*)": commas and blanks outside of
// parentheses separate rules.
func splitRules(text string) []string {
	depth := 0
	rules := strings.FieldsFunc(text, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth == 0 && (c == ',' || c == ' ')
	})
	return rules
}
