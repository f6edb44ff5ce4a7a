package ignore

import "strings"

// outcome is how a comparison ended.
type outcome int

const (
	missed outcome = iota
	matched
	// outOfText: a longer text could match, so no star before need try again.
	outOfText
	// needsSlash: only a double star before can still match.
	needsSlash
)

// wild compares a glob as git does: bytes, not characters; a star ends at a
// slash; a double star between slashes does not. The two extra outcomes keep a
// row of stars from trying every way to share a text.
func wild(glob, text string) outcome {
	for p := 0; p < len(glob); p++ {
		if len(text) == 0 && glob[p] != '*' {
			return outOfText
		}
		switch glob[p] {
		case '*':
			return wildStar(glob, p, text)
		case '?':
			if text[0] == '/' {
				return missed
			}
		case '[':
			fits, length := class(glob[p:], text[0])
			if length == 0 {
				return outOfText // not closed: it matches nothing at all
			}
			if !fits || text[0] == '/' {
				return missed
			}
			p += length - 1
		case '\\':
			if p++; p == len(glob) || glob[p] != text[0] {
				return missed
			}
		default:
			if glob[p] != text[0] {
				return missed
			}
		}
		text = text[1:]
	}
	if text != "" {
		return missed
	}
	return matched
}

// wildStar compares from the star at p on.
func wildStar(glob string, p int, text string) outcome {
	rest := strings.TrimLeft(glob[p:], "*")
	deep := len(glob)-p-len(rest) > 1 && (p == 0 || glob[p-1] == '/') &&
		(rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`))
	switch {
	case deep && strings.HasPrefix(rest, "/") && wild(rest[1:], text) == matched:
		return matched // no folder at all
	case rest == "" && !deep && strings.Contains(text, "/"):
		return needsSlash
	case rest == "":
		return matched
	case rest[0] == '/' && !deep:
		slash := strings.IndexByte(text, '/')
		if slash < 0 {
			return outOfText
		}
		return wild(rest, text[slash:])
	}
	for ; text != ""; text = text[1:] {
		got := wild(rest, text)
		if got != missed && (!deep || got != needsSlash) {
			return got
		}
		if got == missed && !deep && text[0] == '/' {
			return needsSlash
		}
	}
	return outOfText
}

// class judges a byte by the class at the beginning of a glob. A class that is
// not closed, or has a name nobody knows, has no length.
func class(glob string, b byte) (fits bool, length int) {
	p := 1
	not := p < len(glob) && (glob[p] == '!' || glob[p] == '^')
	if not {
		p++
	}
	previous := -1 // the member that a range can begin with
	for first := p; p < len(glob); p++ {
		c := glob[p]
		switch {
		case c == ']' && p > first:
			return fits != not, p + 1
		case c == '-' && previous > 0 && p+1 < len(glob) && glob[p+1] != ']':
			if p++; glob[p] == '\\' {
				p++
			}
			if p == len(glob) {
				return false, 0
			}
			fits = fits || previous <= int(b) && b <= glob[p]
			previous = -1
			continue
		case strings.HasPrefix(glob[p:], "[:"):
			name, rest, closed := strings.Cut(glob[p+len("[:"):], "]")
			if !closed {
				return false, 0
			}
			if name, ok := strings.CutSuffix(name, ":"); ok {
				member, known := namedClass(name, b)
				if !known {
					return false, 0
				}
				fits = fits || member
				p = len(glob) - len(rest) - 1
				previous = -1
				continue
			}
		case c == '\\':
			if p++; p == len(glob) {
				return false, 0
			}
			c = glob[p]
		}
		fits = fits || c == b
		previous = int(c)
	}
	return false, 0
}

// namedClass judges a byte by a class such as [:digit:].
func namedClass(name string, b byte) (fits, known bool) {
	lower, upper, digit := 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9'
	visible := '!' <= b && b <= '~'
	switch name {
	case "alpha":
		return lower || upper, true
	case "digit":
		return digit, true
	case "alnum":
		return lower || upper || digit, true
	case "upper":
		return upper, true
	case "lower":
		return lower, true
	case "xdigit":
		return digit || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F', true
	case "space":
		return b == ' ' || '\t' <= b && b <= '\r', true
	case "blank":
		return b == ' ' || b == '\t', true
	case "punct":
		return visible && !lower && !upper && !digit, true
	case "graph":
		return visible, true
	case "print":
		return visible || b == ' ', true
	case "cntrl":
		return b < ' ' || b == '\x7f', true
	}
	return false, false
}
