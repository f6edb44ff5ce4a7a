// Package process keeps the programs that run in the background.
//
// It owns their names (p1, p2, …), the last 200 KB of what each printed (less
// of each when there are many: all together stay within a bound), and their
// end: Stop and StopAll leave no child behind. It promises that an offset
// into the output means the same byte for ever, that what was dropped is
// counted, and that every process that was announced is announced as exited
// exactly once. An interrupt of the user does not reach it: only Stop and
// StopAll end a process.
//
// What may be started is decided elsewhere (permission), what a model is shown,
// too (tool/builtin); the owner records the announcements. Start reading at
// Manager.
package process

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/workspace"
)

// BufferSize is how much output is kept of each process, in bytes (contract §8).
const BufferSize = 200_000

// All buffers together have totalSize bytes at most, unless there are so many
// that leastSize is more.
const (
	totalSize = 16 << 20
	leastSize = 4 << 10
)

// Errors that a caller branches on.
var (
	ErrUnknown  = errors.New("no such process")
	ErrShutdown = errors.New("no process is started during shutdown")
)

// Hooks are told what happens. They may be nil.
type Hooks struct {
	// Started is called by Start and Adopt, before the process can be seen to
	// exit or print: whoever records it gets the two in order.
	Started func(event.ProcessStarted)
	// Output sees output as it comes, valid UTF-8, no character cut; of much at
	// once the end, and of an adopted process what comes after the adoption. It
	// runs while the process waits to print more, so it must be quick, and must
	// not call the Manager.
	Output func(event.ProcessOutput)
	// Exited is called once for each process, from a goroutine of the Manager's,
	// before Stop or StopAll return.
	Exited func(event.ProcessExited)
}

// Manager starts, lists and stops background processes. It is safe for
// concurrent use.
type Manager struct {
	ws    workspace.Workspace
	hooks Hooks
	texts sync.Pool // *[]byte

	mu     sync.Mutex
	next   int
	procs  []*managed // in the order of their start
	room   int        // for the output of each, in bytes
	closed bool
}

// New is a manager without processes. Numbering goes on after last, the highest
// number that the session's log has seen, so that an id is never used twice.
func New(ws workspace.Workspace, last int, hooks Hooks) *Manager {
	return &Manager{ws: ws, next: last + 1, room: BufferSize, hooks: hooks, texts: sync.Pool{New: func() any { return new([]byte) }}}
}

// Info describes a process.
type Info struct {
	ID        string
	PID       int
	Command   string
	Cwd       string
	Name      string
	ToolUseID string
	Started   time.Time
	Output    int64 // bytes printed so far
	// Exited is how it ended, nil while it or a child of it runs.
	Exited *event.ProcessExited
}

// Start starts a process in the background. Its input stays open for Write,
// unless cmd.Stdin says what it is; cmd.OnOutput is not called.
func (m *Manager) Start(cmd workspace.Command, name, toolUseID string) (Info, error) {
	cmd.Interactive = cmd.Stdin == nil
	cmd.OnOutput, cmd.MaxOutput = nil, 2*BufferSize
	proc, err := workspace.Start(m.ws, cmd)
	if err != nil {
		return Info{}, err
	}
	return m.keep(proc, name, toolUseID, true)
}

// Adopt takes over a process that was started elsewhere, with the output it had
// so far: a command that goes to the background. Its OnOutput is not called
// again, and ending it is the Manager's from now on, also when Adopt fails. A
// Read of what is new begins after the output so far.
func (m *Manager) Adopt(proc *workspace.Proc, name, toolUseID string) (Info, error) {
	return m.keep(proc, name, toolUseID, false)
}

func (m *Manager) keep(proc *workspace.Proc, name, toolUseID string, fresh bool) (Info, error) {
	p := &managed{
		proc: proc, name: name, toolUseID: toolUseID, hooks: m.hooks, fresh: fresh,
		output: workspace.Rolling{Limit: BufferSize}, done: make(chan struct{}), texts: &m.texts,
	}
	if !m.enter(p) {
		proc.Kill()
		return Info{}, ErrShutdown
	}
	if m.hooks.Started != nil {
		m.hooks.Started(event.ProcessStarted{
			ProcessID: p.id, PID: proc.PID(), Command: proc.Command.String(), Cwd: proc.Command.Cwd,
			Name: name, ToolUseID: toolUseID,
		})
	}
	proc.Redirect(p.inherit)
	go p.watch()
	return p.info(), nil
}

// enter gives a process its id and its share of the room for output, unless the
// end has begun.
func (m *Manager) enter(p *managed) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	p.id = "p" + strconv.Itoa(m.next)
	m.next++
	m.procs = append(m.procs, p)
	if m.room < leastSize || m.room*len(m.procs) <= totalSize {
		p.shrink(m.room)
		return true
	}
	m.room /= 2 // seldom, since each buffer is copied
	for _, each := range m.procs {
		each.shrink(m.room)
	}
	return true
}

// List describes all processes, those that ended included, in the order of
// their start.
func (m *Manager) List() []Info {
	var list []Info
	for _, p := range m.all() {
		list = append(list, p.info())
	}
	return list
}

// Get describes one process.
func (m *Manager) Get(id string) (Info, error) {
	p, err := m.find(id)
	if err != nil {
		return Info{}, err
	}
	return p.info(), nil
}

// Next is the offset at which the last Read of a process ended.
const Next = -1

// Chunk is a piece of a process's output.
type Chunk struct {
	Info
	Data    []byte // as printed: it may begin or end within a character
	Offset  int64  // of Data's first byte in all of the output
	Dropped int64  // bytes after the offset asked for that are no longer kept
}

// End is the offset after the chunk, where reading goes on.
func (c Chunk) End() int64 { return c.Offset + int64(len(c.Data)) }

// Read returns output from an offset on (Next for what was not read yet), at
// most limit bytes of it when limit is positive. An offset past the end reads
// nothing.
func (m *Manager) Read(id string, offset int64, limit int) (Chunk, error) {
	p, err := m.find(id)
	if err != nil {
		return Chunk{}, err
	}
	return p.read(offset, limit), nil
}

// Write gives input to a process. A process that does not read makes it wait
// until ctx ends.
func (m *Manager) Write(ctx context.Context, id, input string) error {
	p, err := m.find(id)
	if err != nil {
		return err
	}
	return p.proc.Write(ctx, []byte(input))
}

// Stop ends a process and its children and says how it ended. One that has
// ended already is no error.
func (m *Manager) Stop(id string) (Info, error) {
	p, err := m.find(id)
	if err != nil {
		return Info{}, err
	}
	p.stop(event.StoppedByTool)
	return p.info(), nil
}

// StopAll ends every process, and lets none be started after. It returns early
// only when ctx ends; the ending goes on then.
func (m *Manager) StopAll(ctx context.Context) error {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	procs := m.all()
	for _, p := range procs {
		go p.stop(event.EndedByUs) // done is waited for below
	}
	for _, p := range procs {
		select {
		case <-p.done:
		case <-ctx.Done():
			return fmt.Errorf("stop process %s: %w", p.id, context.Cause(ctx))
		}
	}
	return nil
}

func (m *Manager) all() []*managed {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.procs)
}

func (m *Manager) find(id string) (*managed, error) {
	for _, p := range m.all() {
		if p.id == id {
			return p, nil
		}
	}
	return nil, fmt.Errorf("process %q: %w", id, ErrUnknown)
}
