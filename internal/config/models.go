package config

import (
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// ModelData is what the program must know about a model.
type ModelData struct {
	Prices
	Window         int    // tokens of context
	MaxOutput      int    // tokens of one answer
	MinCacheTokens int    // shortest prefix the provider caches
	Thinking       string // adaptive, budget, none
}

// Prices are USD per million tokens.
type Prices struct {
	Input        float64
	Output       float64
	CacheRead    float64
	CacheWrite5m float64
	CacheWrite1h float64
}

// shippedModels is the dated table of the release.
//
//go:embed models.jsonc
var shippedModels string

// modelEntry is what one pattern says; absent keys are left to wider patterns.
type modelEntry struct {
	numbers  map[string]float64
	thinking string
}

var (
	modelPrices = []string{"input", "output", "cacheRead", "cacheWrite5m", "cacheWrite1h"}
	modelLimits = []string{"window", "maxOutput", "minCacheTokens"}
	thinkings   = []string{"adaptive", "budget", "none"}
)

// ModelData puts together what the table says about a model: every pattern
// that covers the id counts, the longest last. It reports whether the price is
// known; without one the cost is shown as unknown, while the limits hold.
// A cache price that is missing is the input price, so that a cost is never
// shown too low.
func (c Config) ModelData(id string) (ModelData, bool) {
	all := modelEntry{numbers: map[string]float64{}}
	for _, pattern := range slices.SortedFunc(maps.Keys(c.models), narrower) {
		if covers(pattern, id) {
			all.overlay(c.models[pattern])
		}
	}
	n := all.numbers
	_, in := n["input"]
	_, out := n["output"]
	cached := func(key string) float64 {
		if price, ok := n[key]; ok {
			return price
		}
		return n["input"]
	}
	return ModelData{
		Prices: Prices{
			Input: n["input"], Output: n["output"], CacheRead: cached("cacheRead"),
			CacheWrite5m: cached("cacheWrite5m"), CacheWrite1h: cached("cacheWrite1h"),
		},
		Window:         int(n["window"]),
		MaxOutput:      int(n["maxOutput"]),
		MinCacheTokens: int(n["minCacheTokens"]),
		Thinking:       all.thinking,
	}, in && out
}

func (e *modelEntry) overlay(o modelEntry) {
	maps.Copy(e.numbers, o.numbers)
	if o.thinking != "" {
		e.thinking = o.thinking
	}
}

// narrower orders patterns so that the one that says more comes later.
func narrower(a, b string) int {
	if d := len(a) - len(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

var datedVersion = regexp.MustCompile(`-\d{8}$`)

// covers reports whether a pattern (`*` stands for any text) names the model,
// with or without the date of its version.
func covers(pattern, id string) bool {
	return glob(pattern, id) || glob(pattern, datedVersion.ReplaceAllString(id, ""))
}

func glob(pattern, s string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	if !strings.HasPrefix(s, head) {
		return false
	}
	for i := len(head); i <= len(s); i++ {
		if glob(rest, s[i:]) {
			return true
		}
	}
	return false
}

func models(key, doc string) Field {
	return Field{
		Key: key, Type: "object", Default: shippedModels, Doc: doc,
		set: func(r *reader, f Field, v hujson.Value) error {
			members, ok := object(v)
			if !ok {
				return r.wrong(f, v, "an object of model id and data")
			}
			for _, m := range members {
				if err := r.model(f, m); err != nil {
					return err
				}
			}
			return nil
		},
		show: func(c Config) []Setting {
			var out []Setting
			for _, pattern := range slices.Sorted(maps.Keys(c.models)) {
				at := key + "." + pattern
				out = append(out, Setting{Key: at, Value: c.models[pattern].show(), Origin: c.origins[at]})
			}
			return out
		},
	}
}

func (r *reader) model(f Field, m hujson.ObjectMember) error {
	f.Key += "." + name(m)
	members, ok := object(m.Value)
	if !ok {
		return r.wrong(f, m.Value, "an object")
	}
	entry := modelEntry{numbers: map[string]float64{}}
	entry.overlay(r.cfg.models[name(m)])
	for _, member := range members {
		if err := r.modelValue(f, member, &entry); err != nil {
			return err
		}
	}
	r.cfg.models[name(m)] = entry
	r.cfg.origins[f.Key] = r.origin(m.Value)
	return nil
}

func (r *reader) modelValue(f Field, m hujson.ObjectMember, entry *modelEntry) error {
	key := name(m)
	f.Key += "." + key
	lit, _ := m.Value.Value.(hujson.Literal)
	known := slices.Concat(modelPrices, modelLimits, []string{"thinking"})
	switch {
	case !slices.Contains(known, key):
		r.unknown(m, f.Key, known)
	case key == "thinking":
		if !slices.Contains(thinkings, lit.String()) {
			return r.wrong(f, m.Value, "one of "+strings.Join(thinkings, ", "))
		}
		entry.thinking = lit.String()
	default:
		n, ok := number(lit)
		if whole := n == float64(int(n)); !ok || (!whole && slices.Contains(modelLimits, key)) {
			return r.wrong(f, m.Value, "a number that is not negative, whole for tokens")
		}
		entry.numbers[key] = n
	}
	return nil
}

func (e modelEntry) show() string {
	var parts []string
	for _, key := range slices.Concat(modelPrices, modelLimits) {
		if n, ok := e.numbers[key]; ok {
			parts = append(parts, quote(key)+": "+showNumber(n))
		}
	}
	if e.thinking != "" {
		parts = append(parts, `"thinking": `+quote(e.thinking))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
