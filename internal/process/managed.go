package process

import (
	"bytes"
	"context"
	"sync"
	"unicode/utf8"

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

	cut map[workspace.Stream][]byte // the begun character at a chunk's end; ordered by proc
}

// inherit takes the output over at the moment of the adoption.
func (p *managed) inherit(stdout, stderr workspace.Capture) workspace.OutputFunc {
	p.cut = map[workspace.Stream][]byte{}
	p.inheritOne(workspace.Stdout, stdout)
	p.inheritOne(workspace.Stderr, stderr)
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
	text := append(p.cut[stream], chunk...)
	whole := len(text) - begun(text)
	p.cut[stream] = bytes.Clone(text[whole:])
	if whole > 0 {
		p.hooks.Output(event.ProcessOutput{
			ProcessID: p.id, Stream: event.OutputStream(stream),
			Chunk: string(bytes.ToValidUTF8(text[:whole], []byte("\uFFFD"))),
		})
	}
}

// begun counts the bytes at the end of text that begin a character whose rest
// has not come yet.
func begun(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
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
	if limit > 0 && len(data) > limit {
		data = data[:limit]
	}
	c := Chunk{Info: p.infoLocked(), Data: data, Offset: at, Dropped: max(at-offset, 0)}
	p.readTo = c.End()
	return c
}
