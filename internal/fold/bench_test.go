package fold

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

// work is a long session of n facts or a few more: messages, answers with a
// text and two calls, reads and edits. A word that nobody takes and a process
// that never ends stay open all the time.
func work(n int) []event.Record {
	var l log
	l.add(
		event.SessionStarted{Model: "m"}, event.MessageQueued{Text: "later"}, event.SteeringQueued{Text: "soon"},
		event.ProcessStarted{ProcessID: "w", Command: "serve"},
	)
	for turn := 0; len(l.records) < n; turn++ {
		if turn%20 == 0 {
			l.add(event.TaskCompleted{}, said("go on"))
		}
		r := fmt.Sprintf("r%d", turn)
		a, b := r+"a", r+"b"
		l.add(
			started(r), text(r, "well"), called(r, a, "edit", `{"path":"x"}`), called(r, b, "bash", `{"command":"go test"}`),
			answered(r, event.StopToolUse),
			event.ToolApproved{ToolUseID: a}, event.ToolStarted{ToolUseID: a}, read(a, "1"),
			modified("x", a, event.FileEdited, 1, 1, "2"), completed(a),
			event.ToolApproved{ToolUseID: b}, event.ToolStarted{ToolUseID: b}, ran(b, 0),
		)
	}
	return l.records
}

// The bar is 3 µs a fact: a log of 100,000 is replayed within 1.5 s, reading
// included (the contract, §14).
func BenchmarkSession(b *testing.B) {
	b.Run("state and history", func(b *testing.B) { perFact(b, Session{}) })
	b.Run("timeline", func(b *testing.B) { perFact(b, Timeline{}) })
}

func perFact[P interface{ Apply(event.Record) P }](b *testing.B, zero P) {
	log := work(100_000)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		folded(zero, log)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(log)), "ns/fact")
}

func TestAFactCostsTheSameHoweverLongTheLogIs(t *testing.T) {
	short, long := allocated(work(4_000)), allocated(work(40_000))
	if long > 1.5*short {
		t.Errorf("a fact of a short log takes %.0f bytes, of a ten times longer one %.0f: something copies what it has", short, long)
	}
}

// allocated is how many bytes one fact takes on its way through all folds.
func allocated(log []event.Record) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	folded(everything{}, log)
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc-before.TotalAlloc) / float64(len(log))
}
