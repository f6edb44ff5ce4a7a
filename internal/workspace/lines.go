package workspace

import (
	"bufio"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// LineReader reads lines of a terminal or a pipe while its owner does other
// things. C is closed at the end of the input.
type LineReader struct {
	C <-chan string

	wake *os.File // closing it ends a read that waits
	stop chan struct{}
	done sync.WaitGroup
	once sync.Once
}

// Lines starts reading. A reader that is not a file cannot be interrupted:
// Close then waits for its end.
func Lines(r io.Reader) *LineReader {
	c := make(chan string)
	l := &LineReader{C: c, stop: make(chan struct{})}
	if f, ok := r.(interface{ Fd() uintptr }); ok {
		if sleeper, wake, err := os.Pipe(); err == nil {
			l.wake = wake
			r = &wakeable{Reader: r, fd: int32(f.Fd()), sleeper: sleeper}
		}
	}
	l.done.Add(1)
	go l.read(bufio.NewReader(r), c)
	return l
}

func (l *LineReader) read(r *bufio.Reader, c chan<- string) {
	defer l.done.Done()
	defer close(c)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			select {
			case c <- strings.TrimRight(line, "\r\n"):
			case <-l.stop:
				return
			}
		}
		if err != nil {
			return
		}
	}
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

// wakeable reads from a descriptor until its sleeper is woken.
type wakeable struct {
	io.Reader
	fd      int32
	sleeper *os.File
}

func (w *wakeable) Read(p []byte) (int, error) {
	fds := []unix.PollFd{{Fd: w.fd, Events: unix.POLLIN}, {Fd: int32(w.sleeper.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case fds[1].Revents != 0:
			_ = w.sleeper.Close() // nothing was written to it
			return 0, io.EOF
		}
		return w.Reader.Read(p)
	}
}
