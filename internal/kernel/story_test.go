package kernel

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

var update = flag.Bool("update", false, "rewrite the stories with what happens now")

// TestStories tells the stories of testdata. A story is a list of scenes: a
// line of comment, commands, a line of dashes, and what was derived (at the
// margin) and published (indented). The commands are
//
//	with compactor|verifier|user|turns N|window N   what the kernel has
//	say TEXT                                        the user writes
//	expect SERVICE STEP; STEP                       the next call of a service
//	run                                             the kernel runs
//	resume                                          another program opens the log
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("stories: %v %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { tell(t, file) })
	}
}

func tell(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t)
	var told strings.Builder
	for scene := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		commands, want, _ := strings.Cut(scene+"\n", "----\n")
		s.out.Reset()
		for command := range strings.Lines(commands) {
			s.do(strings.TrimSpace(command))
		}
		if got := s.out.String(); got != want && !*update {
			t.Errorf("%s\ngot\n%s\nwant\n%s", commands, got, want)
		}
		fmt.Fprintf(&told, "%s----\n%s\n", commands, s.out.String())
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.TrimRight(told.String(), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *stage) do(command string) {
	verb, rest, _ := strings.Cut(command, " ")
	switch verb {
	case "#":
	case "with":
		s.with(rest)
	case "say":
		s.log.must(event.UserMessageCreated{Text: rest})
	case "expect":
		s.script = append(s.script, rest)
	case "run":
		s.run()
	case "resume":
		s.resume()
	default:
		s.t.Fatalf("no command %q", command)
	}
}

func (s *stage) with(what string) {
	name, number, _ := strings.Cut(what, " ")
	n, _ := strconv.Atoi(number)
	switch name {
	case "compactor":
		s.kernel.Compactor = compactor{s}
	case "verifier":
		s.kernel.Verifier = verifier{s}
	case "user":
		s.kernel.User = user{s}
	case "turns":
		s.kernel.MaxResponses = n
	case "window":
		s.kernel.CompactAbove = int64(n)
	default:
		s.t.Fatalf("no service %q", what)
	}
}
