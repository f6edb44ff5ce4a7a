package workspace

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/khaelor/khaelor/internal/clock"
)

// drainTime is how long output is awaited after a command's end while some
// child still holds the pipe: longer than it takes to read what lies in it.
const drainTime = 200 * time.Millisecond

// lookTime is how often it is looked whether children left behind still live.
const lookTime = 500 * time.Millisecond

// Proc is a started command with all its children.
//
// It ends in two steps. Exited: the command itself has ended, its output so far
// is complete, Wait returns. Gone: no child is left either, the output is
// closed, and OnOutput is never called again. Without children left behind the
// two are one moment.
type Proc struct {
	Command Command // as started; Cwd is canonical

	clock   *clock.Clock
	local   *Local
	lineage lineage
	started time.Time
	cmd     *exec.Cmd
	stdin   *os.File   // when Interactive
	pipes   []*os.File // read ends
	readers sync.WaitGroup
	helpers sync.WaitGroup // feeds standard input, ends the command
	pidfd   *int

	mu       sync.Mutex // orders output; held during OnOutput
	onOutput OutputFunc
	captures [2]*capture // of Stdout and Stderr; nil after Redirect

	exited, gone chan struct{}
	kill         chan struct{} // closed to ask for the end
	killed       chan struct{} // closed when nobody is left to kill
	timedOut     atomic.Bool
	result       Result // set before exited is closed

	ending sync.Mutex
	dying  bool // kill is closed
	over   bool // there is nobody to kill any more
}

// PID is the process id of the command, which is also that of its group and
// session.
func (p *Proc) PID() int { return p.cmd.Process.Pid }

// Started is when the command was started.
func (p *Proc) Started() time.Time { return p.started }

// Exited is closed when the command itself has ended.
func (p *Proc) Exited() <-chan struct{} { return p.exited }

// Gone is closed when the command and all its children have ended.
func (p *Proc) Gone() <-chan struct{} { return p.gone }

// Wait waits for the command itself to end. The end of ctx ends the waiting
// only; the error then is its cause.
func (p *Proc) Wait(ctx context.Context) (Result, error) {
	select {
	case <-p.exited:
		return p.result, nil
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
}

// Kill ends the command and its children, the patient way first: SIGTERM, and
// after Grace SIGKILL. It returns when they are gone, and may be called any
// number of times, from anywhere but OnOutput.
func (p *Proc) Kill() {
	p.askToDie()
	<-p.gone
}

func (p *Proc) askToDie() {
	p.ending.Lock()
	defer p.ending.Unlock()
	if p.dying || p.over {
		return
	}
	p.dying = true
	close(p.kill)
	p.helpers.Go(func() {
		p.lineage.terminate()
		close(p.killed)
	})
}

// Age is the time since the start.
func (p *Proc) Age() time.Duration { return p.clock.Since(p.started) }

// Redirect hands the output over. take sees what was captured so far, while no
// chunk is under way, and returns who gets everything that follows; whoever had
// it before is not called again, and nothing more is kept for the Result.
func (p *Proc) Redirect(take func(stdout, stderr Capture) OutputFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.onOutput = take(p.captures[0].snapshot(), p.captures[1].snapshot())
	p.captures = [2]*capture{}
}

// Write writes to the standard input of an Interactive command. A command that
// does not read makes it wait until ctx ends.
func (p *Proc) Write(ctx context.Context, input []byte) error {
	if p.stdin == nil {
		return errors.New("write input: the process was started without an input")
	}
	stop := context.AfterFunc(ctx, func() { _ = p.stdin.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	_, err := p.stdin.Write(input)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errors.Join(errors.New("write input: the process does not read it"), p.stdin.SetWriteDeadline(time.Time{}))
	case errors.Is(err, syscall.EPIPE), errors.Is(err, os.ErrClosed):
		return errors.New("write input: the process has closed its input")
	}
	return err
}

// CloseStdin ends the standard input of an Interactive command.
func (p *Proc) CloseStdin() error {
	if p.stdin == nil {
		return nil
	}
	return p.stdin.Close()
}

// start wires the streams and starts the goroutines that Gone waits for.
func (p *Proc) start() error {
	theirs, err := p.wire()
	defer func() { closeAll(theirs) }()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		closeAll(p.pipes)
		return errors.Join(programError(p.cmd.Path, err), p.CloseStdin())
	}
	p.lineage.leader = p.PID()
	for i, pipe := range p.pipes {
		p.readers.Go(func() { p.read(pipe, i) })
	}
	if !p.Command.Interactive && p.stdin != nil {
		p.helpers.Go(p.feed)
	}
	go p.run()
	return nil
}

// wire makes the pipes, or the terminal. It returns the ends that are the
// command's.
func (p *Proc) wire() (theirs []*os.File, err error) {
	if p.Command.TTY {
		return p.wireTerminal()
	}
	outputs := []*io.Writer{&p.cmd.Stdout, &p.cmd.Stderr}
	if p.Command.Line != "" {
		outputs = outputs[:1]
	}
	for _, out := range outputs {
		r, w, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		*out, theirs, p.pipes = w, append(theirs, w), append(p.pipes, r)
	}
	if p.Command.Line != "" {
		p.cmd.Stderr = p.cmd.Stdout
	}
	if p.Command.Interactive || p.Command.Stdin != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		p.cmd.Stdin, theirs, p.stdin = r, append(theirs, r), w
	}
	return theirs, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // ends of pipes: closing them loses nothing
	}
}

// feed gives the command its input; one that does not want it is not at fault.
func (p *Proc) feed() {
	_, _ = p.stdin.Write(p.Command.Stdin)
	_ = p.stdin.Close()
}

// Output is read in pieces of readSize bytes, of so many processes at once: who
// prints into a full pipe waits, and hundreds who print together take no more
// memory than a few.
const (
	readSize = 32 << 10
	readers  = 16
)

// read takes the output of a stream until its end. A buffer is held only while
// there is something in it.
func (p *Proc) read(pipe *os.File, i int) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return // closed
	}
	for {
		var buf *[readSize]byte
		n := 0
		err := conn.Read(func(fd uintptr) bool {
			if buf = <-p.local.buffers; buf == nil {
				buf = new([readSize]byte)
			}
			n, err = readNow(int(fd), buf[:])
			if err == unix.EAGAIN {
				p.local.buffers <- buf
				return false
			}
			return true
		})
		if err != nil { // closed
			return
		}
		if n > 0 {
			p.deliver(i, buf[:n])
		}
		p.local.buffers <- buf
		if n <= 0 { // the end, which a terminal tells by an error
			return
		}
	}
}

func readNow(fd int, buf []byte) (int, error) {
	for {
		n, err := unix.Read(fd, buf)
		if err != unix.EINTR {
			return n, err
		}
	}
}

func (p *Proc) deliver(i int, chunk []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.captures[i]; c != nil {
		c.add(chunk)
	}
	if p.onOutput != nil {
		p.onOutput([2]Stream{Stdout, Stderr}[i], chunk)
	}
}

// run is the process's one owner: it reaps, closes and announces.
func (p *Proc) run() {
	if p.Command.Timeout > 0 {
		limit := time.AfterFunc(p.Command.Timeout, func() {
			p.timedOut.Store(true)
			p.askToDie()
		})
		p.reap()
		limit.Stop() // children left behind have no time limit
	} else {
		p.reap()
	}
	stopped := false
	select {
	case <-p.kill:
		stopped = true
		<-p.killed // so that no child outlives the result
	default:
	}
	held := p.drain()
	p.finish(stopped, held)
	p.watchLeft()
	p.ending.Lock()
	p.over = true
	p.ending.Unlock()
	closeAll(p.pipes)
	_ = p.CloseStdin()
	p.readers.Wait()
	p.helpers.Wait()
	close(p.gone)
}

func (p *Proc) reap() {
	awaitEnd(p.pidfd)
	_ = p.cmd.Wait() // the exit status is read from ProcessState
}

// drain waits for the end of the output, but not for a child that stays and
// keeps the pipe; it reports whether one does.
func (p *Proc) drain() (held bool) {
	finished := make(chan struct{})
	p.helpers.Go(func() { p.readers.Wait(); close(finished) })
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-finished:
		return false
	case <-timer.C:
	}
	for _, pipe := range p.pipes {
		held = held || hasWriter(pipe)
	}
	if !held {
		<-finished // whoever takes the output is slow; nothing more comes
	}
	return held
}

// hasWriter reports whether some process can still write into a pipe.
func hasWriter(pipe *os.File) bool {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return false
	}
	var hangUp bool
	err = conn.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, 0)
		hangUp = err == nil && fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0
	})
	return err == nil && !hangUp
}

// finish records how the command ended.
func (p *Proc) finish(stopped, held bool) {
	r := Result{
		ExitCode: p.cmd.ProcessState.ExitCode(), Duration: p.Age(),
		Stopped: stopped, TimedOut: stopped && p.timedOut.Load(),
	}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.ExitCode = 128 + int(status.Signal())
		r.Signal = unix.SignalName(status.Signal())
	}
	// Looking through all processes is for the rare case that there are some.
	if held || groupAlive(p.PID()) || p.lineage.mark != "" && strayed(p.PID(), p.lineage.mark) {
		r.Left = ids(p.lineage.members(nil))
	}
	p.mu.Lock()
	r.Output, r.Stderr = p.captures[0].snapshot(), p.captures[1].snapshot()
	p.mu.Unlock()
	p.result = r
	close(p.exited)
}

// watchLeft waits until no child is left. Nothing tells when somebody else's
// child ends, so it looks from time to time.
func (p *Proc) watchLeft() {
	if len(p.result.Left) == 0 {
		return
	}
	ticker := time.NewTicker(lookTime)
	defer ticker.Stop()
	for len(p.lineage.in(p.local.table.glance(lookTime/2), nil)) > 0 {
		select {
		case <-ticker.C:
		case <-p.killed:
			return
		}
	}
}
