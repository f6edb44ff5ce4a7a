package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/event"
)

// logWriter writes the log of a session that nobody had.
type logWriter struct {
	t        *testing.T
	id       string
	file     *os.File
	buffer   *bufio.Writer
	clock    *clock.Clock
	seq      int64
	requests int
}

// writeLog begins a log beside that of the one session there is.
func (p *place) writeLog() *logWriter {
	p.t.Helper()
	w := &logWriter{t: p.t, clock: clock.System()}
	w.id = w.clock.ID()
	project := filepath.Dir(p.onlyLog())
	var err error
	if w.file, err = os.OpenFile(filepath.Join(project, w.id+".jsonl"), os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		p.t.Fatal(err)
	}
	w.buffer = bufio.NewWriterSize(w.file, 1<<20)
	w.add(event.SessionStarted{Title: "written", ProjectHash: filepath.Base(project), WorkingDirectory: p.repo, Model: "claude-sonnet-4-5"})
	w.add(event.UserMessageCreated{Text: "begin"})
	return w
}

func (w *logWriter) add(f event.Fact) {
	w.t.Helper()
	w.seq++
	now := w.clock.Now()
	line, err := event.AppendLine(nil, event.Record{V: event.Version, ID: w.clock.IDAt(now), SessionID: w.id, Seq: w.seq, TS: now.UnixMilli(), Fact: f})
	if err == nil {
		_, err = w.buffer.Write(line)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// call adds a call of bash and its result.
func (w *logWriter) call(result string) {
	w.t.Helper()
	w.requests++
	request, call := fmt.Sprintf("req_%d", w.requests), fmt.Sprintf("toolu_%d", w.requests)
	w.add(event.ModelRequestStarted{RequestID: request, Model: "claude-sonnet-4-5", Purpose: event.PurposeMain})
	w.add(event.ToolRequested{RequestID: request, ToolUseID: call, ToolName: "bash", Input: []byte(`{"command":"cat log"}`)})
	w.add(event.ModelResponseCompleted{RequestID: request, StopReason: event.StopToolUse})
	w.add(event.ToolStarted{ToolUseID: call, ToolName: "bash"})
	w.add(event.ToolCompleted{ToolUseID: call, ModelText: result, UI: event.ToolUI{Kind: event.UIExec, Summary: "$ cat log"}})
}

// end adds an answer and closes the file.
func (w *logWriter) end() {
	w.t.Helper()
	w.requests++
	request := fmt.Sprintf("req_%d", w.requests)
	w.add(event.ModelRequestStarted{RequestID: request, Model: "claude-sonnet-4-5", Purpose: event.PurposeMain})
	w.add(event.ModelTextBlockCompleted{RequestID: request, Text: "That is all."})
	w.add(event.ModelResponseCompleted{RequestID: request, StopReason: event.StopEndTurn})
	w.add(event.TaskCompleted{Evidence: event.CompletionEvidence{Objective: "begin"}})
	if err := errors.Join(w.buffer.Flush(), w.file.Close()); err != nil {
		w.t.Fatal(err)
	}
}

// hello answers every message, and whatever came before it.
const hello = `{"window": 100000000, "turns": [{"repeat": -1, "new_prefix": true, "blocks": [{"type": "text", "text": "Hello."}]}]}`

// TestASessionOfTwoHundredMegabytesIsLikeAnyOther is the second half of case
// Sessions 8.
func TestASessionOfTwoHundredMegabytesIsLikeAnyOther(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes and reads 200 MB several times")
	}
	p := newPlace(t, hello)
	p.says("-p", "hi")
	const size = 200 << 20
	w := p.writeLog()
	result := strings.Repeat("a line of a log, with a number and a name\n", 2500)
	for i := range size / len(result) {
		w.call(result)
		if i%10 == 0 { // as soon as a window is full
			w.add(event.ContextCompacted{
				CheckpointYAML: "objective: begin\n", Cut: event.Cut{FromSeq: 2, ToSeq: w.seq}, Trigger: event.TriggerBudget, SummaryModel: "claude-sonnet-4-5",
			})
		}
	}
	w.end()
	for _, args := range [][]string{
		{"sessions", "list"},
		{"sessions", "check", w.id},
		{"sessions", "replay", w.id},
		{"sessions", "replay", w.id, "--json"},
		{"sessions", "export", w.id, "--format", "json"},
		{"sessions", "export", w.id},
		{"sessions", "show", w.id},
		{"-p", "-r", w.id, "more"},
		{"sessions", "check", w.id},
	} {
		out, most := p.saysWithin(args...)
		t.Logf("%-60s %4d MB out, %4d MB of memory", strings.Join(args, " "), out>>20, most>>20)
		if most > size/2 {
			t.Errorf("%s took %d MB of memory", args, most>>20)
		}
	}
}

// saysWithin runs the program and returns how many bytes it wrote and how many
// bytes of memory it took at most.
func (p *place) saysWithin(args ...string) (written, most int64) {
	p.t.Helper()
	cmd := p.command(args...)
	var out counter
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("khaelor %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		p.t.Fatal("this system does not count memory")
	}
	return int64(out), usage.Maxrss << 10 // KB on Linux
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// TestAnEventOfTwelveMegabytesIsShownCut is case Sessions 9.
func TestAnEventOfTwelveMegabytesIsShownCut(t *testing.T) {
	p := newPlace(t, hello)
	p.says("-p", "hi")
	w := p.writeLog()
	w.call(strings.Repeat("x", 12<<20))
	w.end()
	if out := p.says("sessions", "check", w.id); !strings.HasSuffix(out, " ok\n") {
		t.Errorf("check: %s", out)
	}
	for _, args := range [][]string{{"sessions", "list"}, {"sessions", "show", w.id}, {"sessions", "replay", w.id}, {"sessions", "export", w.id}} {
		if out := p.says(args...); len(out) > 100_000 || strings.Contains(out, strings.Repeat("x", 50_000)) {
			t.Errorf("%s shows %d bytes", args, len(out))
		}
	}
	if out := p.says("sessions", "replay", w.id, "--json"); len(out) < 12<<20 {
		t.Errorf("the log has %d bytes", len(out))
	}
	if out := p.says("-p", "-r", w.id, "more"); !strings.Contains(out, "Hello.") {
		t.Errorf("the session does not go on: %s", out)
	}
}

// TestTwoThousandSessionsAreListedAndStandInNobodysWay is the first half of
// case Sessions 8.
func TestTwoThousandSessionsAreListedAndStandInNobodysWay(t *testing.T) {
	p := newPlace(t, hello)
	p.says("-p", "hi")
	log := p.onlyLog()
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	const many = 2000
	ids, clk := make([]string, many), clock.System()
	for i := range ids {
		ids[i] = clk.ID()
		if err := os.WriteFile(filepath.Join(filepath.Dir(log), ids[i]+".jsonl"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := func() string { return p.says("sessions", "list") }
	if got := strings.Count(list(), "\n"); got != many+2 {
		t.Errorf("%d lines for %d sessions", got, many+1)
	}
	p.says("-p", "another one")
	p.says("-p", "-r", ids[many/2], "more of the same")
	if out := list(); strings.Count(out, "\n") != many+3 || strings.Count(out, "another one") != 1 || !strings.Contains(strings.SplitN(out, "\n", 3)[1], ids[many/2]) {
		t.Errorf("%.400s", out)
	}
}

// TestAnEventOfALaterVersionStaysWhereItIs resumes a session that a newer
// program wrote to.
func TestAnEventOfALaterVersionStaysWhereItIs(t *testing.T) {
	p := newPlace(t, hello)
	p.says("-p", "hi")
	log := p.onlyLog()
	before, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSuffix(filepath.Base(log), ".jsonl")
	invented := fmt.Sprintf(`{"v":1,"id":"01M8Q100000000000000000000","sessionId":%q,"seq":%d,"ts":1790000000007,"type":"later.invented","payload":{"b": 1,"a":[]}}`,
		id, bytes.Count(before, []byte("\n"))+1)
	if err := os.WriteFile(log, append(before, invented+"\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := p.says("-p", "-r", id, "more"); !strings.Contains(out, "Hello.") {
		t.Errorf("the session does not go on: %s", out)
	}
	if out := p.says("sessions", "replay", id, "--json"); !strings.Contains(out, invented+"\n") {
		t.Errorf("the event is not as it was:\n%s", out)
	}
	if out := p.says("sessions", "show", id); !strings.Contains(out, "later.invented") {
		t.Errorf("the event is not shown:\n%s", out)
	}
	if out := p.says("sessions", "check", id); !strings.HasSuffix(out, " ok\n") {
		t.Errorf("check: %s", out)
	}
}
