package engine

import (
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/permission"
	"github.com/khaelor/khaelor/internal/tool"
)

// policy lets the permission evaluator judge calls.
type policy struct {
	evaluator *permission.Evaluator
	cwd       string
}

// Judge implements tool.Policy.
func (p policy) Judge(name, toolUseID string, need tool.Need) tool.Verdict {
	d := p.evaluator.Evaluate(p.request(name, toolUseID, need))
	v := tool.Verdict{
		Action: tool.Action(d.Action), Via: event.ApprovalVia(d.Via), Source: event.DenialSource(d.Source),
		Descriptor: d.Descriptor, Reason: d.Reason,
	}
	for _, c := range d.Capabilities {
		v.Capabilities = append(v.Capabilities, string(c))
	}
	if len(v.Capabilities) > 0 {
		v.Capability = v.Capabilities[0]
	}
	if d.Suggestion != nil {
		v.Suggestion = &event.Grant{Capability: string(d.Suggestion.Capability), Pattern: d.Suggestion.Pattern}
	}
	return v
}

func (p policy) request(name, toolUseID string, need tool.Need) permission.Request {
	req := permission.Request{Tool: name, ToolUseID: toolUseID, Command: need.Command, Cwd: need.Cwd, URL: need.URL}
	if req.Cwd == "" {
		req.Cwd = p.cwd
	}
	for _, c := range need.Capabilities {
		req.Capabilities = append(req.Capabilities, permission.Capability(c))
	}
	for _, f := range need.Paths {
		req.Paths = append(req.Paths, permission.Path{Given: f.Given, Canonical: f.Path, Inside: f.Inside, Write: f.Write})
	}
	return req
}
