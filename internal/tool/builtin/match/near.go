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

// maxShown is how many lines of a difference are worth showing.
const maxShown = 3

// nearest lets each line of the old string vote for the places where the text
// has it, without looking at white space.
func nearest(text, old string) *Region {
	lines, want := strings.Split(text, "\n"), strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	at := map[string][]int{}
	for i, line := range lines {
		at[bare(line)] = append(at[bare(line)], i)
	}
	votes := map[int]int{}
	best, most := 0, 0
	for j, line := range want {
		key := bare(line)
		if len(key) < 3 { // braces and blank lines are everywhere
			continue
		}
		for _, i := range at[key] {
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

// bare is a line without white space.
func bare(line string) string { return strings.Join(strings.Fields(line), "") }

// compare finds the first difference between the lines from first on and those
// wanted.
func compare(lines, want []string, first int) *Region {
	last := min(first+len(want), len(lines))
	r := &Region{First: first + 1, Last: last}
	have := make([]string, last-first)
	for i := range have {
		have[i] = strings.TrimSuffix(lines[first+i], "\r")
	}
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
	pairs := pairsOf(bare(want[longest]))
	best := len(pairs) / 2
	for i, line := range lines {
		shared := 0
		for p, n := range pairsOf(bare(line)) {
			shared += min(n, pairs[p])
		}
		if shared > best {
			best, first, ok = shared, max(0, i-longest), true
		}
	}
	return first, ok
}

// maxResembling bounds how much of a line is compared.
const maxResembling = 400

func pairsOf(s string) map[string]int {
	pairs := map[string]int{}
	for i := 0; i+2 <= min(len(s), maxResembling); i++ {
		pairs[s[i:i+2]]++
	}
	return pairs
}
