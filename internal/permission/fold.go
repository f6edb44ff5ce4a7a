package permission

import (
	"fmt"
	"slices"
	"strings"
)

// fold is the evaluation of one request.
type fold struct {
	opt *Options
	// credentialsInside says that the project may hold stored credentials: it
	// is a home directory, or about such. Elsewhere nothing needs to be compared
	// with where they lie.
	credentialsInside bool

	rules []Rule
	mode  Mode
	req   Request
}

// verdict is the answer for one unit and capability.
type verdict struct {
	action Action
	hard   bool // an ask that no mode lifts
	by     string
	source string // of a denial
	via    string // of an approval
	why    string
	// undecided: nothing but the default spoke, so that a grant may be offered.
	undecided bool
}

// strictness orders verdicts.
func (v verdict) strictness() int {
	switch {
	case v.action == Deny:
		return 3
	case v.action == Ask && v.hard:
		return 2
	case v.action == Ask:
		return 1
	}
	return 0
}

// stricter picks one of many. Of equals the one whose name sorts first counts,
// so that the order of rules shows nowhere.
func stricter(a, b verdict) int {
	if d := b.strictness() - a.strictness(); d != 0 {
		return d
	}
	if d := viaRank(a.via) - viaRank(b.via); d != 0 {
		return d
	}
	return strings.Compare(a.by+a.why, b.by+b.why)
}

// viaRank puts the most telling way of approval first.
func viaRank(via string) int {
	return slices.Index([]string{"mode", "user-session", "rule", "policy-allow", ""}, via)
}

func (f *fold) decide() Decision {
	d := Decision{Descriptor: f.descriptor()}
	var all []verdict
	if f.req.Command != "" {
		all = f.command(&d)
	}
	for _, p := range f.req.Paths {
		all = append(all, f.path(p, &d)...)
	}
	for _, c := range f.req.Capabilities {
		if !slices.Contains(d.Capabilities, c) {
			d.Capabilities = append(d.Capabilities, c)
			v := f.bare(c)
			if c == Network && v.undecided {
				d.Suggestion = f.hostGrant()
			}
			all = append(all, f.settle(v))
		}
	}
	all = append(all, f.toolRules()...)
	if len(all) == 0 {
		all = []verdict{{action: Allow, by: "built-in: it needs no permission", via: "policy-allow"}}
	}
	worst := slices.MinFunc(all, stricter)
	d.Action, d.By, d.Source, d.Via = worst.action, worst.by, worst.source, worst.via
	d.Reason = reason(worst, d.Suggestion)
	if d.Action != Ask {
		d.Suggestion = nil
	}
	return d
}

// settle applies the mode to a verdict.
func (f *fold) settle(v verdict) verdict {
	if f.mode == ModeBypass && v.action == Ask && !v.hard {
		return verdict{action: Allow, by: "mode bypass", via: "mode"}
	}
	return v
}

// approved is the verdict of an allow rule.
func approved(rule Rule) verdict {
	v := verdict{action: Allow, by: rule.name(), via: "rule"}
	if rule.session {
		v.via = "user-session"
	}
	return v
}

// spoken is the verdict of a deny or ask rule.
func spoken(rule Rule) verdict {
	v := verdict{action: rule.Action, hard: true, by: rule.name(), why: "a rule says so: " + string(rule.Action) + " " + rule.String()}
	if rule.Action == Deny {
		v.source = "policy"
	}
	return v
}

// planning denies what writes while mode plan is on, whatever rules allow.
func (f *fold) planning(c Capability) (verdict, bool) {
	if f.mode != ModePlan || (c != FileWrite && c != GitModify) {
		return verdict{}, false
	}
	return verdict{action: Deny, by: "mode plan", source: "policy", why: "nothing is written while planning"}, true
}

// fallback is the configuration's or the built-in answer.
func (f *fold) fallback(c Capability) verdict {
	d, ok := f.opt.Defaults[c]
	if !ok {
		d.Action = Ask
		if c == FileRead {
			d.Action = Allow
		}
	}
	v := verdict{action: d.Action, by: "default " + string(c), undecided: d.Action == Ask}
	switch d.Action {
	case Allow:
		v.via = "policy-allow"
	case Deny:
		v.source = "policy"
	}
	v.why = "no rule allows " + string(c)
	return v
}

func addCapability(list []Capability, c Capability) []Capability {
	if slices.Contains(list, c) {
		return list
	}
	return append(list, c)
}

// descriptor is the call in one line.
func (f *fold) descriptor() string {
	what := f.req.Command
	if what == "" {
		var names []string
		for _, p := range f.req.Paths {
			names = append(names, p.Given)
		}
		what = strings.Join(names, ", ")
	}
	if what == "" {
		what = f.req.URL
	}
	if what == "" {
		return f.req.Tool
	}
	return f.req.Tool + ": " + what
}

// reason tells the model why a call does not run and what would.
func reason(v verdict, offer *Rule) string {
	switch {
	case v.action == Allow:
		return ""
	case v.source == "hardline":
		return fmt.Sprintf("Refused: %s. No rule or mode allows it; the user can run it in their own terminal.", v.why)
	case v.action == Deny:
		return fmt.Sprintf("Not allowed: %s.", v.why)
	case offer != nil && v.undecided:
		return fmt.Sprintf("Needs the user's permission: %s. The rule %s would allow it.", v.why, offer)
	}
	return fmt.Sprintf("Needs the user's permission: %s.", v.why)
}
