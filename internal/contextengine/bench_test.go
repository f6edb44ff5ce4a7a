package contextengine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// longTalk is the state before each of n requests, with results of 2 to 20 KB.
func longTalk(n int) []fold.Session {
	l := logOf(tier(event.TierStatic, strings.Repeat("static ", 700)), says("begin"))
	var states []fold.Session
	for i := range n {
		states = append(states, l.folded)
		r, id := fmt.Sprintf("r%d", i), fmt.Sprintf("t%d", i)
		result := strings.Repeat("0123456789abcde\n", (2+i*7%19)<<6)
		l.add(started(r), calls(r, id, "bash", `{"command":"ls"}`), answered(r, event.StopToolUse), completed(id, result))
	}
	return states
}

// BenchmarkABuildOfManyTurns reports the time of all requests of a session,
// and what the last one took beside the first one per byte of its body.
func BenchmarkABuildOfManyTurns(b *testing.B) {
	for _, turns := range []int{75, 150, 300} {
		states := longTalk(turns)
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				e := New(blob)
				for _, s := range states {
					size = len(e.Build(s, params).Body)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*turns), "µs/request")
			b.ReportMetric(float64(size)/1024, "KB-last")
		})
	}
}
