package fold

import (
	"fmt"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

// shown are the items of a timeline, one short line each.
func shown(tl Timeline) []string {
	var out []string
	for _, i := range tl.Items() {
		line := fmt.Sprintf("%d %s", i.Seq, i.Kind)
		for _, part := range []string{string(i.Status), i.ID, i.Title, i.Text, i.Summary} {
			if part != "" {
				line += " " + part
			}
		}
		if i.Ask != nil {
			line += " ?" + i.Ask.PermissionRequestID
		}
		for _, f := range i.Files {
			line += fmt.Sprintf(" %s+%d-%d", f.Path, f.DiffStats.Added, f.DiffStats.Removed)
		}
		if i.Evidence != nil {
			line += " " + i.Evidence.Objective
		}
		out = append(out, line)
	}
	return out
}

func TestTheTimelineIsWhatAPersonSees(t *testing.T) {
	ask := event.PermissionRequested{PermissionRequestID: "p1", ToolUseID: "a"}
	call := then(started("r1"), called("r1", "a", "bash", `{}`))
	for _, tt := range []struct {
		name  string
		facts []event.Fact
		want  []string
	}{
		{
			name: "sessions begin, go on and fork",
			facts: then(
				event.SessionStarted{Title: "t", Model: "m", WorkingDirectory: "/w"}, event.SessionResumed{Model: "n"},
				event.SessionForked{FromSessionID: "o", AtSeq: 7}, event.ModelChanged{From: "m", To: "n"},
			),
			want: []string{"1 session t m in /w", "2 session resumed n", "3 session forked from o at 7", "4 note model changed from m to n"},
		},
		{
			name:  "an answer is shown block by block",
			facts: then(said("go"), started("r1"), thought("r1", "hm"), text("r1", "well"), answered("r1", event.StopEndTurn)),
			want:  []string{"1 user go", "3 thinking hm", "4 assistant well"},
		},
		{name: "a call waits", facts: call, want: []string{"2 tool waiting a bash {}"}},
		{name: "a call runs", facts: then(call, event.ToolStarted{ToolUseID: "a"}), want: []string{"2 tool running a bash {}"}},
		{
			name:  "a call is done",
			facts: then(call, event.ToolCompleted{ToolUseID: "a", UI: event.ToolUI{Summary: "3 lines"}}),
			want:  []string{"2 tool done a bash {} 3 lines"},
		},
		{name: "a call failed", facts: then(call, toolFailed("a")), want: []string{"2 tool failed a bash {} not-found"}},
		{name: "a call was cancelled", facts: then(call, cancelled("a")), want: []string{"2 tool cancelled a bash {} interrupted"}},
		{
			name: "changed files belong to their call",
			facts: then(
				call, text("r1", "well"), modified("x.go", "a", event.FileEdited, 2, 1, ""), modified("y.go", "a", event.FileEdited, 1, 0, ""),
				modified("z.go", "", event.FileExecuted, 9, 9, ""), completed("a"),
			),
			want: []string{"2 tool done a bash {} x.go+2-1 y.go+1-0", "3 assistant well"},
		},
		{name: "a permission is asked", facts: then(call, ask), want: []string{"2 tool waiting a bash {} ?p1"}},
		{name: "and given", facts: then(call, ask, event.PermissionGranted{PermissionRequestID: "p1"}), want: []string{"2 tool waiting a bash {}"}},
		{name: "and refused", facts: then(call, ask, event.PermissionDenied{PermissionRequestID: "p1"}), want: []string{"2 tool waiting a bash {}"}},
		{name: "another's answer is not its answer", facts: then(call, ask, event.PermissionGranted{PermissionRequestID: "p2"}), want: []string{"2 tool waiting a bash {} ?p1"}},
		{
			name: "a queued word waits at the end and moves to where it enters",
			facts: then(
				event.SteeringQueued{Text: "faster"}, call, completed("a"), event.SteeringInjected{QueuedEventID: "e1"}, text("r1", "well"),
			),
			want: []string{"3 tool done a bash {}", "5 steering done e1 faster", "6 assistant well"},
		},
		{name: "until then it is last", facts: then(event.SteeringQueued{Text: "faster"}, said("go")), want: []string{"2 user go", "1 steering waiting e1 faster"}},
		{
			name:  "a word taken back is shown so",
			facts: then(event.SteeringQueued{Text: "faster"}, said("go"), event.SteeringWithdrawn{QueuedEventID: "e1"}),
			want:  []string{"2 user go", "3 steering cancelled e1 faster"},
		},
		{
			name: "queued messages move or are taken back likewise",
			facts: then(
				event.MessageQueued{Text: "one"}, event.MessageQueued{Text: "two"}, event.MessageQueued{Text: "three"},
				event.MessageDequeued{QueuedEventID: "e2", By: event.TakenByUser}, event.MessageDequeued{QueuedEventID: "e1", By: event.TakenByEngine},
				event.MessageDequeued{QueuedEventID: "e9", By: event.TakenByEngine},
			),
			want: []string{"4 user cancelled e2 two", "5 user done e1 one", "3 user waiting e3 three"},
		},
		{
			name: "a failed attempt shows what was dropped and why",
			facts: then(
				said("go"), started("r1"), text("r1", "well"), called("r1", "a", "bash", `{}`),
				event.ModelRequestFailed{RequestID: "r1", Kind: event.ErrorRetryable, Message: "overloaded"}, cancelled("a"),
			),
			want: []string{
				"1 user go", "3 assistant cancelled well response-failed", "4 tool cancelled a bash {} response-failed", "5 failure failed retryable overloaded",
			},
		},
		{
			name: "an interrupted attempt keeps what was seen",
			facts: then(
				started("r1"), text("r1", "well"), called("r1", "a", "bash", `{}`), event.Interrupted{}, cancelled("a"), attemptFailed("r1", event.ErrorCancelled),
			),
			want: []string{"2 assistant well", "3 tool cancelled a bash {} interrupted", "4 note interrupted", "6 failure failed cancelled"},
		},
		{
			name: "a process has an item for its start and one for its end",
			facts: then(
				event.ProcessStarted{ProcessID: "p", Command: "serve"}, said("go"), event.ProcessExited{ProcessID: "p", Cause: event.Crashed},
			),
			want: []string{"1 process running p serve", "2 user go", "3 process done p crashed"},
		},
		{
			name: "what happened to the context is noted",
			facts: then(
				event.ContextNoted{Text: "new day"}, event.ContextPruned{ToolUseIDs: []string{"a", "b"}}, event.ContextCompacted{},
				event.ShellRun{Command: "ls", ExitCode: 2, Output: "a"},
			),
			want: []string{"1 note new day", "2 note 2 old results pruned", "3 note context compacted", "4 note ! ls a exit 2"},
		},
		{
			name:  "a task ends with its evidence or its reason",
			facts: then(event.TaskCompleted{Evidence: event.CompletionEvidence{Objective: "go"}}, event.TaskFailed{Reason: event.FailedCost, Detail: "raise it"}),
			want:  []string{"1 result done go", "2 result failed cost-budget-exhausted raise it"},
		},
		{name: "an unknown fact is shown as it is", facts: then(event.Unknown{Type: "x.y", Raw: []byte(`{"z":1}`)}), want: []string{`1 unknown x.y {"z":1}`}},
		{name: "what is not for showing is not shown", facts: then(event.BaselineRecorded{}, event.TierRecorded{}, read("a", "1")), want: nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := difference(shown(folded(Timeline{}, records(tt.facts...))), tt.want); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestItemsCarryTheTimeOfTheirFact(t *testing.T) {
	items := folded(Timeline{}, records(event.SteeringQueued{Text: "w"}, said("go"), event.SteeringInjected{QueuedEventID: "e1"})).Items()
	if items[0].TS != 2000 || items[1].TS != 3000 {
		t.Errorf("the items are of %d and %d ms", items[0].TS, items[1].TS)
	}
}
