package permission

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word as the program will get it.
type word struct {
	text     string
	known    bool // text is what the program gets; else it is only the parts that could be read
	glob     bool // holds unquoted * ? [
	expanded bool // holds $HOME or $PWD
}

func (r *shellReader) word(w *syntax.Word) word {
	out := word{known: true}
	if w == nil {
		return out
	}
	var b strings.Builder
	for i, part := range w.Parts {
		b.WriteString(r.part(&out, part, i == 0, len(w.Parts) == 1))
	}
	out.text = b.String()
	return out
}

func (r *shellReader) part(out *word, part syntax.WordPart, first, only bool) string {
	switch p := part.(type) {
	case *syntax.Lit:
		return r.literal(out, p.Value, first, only)
	case *syntax.SglQuoted:
		if !p.Dollar {
			return p.Value
		}
		text, ok := ansiC(p.Value)
		out.known = out.known && ok
		return text
	case *syntax.DblQuoted:
		return r.doubleQuoted(out, p)
	case *syntax.ParamExp:
		return r.variable(out, p)
	}
	out.known = false
	return ""
}

// literal removes the backslashes that the shell removes.
func (r *shellReader) literal(out *word, raw string, first, only bool) string {
	var b strings.Builder
	if first && strings.HasPrefix(raw, "~") {
		user, _, _ := strings.Cut(raw, "/")
		switch {
		case user == "~" && (only || len(raw) > 1) && !r.assigned["HOME"]:
			b.WriteString(r.home)
			raw = raw[1:]
		default:
			out.known = false
		}
	}
	brace := strings.IndexByte(raw, '{')
	if brace >= 0 && (strings.Contains(raw[brace:], ",") || strings.Contains(raw[brace:], "..")) {
		out.known = false
	}
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '\\':
			if i++; i < len(raw) && raw[i] != '\n' {
				b.WriteByte(raw[i])
			}
		case '*', '?', '[':
			// A lone [ is the test command.
			out.glob = out.glob || c != '[' || strings.Contains(raw[i:], "]")
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func (r *shellReader) doubleQuoted(out *word, q *syntax.DblQuoted) string {
	if q.Dollar {
		out.known = false
	}
	var b strings.Builder
	for _, part := range q.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescapeDouble(p.Value))
		case *syntax.ParamExp:
			b.WriteString(r.variable(out, p))
		default:
			out.known = false
		}
	}
	return b.String()
}

// unescapeDouble removes the backslashes that mean something between double
// quotes.
func unescapeDouble(raw string) string {
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\\' && i+1 < len(raw) && strings.IndexByte("$`\"\\\n", raw[i+1]) >= 0 {
			if i++; raw[i] == '\n' {
				continue
			}
		}
		b.WriteByte(raw[i])
	}
	return b.String()
}

// variable knows $HOME and $PWD, as long as the text does not set them.
func (r *shellReader) variable(out *word, p *syntax.ParamExp) string {
	plain := p.Param != nil && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil &&
		!p.Excl && !p.Length && !p.Width && p.Names == 0
	if !plain || r.assigned[p.Param.Value] {
		out.known = false
		return ""
	}
	switch p.Param.Value {
	case "HOME":
		out.expanded = true
		return r.home
	case "PWD":
		out.expanded = true
		out.known = out.known && r.dir != ""
		return r.dir
	}
	out.known = false
	return ""
}

// ansiEscapes are the one-letter escapes of $'…'.
var ansiEscapes = map[byte]byte{
	'n': '\n', 't': '\t', 'r': '\r', 'a': 7, 'b': 8, 'e': 27, 'E': 27, 'f': 12, 'v': 11,
	'\\': '\\', '\'': '\'', '"': '"', '?': '?',
}

// ansiC decodes $'…'; an escape it does not know makes the text unknown.
func ansiC(raw string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			b.WriteByte(raw[i])
			continue
		}
		if i++; i == len(raw) {
			return b.String(), false
		}
		if plain, ok := ansiEscapes[raw[i]]; ok {
			b.WriteByte(plain)
			continue
		}
		code, length, ok := ansiNumber(raw[i:])
		if !ok {
			return b.String(), false
		}
		b.WriteByte(code)
		i += length - 1
	}
	return b.String(), true
}

// ansiNumber reads xHH or up to three octal digits.
func ansiNumber(s string) (code byte, length int, ok bool) {
	base, from, most := 8, 0, 3
	if s[0] == 'x' {
		base, from, most = 16, 1, 3
	}
	end := from
	for end < len(s) && end < most && isDigit(s[end], base) {
		end++
	}
	n, err := strconv.ParseUint(s[from:end], base, 8)
	return byte(n), end, err == nil
}

func isDigit(c byte, base int) bool {
	_, err := strconv.ParseUint(string(c), base, 8)
	return err == nil
}
