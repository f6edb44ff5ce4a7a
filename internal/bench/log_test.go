package bench

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/session"
	"github.com/khaelor/khaelor/internal/workspace"
)

func realStore(t *testing.T, dir string) *session.Store {
	t.Helper()
	home, err := workspace.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { home.Close() })
	return session.NewStore(home, clock.System(), func(err error) { t.Error(err) })
}

// appendCost publishes small facts that are no boundary of durability.
func appendCost(t *testing.T) []row {
	log, err := realStore(t, t.TempDir()).Create(event.SessionStarted{ProjectHash: "p", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	const n = 20_000
	start := time.Now()
	for range n {
		if _, err := log.Publish(event.ToolApproved{ToolUseID: "toolu_1", Via: event.ViaRule}); err != nil {
			t.Fatal(err)
		}
	}
	each := time.Since(start) / n
	return []row{{"append of one fact, without sync", fmt.Sprintf("%.1f µs", float64(each.Nanoseconds())/1000), "≤ 20 µs"}}
}

// resumeTime opens a log of 100,000 facts and 100 MB.
func resumeTime(t *testing.T) []row {
	dir := t.TempDir()
	id, size := largeLog(t, dir)
	store := realStore(t, dir)
	var best time.Duration
	var memory uint64
	for range 3 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		log, err := store.Open(id)
		if err != nil {
			t.Fatal(err)
		}
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		memory = max(memory, after.HeapSys-min(before.HeapInuse, after.HeapSys))
		if best == 0 || took < best {
			best = took
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return []row{
		{fmt.Sprintf("resume of 100,000 facts, %d MB (best of 3)", size>>20), ms(best), "≤ 1500 ms"},
		{"memory of that, heap taken from the system", fmt.Sprintf("%.1fx the file", float64(memory)/float64(size)), "≤ 2x"},
	}
}

// largeLog writes a log of 100,000 facts with results of several sizes.
func largeLog(t *testing.T, dir string) (id string, size int64) {
	t.Helper()
	clk := clock.System()
	id = clk.ID()
	name := filepath.Join(dir, "p", id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	seq := int64(0)
	add := func(facts ...event.Fact) {
		for _, fact := range facts {
			seq++
			line, err := event.AppendLine(nil, event.Record{V: event.Version, ID: clk.ID(), SessionID: id, Seq: seq, TS: clk.Now().UnixMilli(), Fact: fact})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(line); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(event.SessionStarted{Title: "large", ProjectHash: "p", Model: "m"}, event.UserMessageCreated{Text: "go"})
	for n := 0; seq < 100_000-8; n++ {
		req, call := fmt.Sprintf("req_%d", n), fmt.Sprintf("toolu_%d", n)
		text := strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"read: %w\", err)\n", 40+n%200)
		add(
			event.ModelRequestStarted{RequestID: req, Model: "m", Purpose: event.PurposeMain},
			event.ModelTextBlockCompleted{RequestID: req, Text: "I look at the next file."},
			event.ToolRequested{RequestID: req, BlockIndex: 1, ToolUseID: call, ToolName: "read", Input: []byte(fmt.Sprintf(`{"path":"f%d.go"}`, n))},
			event.ModelResponseCompleted{RequestID: req, StopReason: event.StopToolUse},
			event.ToolApproved{ToolUseID: call, Via: event.ViaPolicy},
			event.ToolStarted{ToolUseID: call, ToolName: "read"},
			event.FileRead{Path: fmt.Sprintf("f%d.go", n), Bytes: int64(len(text)), ToolUseID: call, SHA256: strings.Repeat("a", 64)},
			event.ToolCompleted{ToolUseID: call, ModelText: text, UI: event.ToolUI{Kind: event.UIRead, Summary: "Read"}},
		)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return id, info.Size()
}
