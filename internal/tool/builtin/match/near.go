package match

import (
	"strings"

	"znkr.io/diff"
)

// Region is the part of a text that is most like an old string.
type Region struct {
	First, Last int // lines, 1-based
	// Line is where the first difference is, Text and Want are the lines there,
	// a few at most: those of the text and those of the old string.
	Line       int
	Text, Want []string
}

// Blank reports that the difference is one of white space only.
func (r *Region) Blank() bool {
	return bare(strings.Join(r.Text, " ")) == bare(strings.Join(r.Want, " "))
}

// Alike reports that the difference is one of characters that look alike only.
func (r *Region) Alike() bool {
	how := folding{alike: true}
	return fold(strings.Join(r.Text, "\n"), how).text == fold(strings.Join(r.Want, "\n"), how).text
}

const (
	maxShown  = 3   // how many lines of a difference are worth showing
	maxVotes  = 200 // how many of the places that have a line vote; a line that is everywhere says little
	minVoting = 3   // braces and blank lines are everywhere
)

// nearest lets each line of the old string vote for the places where the text
// has it, without looking at white space.
func nearest(text, old string) *Region {
	if onlyCR(text) {
		text, old = strings.ReplaceAll(text, "\r", "\n"), strings.ReplaceAll(old, "\r", "\n")
	}
	lines, want := linesOf(text), linesOf(strings.TrimSuffix(old, "\n"))
	at := map[string][]int{}
	for _, line := range want {
		if key := bare(line); len(key) >= minVoting {
			at[key] = nil
		}
	}
	for i, line := range lines {
		key := bare(line)
		if places, wanted := at[key]; wanted && len(places) < maxVotes {
			at[key] = append(places, i)
		}
	}
	votes := map[int]int{}
	best, most := 0, 0
	for j, line := range want {
		for _, i := range at[bare(line)] {
			first := max(0, i-j)
			votes[first]++
			if votes[first] > most || votes[first] == most && first < best {
				best, most = first, votes[first]
			}
		}
	}
	if most == 0 {
		var ok bool
		if best, ok = resembling(lines, want); !ok {
			return nil
		}
	}
	return compare(lines, want, best)
}

func linesOf(s string) []string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines
}

// bare is a line without white space.
func bare(line string) string { return strings.Join(strings.Fields(line), "") }

// compare finds the first difference between the lines from first on and those
// wanted.
func compare(lines, want []string, first int) *Region {
	last := min(first+len(want), len(lines))
	r := &Region{First: first + 1, Last: last, Line: first + 1}
	have := lines[first:last]
	for _, h := range diff.Hunks(have, want, diff.Context(0)) {
		r.Line = first + h.PosX + 1
		r.Text = have[h.PosX:min(h.EndX, h.PosX+maxShown)]
		r.Want = want[h.PosY:min(h.EndY, h.PosY+maxShown)]
		break
	}
	return r
}

// resembling finds the line that shares the most pairs of characters with the
// longest line wanted, at least half of them.
func resembling(lines, want []string) (first int, ok bool) {
	longest := 0
	for j, w := range want {
		if len(bare(w)) > len(bare(want[longest])) {
			longest = j
		}
	}
	var pairs [1 << 16]int16
	best := count(&pairs, bare(want[longest]), 1) / 2
	for i, line := range lines {
		line = bare(line[:min(len(line), 2*maxResembling)])
		shared := count(&pairs, line, -1)
		count(&pairs, line, 1)
		if shared > best {
			best, first, ok = shared, max(0, i-longest), true
		}
	}
	return first, ok
}

// maxResembling bounds how much of a line is compared.
const maxResembling = 400

// count adds to the number of each pair of bytes in s, and tells of how many
// pairs the number was above zero then or, when taking away, before.
func count(pairs *[1 << 16]int16, s string, by int16) (n int) {
	for i := 0; i+2 <= min(len(s), maxResembling); i++ {
		p := &pairs[int(s[i])<<8|int(s[i+1])]
		if max(*p, *p+by) > 0 {
			n++
		}
		*p += by
	}
	return n
}
