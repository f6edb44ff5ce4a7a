package process_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/process"
	"github.com/khaelor/khaelor/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// journal records what a Manager announces, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
	text  strings.Builder
	more  chan struct{} // one for each exit and each output
}

func (j *journal) hooks() process.Hooks {
	j.more = make(chan struct{}, 1<<16)
	return process.Hooks{
		Started: func(e event.ProcessStarted) { j.add(fmt.Sprintf("%s started by %s", e.ProcessID, e.ToolUseID)) },
		Exited: func(e event.ProcessExited) {
			code := "by signal"
			if e.ExitCode != nil {
				code = strconv.Itoa(*e.ExitCode)
			}
			j.add(fmt.Sprintf("%s %s %s", e.ProcessID, e.Cause, code))
		},
		Output: func(e event.ProcessOutput) {
			j.mu.Lock()
			j.text.WriteString(e.Chunk)
			j.mu.Unlock()
			j.more <- struct{}{}
		},
	}
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
	j.more <- struct{}{}
}

func (j *journal) wants(t *testing.T, lines ...string) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	if got, want := strings.Join(j.lines, "\n"), strings.Join(lines, "\n"); got != want {
		t.Errorf("announced\n%s\nnot\n%s", got, want)
	}
}

func (j *journal) printed() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// until waits for an announcement after which ok holds.
func (j *journal) until(t *testing.T, ok func() bool) {
	t.Helper()
	late := time.NewTimer(20 * time.Second)
	defer late.Stop()
	for !ok() {
		select {
		case <-j.more:
		case <-late.C:
			t.Fatal("nothing more was announced")
		}
	}
}

func manager(t *testing.T, j *journal) (*process.Manager, *workspace.Local) {
	t.Helper()
	ws, err := workspace.NewLocal(t.TempDir())
	must(t, err)
	m := process.New(ws, 0, j.hooks())
	t.Cleanup(func() {
		must(t, m.StopAll(context.Background()))
		must(t, ws.Close())
	})
	return m, ws
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func start(t *testing.T, m *process.Manager, line string) process.Info {
	t.Helper()
	info, err := m.Start(workspace.Command{Line: line}, "", "toolu_1")
	must(t, err)
	return info
}

func ended(m *process.Manager, id string) func() bool {
	return func() bool {
		info, err := m.Get(id)
		return err == nil && info.Exited != nil
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z")
}

func TestAProcessIsAnnouncedFromStartToExit(t *testing.T) {
	var j journal
	m, ws := manager(t, &j)
	info, err := m.Start(workspace.Command{Line: "echo hello; exit 3"}, "greeter", "toolu_9")
	must(t, err)
	if info.ID != "p1" || info.Name != "greeter" || info.Cwd != ws.Cwd() || info.PID == 0 || info.Command != "echo hello; exit 3" {
		t.Errorf("%+v", info)
	}
	j.until(t, ended(m, "p1"))
	must(t, m.StopAll(context.Background()))
	j.wants(t, "p1 started by toolu_9", "p1 exited 3")
	if j.printed() != "hello\n" {
		t.Errorf("printed %q", j.printed())
	}
	if list := m.List(); len(list) != 1 || list[0].Exited == nil || *list[0].Exited.ExitCode != 3 || list[0].Output != 6 {
		t.Errorf("%+v", list)
	}
}

func TestASignalThatIsNotOursIsACrash(t *testing.T) {
	var j journal
	m, _ := manager(t, &j)
	start(t, m, "kill -SEGV $$")
	j.until(t, ended(m, "p1"))
	must(t, m.StopAll(context.Background()))
	j.wants(t, "p1 started by toolu_1", "p1 crashed by signal")
}

func TestStopEndsTheFamily(t *testing.T) {
	var j journal
	m, _ := manager(t, &j)
	info := start(t, m, "sleep 300 & echo $!; timeout 300 sleep 300 & echo $!; wait")
	j.until(t, func() bool { return strings.Count(j.printed(), "\n") == 2 })
	if !alive(info.PID) {
		t.Error("not alive before the stop")
	}
	info, err := m.Stop("p1")
	must(t, err)
	if info.Exited == nil || info.Exited.Cause != event.StoppedByTool {
		t.Errorf("%+v", info)
	}
	for _, field := range append(strings.Fields(j.printed()), strconv.Itoa(info.PID)) {
		if pid, err := strconv.Atoi(field); err != nil || alive(pid) {
			t.Errorf("%q lives on, %v", field, err)
		}
	}
	if _, err := m.Stop("p1"); err != nil {
		t.Errorf("stopping twice: %v", err)
	}
	j.wants(t, "p1 started by toolu_1", "p1 stopped-by-tool by signal")
}

func TestStopAllLeavesNothing(t *testing.T) {
	t.Parallel()
	var j journal
	m, _ := manager(t, &j)
	var pids []int
	for _, line := range []string{"sleep 300", "trap '' TERM; sleep 300; sleep 300", "(sleep 300 &)"} {
		pids = append(pids, start(t, m, line).PID)
	}
	must(t, m.StopAll(context.Background()))
	for _, info := range m.List() {
		if info.Exited == nil || info.Exited.Cause != event.EndedByUs {
			t.Errorf("%+v", info)
		}
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("%d lives on", pid)
		}
	}
	if _, err := m.Start(workspace.Command{Line: "sleep 300"}, "", ""); !errors.Is(err, process.ErrShutdown) {
		t.Errorf("start after the end: %v", err)
	}
}

func TestStopAllEndsWithItsContext(t *testing.T) {
	t.Parallel()
	var j journal
	m, _ := manager(t, &j)
	start(t, m, "trap '' TERM; echo ready; while true; do sleep 1; done")
	j.until(t, func() bool { return j.printed() != "" })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := m.StopAll(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("stop all: %v", err)
	}
}

func TestAProcessRunsWhileAChildOfItDoes(t *testing.T) {
	var j journal
	m, _ := manager(t, &j)
	start(t, m, "(read x; echo got $x) <&0 & echo shell done")
	j.until(t, func() bool { return j.printed() != "" })
	if info, _ := m.Get("p1"); info.Exited != nil {
		t.Error("called exited with a child alive")
	}
	must(t, m.Write(context.Background(), "p1", "it\n"))
	j.until(t, ended(m, "p1"))
	if j.printed() != "shell done\ngot it\n" {
		t.Errorf("printed %q", j.printed())
	}
}

func TestWritingReachesTheProcess(t *testing.T) {
	var j journal
	m, ws := manager(t, &j)
	start(t, m, "read x; echo got:$x")
	must(t, m.Write(context.Background(), "p1", "a line\n"))
	j.until(t, ended(m, "p1"))
	if j.printed() != "got:a line\n" {
		t.Errorf("printed %q", j.printed())
	}
	proc, err := workspace.Start(ws, workspace.Command{Line: "sleep 300"})
	must(t, err)
	_, err = m.Adopt(proc, "", "")
	must(t, err)
	for _, id := range []string{"p1", "p2"} {
		if err := m.Write(context.Background(), id, "x"); err == nil {
			t.Errorf("%s took input", id)
		}
	}
	if err := m.Write(context.Background(), "p9", "x"); !errors.Is(err, process.ErrUnknown) {
		t.Errorf("write to nobody: %v", err)
	}
}

// Processes 4.
func TestOffsetsMeanTheSameByteForEver(t *testing.T) {
	t.Parallel()
	var j journal
	m, _ := manager(t, &j)
	const total = 50_000_000
	start(t, m, "seq -f %09.0f 1 5000000") // line n begins at offset 10(n-1)
	j.until(t, ended(m, "p1"))
	for _, offset := range []int64{0, 10, total - process.BufferSize, total - 10, total, total + 5} {
		c, err := m.Read("p1", offset, 0)
		must(t, err)
		if c.Output != total || c.Exited == nil || len(c.Data) > process.BufferSize {
			t.Fatalf("%d bytes of %d, exited %v", len(c.Data), c.Output, c.Exited)
		}
		if want := min(max(offset, total-process.BufferSize), total); c.Offset != want || c.End() != total {
			t.Errorf("from %d: got [%d,%d)", offset, c.Offset, c.End())
		}
		if want := max(total-process.BufferSize-offset, 0); c.Dropped != want {
			t.Errorf("from %d: %d dropped, not %d", offset, c.Dropped, want)
		}
		if len(c.Data) > 0 && string(c.Data[:9]) != fmt.Sprintf("%09d", c.Offset/10+1) {
			t.Errorf("at %d stands %q", c.Offset, c.Data[:9])
		}
	}
}

func TestReadingOnNeverRepeats(t *testing.T) {
	var j journal
	m, _ := manager(t, &j)
	start(t, m, "echo one; read x; echo two")
	j.until(t, func() bool { return j.printed() == "one\n" })
	for _, want := range []string{"on", "e\n", ""} {
		c, err := m.Read("p1", process.Next, 2)
		if err != nil || string(c.Data) != want {
			t.Errorf("read %q, %v", c.Data, err)
		}
	}
	must(t, m.Write(context.Background(), "p1", "\n"))
	j.until(t, ended(m, "p1"))
	if c, err := m.Read("p1", process.Next, 0); err != nil || string(c.Data) != "two\n" {
		t.Errorf("read %q, %v", c.Data, err)
	}
}

func TestAnAdoptedCommandKeepsItsOutput(t *testing.T) {
	var j journal
	m, ws := manager(t, &j)
	printed := make(chan struct{}, 100)
	proc, err := workspace.Start(ws, workspace.Command{
		Line: "printf 0123456789; read x; echo after", Interactive: true, MaxOutput: 4,
		OnOutput: func(workspace.Stream, []byte) { printed <- struct{}{} },
	})
	must(t, err)
	<-printed
	info, err := m.Adopt(proc, "", "toolu_2")
	must(t, err)
	if info.ID != "p1" || info.Output != 10 {
		t.Errorf("%+v", info)
	}
	must(t, m.Write(context.Background(), "p1", "\n"))
	j.until(t, ended(m, "p1"))
	c, err := m.Read("p1", 0, 0)
	if err != nil || string(c.Data) != "89after\n" || c.Offset != 8 || c.Dropped != 8 {
		t.Errorf("%q at %d, %d dropped, %v", c.Data, c.Offset, c.Dropped, err)
	}
	if len(printed) != 0 {
		t.Error("the old owner was called again")
	}
}

func TestCharactersAreAnnouncedWhole(t *testing.T) {
	var j journal
	m, _ := manager(t, &j)
	start(t, m, `printf 'a\xf0\x9f'; read x; printf '\x98\x80b\xff'; read x; printf c`)
	j.until(t, func() bool { return j.printed() == "a" })
	must(t, m.Write(context.Background(), "p1", "\n"))
	j.until(t, func() bool { return strings.HasPrefix(j.printed(), "a😀b") })
	must(t, m.Write(context.Background(), "p1", "\n"))
	j.until(t, ended(m, "p1"))
	if got := j.printed(); got != "a😀b\uFFFDc" || !utf8.ValidString(got) {
		t.Errorf("announced %q", got)
	}
}

func TestNumbersGoOnAfterAResume(t *testing.T) {
	ws, err := workspace.NewLocal(t.TempDir())
	must(t, err)
	defer ws.Close()
	m := process.New(ws, 7, process.Hooks{})
	if info := start(t, m, "true"); info.ID != "p8" {
		t.Errorf("%+v", info)
	}
	must(t, m.StopAll(context.Background()))
}

func TestAManagerServesManyAtOnce(t *testing.T) {
	var j journal
	m, _ := manager(t, &j)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			info, err := m.Start(workspace.Command{Line: "echo x; sleep 300"}, "", "")
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = m.Read(info.ID, 0, 0)
			_ = m.List()
			if _, err := m.Stop(info.ID); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(m.List()); n != 8 {
		t.Errorf("%d processes", n)
	}
}

func TestManyProcessesShareTheRoom(t *testing.T) {
	t.Parallel()
	var j journal
	m, _ := manager(t, &j)
	const many = 120 // more than have the whole room each
	for range many {
		start(t, m, "head -c 300000 /dev/zero")
	}
	var held int
	for _, info := range m.List() {
		j.until(t, ended(m, info.ID))
		c, err := m.Read(info.ID, 0, 0)
		must(t, err)
		held += len(c.Data)
		if c.Dropped+int64(len(c.Data)) != 300_000 || len(c.Data) < 100_000 {
			t.Errorf("%s: %d bytes and %d dropped", info.ID, len(c.Data), c.Dropped)
		}
	}
	if held > 16<<20 {
		t.Errorf("%d bytes are held", held)
	}
}

// Bash 8, of a process: a read neither begins nor ends within a character, and
// nothing is lost between two reads.
func TestAReadHoldsWholeCharacters(t *testing.T) {
	var j journal
	m, _ := manager(t, &j)
	start(t, m, `printf 'a\xf0\x9f'; read x; printf '\x98\x80b'; read x; yes 😀 | head -c 1000001; read x`)
	j.until(t, func() bool { info, _ := m.Get("p1"); return info.Output == 3 })
	read := func() string {
		c, err := m.Read("p1", process.Next, 0)
		must(t, err)
		return string(c.Data)
	}
	if got := read(); got != "a" {
		t.Errorf("first %q", got)
	}
	must(t, m.Write(context.Background(), "p1", "\n"))
	j.until(t, func() bool { info, _ := m.Get("p1"); return info.Output == 6 })
	if got := read(); got != "😀b" {
		t.Errorf("then %q", got)
	}
	must(t, m.Write(context.Background(), "p1", "\n"))
	j.until(t, func() bool { info, _ := m.Get("p1"); return info.Output == 1_000_007 })
	c, err := m.Read("p1", process.Next, 0)
	must(t, err)
	if !utf8.Valid(c.Data) || c.Offset+int64(len(c.Data)) != c.End() || c.Dropped != c.Offset-6 {
		t.Errorf("%d bytes at %d, %d dropped, valid %v", len(c.Data), c.Offset, c.Dropped, utf8.Valid(c.Data))
	}
}

// dd writes a block whole, and an empty pipe has room for it.
func TestOfMuchAtOnceTheEndIsShown(t *testing.T) {
	block := strings.Repeat("é", 12_000) + "\nend\n"
	file := filepath.Join(t.TempDir(), "block")
	must(t, os.WriteFile(file, []byte(block), 0o666))
	var j journal
	m, _ := manager(t, &j)
	start(t, m, fmt.Sprintf("dd if=%s bs=%d count=1 2>/dev/null", file, len(block)))
	j.until(t, ended(m, "p1"))
	must(t, m.StopAll(context.Background()))
	got := j.printed()
	tail, marked := strings.CutPrefix(got, "\n[…]\n")
	if !marked || len(tail) > 4096 || len(tail) < 4000 || !strings.HasSuffix(block, tail) || !utf8.ValidString(got) {
		t.Errorf("%d bytes are shown, beginning in %q and ending in %q", len(got), got[:min(len(got), 20)], got[max(0, len(got)-20):])
	}
}
