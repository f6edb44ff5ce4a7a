package cli

import (
	"encoding/json"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

func TestTheDemoSucceedsOnlyWithItsProof(t *testing.T) {
	failed, passed := &checkRun{ExitCode: 1}, &checkRun{}
	done := result{Outcome: outcomeCompleted}
	for name, c := range map[string]struct {
		r    demoResult
		want int
	}{
		"proven":               {demoResult{result: done, Before: failed, After: passed}, exitOK},
		"passed before":        {demoResult{result: done, Before: passed, After: passed}, exitFailed},
		"fails after":          {demoResult{result: done, Before: failed, After: failed}, exitFailed},
		"not run before":       {demoResult{result: done, After: passed}, exitFailed},
		"not run after":        {demoResult{result: done, Before: failed}, exitFailed},
		"off its script":       {demoResult{result: done, Before: failed, After: passed, Problems: []string{"x"}}, exitFailed},
		"completed unverified": {demoResult{result: result{Outcome: outcomeUnverified}, Before: failed, After: passed}, exitUnverified},
		"failed":               {demoResult{result: result{Outcome: outcomeFailed}, Before: failed, After: passed}, exitFailed},
		"interrupted":          {demoResult{result: result{Outcome: outcomeInterrupted}}, exitInterrupted},
		"terminated":           {demoResult{result: result{Outcome: outcomeInterrupted, exit: exitTerminated}}, exitTerminated},
	} {
		if got := c.r.code(); got != c.want {
			t.Errorf("%s: exit code %d, want %d", name, got, c.want)
		}
	}
}

func TestProofIsTheCheckAroundTheChanges(t *testing.T) {
	var s fold.Session
	seq := int64(0)
	publish := func(f event.Fact) int64 {
		seq++
		s = s.Apply(event.Record{Seq: seq, Fact: f})
		return seq
	}
	run := func(id, command string, code int) int64 {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		publish(event.ToolRequested{ToolUseID: id, ToolName: "bash", Input: input})
		return publish(event.ToolCompleted{ToolUseID: id, UI: event.ToolUI{ExitCode: &code}})
	}
	publish(event.UserMessageCreated{Text: "fix"})
	run("1", "ls", 0)
	if before, after := proof(s); before != nil || after != nil {
		t.Fatal("nothing was changed, so nothing is proven")
	}
	first := run("2", demoCheck, 1)
	run("3", demoCheck, 2)
	publish(event.FileModified{Path: "a.go"})
	run("4", demoCheck, 3)
	publish(event.FileModified{Path: "b.go"})
	run("5", "true", 0)
	last := run("6", demoCheck, 0)
	before, after := proof(s)
	if before == nil || *before != (checkRun{demoCheck, 1, first}) {
		t.Errorf("before: %+v", before)
	}
	if after == nil || *after != (checkRun{demoCheck, 0, last}) {
		t.Errorf("after: %+v", after)
	}
}
