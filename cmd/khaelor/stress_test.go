package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/khaelor/khaelor/internal/event"
)

// unruly are commands that are hard to be rid of. Each prints $bytes bytes,
// says that it has, and stays.
var unruly = map[string]string{
	"forker":              `for i in 1 2 3; do (sleep 600) & done; head -c $bytes /dev/zero; printed; wait`,
	"ignorer":             `trap '' TERM HUP INT; yes | head -c $bytes; printed; while :; do sleep 1; done`,
	"ignoring family":     `(trap '' TERM; while :; do sleep 1; done) & head -c $bytes /dev/zero; printed; wait`,
	"pipe holder":         `(sleep 600) & head -c $bytes /dev/zero; printed; exit 3`,
	"daemon":              `setsid sh -c 'sleep 600 & sleep 600 & exit'; head -c $bytes /dev/zero; printed`,
	"daemon of a daemon":  `(setsid sh -c '(setsid sh -c "trap \"\" TERM; while :; do sleep 1; done" &) & sleep 600' >/dev/null 2>&1 </dev/null &) ; head -c $bytes /dev/zero; printed; sleep 600`,
	"stopped":             `head -c $bytes /dev/zero; printed; sh ./freeze $$; sleep 600`,
	"stopped child":       `sleep 600 & sh ./freeze $!; yes ä | head -c $bytes; printed; wait`,
	"storm":               `head -c $bytes /dev/zero; printed; for i in 1 2 3 4 5 6 7 8 9; do (sleep 0.2; sleep 0.2; sleep 600) & done; wait`,
	"closed outputs":      `head -c $bytes /dev/zero; printed; exec >&- 2>&-; sleep 600`,
	"binary":              `head -c $bytes /dev/urandom; printed; sleep 600`,
	"job control":         `set -m; sleep 600 & timeout 600 sleep 600 & head -c $bytes /dev/zero; printed; wait`,
	"progress":            `yes "$(printf '\r\033[K50%%\033[1m')" | tr -d '\n' | head -c $bytes; printed; sleep 600`,
	"nohup":               `nohup sh -c 'sleep 600' >/dev/null 2>&1 & disown; head -c $bytes /dev/zero; printed`,
	"half a character":    `head -c $bytes /dev/zero; printf '\360\237'; printed; sleep 600`,
	"clean exit, no wait": `head -c $bytes /dev/zero; printed`,
}

// TestManyUnrulyProcessesLeaveNothingBehind starts processes that fork, ignore
// signals, hold pipes and print a lot, all at once. None is left afterwards, no
// result exceeds its budget, and the program itself stays small. With
// KHAELOR_STRESS (how many) and KHAELOR_STRESS_MB (what each prints) it is the
// stress test of `make stress`.
func TestManyUnrulyProcessesLeaveNothingBehind(t *testing.T) {
	many, size := number(t, "KHAELOR_STRESS", 40), number(t, "KHAELOR_STRESS_MB", 1)
	if testing.Short() {
		t.Skip("it starts hundreds of processes")
	}
	p := newPlace(t, stressScript(t, many, size))
	if err := os.WriteFile(filepath.Join(p.repo, "freeze"), []byte("kill -STOP $1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := p.command("-p", "begin", "--permission-mode", "bypass", "--max-turns", "9")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	begun := time.Now()
	if out, err := cmd.Output(); cmd.ProcessState == nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.String())
	}
	t.Logf("%d processes of %d MB each: %s", many, size, time.Since(begun).Round(time.Second))
	if left := p.marked(); len(left) > 0 {
		t.Errorf("%d are left: %q", len(left), left[:min(len(left), 5)])
	}
	results, started, exited := p.results()
	if started < many || started != exited {
		t.Errorf("%d processes were started, %d have ended", started, exited)
	}
	for _, text := range results {
		if n := utf8.RuneCountInString(text); n > 30_500 || !utf8.ValidString(text) {
			t.Errorf("a result has %d characters, valid: %v", n, utf8.ValidString(text))
		}
	}
	peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindStringSubmatch(strings.Join(results, "\n"))
	if peak == nil {
		t.Fatalf("the peak is in no result; stderr: %s", stderr.String())
	}
	mb, err := strconv.Atoi(peak[1])
	if mb >>= 10; err != nil || mb >= 100 && !underRace {
		t.Errorf("the program took %d MB, %v", mb, err)
	}
	t.Logf("peak memory of the program: %d MB", mb)
}

func number(t *testing.T, variable string, standard int) int {
	t.Helper()
	if os.Getenv(variable) == "" {
		return standard
	}
	n, err := strconv.Atoi(os.Getenv(variable))
	if err != nil || n < 1 {
		t.Fatalf("%s is no number: %v", variable, err)
	}
	return n
}

// stressScript is a model that starts the processes in one answer, waits until
// they have printed, reads some, and asks how large the program became.
func stressScript(t *testing.T, many, size int) string {
	t.Helper()
	type block = map[string]any
	call := func(name string, input any) block {
		return block{"type": "tool_use", "name": name, "input": input}
	}
	kinds := slices.Sorted(maps.Values(unruly))
	var starts, reads []block
	for n := range many {
		line := fmt.Sprintf("bytes=%d; printed() { touch printed.%d; }; ", size<<20, n) + kinds[n%len(kinds)]
		starts = append(starts, call("process", block{"action": "start", "command": line}))
		if n < 60 {
			reads = append(reads, call("process", block{"action": "read", "id": fmt.Sprintf("p%d", n+1), "offset": 0}))
		}
	}
	wait := fmt.Sprintf("until [ $(ls | grep -c ^printed) -ge %d ]; do sleep 0.5; done; ls | grep -c ^printed", many)
	script := map[string]any{"window": 100_000_000, "turns": []any{
		map[string]any{"blocks": starts},
		map[string]any{"blocks": []block{call("bash", block{"command": wait, "timeout_ms": min(60_000+many*size*20, 600_000)})}},
		map[string]any{"blocks": append(reads, call("process", block{"action": "list"}))},
		map[string]any{"blocks": []block{call("bash", block{"command": "grep VmHWM /proc/$PPID/status"})}},
		map[string]any{"blocks": []block{{"type": "text", "text": "That was a lot."}}},
	}}
	raw, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// marked are the command lines of processes that descend from a program of
// this place.
func (p *place) marked() []string {
	p.t.Helper()
	session := strings.TrimSuffix(filepath.Base(p.onlyLog()), ".jsonl")
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		p.t.Fatal(err)
	}
	var lines []string
	for _, file := range files {
		env, _ := os.ReadFile(file) // the dead and the strangers are of no interest
		if bytes.Contains(env, []byte("KHAELOR_SESSION="+session)) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			lines = append(lines, filepath.Dir(file)+" "+string(line))
		}
	}
	return lines
}

// results are the texts of all results in the log, and how many processes were
// started and have ended.
func (p *place) results() (texts []string, started, exited int) {
	p.t.Helper()
	log, err := os.ReadFile(p.onlyLog())
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range bytes.Lines(log) {
		rec, err := event.DecodeLine(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			p.t.Fatal(err)
		}
		switch f := rec.Fact.(type) {
		case event.ToolCompleted:
			texts = append(texts, f.ModelText)
		case event.ToolFailed:
			texts = append(texts, f.ModelText)
		case event.ProcessStarted:
			started++
		case event.ProcessExited:
			exited++
		}
	}
	return texts, started, exited
}
