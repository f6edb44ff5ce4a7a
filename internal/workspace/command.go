package workspace

import (
	"bytes"
	"strings"
	"time"
)

// Stream tells apart the two outputs of a program.
type Stream string

// The spellings are those of the wire (process.output).
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// OutputFunc takes output as it comes. Calls for one process never overlap;
// the chunk is valid during the call only, and may end within a character.
type OutputFunc func(stream Stream, chunk []byte)

// MaxOutput is how many bytes of each stream a Result holds when the command
// does not say: enough for every budget of the tools, and for what a process
// that goes to the background is asked about.
const MaxOutput = 1 << 20

// Command is a program to run. Exactly one of Line and Argv is set.
type Command struct {
	// Line is run by bash without profile and rc files, or by sh where there is
	// no bash. Both of its streams share one pipe, so that they stay in order;
	// all of it is reported as Stdout.
	Line string
	// Argv is a program with its words and no shell; its streams are separate.
	Argv []string
	// Cwd is the directory to run in; "" is the workspace's.
	Cwd string
	// Timeout ends the command and its children; 0 is no limit.
	Timeout time.Duration
	// Env is the whole environment; nil is the user's, scrubbed (Environ).
	Env []string
	// Stdin is fed to the command, which then sees the end of its input.
	// Without it standard input is empty.
	Stdin []byte
	// Interactive keeps standard input open for Proc.Write.
	Interactive bool
	// TTY gives the command a terminal of its own, 120 columns by 40 lines and
	// without echo, for its input and both outputs. Implies Interactive; its
	// output ends lines with CR LF.
	TTY bool
	// OnOutput sees all output, also what exceeds MaxOutput.
	OnOutput OutputFunc
	// MaxOutput bounds what the Result holds of each stream, in bytes.
	MaxOutput int
}

// String is the command as a person would write it.
func (c Command) String() string {
	if c.Line != "" {
		return c.Line
	}
	return strings.Join(c.Argv, " ")
}

// Result is how a command ended.
type Result struct {
	ExitCode int     // 128+n when signal n killed it
	Signal   string  // "SIGKILL", when one did
	Output   Capture // of a Line both streams in order, of an Argv standard output
	Stderr   Capture // of an Argv
	Duration time.Duration
	TimedOut bool
	Stopped  bool // killed by us: Kill, a time-out, the end of a context
	// Left are the process ids of children that were still running when the
	// command itself had ended. Exec has stopped them; after Proc.Wait they live
	// until Proc.Kill.
	Left []int
}

// Capture is the output of one stream. Invariant: when Total exceeds the
// command's MaxOutput, Head and Tail are its first and last halves and
// something is missing between them; else Tail is empty.
type Capture struct {
	Head, Tail []byte
	Total      int64 // bytes the stream had
}

// Omitted counts the bytes missing between Head and Tail.
func (c Capture) Omitted() int64 { return c.Total - int64(len(c.Head)+len(c.Tail)) }

// Bytes is Head and Tail together: the whole output when nothing is omitted.
func (c Capture) Bytes() []byte {
	if len(c.Tail) == 0 {
		return c.Head
	}
	return bytes.Join([][]byte{c.Head, c.Tail}, nil)
}

// String is Bytes as text, as it came.
func (c Capture) String() string { return string(c.Bytes()) }

// capture collects one stream within a bound.
type capture struct {
	limit int
	head  []byte
	tail  Rolling
}

func newCapture(limit int) *capture {
	if limit <= 0 {
		limit = MaxOutput
	}
	return &capture{limit: limit, tail: Rolling{Limit: limit - limit/2}}
}

func (c *capture) add(chunk []byte) {
	if room := c.limit/2 - len(c.head); room > 0 {
		n := min(room, len(chunk))
		c.head = append(c.head, chunk[:n]...)
		chunk = chunk[n:]
	}
	c.tail.Append(chunk)
}

func (c *capture) snapshot() Capture {
	if c == nil {
		return Capture{}
	}
	rest, at := c.tail.From(0)
	snap := Capture{Head: bytes.Clone(c.head), Total: int64(len(c.head)) + c.tail.Total()}
	if at > 0 {
		snap.Tail = rest
	} else {
		snap.Head = append(snap.Head, rest...)
	}
	return snap
}
