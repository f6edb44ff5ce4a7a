package session_test

import (
	"sync"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/disk"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/session"
	"github.com/khaelor/khaelor/internal/workspace"
)

// watchedDir counts syncs and opens and makes syncs fail.
type watchedDir struct {
	disk.Dir
	mu       sync.Mutex
	syncs    int
	opened   map[string]int
	failSync error
}

func (d *watchedDir) OpenAppend(name string) (disk.File, error) {
	f, err := d.Dir.OpenAppend(name)
	if err != nil {
		return nil, err
	}
	return watchedFile{File: f, dir: d}, nil
}

func (d *watchedDir) failing(syncs error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failSync = syncs
}

// taken answers how many syncs there were since the last question.
func (d *watchedDir) taken() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.syncs
	d.syncs = 0
	return n
}

type watchedFile struct {
	disk.File
	dir *watchedDir
}

func (f watchedFile) Sync() error {
	f.dir.mu.Lock()
	f.dir.syncs++
	err := f.dir.failSync
	f.dir.mu.Unlock()
	if err != nil {
		return err
	}
	return f.File.Sync()
}

// realDir is a folder of this machine.
func realDir(tb testing.TB, folder string) disk.Dir {
	tb.Helper()
	dir, err := workspace.OpenDir(folder)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { dir.Close() })
	return dir
}

func testStore(dir disk.Dir, report func(error)) *session.Store {
	return session.NewStore(dir, clock.Fixed(time.UnixMilli(1767225600000), 1), report)
}

// strict fails the test on any diagnostic.
func strict(tb testing.TB) func(error) {
	return func(err error) { tb.Errorf("reported: %v", err) }
}

func started() event.SessionStarted {
	branch := "main"
	return event.SessionStarted{
		Title: "fix the parser", ProjectHash: "p1", WorkingDirectory: "/project", GitBranch: &branch,
		Model: "m1", AuxModel: "m2", KhaelorVersion: "0",
	}
}

func create(tb testing.TB, s *session.Store) *session.Log {
	tb.Helper()
	l, err := s.Create(started())
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func publish(tb testing.TB, l *session.Log, facts ...event.Fact) (last event.Record) {
	tb.Helper()
	for _, f := range facts {
		r, err := l.Publish(f)
		if err != nil {
			tb.Fatalf("publish %s: %v", event.NameOf(f), err)
		}
		last = r
	}
	return last
}

func closeLog(tb testing.TB, l *session.Log) {
	tb.Helper()
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
}

func reopen(tb testing.TB, s *session.Store, id string) *session.Log {
	tb.Helper()
	l, err := s.Open(id)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// sound fails the test when Check finds anything broken.
func sound(tb testing.TB, s *session.Store, id string) session.Report {
	tb.Helper()
	report, err := s.Check(id)
	if err != nil {
		tb.Fatal(err)
	}
	for _, p := range report.Problems {
		tb.Errorf("line %d: %s", p.Line, p.Text)
	}
	return report
}

func records(tb testing.TB, s *session.Store, id string) []event.Record {
	tb.Helper()
	v, err := s.View(id)
	if err != nil {
		tb.Fatal(err)
	}
	var all []event.Record
	for r, err := range v.Records() {
		if err != nil {
			tb.Fatal(err)
		}
		r.Line = append([]byte(nil), r.Line...)
		all = append(all, r)
	}
	return all
}

func call(request, id string) event.ToolRequested {
	return event.ToolRequested{RequestID: request, ToolUseID: id, ToolName: "read", Input: []byte(`{"path":"a.txt"}`)}
}

func ask(request string) event.ModelRequestStarted {
	return event.ModelRequestStarted{RequestID: request, Model: "m1", Purpose: event.PurposeMain}
}

func answer(request string, why event.StopReason) event.ModelResponseCompleted {
	return event.ModelResponseCompleted{RequestID: request, StopReason: why, Usage: event.ModelUsage{InputTokens: 10, OutputTokens: 5}}
}

func done(id string) event.ToolCompleted {
	return event.ToolCompleted{ToolUseID: id, ModelText: "Größe 🙂\n", UI: event.ToolUI{Kind: event.UIRead, Summary: "Read"}}
}

func said(text string) event.UserMessageCreated { return event.UserMessageCreated{Text: text} }
