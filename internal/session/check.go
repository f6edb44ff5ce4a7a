package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// Problem is one thing that is wrong with a log, or worth knowing.
type Problem struct {
	Line int64 // 1-based
	Seq  int64 // 0 when the line has none
	Text string
}

// Report is what Check found.
type Report struct {
	Events   int       // whole lines that could be read
	Problems []Problem // broken invariants
	Notes    []Problem // what is allowed, but not what we write
	// Unfinished says that the log ends with open calls: the next Open closes
	// them.
	Unfinished bool
}

// Check reads a log against every invariant, without its lock.
func (s *Store) Check(id string) (Report, error) {
	ref, err := s.Find(id)
	if err != nil {
		return Report{}, err
	}
	file, err := s.dir.Open(ref.file(logSuffix))
	if err != nil {
		return Report{}, fmt.Errorf("check session %s: %w", ref.ID, err)
	}
	defer file.Close()
	c := newChecker(s, ref)
	for in := newLines(file); ; {
		raw, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Report{}, fmt.Errorf("check session %s: %w", ref.ID, err)
		}
		c.line(raw)
	}
	return c.finish(), nil
}

// checker holds what later facts may refer to.
type checker struct {
	store   *Store
	ref     Ref
	report  Report
	n       int64 // the present line
	record  event.Record
	session string
	lastTS  int64
	bad     *Problem // a line that could not be read: torn when it is the last
	history fold.History

	ids         map[string]bool
	requests    map[string]bool // by id: has it ended
	calls       map[string]bool // by id: has it its result
	open        openCalls
	permissions map[string]bool // by id: is it decided
	questions   map[string]bool
	steering    map[string]bool // by event id: is it off the queue
	messages    map[string]bool
	times       map[string]int
}

func newChecker(s *Store, ref Ref) *checker {
	return &checker{
		store: s, ref: ref, ids: map[string]bool{}, requests: map[string]bool{}, calls: map[string]bool{},
		permissions: map[string]bool{}, questions: map[string]bool{}, steering: map[string]bool{}, messages: map[string]bool{},
		times: map[string]int{},
	}
}

func (c *checker) problem(format string, args ...any) {
	c.report.Problems = append(c.report.Problems, Problem{Line: c.n, Seq: c.record.Seq, Text: fmt.Sprintf(format, args...)})
}

// note remembers the first line of each text and counts the others.
func (c *checker) note(text string) {
	if c.times[text]++; c.times[text] == 1 {
		c.report.Notes = append(c.report.Notes, Problem{Line: c.n, Seq: c.record.Seq, Text: text})
	}
}

func (c *checker) line(raw []byte) {
	c.n++
	if c.bad != nil {
		c.report.Problems = append(c.report.Problems, *c.bad)
		c.bad = nil
	}
	r, err := decodeRaw(raw)
	if err != nil {
		c.bad = &Problem{Line: c.n, Text: err.Error()}
		c.record.Seq++ // of the line as it was
		return
	}
	c.report.Events++
	expected := c.record.Seq + 1
	c.record = r
	c.envelope(expected)
	c.canonical()
	c.fact()
	c.history = c.history.Apply(r)
	c.open = c.open.apply(r.Fact)
	c.record.Line, c.record.Fact = nil, nil
}

func (c *checker) envelope(seq int64) {
	r := c.record
	if c.report.Events == 1 {
		c.session = r.SessionID
	}
	if reason := misplaced(r, seq, c.session); reason != "" {
		c.problem("%s", reason)
	}
	if c.ids[r.ID] {
		c.problem("event id %s is used twice", r.ID)
	}
	c.ids[r.ID] = true
	if r.TS < c.lastTS {
		c.note("the clock went backwards")
	}
	c.lastTS = max(c.lastTS, r.TS)
	if u, ok := r.Fact.(event.Unknown); ok {
		if r.Critical {
			c.problem("event %q is unknown here and may not be skipped: it needs a newer khaelor", u.Type)
		} else {
			c.note(fmt.Sprintf("event %q is unknown here", u.Type))
		}
	}
}

// canonical compares a line with what this program would write.
func (c *checker) canonical() {
	r := c.record
	if _, unknown := r.Fact.(event.Unknown); unknown {
		return
	}
	r.Line = nil
	line, err := event.AppendLine(nil, r)
	if err != nil || !bytes.Equal(bytes.TrimSuffix(line, []byte("\n")), c.record.Line) {
		c.note("not in the form this program writes: further fields, or another order")
	}
}

// finish reports what only the end of the log shows.
func (c *checker) finish() Report {
	c.record = event.Record{}
	if c.bad != nil {
		c.n = c.bad.Line
		c.note("the last line is torn; the next resume cuts it off")
	}
	if c.report.Events == 0 {
		c.problem("the log holds no whole event")
	}
	for i, p := range c.report.Notes {
		if times := c.times[p.Text]; times > 1 {
			c.report.Notes[i].Text += fmt.Sprintf(" (%d lines, this is the first)", times)
		}
	}
	c.report.Unfinished = len(c.open) > 0
	return c.report
}
