package match

import "strings"

// endings finds the line ending in force at a place of a text: the next one,
// else the last.
type endings struct {
	text string
	cr   bool
	// end is the ending that is in force from from up to to; from is -1 before
	// the first question.
	from, to int
	end      string
}

// after is the ending in force at a place; "" in a text of one line.
func (e *endings) after(at int) string {
	if e.from >= 0 && at >= e.from && at <= e.to {
		return e.end
	}
	sign := byte('\n')
	if e.cr {
		sign = '\r'
	}
	n := strings.IndexByte(e.text[at:], sign)
	e.from, e.to = at, len(e.text)
	if n >= 0 {
		n += at
		e.to = n
	} else {
		n = strings.LastIndexByte(e.text, sign)
	}
	switch {
	case n < 0:
		e.end = ""
	case n > 0 && e.text[n-1] == '\r' && !e.cr:
		e.end = "\r\n"
	default:
		e.end = e.text[n : n+1]
	}
	return e.end
}
