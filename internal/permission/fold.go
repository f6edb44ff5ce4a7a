package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// fold is the evaluation of one request.
type fold struct {
	opt   *Options
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
			all = append(all, f.settle(f.bare(c)))
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

// command judges a shell command.
func (f *fold) command(d *Decision) []verdict {
	r := readCommand(f.req.Command, f.req.Cwd, f.opt.Root, f.opt.Home)
	all := f.floorOf(r)
	if r.unread != "" {
		all = append(all, verdict{action: Ask, hard: true, by: "built-in: unreadable command", why: r.unread})
	}
	for _, u := range r.units {
		if f.blind(u) {
			all = append(all, verdict{
				action: Ask, hard: true, by: "built-in: unreadable command",
				why: "what " + u.words[0].text + " works on is only known when it runs",
			})
		}
		caps := f.capabilities(u)
		for _, c := range caps {
			d.Capabilities = addCapability(d.Capabilities, c)
			all = append(all, f.settle(f.unit(u, c, r.complex)))
		}
	}
	d.Capabilities = addCapability(d.Capabilities, Execute)
	if len(all) == 0 {
		all = append(all, f.settle(f.fallback(Execute)))
	}
	d.Suggestion = f.grant(r, all, d.Capabilities)
	return all
}

// irrevocable programs must have known operands, or the floor could not hold.
var irrevocable = wordSet("rm rmdir mv dd shred chmod chown chgrp kill pkill killall truncate khaelor")

func (f *fold) blind(u unit) bool {
	unknown := func(w word) bool { return !w.known }
	if !slices.ContainsFunc(u.words, unknown) {
		return false
	}
	name := programName(u.words[0].text)
	if name == "git" {
		sub := gitSubcommand(texts(u.words))
		pushes := sub < len(u.words) && u.words[sub].text == "push"
		return pushes || slices.ContainsFunc(u.words[:min(sub+1, len(u.words))], unknown)
	}
	return irrevocable[name] || strings.HasPrefix(name, "mkfs")
}

// unit judges one command for one capability.
func (f *fold) unit(u unit, c Capability, complex string) verdict {
	words := texts(u.words)
	if v, ok := f.forbiddenBy(u, words, c); ok {
		return v
	}
	if v, ok := f.planning(c); ok {
		return v
	}
	if u.free {
		return verdict{action: Allow, by: "built-in", via: "policy-allow"}
	}
	var found []verdict
	for _, rule := range f.rules {
		if rule.Action == Allow && f.allows(rule, u, words, c, complex) {
			found = append(found, approved(rule))
		}
	}
	if len(found) > 0 {
		return slices.MinFunc(found, stricter)
	}
	v := f.fallback(c)
	v.why = firstOf(complex, v.why)
	return v
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// forbiddenBy finds the strictest deny or ask rule.
func (f *fold) forbiddenBy(u unit, words []string, c Capability) (verdict, bool) {
	var found []verdict
	for _, rule := range f.rules {
		if rule.Action == Allow || !f.hits(rule, u, words, c) {
			continue
		}
		found = append(found, spoken(rule))
	}
	if len(found) == 0 {
		return verdict{}, false
	}
	return slices.MinFunc(found, stricter), true
}

// hits reports whether a deny or ask rule is about a command.
func (f *fold) hits(rule Rule, u unit, words []string, c Capability) bool {
	s := scene{f: f, u: u, words: words}
	if len(words) > 0 {
		s.name = programName(words[0])
	}
	match := func(p string) bool { return f.pathRule(rule, p, true) }
	switch {
	case rule.Tool != "":
		return false
	case rule.Capability == FileRead && !rule.everything():
		return slices.ContainsFunc(u.reads, match) || (len(words) > 0 && slices.ContainsFunc(s.named(), match))
	case rule.Capability == FileWrite && c == FileWrite:
		return rule.everything() || slices.ContainsFunc(u.writes, match) || (len(words) > 0 && slices.ContainsFunc(s.named(), match))
	case rule.Capability == OutsideProject && c == OutsideProject:
		return rule.everything() || slices.ContainsFunc(slices.Concat(u.writes, u.reads), match) || (len(words) > 0 && slices.ContainsFunc(f.pathsIn(u), match))
	case rule.aboutPaths():
		return false
	case rule.everything():
		return rule.Capability == c
	}
	return (rule.Capability == c || c == Execute) && len(words) > 0 && rule.words.touches(words)
}

// allows reports whether an allow rule covers one capability of a command.
func (f *fold) allows(rule Rule, u unit, words []string, c Capability, complex string) bool {
	switch {
	case rule.Tool != "":
		return false
	case rule.everything():
		// What a command writes through links is not known here, so that a
		// rule about files inside the project does not cover it.
		return rule.Capability == c && c != FileWrite
	case rule.aboutPaths() || !u.plain || complex != "" || f.hiddenPath(u):
		return false
	case rule.words.exact():
		return rule.words.covers(words)
	}
	own := rule.Capability == c || (c == Execute && (rule.Capability == Network || rule.Capability == GitModify))
	pinned := len(rule.words.words) > 1 || !isRunner(programName(words[0]))
	return own && pinned && rule.words.covers(words) && !carries(words)
}

// hiddenPath: a glob in a word could mean a file that a path rule is about.
func (f *fold) hiddenPath(u unit) bool {
	return slices.ContainsFunc(u.words, func(w word) bool { return w.glob }) &&
		slices.ContainsFunc(f.rules, func(r Rule) bool { return r.Action != Allow && r.aboutPaths() && !r.everything() })
}

func approved(rule Rule) verdict {
	v := verdict{action: Allow, by: rule.name(), via: "rule"}
	if rule.session {
		v.via = "user-session"
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

// path judges one file of a file tool, by the name given and by the real one.
func (f *fold) path(p Path, d *Decision) []verdict {
	given := resolve(f.req.Cwd, p.Given)
	names := []string{p.Canonical}
	if given != "" && given != p.Canonical {
		names = append(names, given)
	}
	var all []verdict
	for _, name := range names {
		all = append(all, f.floorOfPath(name, p.Write)...)
	}
	for _, c := range pathCapabilities(p) {
		d.Capabilities = addCapability(d.Capabilities, c)
		all = append(all, f.settle(f.file(p, names, c)))
	}
	if d.Suggestion == nil && len(f.req.Paths) == 1 && f.req.Command == "" {
		d.Suggestion = f.pathGrant(p, all)
	}
	return all
}

func pathCapabilities(p Path) []Capability {
	switch {
	case p.Inside && p.Write:
		return []Capability{FileWrite}
	case p.Inside:
		return []Capability{FileRead}
	case p.Write:
		return []Capability{OutsideProject}
	}
	return []Capability{FileRead, OutsideProject}
}

func (f *fold) file(p Path, names []string, c Capability) verdict {
	kind := FileRead
	if p.Write {
		kind = FileWrite
	}
	if v, ok := f.planning(kind); ok {
		return v
	}
	var found []verdict
	for _, rule := range f.rules {
		match := func(name string) bool { return f.pathRule(rule, name, rule.Action != Allow) }
		switch {
		case rule.Action == Allow && rule.Capability == c && match(p.Canonical):
			found = append(found, approved(rule))
		case rule.Action != Allow && (rule.Capability == c || rule.Capability == kind) && slices.ContainsFunc(names, match):
			found = append(found, spoken(rule))
		}
	}
	if len(found) > 0 {
		return slices.MinFunc(found, stricter)
	}
	if f.mode == ModeAcceptEdits && c == FileWrite {
		return verdict{action: Allow, by: "mode accept-edits", via: "mode"}
	}
	return f.fallback(c)
}

// bare judges a capability that comes without command or path.
func (f *fold) bare(c Capability) verdict {
	var found []verdict
	for _, rule := range f.rules {
		if rule.Tool != "" || rule.Capability != c || !rule.everything() {
			continue
		}
		if rule.Action == Allow {
			found = append(found, approved(rule))
			continue
		}
		found = append(found, spoken(rule))
	}
	if c == Network {
		found = append(found, f.hostRules()...)
	}
	if len(found) > 0 {
		return slices.MinFunc(found, stricter)
	}
	if own := f.ownRules(); len(own) > 0 {
		return slices.MinFunc(own, stricter)
	}
	if v, ok := f.planning(c); ok {
		return v
	}
	return f.fallback(c)
}

// spoken is the verdict of a deny or ask rule.
func spoken(rule Rule) verdict {
	v := verdict{action: rule.Action, hard: true, by: rule.name(), why: "a rule says so: " + string(rule.Action) + " " + rule.String()}
	if rule.Action == Deny {
		v.source = "policy"
	}
	return v
}

// hostRules are the rules about the host of a web request.
func (f *fold) hostRules() []verdict {
	var found []verdict
	for _, rule := range f.rules {
		if rule.Tool != "web_fetch" || f.req.Tool != rule.Tool || (rule.Pattern != "" && !hostMatch(rule.Pattern, f.req.Host)) {
			continue
		}
		if rule.Action == Allow {
			found = append(found, approved(rule))
		} else {
			found = append(found, spoken(rule))
		}
	}
	return found
}

func hostMatch(pattern, host string) bool {
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(host))
	return ok && err == nil
}

// ownRules are the allow rules that name the tool of the request.
func (f *fold) ownRules() []verdict {
	var found []verdict
	for _, rule := range f.rules {
		if rule.Action == Allow && rule.Tool != "" && rule.Tool != "web_fetch" && rule.Tool == f.req.Tool {
			found = append(found, approved(rule))
		}
	}
	return found
}

// toolRules are the deny and ask rules that name the tool of the request.
func (f *fold) toolRules() []verdict {
	var found []verdict
	for _, rule := range f.rules {
		server := strings.HasPrefix(rule.Tool, "mcp__") && strings.HasPrefix(f.req.Tool, rule.Tool+"__")
		if rule.Action != Allow && rule.Tool != "" && rule.Tool != "web_fetch" && (rule.Tool == f.req.Tool || server) {
			found = append(found, spoken(rule))
		}
	}
	return found
}

func addCapability(list []Capability, c Capability) []Capability {
	if slices.Contains(list, c) {
		return list
	}
	return append(list, c)
}

// ungrantable programs are asked about each time: what they delete or run is
// not in their words, or must be looked at.
var ungrantable = wordSet("rm rmdir unlink shred dd kill pkill killall truncate")

// grant is the lasting rule that may be offered: exactly the words, and only
// for a single literal command that nothing but the default decided.
func (f *fold) grant(r reading, all []verdict, caps []Capability) *Rule {
	if len(r.units) != 1 || r.complex != "" || r.unread != "" || !r.units[0].plain || slices.Contains(caps, Network) {
		return nil
	}
	for _, v := range all {
		if v.action == Deny || (v.action == Ask && !v.undecided) {
			return nil
		}
	}
	words := texts(r.units[0].words)
	name := programName(words[0])
	bare := len(words) < 2 || strings.HasPrefix(words[1], "-")
	if ungrantable[name] || carries(words) || (isRunner(name) && bare) || wrapped(name) || slices.Contains(words, "publish") {
		return nil
	}
	rule := Rule{Action: Allow, Capability: Execute, Pattern: quoteWords(words)}
	if slices.Contains(caps, GitModify) {
		rule.Capability = GitModify
	}
	if rule.compile() != nil {
		return nil
	}
	return &rule
}

func wrapped(name string) bool { _, ok := wrappers[name]; return ok }

// pathGrant offers the very file.
func (f *fold) pathGrant(p Path, all []verdict) *Rule {
	for _, v := range all {
		if v.action == Deny || (v.action == Ask && !v.undecided) {
			return nil
		}
	}
	if !p.Inside || !within(f.opt.Root, p.Canonical) || p.Canonical == f.opt.Root {
		return nil
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(p.Canonical, f.opt.Root), "/")
	return &Rule{Action: Allow, Capability: pathCapabilities(p)[0], Pattern: escapeGlob(rel)}
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
		what = f.req.Host
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
