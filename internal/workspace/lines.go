package workspace

import (
	"bytes"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// LineReader reads lines of a terminal or a pipe while its owner does other
// things.
type LineReader struct {
	r    io.Reader
	file *source // nil when r is not a file
	wake *os.File
	stop chan struct{}
	done sync.WaitGroup
	once sync.Once

	mu      sync.Mutex
	pending []byte        // read, and not yet a line that was taken
	lines   chan string   // replaced by Drop, so that nobody sees what it dropped
	dropped chan struct{} // closed when lines is replaced
	ended   bool
}

// Lines starts reading. A reader that is not a file cannot be interrupted:
// Close then waits for its end.
func Lines(r io.Reader) *LineReader {
	l := &LineReader{r: r, stop: make(chan struct{}), lines: make(chan string), dropped: make(chan struct{})}
	if f, ok := r.(interface{ Fd() uintptr }); ok {
		if sleeper, wake, err := os.Pipe(); err == nil {
			l.wake, l.file = wake, &source{fd: int(f.Fd()), sleeper: sleeper}
		}
	}
	l.done.Add(1)
	go l.read()
	return l
}

// C gives the lines; it is closed at the end of the input. A channel from
// before a Drop gives nothing more.
func (l *LineReader) C() <-chan string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines
}

// Drop forgets what was typed so far and not taken, half a line on a terminal
// included.
func (l *LineReader) Drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	if l.file != nil {
		discardInput(l.file.fd)
	}
	l.pending = nil
	close(l.dropped)
	l.lines, l.dropped = make(chan string), make(chan struct{})
}

func (l *LineReader) read() {
	defer l.done.Done()
	defer l.end()
	for l.give() {
		if l.fill() != nil {
			l.endLine()
			l.give()
			return
		}
	}
}

// give hands the whole lines over. It says whether more are wanted.
func (l *LineReader) give() bool {
	for {
		line, to, dropped := l.next()
		if to == nil {
			return true
		}
		select {
		case to <- line:
		case <-dropped:
		case <-l.stop:
			return false
		}
	}
}

// next takes a whole line out of what is pending; without one, to is nil.
func (l *LineReader) next() (line string, to chan<- string, dropped <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, after, whole := bytes.Cut(l.pending, []byte("\n"))
	if !whole {
		return "", nil, nil
	}
	line, l.pending = string(bytes.TrimRight(before, "\r")), after
	return line, l.lines, l.dropped
}

// fill waits for input and adds it to what is pending. The lock keeps a Drop
// from falling between the reading and the adding.
func (l *LineReader) fill() error {
	buf := make([]byte, 4096)
	if l.file == nil {
		n, err := l.r.Read(buf)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.pending = append(l.pending, buf[:n]...)
		return err
	}
	if err := l.file.wait(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.file.ready() {
		return nil // dropped since
	}
	n, err := l.r.Read(buf)
	l.pending = append(l.pending, buf[:n]...)
	return err
}

// endLine makes a line of what was typed without its end.
func (l *LineReader) endLine() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) > 0 {
		l.pending = append(l.pending, '\n')
	}
}

func (l *LineReader) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	close(l.lines)
}

// Close ends the reading and waits for it. What was not taken is lost.
func (l *LineReader) Close() {
	l.once.Do(func() {
		close(l.stop)
		if l.wake != nil {
			_ = l.wake.Close() // the other end notices either way
		}
		l.done.Wait()
	})
}

// source is a descriptor that is read until its sleeper is woken.
type source struct {
	fd      int
	sleeper *os.File
}

// wait returns when there is something to read; io.EOF when it was woken.
func (s *source) wait() error {
	fds := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}, {Fd: int32(s.sleeper.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case fds[1].Revents != 0:
			_ = s.sleeper.Close() // nothing was written to it
			return io.EOF
		}
		return nil
	}
}

// ready says whether a read would return at once.
func (s *source) ready() bool {
	fds := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, 0)
		if err == unix.EINTR {
			continue
		}
		return err != nil || n > 0
	}
}
