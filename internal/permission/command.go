package permission

import (
	"cmp"
	"slices"
	"strings"
)

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

// unit judges one command for one capability; why says what makes the whole
// more than a list of simple commands.
func (f *fold) unit(u unit, c Capability, why string) verdict {
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
		if rule.Action == Allow && f.allows(rule, u, words, c, why) {
			found = append(found, approved(rule))
		}
	}
	if len(found) > 0 {
		return slices.MinFunc(found, stricter)
	}
	v := f.fallback(c)
	v.why = cmp.Or(why, v.why)
	return v
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
func (f *fold) allows(rule Rule, u unit, words []string, c Capability, complexity string) bool {
	switch {
	case rule.Tool != "":
		return false
	case rule.everything():
		// What a command writes through links is not known here, so that a
		// rule about files inside the project does not cover it.
		return rule.Capability == c && c != FileWrite
	case rule.aboutPaths() || !u.plain || complexity != "" || f.hiddenPath(u):
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
