package process

import (
	"context"
	"sync"
	"unicode/utf8"

	"github.com/khaelor/khaelor/internal/ansi"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/workspace"
)

// managed is one process of a Manager.
type managed struct {
	id, name, toolUseID string
	proc                *workspace.Proc
	hooks               Hooks
	fresh               bool          // nobody has seen its output yet
	done                chan struct{} // closed when the exit was announced

	mu     sync.Mutex
	output workspace.Rolling
	readTo int64
	cause  event.ExitCause // why it was stopped
	exited *event.ProcessExited

	text  [2]ansi.Repairer // of standard output and error; ordered by proc
	texts *sync.Pool       // *[]byte, the Manager's
}

// inherit takes the output over at the moment of the adoption.
func (p *managed) inherit(stdout, stderr workspace.Capture) workspace.OutputFunc {
	p.inheritOne(workspace.Stdout, stdout)
	p.inheritOne(workspace.Stderr, stderr)
	if !p.fresh {
		p.mu.Lock()
		p.readTo = p.output.Total() // whoever had it has seen it
		p.mu.Unlock()
	}
	return p.take
}

func (p *managed) inheritOne(stream workspace.Stream, c workspace.Capture) {
	p.keep(c.Head)
	if n := c.Omitted(); n > 0 {
		p.mu.Lock()
		p.output.Skip(n)
		p.mu.Unlock()
	}
	p.keep(c.Tail)
	if p.fresh && c.Total > 0 {
		p.announce(stream, c.Bytes())
	}
}

func (p *managed) take(stream workspace.Stream, chunk []byte) {
	p.keep(chunk)
	p.announce(stream, chunk)
}

func (p *managed) keep(chunk []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.output.Append(chunk)
}

func (p *managed) announce(stream workspace.Stream, chunk []byte) {
	if p.hooks.Output == nil {
		return
	}
	repairer := &p.text[0]
	if stream == workspace.Stderr {
		repairer = &p.text[1]
	}
	text := (*p.texts.Get().(*[]byte))[:0]
	if len(chunk) > mostShown {
		text = append(text, skipped...)
		*repairer, chunk = ansi.Repairer{}, wholeFrom(chunk, len(chunk)-mostShown)
	}
	if text = repairer.Append(text, chunk); len(text) > 0 {
		p.hooks.Output(event.ProcessOutput{ProcessID: p.id, Stream: event.OutputStream(stream), Chunk: string(text)})
	}
	p.texts.Put(&text)
}

// mostShown is how much of what comes at once is shown, in bytes: nobody sees
// more of a program that prints without a pause, and whoever shows it may be
// slower than it prints.
const mostShown = 4 << 10

// skipped stands for what is not shown.
const skipped = "\n[…]\n"

// wholeFrom is data from the first character on that begins at or after at.
func wholeFrom(data []byte, at int) []byte {
	for n := 1; n < utf8.UTFMax && at < len(data) && !utf8.RuneStart(data[at]); n++ {
		at++
	}
	return data[at:]
}

// shrink leaves less room for what is printed.
func (p *managed) shrink(limit int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.output.Limit > limit {
		p.output.Shrink(limit)
	}
}

// watch waits for the last child and announces the exit.
func (p *managed) watch() {
	<-p.proc.Gone()
	result, _ := p.proc.Wait(context.Background()) // Gone is after Exited
	exited := event.ProcessExited{ProcessID: p.id, Cause: event.ExitedByItself, DurationMS: p.proc.Age().Milliseconds()}
	if result.Signal == "" {
		exited.ExitCode = &result.ExitCode
	} else {
		exited.Cause = event.Crashed
	}
	p.mu.Lock()
	if p.cause != "" {
		exited.Cause = p.cause
	}
	p.exited = &exited
	p.mu.Unlock()
	if p.hooks.Exited != nil {
		p.hooks.Exited(exited)
	}
	close(p.done)
}

// stop ends the process; the first who does names the cause.
func (p *managed) stop(cause event.ExitCause) {
	p.mu.Lock()
	if p.cause == "" && p.exited == nil {
		p.cause = cause
	}
	p.mu.Unlock()
	p.proc.Kill()
	<-p.done
}

func (p *managed) info() Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.infoLocked()
}

func (p *managed) infoLocked() Info {
	return Info{
		ID: p.id, PID: p.proc.PID(), Command: p.proc.Command.String(), Cwd: p.proc.Command.Cwd,
		Name: p.name, ToolUseID: p.toolUseID, Started: p.proc.Started(), Output: p.output.Total(), Exited: p.exited,
	}
}

func (p *managed) read(offset int64, limit int) Chunk {
	p.mu.Lock()
	defer p.mu.Unlock()
	if offset < 0 {
		offset = p.readTo
	}
	data, at := p.output.From(offset)
	if at > offset { // what was dropped ends with a character
		whole := wholeFrom(data, 0)
		data, at = whole, at+int64(len(data)-len(whole))
	}
	if limit > 0 && len(data) > limit {
		data = data[:limit]
	}
	if n := ansi.Begun(data); n < len(data) && p.exited == nil {
		data = data[:len(data)-n] // the next read has it whole
	}
	c := Chunk{Info: p.infoLocked(), Data: data, Offset: at, Dropped: max(at-offset, 0)}
	p.readTo = c.End()
	return c
}
