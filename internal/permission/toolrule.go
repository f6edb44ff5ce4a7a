package permission

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// bare judges a capability that comes without command or path.
func (f *fold) bare(c Capability) verdict {
	var found []verdict
	for _, rule := range f.rules {
		if rule.Tool != "" || rule.Capability != c || !(rule.everything() || c == Network && f.reaches(rule)) {
			continue
		}
		found = append(found, said(rule))
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

// hostRules are the rules about the host of a web request.
func (f *fold) hostRules() []verdict {
	var found []verdict
	for _, rule := range f.rules {
		if rule.Tool == "web_fetch" && f.req.Tool == rule.Tool && (rule.Pattern == "" || hostMatch(rule.Pattern, f.host())) {
			found = append(found, said(rule))
		}
	}
	return found
}

// said is the verdict of a rule.
func said(rule Rule) verdict {
	if rule.Action == Allow {
		return approved(rule)
	}
	return spoken(rule)
}

// host is that of the web request, without the port.
func (f *fold) host() string {
	u, err := url.Parse(f.req.URL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// reaches reports whether a rule's pattern is about the address of the web
// request: the whole of it, or its host. A pattern of a command has more words.
func (f *fold) reaches(rule Rule) bool {
	if f.req.URL == "" || len(rule.words.words) != 1 || rule.words.open {
		return false
	}
	pattern := rule.words.words[0]
	return pattern.match(f.req.URL) || hostMatch(rule.Pattern, f.host())
}

// hostGrant offers all pages of the host.
func (f *fold) hostGrant() *Rule {
	u, err := url.Parse(f.req.URL)
	if err != nil || u.Host == "" {
		return nil
	}
	rule := Rule{Action: Allow, Capability: Network, Pattern: u.Scheme + "://" + u.Host + "/*"}
	if rule.compile() != nil {
		return nil
	}
	return &rule
}

func hostMatch(pattern, host string) bool {
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(host))
	return ok && err == nil
}

// ownRules are the allow rules that name the tool of the request.
func (f *fold) ownRules() []verdict {
	var found []verdict
	for _, rule := range f.rules {
		if rule.Action == Allow && rule.names(f.req.Tool) {
			found = append(found, approved(rule))
		}
	}
	return found
}

// toolRules are the deny and ask rules that name the tool of the request.
func (f *fold) toolRules() []verdict {
	var found []verdict
	for _, rule := range f.rules {
		if rule.Action != Allow && rule.names(f.req.Tool) {
			found = append(found, spoken(rule))
		}
	}
	return found
}

// names reports whether a rule is about a tool: by its name, or by the server
// of an MCP tool.
func (r Rule) names(tool string) bool {
	switch {
	case r.Tool == "" || r.Tool == "web_fetch":
		return false
	case r.Tool == tool:
		return true
	}
	return strings.HasPrefix(r.Tool, "mcp__") && strings.HasPrefix(tool, r.Tool+"__")
}
