package bench

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"text/tabwriter"
)

// row is one figure beside its bar.
type row struct{ what, figure, bar string }

// measures are the rows in the order in which they are printed; each makes
// what it needs and cleans up. Whole processes come first and what fills the
// memory last: the peak of a process counts what its parent held when it was
// started (getrusage(2)).
var measures = []struct {
	name string
	run  func(t *testing.T) []row
}{
	{"program", programCost},
	{"stream", streamCost},
	{"inits", slowInits},
	{"append", appendCost},
	{"resume", resumeTime},
	{"turns", turnOverhead},
	{"search", searchCost},
}

// TestBenchTable is `make bench`. KHAELOR_BENCH_ONLY names one measure.
func TestBenchTable(t *testing.T) {
	if os.Getenv("KHAELOR_BENCH") == "" {
		t.Skip("a benchmark: run make bench")
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tmeasured\tbar (contract §14)")
	for _, m := range measures {
		if only := os.Getenv("KHAELOR_BENCH_ONLY"); only != "" && only != m.name {
			continue
		}
		for _, r := range m.run(t) {
			fmt.Fprintf(w, "%s\t%s\t%s\n", r.what, r.figure, r.bar)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	fmt.Print("\n", out.String(), "\n")
}
