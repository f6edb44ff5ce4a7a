package session_test

import (
	"bufio"
	"errors"
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
)

// writeLarge makes a log of about size bytes in turns of one read each, with
// results of result bytes.
func writeLarge(tb testing.TB, path string, size, result int) (events int) {
	tb.Helper()
	clk := clock.Fixed(time.UnixMilli(1767225600000), 1)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tb.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	out := bufio.NewWriter(file)
	text := strings.Repeat("func (l *Log) \"Publish\"(f event.Fact)\tline\n", result/40+1)[:result]
	for written := 0; written < size; {
		for _, f := range turn(events, text) {
			events++
			line, err := event.AppendLine(nil, event.Record{
				V: 1, ID: clk.ID(), SessionID: "01J0000000000000000000LARGE", Seq: int64(events), TS: clk.Now().UnixMilli(), Fact: f,
			})
			if err != nil {
				tb.Fatal(err)
			}
			written += len(line)
			out.Write(line)
		}
	}
	if err := errors.Join(out.Flush(), file.Close()); err != nil {
		tb.Fatal(err)
	}
	return events
}

func turn(n int, text string) []event.Fact {
	var facts []event.Fact
	if n == 0 {
		facts = append(facts, event.SessionStarted{ProjectHash: "p", Model: "m"}, event.UserMessageCreated{Text: "go"})
	}
	request, call := fmt.Sprintf("r%d", n), fmt.Sprintf("toolu_%d", n)
	return append(facts,
		event.ModelRequestStarted{RequestID: request, Model: "m", Purpose: event.PurposeMain},
		event.ModelTextBlockCompleted{RequestID: request, Text: "Next I read one more file to be sure."},
		event.ToolRequested{RequestID: request, BlockIndex: 1, ToolUseID: call, ToolName: "read", Input: []byte(`{"path":"internal/session/log.go"}`)},
		event.ModelResponseCompleted{RequestID: request, StopReason: event.StopToolUse},
		event.ToolApproved{ToolUseID: call, Via: event.ViaPolicy},
		event.ToolStarted{ToolUseID: call, ToolName: "read"},
		event.FileRead{Path: "internal/session/log.go", ToolUseID: call},
		event.ToolCompleted{ToolUseID: call, ModelText: text, UI: event.ToolUI{Kind: event.UIRead, Summary: "Read log.go"}},
	)
}

// BenchmarkResume opens a log of 100 MB and 100,000 events. The bars are
// 1.5 s and twice the file's size in memory.
func BenchmarkResume(b *testing.B) {
	folder := b.TempDir()
	path := filepath.Join(folder, "p", "LARGE.jsonl")
	events := writeLarge(b, path, 100<<20, 6000)
	store := realStore(b, folder)
	for b.Loop() {
		l, err := store.Open("LARGE")
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.Sys)/(1<<20), "sys-MB")
		b.ReportMetric(float64(events), "events")
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkListOfALargeLogWithoutSidecar reads 300 MB once more for each list.
func BenchmarkListOfALargeLogWithoutSidecar(b *testing.B) {
	folder := b.TempDir()
	writeLarge(b, filepath.Join(folder, "p", "LARGE.jsonl"), 300<<20, 6900)
	store := realStore(b, folder)
	for b.Loop() {
		if _, err := store.List(""); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := os.Remove(filepath.Join(folder, "p", "LARGE.meta.json")); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkListOfManySessions lists 2,000 sessions without sidecars; the bar
// is 1 s.
func BenchmarkListOfManySessions(b *testing.B) {
	folder := b.TempDir()
	for i := range 2000 {
		writeLarge(b, filepath.Join(folder, "p", fmt.Sprintf("S%04d.jsonl", i)), 4<<10, 500)
	}
	store := realStore(b, folder)
	for b.Loop() {
		if all, err := store.List(""); err != nil || len(all) != 2000 {
			b.Fatal(len(all), err)
		}
	}
}

// BenchmarkPublish appends facts on which no sync is due; the bar is 20 µs.
func BenchmarkPublish(b *testing.B) {
	l, err := realStore(b, b.TempDir()).Create(event.SessionStarted{ProjectHash: "p"})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := l.Publish(event.ToolStarted{ToolUseID: "toolu_1", ToolName: "read"}); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}

func realStore(tb testing.TB, folder string) *session.Store {
	tb.Helper()
	return session.NewStore(realDir(tb, folder), clock.System(), func(err error) { tb.Log(err) })
}
