package permission

import (
	"slices"
	"strings"
)

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
