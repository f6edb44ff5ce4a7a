package search

import "bytes"

// seldom is how many bytes are to lie between two lines that hold a needle in
// vain: more often met, trying the expression at once is quicker.
const seldom = 64

// matcher finds the lines that fit a pattern. It belongs to one goroutine.
type matcher struct {
	*Pattern
	seekers   []seeker
	automaton *automaton
	// What needles are worth: lines that held one and did not fit, and bytes.
	vain, sought int
}

func (p *Pattern) matcher() *matcher {
	m := &matcher{Pattern: p}
	for _, n := range p.needles {
		m.seekers = append(m.seekers, seeker{needle: n, bytes: []byte(n.text)})
	}
	if p.machine != nil {
		m.automaton = p.machine.automaton()
	}
	return m
}

// lines calls each with the bounds of the lines that fit, without their ends,
// until it returns false. The lines of the text are whole.
func (m *matcher) lines(text []byte, each func(start, end int) bool) {
	for i := range m.seekers {
		m.seekers[i].reset()
	}
	seek := len(m.seekers) > 0 && (m.vain < 1000 || m.vain*seldom < m.sought)
	m.sought += len(text)
	for at := 0; at < len(text); {
		hit := m.candidate(text, at, seek)
		if hit < 0 {
			return
		}
		start := bytes.LastIndexByte(text[:hit], '\n') + 1
		end := endOfLine(text, hit)
		at = end + 1
		if seek && !m.exact && !m.fits(text[start:end]) {
			m.vain++
			continue
		}
		if !each(start, end) {
			return
		}
	}
}

// candidate is an offset in the next line that holds a needle, or if those are
// not sought, that fits.
func (m *matcher) candidate(text []byte, at int, seek bool) int {
	if seek {
		first := -1
		for i := range m.seekers {
			if hit := m.seekers[i].from(text, at); hit >= 0 && (first < 0 || hit < first) {
				first = hit
			}
		}
		return first
	}
	hit := m.next(text[at:])
	if hit < 0 || at+hit >= len(text) {
		return -1
	}
	return at + hit
}

// next is an offset in the next line that fits.
func (m *matcher) next(text []byte) int {
	if m.automaton != nil {
		if hit, ok := m.automaton.find(text); ok {
			return hit
		}
	}
	loc := m.re.FindIndex(text)
	switch {
	case loc == nil:
		return -1
	case loc[0] == len(text) && loc[0] > 0 && text[loc[0]-1] != '\n':
		return loc[0] - 1 // at the end of a line that has none
	}
	return loc[0]
}

// fits judges one line.
func (m *matcher) fits(line []byte) bool {
	if m.automaton != nil {
		if hit, ok := m.automaton.find(line); ok && len(line) > 0 {
			return hit >= 0
		}
	}
	return m.re.Match(line)
}

// endOfLine is where the line at an offset ends.
func endOfLine(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(text)
}
