package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/khaelor/khaelor/internal/config"
)

// Rule is one permission rule. Make one with ParseRule.
type Rule struct {
	Action     Action
	Capability Capability // "" for a rule about a tool
	Tool       string     // name of the tool, or ""
	Pattern    string     // as normalised; "" = everything
	Origin     config.Origin

	words   pattern // of a command
	session bool
}

// toolSpellings are the names other agents' rule files have for capabilities.
var toolSpellings = map[string]Capability{
	"Bash": Execute, "Read": FileRead, "Grep": FileRead, "Glob": FileRead, "LS": FileRead,
	"Edit": FileWrite, "Write": FileWrite, "MultiEdit": FileWrite, "NotebookEdit": FileWrite,
}

// ParseRule reads `capability`, `capability(pattern)` and the spellings
// Bash(npm test:*), Read(./.env), Edit(src/**), WebFetch(domain:example.com),
// mcp__server__tool and Agent(name). The caller sets Action and Origin.
func ParseRule(text string) (Rule, error) {
	text = strings.TrimSpace(text)
	head, inner, parens := strings.Cut(text, "(")
	if parens {
		var closed bool
		if inner, closed = strings.CutSuffix(inner, ")"); !closed {
			return Rule{}, fmt.Errorf("parse rule %q: no closing parenthesis", text)
		}
	}
	head, inner = strings.TrimSpace(head), strings.TrimSpace(inner)
	rule, ok := ruleFor(head, inner)
	if !ok {
		return Rule{}, fmt.Errorf("parse rule %q: want one of %s with a pattern in parentheses",
			text, strings.Join(config.Capabilities(), ", "))
	}
	if parens && inner == "" {
		return Rule{}, fmt.Errorf("parse rule %q: the pattern is empty", text)
	}
	if err := rule.compile(); err != nil {
		return Rule{}, fmt.Errorf("parse rule %q: %w", text, err)
	}
	return rule, nil
}

func ruleFor(head, inner string) (Rule, bool) {
	switch {
	case slices.Contains(config.Capabilities(), head):
		return Rule{Capability: Capability(head), Pattern: inner}, true
	case head == "Bash":
		if prefix, ok := strings.CutSuffix(inner, ":*"); ok {
			inner = prefix + " *"
		}
		return Rule{Capability: Execute, Pattern: inner}, true
	case toolSpellings[head] != "":
		return Rule{Capability: toolSpellings[head], Pattern: strings.TrimPrefix(inner, "./")}, true
	case head == "WebFetch":
		return Rule{Capability: Network, Tool: "web_fetch", Pattern: strings.TrimPrefix(inner, "domain:")}, true
	case head == "Agent" || head == "Task":
		return Rule{Tool: "subtask", Pattern: inner}, true
	case strings.HasPrefix(head, "mcp__"):
		return Rule{Tool: head, Pattern: inner}, true
	}
	return Rule{}, false
}

func (r *Rule) compile() error {
	switch {
	case r.Tool != "" && r.Tool != "web_fetch" && r.Pattern != "" && r.Pattern != "*":
		return fmt.Errorf("rules about %s take no pattern", r.Tool)
	case r.Tool != "":
		return nil
	case r.aboutPaths():
		return checkGlob(r.Pattern)
	}
	words, err := parsePattern(r.Pattern)
	r.words = words
	return err
}

func (r Rule) aboutPaths() bool {
	return r.Capability == FileRead || r.Capability == FileWrite || r.Capability == OutsideProject
}

// everything reports whether the rule has no pattern that narrows it.
func (r Rule) everything() bool {
	return r.Pattern == "" || r.Pattern == "*" || (r.aboutPaths() && r.Pattern == "**")
}

// String is the rule as ParseRule reads it.
func (r Rule) String() string {
	head := string(r.Capability)
	switch {
	case r.Tool == "web_fetch":
		head = "WebFetch"
	case r.Tool == "subtask":
		head = "Agent"
	case r.Tool != "":
		head = r.Tool
	}
	if r.Pattern == "" {
		return head
	}
	return head + "(" + r.Pattern + ")"
}

// name is how a Decision refers to the rule.
func (r Rule) name() string {
	from := "this session"
	if !r.session {
		from = string(r.Origin.Layer)
	}
	if r.Origin.File != "" {
		from += " " + r.Origin.File
	}
	return fmt.Sprintf("rule %s %s from %s", r.Action, r, from)
}

// FromConfig turns the rules and defaults of a configuration into Options. A
// rule that cannot be read is a *config.Error with its place.
func FromConfig(p config.Permissions) (Options, error) {
	opt := Options{Defaults: map[Capability]Default{}, ProtectedBranches: p.ProtectedBranches}
	for _, written := range p.Rules {
		rule, err := ParseRule(written.Text)
		if err != nil {
			return Options{}, &config.Error{File: written.Origin.File, Line: written.Origin.Line, Col: 1, Msg: err.Error()}
		}
		rule.Action, rule.Origin = Action(written.Action), written.Origin
		opt.Rules = append(opt.Rules, rule)
	}
	for capability, d := range p.Defaults {
		opt.Defaults[Capability(capability)] = Default{Action: Action(d.Action), Origin: d.Origin}
	}
	return opt, nil
}
