package repo

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/fold"
)

// pipe makes a named pipe, into which nobody writes.
func (p place) pipe(name string) {
	p.t.Helper()
	_ = os.Remove(p.path(name)) // .git/info/exclude is there
	if err := syscall.Mkfifo(p.path(name), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// impatient hardly waits. Every test here holds, too, when a git that nothing
// holds takes longer.
func impatient(p place) *Repo {
	r := p.open()
	r.patience = 300 * time.Millisecond
	return r
}

func TestAPipeThatGitReadsHoldsNobody(t *testing.T) {
	for _, name := range []string{".gitignore", "sub/.gitignore", ".git/info/exclude", ".gitattributes", ".git/info/attributes"} {
		t.Run(name, func(t *testing.T) {
			p := repository(t)
			p.write("sub/f", "")
			p.write("a.txt", "changed\n")
			p.pipe(name)
			r := impatient(p)
			b, ok := r.Baseline(t.Context())
			if ok && r.silent.Load() {
				t.Errorf("baseline %+v", b)
			}
			tracker := newTracker(r)
			tracker.Begin(t.Context())
			p.write("a.txt", "changed again\n")
			if changed := tracker.Changed(t.Context()); tracker.Blind() != r.silent.Load() || tracker.Blind() != (len(changed) == 0) {
				t.Errorf("blind %v, silent %v, changed %+v", tracker.Blind(), r.silent.Load(), changed)
			}
			tracker.Missed(t.Context(), time.Now().Add(-time.Hour), fold.Changes{}, "")
		})
	}
}

func TestASilentGitIsAskedOnce(t *testing.T) {
	p := repository(t)
	p.pipe(".gitignore")
	r := impatient(p)
	if _, ok := r.Baseline(t.Context()); ok || !r.silent.Load() {
		t.Error("there is a baseline")
	}
	r.patience = time.Hour // nobody waits for it
	tracker := newTracker(r)
	for range 3 {
		tracker.Begin(t.Context())
		tracker.Changed(t.Context())
	}
	if !tracker.Blind() {
		t.Error("the tracker is not blind")
	}
}

func TestAPipeThatACommandMakesBlindsTheTracker(t *testing.T) {
	p := repository(t)
	s := session{p, newTracker(impatient(p))}
	s.none(s.command(func() { p.write("new.log", "x"); p.pipe(".gitignore") }))
	if !s.tracker.Blind() {
		t.Error("the tracker is not blind")
	}
}

func TestAnInterruptEndsTheWaitForGit(t *testing.T) {
	p := repository(t)
	p.pipe(".gitignore")
	r := p.open()
	r.patience = time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := r.status(ctx); !errors.Is(err, context.DeadlineExceeded) || r.silent.Load() {
		t.Errorf("got %v, silent %v", err, r.silent.Load())
	}
}
