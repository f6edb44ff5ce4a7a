package ansi_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/khaelor/khaelor/internal/ansi"
)

func TestTextIsWhatATerminalShowsInTheEnd(t *testing.T) {
	for output, want := range map[string]string{
		"a\r\nb\r\n": "a\nb\n", "10%\r100%\r": "100%", "abc\rd": "d", "ab\bc": "ac", "\b\bx": "x", "a\x1b[1;31mb\x1b[0mc": "abc",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x07": "link", "\x1b(Bx\x1bcy": "xy", "a\u009b31mb": "ab", "\x1bPq...\x1b\\z": "z",
		"open \x1b]0;never closed\nnext": "open \nnext", "cut \x1b[3": "cut ", "tab\tbell\a": "tab\tbell", "ü\xc3": "ü\uFFFD",
		"_\bB_\bold": "Bold", "\x1b[?25l\x1b[2Kdone\x1b[K": "done", "\x7f\x01x": "x", "": "", "a\r\r\nb": "a\nb", "a\r\b": "",
		"50%\r\x1b[K\n": "50%\n", "é\bé\rü\b": "", "\xc2": "\uFFFD", "\xc2\xa0": "\u00a0", "a\xed\xa0\xbd": "a\uFFFD\uFFFD\uFFFD",
	} {
		if got := ansi.Text([]byte(output)); got != want {
			t.Errorf("%q: got %q, want %q", output, got, want)
		}
	}
}

// A progress bar is one line (Bash 6), however it is drawn.
func TestAProgressBarIsItsLastState(t *testing.T) {
	for name, frame := range map[string]string{
		"carriage returns": "\r%", "and line clears": "\r\x1b[K%", "and colours": "\x1b[32m\r%\x1b[0m", "at the end": "%\r",
	} {
		var output strings.Builder
		for n := range 5000 {
			output.WriteString(strings.Replace(frame, "%", strings.Repeat("#", n%70)+" 100%", 1))
		}
		if got := ansi.Text([]byte(output.String())); got != strings.Repeat("#", 4999%70)+" 100%" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestWhatExceedsALineStands(t *testing.T) {
	long := strings.Repeat("é", ansi.MaxLine) // twice the bound, in bytes
	for output, want := range map[string]string{
		long + "\rnew\n":         long[:len(long)-ansi.MaxLine] + "new\n",
		long + "\n":              long + "\n",
		long:                     long,
		"old\r" + long + "x\b\b": long,
		long + strings.Repeat("\b", ansi.MaxLine): long[:len(long)-ansi.MaxLine],
	} {
		if got := ansi.Text([]byte(output)); got != want {
			t.Errorf("%d bytes became %d, not %d", len(output), len(got), len(want))
		}
	}
}

// inPieces is Text of an output that comes in pieces of these sizes, over and
// over; those above 200 are larger than they say, so that some exceed a line.
func inPieces(output, sizes []byte) string {
	var strip ansi.Stripper
	var settle ansi.Settler
	var text []byte
	for i := 0; len(output) > 0; i++ {
		n := 1
		if len(sizes) > 0 {
			n = max(1, int(sizes[i%len(sizes)]))
		}
		if n > 200 {
			n *= 1000
		}
		n = min(n, len(output))
		text = settle.Append(text, strip.Append(nil, output[:n]))
		output = output[n:]
	}
	return string(settle.Close(settle.Append(text, strip.Close(nil))))
}

func TestTextIsTheSameInPieces(t *testing.T) {
	const output = "a\x1b[31mré\x1b]0;t\x07d\x1b(B€\xff\U0001F600\x1bPx\x1b\\.50%\r\x1b[K100%\b\b\n\xf0\x9f\r"
	for cut := range len(output) {
		if got, want := inPieces([]byte(output), []byte{byte(cut), 200}), ansi.Text([]byte(output)); got != want {
			t.Errorf("cut at %d: %q, not %q", cut, got, want)
		}
	}
}

type screen struct {
	ID       string
	Input    string `json:"input_b64"`
	Screen   string
	Disputed bool
}

// screens are the recorded outputs of terminal programs.
func screens(t *testing.T) []screen {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", "terminal", "screens.jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		if os.Getenv("KHAELOR_REQUIRE_SHARED") != "" {
			t.Fatal(err)
		}
		t.Skip("shared data not here: " + path)
	}
	var all []screen
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var s screen
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func (s screen) output(t *testing.T) []byte {
	t.Helper()
	output, err := base64.StdEncoding.DecodeString(s.Input)
	if err != nil {
		t.Fatal(err)
	}
	return output
}

func control(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

func TestNoRecordedScreenLeavesAControlCharacter(t *testing.T) {
	for _, s := range screens(t) {
		text := ansi.Text(s.output(t))
		if i := strings.IndexFunc(text, control); i >= 0 || !utf8.ValidString(text) {
			t.Errorf("%s: %q", s.ID, text[max(0, i-20):min(len(text), i+20)])
		}
	}
}

// Terminal 9: what would set the clipboard or the title, move, ask or hide is
// gone, in one piece and in many. A mark of writing direction is text, and
// whoever shows text to a person makes it visible.
func TestNothingHostileReachesATerminal(t *testing.T) {
	output, err := os.ReadFile(filepath.Join("testdata", "escapes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "title  clip  link text\n clear  ask  reset  c1  \uFFFD0;x\uFFFD cursor  alt  hide \nright-to-left \u202e txet\nopen \n"
	for _, sizes := range [][]byte{{255}, {1}, {2}, {3, 1}, {7}} {
		if got := inPieces(output, sizes); got != want {
			t.Errorf("in pieces of %v: %q", sizes, got)
		}
	}
	for _, more := range []string{"a\x9b31mb\x9d0;x\x9cc\x90q\x9cd", "\u0084a\u0085b\u008dc\u0090q\u009cd", "a\x01\x05\x07\x0e\x0f\x7f"} {
		if got := ansi.Text([]byte(more)); strings.IndexFunc(got, control) >= 0 || !utf8.ValidString(got) {
			t.Errorf("%q became %q", more, got)
		}
	}
}

// The screens of programs that stay in their line are the text, line by line.
func TestTextIsTheRecordedScreenOfWhoStaysInHisLine(t *testing.T) {
	compared := 0
	for _, s := range screens(t) {
		output := s.output(t)
		if s.Disputed || !staysInLine(output) {
			continue
		}
		compared++
		got, want := trimmed(ansi.Text(output)), trimmed(s.Screen)
		if want == "" || !strings.HasSuffix("\n"+got, "\n"+want) { // a screen shows the end
			t.Errorf("%s:\n%q\nends not in\n%q", s.ID, got, want)
		}
	}
	if compared < 4 {
		t.Errorf("%d screens were compared", compared)
	}
}

// staysInLine says that an output neither moves to other lines or columns nor
// relies on the width of the screen.
func staysInLine(output []byte) bool {
	for i := 0; i < len(output); i++ {
		switch b := output[i]; {
		case b == '\t', b == '\f', b == '\v', b == '\b', b >= 0x80:
			return false
		case b == '\r' && (i+1 == len(output) || output[i+1] != '\n'):
			return false
		case b != 0x1b:
		case i+1 == len(output) || output[i+1] != '[':
			return false
		default:
			for i += 2; i < len(output) && (output[i] < '@' || output[i] > '~'); i++ {
			}
			if i == len(output) || output[i] != 'm' {
				return false
			}
		}
	}
	for line := range bytes.Lines(output) {
		if len(bytes.TrimRight(line, "\r\n")) >= 80 {
			return false
		}
	}
	return true
}

// trimmed is a text without trailing blanks and without empty lines around it.
func trimmed(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

func FuzzText(f *testing.F) {
	for _, output := range []string{
		"", "a\x1b[31mb\r\n\bc\xff", "\x1b]0;t\x07\x1bP\x1b\\é\r\r\n\b\b", "\xf0\x9f\x98\x80\xed\xa0\xbd\xc2\x9b1m", "50%\r100%\b\b\b",
		"\x1b[?25l\x1b[2K\x1b(B\x1b", strings.Repeat("x", ansi.MaxLine-1) + "é\rb",
	} {
		f.Add([]byte(output), []byte{1, 7, 250})
	}
	f.Fuzz(func(t *testing.T, output, sizes []byte) {
		text := ansi.Text(output)
		if !utf8.ValidString(text) || strings.IndexFunc(text, control) >= 0 {
			t.Errorf("%q became %q", output, text)
		}
		if again := ansi.Text([]byte(text)); again != text {
			t.Errorf("%q became %q", text, again)
		}
		if pieces := inPieces(output, sizes); pieces != text {
			t.Errorf("%q in pieces of %v is %q, not %q", output, sizes, pieces, text)
		}
	})
}

func FuzzRepair(f *testing.F) {
	for _, text := range []string{"", "a\xff\xfeb\xed\xa0\xbd", "é€😀", "\xf0\x9f\x98", "\xe2\x82a\xc3\xa9\x80", "\xc0\xaf\xf5\x80\x80\x80"} {
		f.Add([]byte(text), uint8(2))
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		var whole, pieces ansi.Repairer
		repaired := whole.Close(whole.Append(nil, text))
		if !utf8.Valid(repaired) || utf8.Valid(text) && !bytes.Equal(repaired, text) {
			t.Errorf("%q became %q", text, repaired)
		}
		var joined []byte
		for rest := text; len(rest) > 0; {
			n := min(len(rest), int(size)+1)
			joined = pieces.Append(joined, rest[:n])
			if !utf8.Valid(joined) {
				t.Errorf("a piece of %q ends within a character: %q", text, joined)
			}
			rest = rest[n:]
		}
		if joined = pieces.Close(joined); !bytes.Equal(joined, repaired) {
			t.Errorf("%q in pieces is %q, not %q", text, joined, repaired)
		}
		if runes, valid := utf8.RuneCount(text), utf8.RuneCount(repaired); runes != valid {
			t.Errorf("%d characters and wrong bytes became %d", runes, valid)
		}
	})
}

func BenchmarkText(b *testing.B) {
	line := strings.Repeat("some output of a program, 0123456789\n", 1771)
	for name, output := range map[string]string{
		"plain": line, "coloured": strings.ReplaceAll(line, "program", "\x1b[31mprogram\x1b[0m"), "umlauts": strings.ReplaceAll(line, "program", "prögräm"),
	} {
		b.Run(name, func(b *testing.B) {
			var strip ansi.Stripper
			var settle ansi.Settler
			var text, settled []byte
			b.SetBytes(int64(len(output)))
			for b.Loop() {
				text = strip.Append(text[:0], []byte(output))
				settled = settle.Append(settled[:0], text)
			}
		})
	}
}
