package fold

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A list that was handed out is what it was, whoever appends to it or to a
// part of it.
func TestListsThatShareMemoryDoNotShowInEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lists := []list[int]{{}}
		want := [][]int{nil}
		for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
			from := rapid.IntRange(0, len(lists)-1).Draw(t, "from")
			n := len(want[from])
			if rapid.Bool().Draw(t, "cut") {
				n = rapid.IntRange(0, n).Draw(t, "first")
				lists, want = append(lists, lists[from].first(n)), append(want, want[from][:n])
				continue
			}
			lists, want = append(lists, lists[from].add(i)), append(want, append(slices.Clone(want[from]), i))
		}
		for i, l := range lists {
			if !slices.Equal(l.items, want[i]) {
				t.Fatalf("list %d is %v, want %v", i, l.items, want[i])
			}
		}
	})
}

func TestWithAndWithoutCopy(t *testing.T) {
	room := make([]int, 1, 8)
	a, b := with(room, 1), with(room, 2)
	left := without(a, func(v int) bool { return v == 0 })
	left[0] = 9
	if got := fmt.Sprint(room, a, b, left); got != "[0] [0 1] [0 2] [9]" {
		t.Error(got)
	}
}
