package builtin

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
)

// cutResult is the two ends of a result that was cut, with its mark checked.
func (p *project) cutResult(r tool.Result, chars, printed int64) (head, tail string) {
	p.Helper()
	before, rest, cut := strings.Cut(r.Text, "\n[… ")
	mark, after, ended := strings.Cut(rest, " …]\n")
	want := fmt.Sprintf("%d characters left out; %d bytes in all; read or grep %s", chars-tool.ResultLimit, printed, r.Spill)
	if !cut || !ended || mark != want {
		p.Fatalf("the mark is %q, not %q", mark, want)
	}
	if utf8.RuneCountInString(before) != tool.ResultLimit*6/10 || utf8.RuneCountInString(after) != tool.ResultLimit*4/10 {
		p.Errorf("%d and %d characters are shown", utf8.RuneCountInString(before), utf8.RuneCountInString(after))
	}
	return before, after
}

// spilled is the whole text of a result that was cut.
func (p *project) spilled(r tool.Result) string {
	p.Helper()
	data, err := os.ReadFile(r.Spill)
	must(p.TB, err)
	return string(data)
}

func TestLongOutputIsCutAndSpilled(t *testing.T) {
	p := newProject(t, nil)
	r := p.bash("seq 20000")
	whole := p.spilled(r)
	head, tail := p.cutResult(r, int64(len(whole)), int64(len(whole)))
	if !strings.HasPrefix(whole, head) || !strings.HasSuffix(whole, tail) || strings.Count(whole, "\n") != 20000 {
		t.Errorf("the spill has %d bytes", len(whole))
	}
	if got := p.read(readInput{Path: r.Spill, Offset: 12345, Limit: 1}).Text; !strings.Contains(got, "12345\n") {
		t.Errorf("the spill cannot be read: %q", got)
	}
	if got := p.grep(grepInput{Pattern: "^19999$", Path: r.Spill}); !strings.Contains(got, "19999") {
		t.Errorf("the spill cannot be searched: %q", got)
	}
	for _, need := range []struct {
		write, outside bool
	}{{false, false}, {true, true}} {
		if n, err := pathNeed(p.env, r.Spill, need.write); err != nil || strings.Contains(strings.Join(n.Capabilities, " "), tool.OutsideProject) != need.outside {
			t.Errorf("write %v: %v, %v", need.write, n.Capabilities, err)
		}
	}
}

func TestWhatJustFitsIsNotCut(t *testing.T) {
	p := newProject(t, nil)
	for n, cut := range map[int]bool{tool.ResultLimit: false, tool.ResultLimit + 1: true} {
		r := p.bash(fmt.Sprintf("printf 'é%%.0s' $(seq %d)", n))
		if got := r.Spill != ""; got != cut {
			t.Errorf("%d characters: cut is %v", n, got)
		}
		if cut {
			p.cutResult(r, int64(n), int64(2*n))
			equal(t, p.spilled(r), strings.Repeat("é", n))
		}
	}
}

// Bash 5: the result is within its budget, the count is true, the spill has all
// up to its cap, and memory stays as it was.
func TestHugeOutputKeepsBothEnds(t *testing.T) {
	const size = 200_000_000
	p := newProject(t, nil)
	p.env.Output = nil
	before := peakMemory(t)
	r := p.bash(fmt.Sprintf("echo begin; yes äöü | head -c %d; echo; echo end", size))
	if grown := peakMemory(t) - before; grown > 40<<20 {
		t.Errorf("memory grew by %d MB", grown>>20)
	}
	const chars = 6 + size/7*4 + (size%7+1)/2 + 1 + 4 // äöü and a line feed are 7 bytes
	mark := regexp.MustCompile(`\n\[… (\d+) characters left out; (\d+) bytes in all; read or grep (\S+), which has the first (\d+) bytes of the text …\]\n`).FindStringSubmatch(r.Text)
	if mark == nil {
		t.Fatalf("no mark: %.100q … %q", r.Text, r.Text[len(r.Text)-100:])
	}
	info, err := os.Stat(r.Spill)
	must(t, err)
	equal(t, strings.Join(mark[1:], " "), fmt.Sprintf("%d %d %s %d", chars-tool.ResultLimit, 6+size+5, r.Spill, info.Size()))
	if info.Size() > 64<<20 || info.Size() < 64<<20-4 {
		t.Errorf("the spill has %d bytes", info.Size())
	}
	if n := utf8.RuneCountInString(r.Text); n > tool.ResultLimit+300 || !strings.HasPrefix(r.Text, "begin\näöü\n") || !strings.HasSuffix(r.Text, "\nend\n") || strings.Contains(r.Text[:len(r.Text)-20], "\uFFFD") {
		t.Errorf("%d characters: %.60q … %q", n, r.Text, r.Text[len(r.Text)-60:])
	}
}

// peakMemory is the most memory this process ever had, in bytes.
func peakMemory(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc here:", err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kb int64
	_, err = fmt.Sscan(string(rest), &kb)
	must(t, err)
	return kb << 10
}

// Bash 5, second half: of what is no text only its size is worth a token. The
// case wants both ends shown, of which nobody could read anything; the spill
// has the whole.
func TestBinaryOutputIsNamed(t *testing.T) {
	p := newProject(t, nil)
	r := p.bash("head -c 5000000 /dev/urandom")
	if !strings.Contains(r.Text, "[binary output, 5000000 bytes; as text in "+r.Spill+"]\n") || len(r.Text) > 500 || !utf8.ValidString(r.Text) {
		t.Errorf("%d bytes: %.300q", len(r.Text), r.Text)
	}
	if whole := p.spilled(r); len(whole) < 3_000_000 || !utf8.ValidString(whole) {
		t.Errorf("the spill has %d bytes, valid %v", len(whole), utf8.ValidString(whole))
	}
	program := `printf '\177ELF\2\1\1\0\377\376\r\0\1\220%.0s' $(seq 100)`
	for line, want := range map[string]string{
		program:                           "[binary output, 1400 bytes]\n",
		"echo begin; " + program:          "begin\n[binary output, 1406 bytes]\n",
		program + "; echo; echo end":      "[binary output, 1405 bytes]\nend\n",
		"echo b; " + program + "; exit 3": "b\n[binary output, 1402 bytes]\n[exit code 3]",
		"head -c 1000 /dev/zero":          "[binary output, 1000 bytes]\n",
		"seq 4000 | gzip -9n | head -c 2500; printf '\\0\\1\\n'": "[binary output, 2503 bytes]\n",
	} {
		if got := p.bash(line).Text; got != want {
			t.Errorf("%s: %.300q, not %q", line, got, want)
		}
	}
	if got := p.bash("cat " + os.Args[0] + "; echo; echo end").Text; len(got) > 1000 || !strings.Contains(got, "[binary output, ") || !strings.HasSuffix(got, "\nend\n") {
		t.Errorf("a program: %d bytes, %.300q", len(got), got)
	}
	p.process(processInput{Action: "start", Command: program})
	p.waitFor("p1", "[binary output, 1400 bytes]\n[p1 ")
}

// Text is what has strange bytes of one kind, or few of them (Bash 7).
func TestTextWithStrangeBytesIsNoBinary(t *testing.T) {
	p := newProject(t, nil)
	for line, want := range map[string]string{
		`printf 'a\xff\xfeb\xed\xa0\xbd'`:                           "a\uFFFD\uFFFDb\uFFFD\uFFFD\uFFFD",
		`printf 'some/file\0%.0s' $(seq 1000)`:                      strings.Repeat("some/file␀", 1000),
		`printf 'f\0%.0s' $(seq 1000)`:                              strings.Repeat("f␀", 1000),
		`printf '\344\366\374\337%.0s' $(seq 1000)`:                 strings.Repeat("\uFFFD", 4000),
		`printf '\344\366\374\337\0%.0s' $(seq 1000)`:               strings.Repeat("\uFFFD\uFFFD\uFFFD\uFFFD␀", 1000),
		`printf '\a\033[1mx\033[0m\1%.0s' $(seq 1000); printf '\0'`: strings.Repeat("x", 1000) + "␀",
		`printf '\0\1\2\377%.0s' $(seq 16)`:                         strings.Repeat("␀\uFFFD", 16),
		"yes äöü | head -3000; printf '\\0\\1\\377%.0s' $(seq 60)":  strings.Repeat("äöü\n", 3000) + strings.Repeat("␀\uFFFD", 60),
	} {
		if got := p.bash(line).Text; got != want {
			t.Errorf("%s: %.300q", line, got)
		}
	}
}

// Bash 6: what a progress bar was before its last state is in no result, short
// or long, nor in the spill.
func TestAProgressBarIsOneLine(t *testing.T) {
	p := newProject(t, nil)
	equal(t, p.bash(`for i in $(seq 5000); do printf "\r%d%%" $i; done`).Text, "5000%")
	r := p.bash(`for i in $(seq 5000); do printf "\r%0100d" $i; done; echo; seq 20000`)
	whole := p.spilled(r)
	p.cutResult(r, int64(len(whole)), 5000*101+1+int64(len(whole))-101)
	if !strings.HasPrefix(whole, strings.Repeat("0", 96)+"5000\n1\n2\n") {
		t.Errorf("%.300q", whole)
	}
}

// Terminal 9: neither the result nor what is shown meanwhile has anything that
// a terminal obeys.
func TestNothingHostileIsInAResult(t *testing.T) {
	hostile, err := os.ReadFile(filepath.Join("..", "..", "ansi", "testdata", "escapes.txt"))
	must(t, err)
	p := newProject(t, map[string]string{"f": string(hostile), "n\x1b]0;owned\a\x9b2Jame": ""})
	for _, line := range []string{"cat f", "cat f >&2", "ls", "echo *", "grep -r title .; cat none\x1b[2J", "head -c 300 f; tail -c 100 f"} {
		p.output.Reset()
		r := p.bash(line)
		for what, text := range map[string]string{"the result": r.Text, "the live output": p.output.String()} {
			if i := strings.IndexFunc(text, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }); i >= 0 || !utf8.ValidString(text) {
				t.Errorf("%s: %s has a control character: %q", line, what, text)
			}
		}
	}
	p.process(processInput{Action: "start", Command: "cat f"})
	p.waitFor("p1", "title  clip  link text\n clear  ask  reset  c1  \uFFFD0;x\uFFFD cursor  alt  hide \n")
}

func TestOneLongLineIsBoundedAndSpilledWhole(t *testing.T) {
	p := newProject(t, nil)
	r := p.bash("head -c 600000 /dev/zero | tr '\\0' x")
	p.cutResult(r, 600_000, 600_000)
	equal(t, p.spilled(r), strings.Repeat("x", 600_000))
}

// Bash 7 and 8: wherever the cut falls, and wherever a chunk ends, the text is
// valid and has no half of a character.
func TestACutFallsBetweenCharacters(t *testing.T) {
	p := newProject(t, nil)
	for _, edge := range []int{tool.ResultLimit * 6 / 10, tool.ResultLimit, 32 << 10} {
		for n := -4; n <= 4; n++ {
			r := p.bash(fmt.Sprintf("head -c %d /dev/zero | tr '\\0' a; printf '😀%%.0s' $(seq 20000)", edge+n))
			if !utf8.ValidString(r.Text) || strings.Contains(r.Text, "\uFFFD") {
				t.Errorf("with %d: a character is cut", edge+n)
			}
			p.cutResult(r, int64(edge+n+20000), int64(edge+n+80000))
		}
	}
}

func TestATimeoutAndAnInterruptShowTheEnds(t *testing.T) {
	p := newProject(t, nil)
	_, err := bash(t.Context(), p.env, bashInput{Command: "seq 20000; sleep 300", TimeoutMS: 1000})
	p.refused(err, event.ToolTimeout, "1\n2\n", "characters left out; 108894 bytes in all; read or grep "+p.env.SpillDir, "\n20000\n")
}

func TestACommandInTheBackgroundHasItsOutputOnce(t *testing.T) {
	p := newProject(t, nil)
	p.env.Limits.BashTimeoutMS = 300
	r := p.bash("seq 20000; mkfifo go; read x <go; echo late; sleep 300")
	whole := p.spilled(r)
	if !strings.HasSuffix(whole, "\n20000\n") || !strings.HasSuffix(r.Text, "\n20000\n[still running, now in the background as process p1]") {
		t.Errorf("%q", r.Text[len(r.Text)-100:])
	}
	equal(t, p.process(processInput{Action: "read", ID: "p1"}), "(nothing new)\n[p1 running; next offset 108894]")
	p.put("go", "\n")
	p.waitFor("p1", "late\n[p1 running; next offset 108899]")
}
