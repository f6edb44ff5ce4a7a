package kernel

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/verify"
)

var shipped = Judge{IsCheck: verify.Project("/p").IsCheck, ChangesNothing: verify.Project("/p").ChangesNothing}

const (
	noCheck   = "code was changed and no check of the project ran after the last change"
	failedOne = "the check `go test ./...` failed after the last change"
	cutOff    = "a call was cut off by a crash, what it changed is not known, and no check of the project ran after it"
	unwatched = "the tree is too large to see what commands changed, and no check of the project ran after them"
)

func TestEvidenceIsAPassedCheckAfterTheLastChange(t *testing.T) {
	edit, pass, fail := edits("e", "a.go"), runs("p", "go test ./...", 0), runs("f", "go test ./...", 1)
	for _, row := range []struct {
		name   string
		facts  []event.Fact
		issue  string // "" is verified
		checks int
	}{
		{"nothing changed", then(hello, fail), "", 1},
		{"changed and not checked", then(hello, edit), noCheck, 0},
		{"changed, then checked", then(hello, edit, pass), "", 1},
		{"checked, then changed", then(hello, pass, edit), noCheck, 0},
		{"the check failed", then(hello, edit, fail), failedOne, 1},
		{"it failed, then passed", then(hello, edit, fail, pass), "", 2},
		{"it passed, then failed", then(hello, edit, pass, fail), failedOne, 2},
		{"it failed, and another one passed", then(hello, edit, fail, runs("o", "go vet ./...", 0)), failedOne, 2},
		{"fixed after the failure and not checked again", then(hello, fail, edit), noCheck, 0},
		{"the failure was masked by a pipe", then(hello, edit, runs("m", "go test ./... | tail -5", 0)), noCheck, 0},
		{"the failure was masked by ||", then(hello, edit, runs("m", "go test ./... || true", 0)), noCheck, 0},
		{"the failure was masked by what followed", then(hello, edit, runs("m", "go test ./...; echo ok", 0)), noCheck, 0},
		{"a list of && shows every failure", then(hello, edit, runs("m", "go vet ./... && go test ./... && echo ok", 0)), "", 1},
		{"a list of && that changed something afterwards", then(hello, edit, runs("m", "go test ./... && gofmt -w .", 0)), noCheck, 0},
		{"only what the check printed is no check", then(hello, edit, runs("m", "echo PASS", 0)), noCheck, 0},
		{"a program that is not there checks nothing", then(hello, edit, runs("m", "pytest", 127)), noCheck, 1},
		{"nor does it fail what another check shows", then(hello, edit, runs("m", "pytest", 127), pass), "", 2},
		{"documentation needs no check", then(hello, edits("1", "README.md"), edits("2", "docs/notes.TXT"), edits("3", "LICENSE-MIT"), edits("4", "CHANGELOG")), "", 0},
		{"documentation changed after the check", then(hello, edit, pass, edits("1", "README.md")), "", 1},
		{"code that is named like documentation", then(hello, edits("1", "changelog.go")), noCheck, 0},
		{"a text file that a build reads", then(hello, edits("1", "CMakeLists.txt")), noCheck, 0},
		{"a text file that an installer reads", then(hello, edits("1", "requirements-dev.txt")), noCheck, 0},
		{"a change by a command", then(hello, pass, event.FileModified{Path: "a.go", Operation: event.FileExecuted}), noCheck, 0},
		{"a check of an earlier task", then(hello, edit, pass, event.TaskCompleted{}, says("more"), edits("1", "b.go")), noCheck, 0},
		{"an edit before the crash that a message goes on after", then(hello, edit, event.SessionResumed{}, says("on"), answers("r", event.StopEndTurn)), noCheck, 0},
		{"a command that a crash cut off", then(hello, crashes("c", "bash", `{"command":"x"}`)), cutOff, 0},
		{"a change that a crash cut off", then(hello, crashes("c", "edit", `{"path":"a.go"}`)), cutOff, 0},
		{"a change of documentation that a crash cut off", then(hello, crashes("c", "edit", `{"path":"README.md"}`)), "", 0},
		{"a change that was recovered", then(hello, crashes("c", "edit", `{"path":"a.go"}`), event.FileModified{Path: "a.go", ToolUseID: "tc", Operation: event.FileEdited}), noCheck, 0},
		{"what a crash cut off, then checked", then(hello, crashes("c", "bash", `{"command":"x"}`), pass), "", 1},
		{"checked, then cut off", then(hello, pass, crashes("c", "bash", `{"command":"x"}`)), cutOff, 0},
		{"cut off and failed", then(hello, crashes("c", "bash", `{"command":"x"}`), fail), failedOne, 1},
		{"cut off, then changed", then(hello, crashes("c", "bash", `{"command":"x"}`), edit), noCheck + "\n" + cutOff, 0},
		{"cut off, checked, then changed", then(hello, crashes("c", "bash", `{"command":"x"}`), pass, edit), noCheck, 0},
		{"cut off, and the user says how to go on", then(hello, crashes("c", "bash", `{"command":"x"}`), says("on"), answers("r", event.StopEndTurn)), cutOff, 0},
		{"a command in a tree that is not watched", then(hello, blind, runs("m", "make", 0)), unwatched, 0},
		{"one that only looks there", then(hello, blind, runs("m", "ls -l", 0)), "", 0},
		{"one there before the check", then(hello, blind, runs("m", "make", 0), pass), "", 1},
		{"one there that was stopped", then(hello, blind, started("m"), calls("m", "tm", "bash", `{"command":"x"}`), event.ToolStarted{ToolUseID: "tm"}, cancelled("tm")), unwatched, 0},
		{"a check elsewhere", then(hello, edit, started("m"), calls("m", "tm", "bash", `{"command":"go test ./...","cwd":"/tmp"}`), answered("m", event.StopToolUse), exited("tm", 0)), noCheck, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			e := Evidence(logOf(row.facts...).folded, shipped)
			if got := strings.Join(e.UnresolvedIssues, "\n"); got != row.issue {
				t.Errorf("unresolved %q, want %q", got, row.issue)
			}
			if len(e.Checks) != row.checks {
				t.Errorf("checks %+v, want %d", e.Checks, row.checks)
			}
		})
	}
}

func TestEvidenceNamesWhatTheTaskChangedAndWhatItsChecksSaid(t *testing.T) {
	code := 0
	facts := then(says("fix it"), edits("1", "b.go"), edits("2", "a.go"), edits("3", "b.go"), started("4"),
		calls("4", "t4", "bash", `{"command":"go test ./..."}`), answered("4", event.StopToolUse),
		event.ToolCompleted{ToolUseID: "t4", ModelText: "--- \nok  example 0.1s\n[took 0.2s]\n", DurationMS: 7, UI: event.ToolUI{ExitCode: &code}})
	e := Evidence(logOf(facts...).folded, shipped)
	if e.Objective != "fix it" || !slices.Equal(e.ChangedFiles, []string{"b.go", "a.go"}) {
		t.Errorf("evidence %+v", e)
	}
	want := event.CheckResult{Command: "go test ./...", Summary: "ok  example 0.1s", DurationMS: 7}
	if len(e.Checks) != 1 || e.Checks[0] != want {
		t.Errorf("checks %+v, want %+v", e.Checks, want)
	}
}

func TestASummaryIsTheLastLineThatSaysSomething(t *testing.T) {
	long := strings.Repeat("ü", 200)
	for output, want := range map[string]string{
		"":                           "",
		"one":                        "one",
		"one\ntwo\n\n":               "two",
		"one\n[note]\n[another]":     "one",
		"[only a note]":              "[only a note]",
		long:                         strings.Repeat("ü", 120) + "…",
		"first\r\nsecond\r\n[x]\r\n": "second",
	} {
		if got := lastLine(output); got != want {
			t.Errorf("lastLine(%q) = %q, want %q", output, got, want)
		}
	}
}

// crashes is an answer with one call in whose middle the program dies.
func crashes(request, tool, input string) []event.Fact {
	id := "t" + request
	return []event.Fact{
		started(request), calls(request, id, tool, input), answered(request, event.StopToolUse),
		event.ToolStarted{ToolUseID: id},
		event.ToolCancelled{ToolUseID: id, Reason: event.CancelRecovery},
		event.SessionResumed{},
	}
}

var blind = event.ContextNoted{Text: fold.BlindNote}

func TestWhatAnEndedTaskHoldsIsBounded(t *testing.T) {
	facts := then(says(strings.Repeat("ü", 3000)))
	for i := range 1500 {
		facts = append(facts, modified(fmt.Sprintf("f%d.go", i)))
	}
	facts = then(facts, runs("r", "go test "+strings.Repeat("x", 3000), 1))
	e := Evidence(logOf(facts...).folded, shipped)
	if n := len([]rune(e.Objective)); n != 2001 {
		t.Errorf("the objective has %d characters", n)
	}
	if n := len(e.ChangedFiles); n != 1001 || e.ChangedFiles[999] != "f999.go" || e.ChangedFiles[1000] != "… and 500 more" {
		t.Errorf("%d changed files, the last %q", n, e.ChangedFiles[n-1])
	}
	if n := len([]rune(e.Checks[0].Command)); n != 401 {
		t.Errorf("the command has %d characters", n)
	}
	if n := len(e.UnresolvedIssues[0]); n > 500 {
		t.Errorf("the issue has %d bytes", n)
	}
}

func TestADetailIsBoundedWhateverItRepeats(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	repeated := then(hello)
	for _, r := range []string{"1", "2", "3"} {
		repeated = then(repeated, runs(r, long, 0))
	}
	for name, log := range map[string]*log{
		"a call":           logOf(repeated...),
		"a failure":        logOf(hello, started("1"), event.ModelRequestFailed{RequestID: "1", Kind: event.ErrorAuth, Message: long}),
		"a full window":    logOf(hello, started("1"), event.ModelRequestFailed{RequestID: "1", Kind: event.ErrorContextOverflow, Message: long}),
		"a call, attended": logOf(repeated...),
	} {
		var shown string
		switch a := next(log.folded, Limits{CanAsk: name == "a call, attended"}).(type) {
		case Fail:
			shown = a.Detail
		case AskUser:
			shown = a.Call
		}
		if len(shown) < 100 || len(shown) > 2500 {
			t.Errorf("%s: %d bytes", name, len(shown))
		}
	}
}
