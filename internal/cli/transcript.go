package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/session"
)

// transcript shows a conversation line by line as it happens. Its methods for
// facts and notices are called on the engine's goroutine.
type transcript struct {
	out io.Writer
	// asked is signalled when somebody waits for an answer.
	asked chan struct{}
	// stop ends the showing.
	stop func()

	mu       sync.Mutex
	midline  bool // the last thing written was a piece of a line
	streamed map[string]bool
	failure  string // why the newest failed request did
	todo     []event.TodoItem
}

func newTranscript(out io.Writer, log *session.Log) *transcript {
	t := &transcript{out: out, asked: make(chan struct{}, 1), streamed: map[string]bool{}}
	t.stop = log.Bus().OnAny(t.fact, t.notice)
	return t
}

func blockKey(request string, index int) string { return fmt.Sprintf("%s/%d", request, index) }

func (t *transcript) notice(l event.Live) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch p := l.Notice.(type) {
	case event.ModelTextDelta:
		t.streamed[blockKey(p.RequestID, p.BlockIndex)] = true
		t.write(visible(p.Text))
	case event.ModelRetryScheduled:
		t.line("… " + retryText(t.failure, p))
	}
}

func (t *transcript) fact(r event.Record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch p := r.Fact.(type) {
	case event.ModelTextBlockCompleted:
		if !t.streamed[blockKey(p.RequestID, p.BlockIndex)] {
			t.write(visible(p.Text))
		}
		t.endLine()
	case event.ModelRequestFailed:
		t.failure = p.Message
		t.endLine()
	case event.ToolCompleted:
		t.line("• " + oneLine(p.UI.Summary))
	case event.ToolFailed:
		t.line("✗ " + oneLine(p.ModelText))
	case event.ToolCancelled:
		t.line("✗ " + oneLine(p.ModelText))
	case event.SteeringQueued:
		t.line("(queued; the model gets it at the next step)")
	case event.MessageQueued:
		t.line("(queued; it is the next task)")
	case event.SteeringInjected:
		t.line("(the model has your word)")
	case event.TodoUpdated:
		if !slices.Equal(p.Items, t.todo) {
			t.endLine()
			t.write(todoPanel(p.Items))
		}
		t.todo = p.Items
	case event.PermissionRequested, event.QuestionAsked:
		t.endLine()
		select {
		case t.asked <- struct{}{}:
		default:
		}
	}
}

// write adds to the present line.
func (t *transcript) write(text string) {
	if text == "" {
		return
	}
	_, _ = io.WriteString(t.out, text) // a terminal that is gone ends us by its signal
	t.midline = !strings.HasSuffix(text, "\n")
}

func (t *transcript) endLine() {
	if t.midline {
		t.write("\n")
	}
}

func (t *transcript) line(text string) {
	t.endLine()
	t.write(text + "\n")
}

// finish shows how the task ended.
func (t *transcript) finish(c *conversation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := c.resultOf()
	t.endLine()
	if r.Evidence != nil {
		t.write(visible(evidenceBlock(*r.Evidence)))
	}
	if r.Error != "" {
		t.line(string(r.Outcome) + ": " + visible(string(r.Error)))
	}
	cost := "cost unknown"
	if r.Cost != nil {
		cost = fmt.Sprintf("$%.4f", *r.Cost)
	}
	t.line(fmt.Sprintf("— %s · session: %d in (%d from cache), %d out · %s",
		calls(r.Turns), r.Usage.InputTokens+r.Usage.CacheReadTokens+r.Usage.CacheWriteTokens, r.Usage.CacheReadTokens, r.Usage.OutputTokens, cost))
}

func calls(n int) string {
	if n == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", n)
}

// replay shows what was said before, and whether something is unfinished.
func (t *transcript) replay(c *conversation) {
	view, err := c.project.sessions.View(c.log.ID())
	if err != nil {
		return
	}
	var line fold.Timeline
	for r, err := range view.Records() {
		if err != nil {
			break
		}
		line = line.Apply(r)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, item := range line.Items() {
		t.line(itemLine(item))
	}
	if c.log.Fold().State.Task.Open {
		t.line("The last task is unfinished; /continue goes on with it.")
	}
}
