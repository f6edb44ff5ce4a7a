package bench

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/fakeapi"
)

// built is the program, built as it is shipped, once per run.
func built(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "khaelor")
	cmd := exec.Command("go", "build", "-trimpath", "-o", name, "../../cmd/khaelor")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return name
}

// bare is a program that writes one line: the floor of any start.
func bare(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module bare\n\ngo 1.26\n",
		"main.go": "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"bare\\n\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-o", "bare", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return filepath.Join(dir, "bare")
}

// firstOutput is the median time from exec to the first byte on stdout.
func firstOutput(t *testing.T, argv ...string) time.Duration {
	t.Helper()
	var times []time.Duration
	for range 15 {
		cmd := exec.Command(argv[0], argv[1:]...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(out)
		if _, err := r.ReadByte(); err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Since(start))
		for {
			if _, err := r.ReadByte(); err != nil {
				break
			}
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// programCost measures whole processes: start, first request, a run of one turn.
func programCost(t *testing.T) []row {
	program := built(t)
	floor := firstOutput(t, bare(t))
	first := firstOutput(t, program, "version")
	var first1st, cpu []time.Duration
	var rss []int64
	home, work := t.TempDir(), t.TempDir()
	if out, err := exec.Command("git", "-C", work, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	for range 11 {
		request, used, memory := oneTurn(t, program, home, work, fakeapi.Turn{Blocks: []fakeapi.Block{fakeapi.Text("hello")}})
		first1st, cpu, rss = append(first1st, request), append(cpu, used), append(rss, memory)
	}
	slices.Sort(first1st)
	slices.Sort(cpu)
	slices.Sort(rss)
	return []row{
		{"exec to first output (bare Go program " + ms(floor) + ")", ms(first), "bare + 15 ms"},
		{"exec to first request, everyday home, median of 11", ms(first1st[5]), "≤ 50 ms"},
		{"CPU of a run of one turn, median", ms(cpu[5]), "≤ 60 ms"},
		{"memory of a run of one turn, median", fmt.Sprintf("%.1f MB", float64(rss[5])/1e6), "≤ 25 MB"},
	}
}

// oneTurn runs the program once against a scripted answer.
func oneTurn(t *testing.T, program, home, work string, turn fakeapi.Turn) (request, cpu time.Duration, rss int64) {
	t.Helper()
	var arrived atomic.Int64
	server, err := fakeapi.Start(fakeapi.Options{
		Clock: clock.System(), Script: fakeapi.Script{Turns: []fakeapi.Turn{turn}},
		OnRequest: func(int, string, string) { arrived.CompareAndSwap(0, time.Now().UnixNano()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	cmd := exec.Command(program, "-p", "--trust", "Say hello.")
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "HOME="+home, "KHAELOR_HOME="+filepath.Join(home, ".khaelor"),
		"ANTHROPIC_BASE_URL="+server.URL(), "ANTHROPIC_API_KEY=key", "ANTHROPIC_AUTH_TOKEN=")
	start := time.Now()
	if out, err := cmd.Output(); err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return time.Duration(arrived.Load() - start.UnixNano()), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), usage.Maxrss * 1024
}

// streamCost takes in 2 MB of text in deltas of 20 bytes.
func streamCost(t *testing.T) []row {
	program := built(t)
	text := strings.Repeat("twenty bytes of text", 100_000)
	var cpu []time.Duration
	home, work := t.TempDir(), t.TempDir()
	for range 3 {
		_, used, _ := oneTurn(t, program, home, work, fakeapi.Turn{Blocks: []fakeapi.Block{fakeapi.Text(text)}, DeltaBytes: 20})
		cpu = append(cpu, used)
	}
	slices.Sort(cpu)
	return []row{{"CPU of a run that streams 2 MB in 20-byte deltas, median of 3", ms(cpu[1]), "≤ 1000 ms"}}
}

// initLine is one line of GODEBUG=inittrace=1.
var initLine = regexp.MustCompile(`init (\S+) @\S+ ms, (\S+) ms clock`)

// slowInits names the packages whose init takes over 2 ms, by the best of 15
// starts.
func slowInits(t *testing.T) []row {
	program := built(t)
	best := map[string]float64{}
	for range 15 {
		cmd := exec.Command(program, "version")
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range initLine.FindAllStringSubmatch(string(out), -1) {
			took, err := strconv.ParseFloat(m[2], 64)
			if old, ok := best[m[1]]; err == nil && (!ok || took < old) {
				best[m[1]] = took
			}
		}
	}
	total, slow := 0.0, []string{}
	for name, took := range best {
		total += took
		if took > 2 {
			slow = append(slow, fmt.Sprintf("%s %.1f ms", name, took))
		}
	}
	slices.Sort(slow)
	if len(slow) == 0 {
		slow = []string{"none"}
	}
	return []row{{"packages whose init takes over 2 ms", strings.Join(slow, ", "), "reported"}, {"all package inits", fmt.Sprintf("%.1f ms", total), "reported"}}
}
