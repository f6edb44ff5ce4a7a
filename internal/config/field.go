package config

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// Field is one setting of the table.
type Field struct {
	Key     string // dotted: compaction.model
	Type    string // JSON schema type
	Enum    []string
	Default string // JSON
	Doc     string // one line
	Env     string // variable that sets it, or ""

	user      bool              // a project's files may not set it
	spellings map[string]string // other spelling → value
	set       func(r *reader, f Field, v hujson.Value) error
	show      func(c Config) []Setting
}

func (f Field) from(variable string) Field { f.Env = variable; return f }

func (f Field) userOnly() Field { f.user = true; return f }

func (f Field) spelled(as map[string]string) Field { f.spellings = as; return f }

// modeSpellings are the names other agents have for the permission modes.
var modeSpellings = map[string]string{"acceptEdits": "accept-edits", "bypassPermissions": "bypass"}

// value makes a field that holds one value: parse reads it (saying what it
// wanted when it cannot), get shows it as JSON.
func value[T any](key, kind, def, doc string, at func(*Config) *T,
	parse func(Field, hujson.Literal) (T, string), get func(T) string,
) Field {
	return Field{
		Key: key, Type: kind, Default: def, Doc: doc,
		set: func(r *reader, f Field, v hujson.Value) error {
			lit, ok := v.Value.(hujson.Literal)
			if !ok {
				return r.wrong(f, v, "one value")
			}
			got, want := parse(f, lit)
			if want != "" {
				return r.wrong(f, v, want)
			}
			*at(&r.cfg) = got
			return nil
		},
		show: func(c Config) []Setting {
			return []Setting{{Key: key, Value: get(*at(&c)), Origin: c.origins[key]}}
		},
	}
}

func text(key, def, doc string, at func(*Config) *string) Field {
	return value(key, "string", def, doc, at, func(_ Field, l hujson.Literal) (string, string) {
		if l.Kind() != '"' {
			return "", "text in quotes"
		}
		return strings.TrimSpace(l.String()), ""
	}, quote)
}

func choice(key, def, doc string, options []string, at func(*Config) *string) Field {
	f := value(key, "string", def, doc, at, func(f Field, l hujson.Literal) (string, string) {
		word := l.String()
		if as, ok := f.spellings[word]; ok {
			word = as
		}
		for _, o := range options {
			if l.Kind() == '"' && word == o {
				return o, ""
			}
		}
		return "", "one of " + strings.Join(options, ", ")
	}, quote)
	f.Enum = options
	return f
}

func count(key, def, doc string, least int, at func(*Config) *int) Field {
	return value(key, "integer", def, doc, at, func(_ Field, l hujson.Literal) (int, string) {
		n, err := strconv.Atoi(string(l))
		if err != nil || n < least {
			return 0, fmt.Sprintf("a whole number of at least %d", least)
		}
		return n, ""
	}, strconv.Itoa)
}

func money(key, def, doc string, at func(*Config) *float64) Field {
	return value(key, "number", def, doc, at, func(_ Field, l hujson.Literal) (float64, string) {
		usd, ok := number(l)
		if !ok {
			return 0, "a number of dollars that is not negative"
		}
		return usd, ""
	}, showNumber)
}

func toggle(key, def, doc string, at func(*Config) *bool) Field {
	return value(key, "boolean", def, doc, at, func(_ Field, l hujson.Literal) (bool, string) {
		if k := l.Kind(); k != 't' && k != 'f' {
			return false, "true or false"
		}
		return l.Bool(), ""
	}, strconv.FormatBool)
}

func duration(key, def, doc string, at func(*Config) *time.Duration) Field {
	return value(key, "string", def, doc, at, func(_ Field, l hujson.Literal) (time.Duration, string) {
		d, err := time.ParseDuration(l.String())
		if err != nil || l.Kind() != '"' || d < 0 {
			return 0, `a duration in quotes, like "10m"`
		}
		return d, ""
	}, func(d time.Duration) string { return quote(d.String()) })
}

func seconds(key, def, doc string, at func(*Config) *time.Duration) Field {
	return timeSpan(key, def, doc, time.Second, at)
}

func millis(key, def, doc string, at func(*Config) *time.Duration) Field {
	return timeSpan(key, def, doc, time.Millisecond, at)
}

// longest is a day: more than any wait of the program, less than an overflow.
const longest = 24 * time.Hour

func timeSpan(key, def, doc string, unit time.Duration, at func(*Config) *time.Duration) Field {
	return value(key, "integer", def, doc, at, func(_ Field, l hujson.Literal) (time.Duration, string) {
		n, err := strconv.ParseInt(string(l), 10, 64)
		if most := int64(longest / unit); err != nil || n < 1 || n > most {
			return 0, fmt.Sprintf("a whole number from 1 to %d", most)
		}
		return time.Duration(n) * unit, ""
	}, func(d time.Duration) string { return strconv.FormatInt(int64(d/unit), 10) })
}

// secret is text that is never shown, and that fits into a header.
func secret(key, doc string, at func(*Config) *Secret) Field {
	f := value(key, "string", `""`, doc, at, func(_ Field, l hujson.Literal) (Secret, string) {
		s := strings.TrimSpace(l.String())
		outside := func(r rune) bool { return r <= ' ' || r > '~' }
		if l.Kind() != '"' || strings.ContainsFunc(s, outside) {
			return "", "text in quotes without blanks, line breaks or characters outside ASCII inside"
		}
		return Secret(s), ""
	}, func(s Secret) string { return quote(s.String()) })
	return f.userOnly()
}

func list(key, def, doc string, at func(*Config) *[]string) Field {
	return stringList(key, def, doc, at, func(_, now []string) []string { return now })
}

// extend is a list to which each layer adds.
func extend(key, def, doc string, at func(*Config) *[]string) Field {
	return stringList(key, def, doc, at, func(before, now []string) []string {
		return append(before[:len(before):len(before)], now...)
	})
}

func stringList(key, def, doc string, at func(*Config) *[]string, join func(before, now []string) []string) Field {
	return Field{
		Key: key, Type: "array", Default: def, Doc: doc,
		set: func(r *reader, f Field, v hujson.Value) error {
			var now []string
			err := r.texts(f, v, func(_ hujson.Value, s string) { now = append(now, s) })
			if err != nil {
				return err
			}
			*at(&r.cfg) = join(*at(&r.cfg), now)
			return nil
		},
		show: func(c Config) []Setting {
			return []Setting{{Key: key, Value: quoteList(*at(&c)), Origin: c.origins[key]}}
		},
	}
}

func number(l hujson.Literal) (float64, bool) {
	n, err := strconv.ParseFloat(string(l), 64)
	return n, err == nil && l.Kind() == '0' && n >= 0
}

func showNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func quote(s string) string { return string(hujson.String(s)) }

func quoteList(list []string) string {
	if len(list) == 0 {
		return "[]"
	}
	out, err := json.Marshal(list)
	if err != nil {
		panic("config: a list of strings that does not encode: " + err.Error())
	}
	return string(out)
}
