package config

import (
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// reader applies layers to a Config, one after the other.
type reader struct {
	fields   []Field
	trust    TrustWord
	cfg      Config
	warnings []Warning

	doc   document // the layer being read
	layer Layer
}

func newReader(trust TrustWord) *reader {
	return &reader{
		fields: Fields(),
		trust:  trust,
		cfg: Config{
			Permissions: Permissions{Defaults: map[string]Default{}},
			models:      map[string]modelEntry{},
			origins:     map[string]Origin{},
		},
	}
}

func (r *reader) field(key string) (Field, bool) {
	i := slices.IndexFunc(r.fields, func(f Field) bool { return f.Key == key })
	if i < 0 {
		return Field{}, false
	}
	return r.fields[i], true
}

// object reads the members under a dotted prefix ("" is the file itself).
func (r *reader) object(prefix string, members []hujson.ObjectMember) error {
	for _, m := range members {
		if err := r.member(prefix, m); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) member(prefix string, m hujson.ObjectMember) error {
	key := prefix + name(m)
	if f, ok := r.field(key); ok {
		return r.set(f, m.Value)
	}
	inside := r.keysUnder(key + ".")
	switch {
	case key == "$schema":
		return nil
	case prefix == "permissions." && slices.Contains(Capabilities(), name(m)):
		f, _ := r.field("permissions.defaults")
		return r.capability(f, m)
	case len(inside) == 0:
		r.unknown(m, key, r.keysUnder(prefix))
		return nil
	}
	members, ok := object(m.Value)
	if !ok {
		return r.wrong(Field{Key: key}, m.Value, "an object with "+strings.Join(inside, ", "))
	}
	return r.object(key+".", members)
}

// keysUnder lists the names one level below a prefix.
func (r *reader) keysUnder(prefix string) []string {
	var keys []string
	for _, f := range r.fields {
		rest, ok := strings.CutPrefix(f.Key, prefix)
		if !ok {
			continue
		}
		rest, _, _ = strings.Cut(rest, ".")
		if !slices.Contains(keys, rest) {
			keys = append(keys, rest)
		}
	}
	return keys
}

func (r *reader) set(f Field, v hujson.Value) error {
	if why := r.forbidden(f, v); why != "" {
		r.drop(v, f.Key, why)
		return nil
	}
	if err := f.set(r, f, v); err != nil {
		return err
	}
	r.cfg.origins[f.Key] = r.origin(v)
	return nil
}

// forbidden says why the layer being read may not set a field, or "".
func (r *reader) forbidden(f Field, v hujson.Value) string {
	if !r.fromProject() {
		return ""
	}
	lit, _ := v.Value.(hujson.Literal)
	switch {
	case f.user:
		return "only your own configuration may set " + f.Key
	case f.Key == "permissionMode" && (lit.String() == "bypass" || f.spellings[lit.String()] == "bypass"):
		return "a project may not switch the permission mode to bypass"
	case r.tightenOnly() && !strings.HasPrefix(f.Key, "permissions."):
		return "the files of this project changed since you trusted it: " + f.Key + " is left out"
	}
	return ""
}

func (r *reader) fromProject() bool { return r.layer == Project || r.layer == Local }

// tightenOnly: the folder is trusted, but not these files.
func (r *reader) tightenOnly() bool { return r.fromProject() && r.trust != Trusted }

func (r *reader) origin(v hujson.Value) Origin {
	if r.layer == Shipped {
		return Origin{Layer: Shipped}
	}
	o := Origin{Layer: r.layer, File: r.doc.file}
	o.Line, _ = r.doc.position(v)
	return o
}

func (r *reader) drop(v hujson.Value, key, why string) {
	r.warnings = append(r.warnings, r.doc.warnAt(v, key, "%s", why))
}

func (r *reader) unknown(m hujson.ObjectMember, key string, known []string) {
	w := r.doc.warnAt(m.Name, key, "unknown key %q", key)
	w.Nearest = nearest(name(m), known)
	r.warnings = append(r.warnings, w)
}

// wrong is the error for a value of the wrong kind. A credential is not quoted.
func (r *reader) wrong(f Field, v hujson.Value, want string) error {
	if strings.HasSuffix(f.Key, "apiKey") || strings.HasSuffix(f.Key, "authToken") {
		return r.doc.errorAt(v, "%s: want %s", f.Key, want)
	}
	return r.doc.errorAt(v, "%s: want %s, got %s", f.Key, want, display(v))
}

// texts hands on the elements of a list of strings.
func (r *reader) texts(f Field, v hujson.Value, each func(at hujson.Value, s string)) error {
	array, ok := v.Value.(*hujson.Array)
	if !ok {
		return r.wrong(f, v, "a list of texts")
	}
	for _, e := range array.Elements {
		lit, ok := e.Value.(hujson.Literal)
		if !ok || lit.Kind() != '"' {
			return r.wrong(f, e, "text in quotes")
		}
		each(e, strings.TrimSpace(lit.String()))
	}
	return nil
}

// nearest is the known word with the fewest changes, if it is close at all.
func nearest(word string, known []string) string {
	best, found := max(2, len(word)/3)+1, ""
	for _, k := range known {
		if d := Distance(strings.ToLower(word), strings.ToLower(k)); d < best {
			best, found = d, k
		}
	}
	return found
}

// Distance counts the bytes to insert, delete or replace to make b of a
// (Levenshtein): how near a misspelt word is.
func Distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j]+1, row[j+1]+1, diagonal+cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
