package config

import (
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// Capabilities are the words rules are about; what they mean is the permission
// package's.
func Capabilities() []string {
	return []string{
		"file.read", "file.write.project", "process.execute",
		"network.access", "git.modify", "filesystem.outsideProject",
	}
}

func actions() []string { return []string{"allow", "ask", "deny"} }

// rules is a list of rules of one action. Layers add to each other.
func rules(key, action, doc string) Field {
	return Field{
		Key: key, Type: "array", Default: "[]", Doc: doc,
		set: func(r *reader, f Field, v hujson.Value) error {
			if action == "allow" && r.tightenOnly() {
				r.drop(v, key, "the files of this project changed since you trusted it: its allow rules are left out")
				return nil
			}
			return r.texts(f, v, func(at hujson.Value, s string) {
				rule := Rule{Action: action, Text: s, Origin: r.origin(at)}
				r.cfg.Permissions.Rules = append(r.cfg.Permissions.Rules, rule)
			})
		},
		show: func(c Config) []Setting {
			var out []Setting
			for _, rule := range c.Permissions.Rules {
				if rule.Action == action {
					out = append(out, Setting{Key: key, Value: quote(rule.Text), Origin: rule.Origin})
				}
			}
			return out
		},
	}
}

// defaults is the table of capability to action.
func defaults(key, doc string) Field {
	return Field{
		Key: key, Type: "object", Default: "{}", Doc: doc, Enum: actions(),
		set: func(r *reader, f Field, v hujson.Value) error {
			members, ok := object(v)
			if !ok {
				return r.wrong(f, v, "an object of capability and action")
			}
			for _, m := range members {
				if err := r.capability(f, m); err != nil {
					return err
				}
			}
			return nil
		},
		show: func(c Config) []Setting {
			var out []Setting
			for _, capability := range Capabilities() {
				if d, ok := c.Permissions.Defaults[capability]; ok {
					out = append(out, Setting{Key: key + "." + capability, Value: quote(d.Action), Origin: d.Origin})
				}
			}
			return out
		},
	}
}

// capability reads one entry of the defaults. It also serves the short form
// that puts a capability straight under `permissions`.
func (r *reader) capability(f Field, m hujson.ObjectMember) error {
	capability := name(m)
	if !slices.Contains(Capabilities(), capability) {
		r.unknown(m, f.Key+"."+capability, Capabilities())
		return nil
	}
	lit, ok := m.Value.Value.(hujson.Literal)
	if !ok || !slices.Contains(actions(), lit.String()) {
		f.Key += "." + capability
		return r.wrong(f, m.Value, "one of "+strings.Join(actions(), ", "))
	}
	if lit.String() == "allow" && r.tightenOnly() {
		r.drop(m.Value, capability, "the files of this project changed since you trusted it: what they allow is left out")
		return nil
	}
	r.cfg.Permissions.Defaults[capability] = Default{Action: lit.String(), Origin: r.origin(m.Value)}
	return nil
}
