package permission

import (
	"errors"
	"slices"
	"strings"
)

// pattern is the words of a command rule. A lone * as the last word stands for
// any further words.
type pattern struct {
	words []glob
	open  bool // ends in a lone *
}

// glob is one word: its literal pieces, between which any text may stand.
// Quoted and escaped stars are part of a piece.
type glob []string

func (g glob) literal() bool { return len(g) == 1 }

// parsePattern splits a pattern into words the way a shell splits a line,
// quotes and backslashes included, without expanding anything.
func parsePattern(text string) (pattern, error) {
	var p pattern
	for rest := strings.TrimLeft(text, " \t"); rest != ""; rest = strings.TrimLeft(rest, " \t") {
		word, after, err := cutGlob(rest)
		if err != nil {
			return pattern{}, err
		}
		p.words, rest = append(p.words, word), after
	}
	if n := len(p.words); n > 0 && slices.Equal(p.words[n-1], glob{"", ""}) {
		p.words, p.open = p.words[:n-1], true
	}
	if text == "" {
		p.open = true
	}
	return p, nil
}

// cutGlob reads one word.
func cutGlob(s string) (glob, string, error) {
	var done glob
	var piece strings.Builder
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == '\\' && quote != '\'':
			if i++; i == len(s) {
				return nil, "", errors.New("the pattern ends in a backslash")
			}
			piece.WriteByte(s[i])
		case quote == 0 && c == '*':
			done = append(done, piece.String())
			piece.Reset()
		case quote == 0 && (c == ' ' || c == '\t'):
			return append(done, piece.String()), s[i:], nil
		default:
			piece.WriteByte(c)
		}
	}
	if quote != 0 {
		return nil, "", errors.New("a quote is not closed")
	}
	return append(done, piece.String()), "", nil
}

// match compares a word. Within the host of a URL a star stops at . @ and :,
// so that http://localhost* does not reach localhost.example.
func (g glob) match(word string) bool {
	from, to := hostPart(word)
	return matchPieces(g, word, 0, from, to)
}

func matchPieces(g glob, word string, at, hostFrom, hostTo int) bool {
	if !strings.HasPrefix(word[at:], g[0]) {
		return false
	}
	at += len(g[0])
	if len(g) == 1 {
		return at == len(word)
	}
	for ; at <= len(word); at++ {
		if matchPieces(g[1:], word, at, hostFrom, hostTo) {
			return true
		}
		if at >= hostFrom && at < hostTo && strings.IndexByte(".@:", word[at]) >= 0 {
			return false
		}
	}
	return false
}

// hostPart is where the authority of a URL stands in a word; empty if none.
func hostPart(word string) (from, to int) {
	i := strings.Index(word, "://")
	if i < 0 {
		return 0, 0
	}
	from = i + len("://")
	if end := strings.IndexAny(word[from:], "/?#"); end >= 0 {
		return from, from + end
	}
	return from, len(word)
}

// exact reports whether the pattern is one fixed command.
func (p pattern) exact() bool {
	return !p.open && len(p.words) > 0 && !slices.ContainsFunc(p.words, func(g glob) bool { return !g.literal() })
}

// covers compares word by word, as allow rules do.
func (p pattern) covers(words []string) bool {
	if len(words) < len(p.words) || (len(words) > len(p.words) && !p.open) {
		return false
	}
	for i, g := range p.words {
		if !g.match(words[i]) {
			return false
		}
	}
	return true
}

// touches compares as deny and ask rules do: the program by its bare name,
// options unbundled, in any order and with their long spellings, further
// options ignored.
func (p pattern) touches(words []string) bool {
	if len(p.words) == 0 {
		return true
	}
	if len(words) == 0 || !p.words[0].match(programName(words[0])) && !p.words[0].match(words[0]) {
		return false
	}
	options, operands := splitOptions(dropGlobalOptions(words))
	var wanted []glob
	for _, g := range p.words[1:] {
		if name := g[0]; !strings.HasPrefix(name, "-") || name == "-" {
			wanted = append(wanted, g)
		} else if !hasOption(options, words, g) {
			return false
		}
	}
	return matchOperands(wanted, operands, p.open)
}

// operand is a word that is no option. Behind an option it may be the option's
// value instead.
type operand struct {
	text       string
	maybeValue bool
}

func splitOptions(words []string) (options []string, operands []operand) {
	literal, afterOption := false, false
	for _, w := range words[1:] {
		switch {
		case literal || w == "-" || !strings.HasPrefix(w, "-"):
			operands = append(operands, operand{w, afterOption && !literal})
			afterOption = false
		case w == "--":
			literal = true
		default:
			name, _, hasValue := strings.Cut(w, "=")
			options = append(options, name)
			afterOption = !hasValue
		}
	}
	return options, operands
}

// longOptions are the long spellings of the short options that rules are about.
var longOptions = map[string]string{"r": "--recursive", "R": "--recursive", "f": "--force", "d": "--delete", "D": "--delete"}

func hasOption(options, words []string, want glob) bool {
	if !want.literal() {
		return slices.ContainsFunc(words, want.match)
	}
	name := want[0]
	if slices.Contains(options, name) {
		return true
	}
	if strings.HasPrefix(name, "--") {
		return slices.ContainsFunc(options, func(o string) bool {
			return !strings.HasPrefix(o, "--") && slices.ContainsFunc(letters(o), func(l string) bool { return longOptions[l] == name })
		})
	}
	for _, letter := range letters(name) {
		if !hasLetter(options, letter) {
			return false
		}
	}
	return true
}

func hasLetter(options []string, letter string) bool {
	return slices.ContainsFunc(options, func(o string) bool {
		if strings.HasPrefix(o, "--") {
			return o == longOptions[letter]
		}
		return strings.Contains(o[1:], letter) || (letter == "r" && strings.Contains(o[1:], "R"))
	})
}

func letters(bundle string) []string { return strings.Split(strings.TrimPrefix(bundle, "-"), "") }

// matchOperands compares in order; a word that may be an option's value may be
// passed over.
func matchOperands(wanted []glob, have []operand, open bool) bool {
	if len(wanted) == 0 {
		return open || !slices.ContainsFunc(have, func(o operand) bool { return !o.maybeValue })
	}
	if len(have) == 0 {
		return false
	}
	if wanted[0].match(have[0].text) && matchOperands(wanted[1:], have[1:], open) {
		return true
	}
	return have[0].maybeValue && matchOperands(wanted, have[1:], open)
}

// quoteWords writes words so that parsePattern reads exactly them.
func quoteWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\*") {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
