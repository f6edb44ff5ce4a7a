package clock

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestIdentifiersAreUniqueAndInTheOrderOfTheCalls(t *testing.T) {
	for name, c := range map[string]*Clock{"system": System(), "fixed": Fixed(noon, 1)} {
		t.Run(name, func(t *testing.T) {
			ids := make([]string, 5000)
			for i := range ids {
				ids[i] = c.ID()
			}
			if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
				t.Error("an identifier is not greater than the one before it")
			}
		})
	}
}

func TestIdentifiersOfOneMillisecondKeepTheirOrder(t *testing.T) {
	c := Fixed(noon, 1)
	before := c.IDAt(noon)
	for range 5000 {
		id := c.IDAt(noon)
		if id <= before {
			t.Fatalf("%s follows %s", id, before)
		}
		before = id
	}
}

func TestIdentifiersCarryTheirTime(t *testing.T) {
	id := ulid.MustParse(System().IDAt(noon))
	if got := ulid.Time(id.Time()); !got.Equal(noon) {
		t.Errorf("the identifier says %s, it was made for %s", got, noon)
	}
}

func TestIdentifiersStayUniqueAcrossGoroutines(t *testing.T) {
	const workers, each = 8, 500
	c := System()
	made := make([][]string, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for range each {
				made[w] = append(made[w], c.ID())
			}
		})
	}
	all.Wait()
	ids := slices.Concat(made...)
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != workers*each {
		t.Errorf("%d different identifiers of %d", n, workers*each)
	}
	for w, own := range made {
		if !slices.IsSorted(own) {
			t.Errorf("worker %d got identifiers out of order", w)
		}
	}
}

func TestFixedAnswersTheSameOnEveryRun(t *testing.T) {
	answers := func(seed uint64) []any {
		c := Fixed(noon, seed)
		return []any{c.Now(), c.ID(), c.Jitter(time.Hour), c.Since(noon), c.ID(), c.Jitter(time.Hour)}
	}
	if a, b := answers(7), answers(7); !slices.Equal(a, b) {
		t.Errorf("one seed, two answers:\n%v\n%v", a, b)
	}
	if a, b := answers(7), answers(8); slices.Equal(a, b) {
		t.Errorf("two seeds, one answer: %v", a)
	}
}

func TestFixedAdvancesAMillisecondWithEveryReading(t *testing.T) {
	c := Fixed(noon, 1)
	first := c.Now()
	if got := first.Sub(noon); got != time.Millisecond {
		t.Errorf("the first reading is %s after the start", got)
	}
	if got := c.Since(first); got != time.Millisecond {
		t.Errorf("the second reading is %s after the first", got)
	}
}

func TestJitterStaysBelowItsLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Fixed(noon, rapid.Uint64().Draw(t, "seed"))
		limit := time.Duration(rapid.Int64().Draw(t, "limit"))
		got := c.Jitter(limit)
		if limit <= 0 && got != 0 || limit > 0 && (got < 0 || got >= limit) {
			t.Fatalf("Jitter(%d) = %d", limit, got)
		}
	})
}

func TestJitterUsesTheWholeRange(t *testing.T) {
	c := Fixed(noon, 1)
	low, high := time.Second, time.Duration(0)
	for range 1000 {
		d := c.Jitter(time.Second)
		low, high = min(low, d), max(high, d)
	}
	if low > 50*time.Millisecond || high < 950*time.Millisecond {
		t.Errorf("1000 draws lie between %s and %s", low, high)
	}
}
