package permission

import "slices"

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

// Withholds reports that a file of a folder that may be read may not be read
// with it: the floor or a deny or ask rule speaks of the file itself. The path
// is canonical. It is asked about each file of a search.
func (e *Evaluator) Withholds(p string) bool {
	e.mu.RLock()
	f := fold{opt: &e.opt, credentialsInside: e.credentialsInside, rules: e.rules, mode: e.mode}
	e.mu.RUnlock()
	if len(f.floorOfPath(p, false)) > 0 {
		return true
	}
	inside := within(f.opt.Root, p)
	return slices.ContainsFunc(f.rules, func(r Rule) bool {
		about := r.Capability == FileRead || r.Capability == OutsideProject && !inside
		return about && r.Action != Allow && !r.everything() && f.pathRule(r, p, true)
	})
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
