package fold

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

// ran is the result of a command with its exit code.
func ran(id string, exit int) event.Fact {
	return event.ToolCompleted{ToolUseID: id, ModelText: "out", DurationMS: 5, UI: event.ToolUI{Kind: event.UIExec, ExitCode: &exit}}
}

func test(id string) event.Fact { return called("r", id, "bash", `{"command":"go test"}`) }

func TestCommandsThatEndedAreRuns(t *testing.T) {
	run := func(seq int64, exit int) Run {
		return Run{Seq: seq, Command: "go test", ExitCode: exit, Output: "out", DurationMS: 5}
	}
	for _, tt := range []struct {
		name  string
		facts []event.Fact
		want  []Run
	}{
		{"with their own exit code, in the order of their ends", then(said("go"), test("a"), test("b"), ran("b", 1), ran("a", 0)), []Run{run(4, 1), run(5, 0)}},
		{"once each", then(said("go"), test("a"), ran("a", 0), ran("a", 1)), []Run{run(3, 0)}},
		{"not when they failed to run or were stopped", then(said("go"), test("a"), test("b"), toolFailed("a"), cancelled("b"), ran("a", 0), ran("b", 0)), nil},
		{"not without an exit code", then(said("go"), test("a"), completed("a")), nil},
		{"not of other tools", then(said("go"), called("r", "a", "process", `{"command":"go test"}`), ran("a", 0)), nil},
		{"not with an input that is none", then(said("go"), called("r", "a", "bash", `{"command":7}`), ran("a", 0)), nil},
		{"the message after a task starts with none", then(said("go"), test("a"), ran("a", 0), event.TaskCompleted{}, said("on")), nil},
		{"as does a queued message that the engine takes", then(test("a"), ran("a", 0), event.MessageDequeued{By: event.TakenByEngine}), nil},
		{"but not one that the user takes back", then(test("a"), ran("a", 0), event.MessageDequeued{By: event.TakenByUser}), []Run{run(2, 0)}},
		{"nor one that goes on with a task after a crash", then(said("go"), test("a"), ran("a", 0), event.SessionResumed{}, said("on")), []Run{run(3, 0)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := folded(Runs{}, records(tt.facts...)).Done(); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestWorkBeginsWithTheMessageAfterATaskHasEnded(t *testing.T) {
	for _, tt := range []struct {
		name  string
		facts []event.Fact
		want  int64
	}{
		{"with nothing", then(test("a")), 0},
		{"with the first message", then(event.SessionStarted{}, said("go"), event.SteeringQueued{Text: "so"}), 2},
		{"and a message that comes after a crash goes on with it", then(said("go"), event.SessionResumed{}, said("on")), 1},
		{"until the task is completed", then(said("go"), event.TaskCompleted{}, said("more")), 3},
		{"or failed", then(said("go"), event.TaskFailed{}, said("more")), 3},
		{"or interrupted", then(said("go"), event.Interrupted{}, said("more")), 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := folded(Runs{}, records(tt.facts...)).Since; got != tt.want {
				t.Errorf("since %d, want %d", got, tt.want)
			}
		})
	}
}

func TestACallWhoseChangesNobodySawStaysUntilATaskIsCompleted(t *testing.T) {
	begins := func(id, tool string) []event.Fact {
		return then(called("r", id, tool, `{}`), event.ToolStarted{ToolUseID: id})
	}
	crash := func(id string) event.Fact {
		return event.ToolCancelled{ToolUseID: id, Reason: event.CancelRecovery}
	}
	for _, tt := range []struct {
		name  string
		facts []event.Fact
		want  []string
	}{
		{"a command", then(said("go"), begins("a", "bash"), crash("a")), []string{"bash a 3000 4 true"}},
		{"a change of a file", then(said("go"), begins("a", "edit"), crash("a")), []string{"edit a 3000 4 true"}},
		{"a tool of somebody else's", then(said("go"), begins("a", "mcp__x__y"), crash("a")), []string{"mcp__x__y a 3000 4 true"}},
		{"but not one that only reads", then(said("go"), begins("a", "read"), begins("b", "grep"), begins("c", "glob"), crash("a"), crash("b"), crash("c")), nil},
		{"nor one that had not begun", then(said("go"), called("r", "a", "bash", `{}`), crash("a")), nil},
		{"nor one that the runtime stopped and looked after", then(said("go"), begins("a", "bash"), cancelled("a")), nil},
		{"nor a change that was recorded in time", then(said("go"), begins("a", "write"), modified("x", "a", event.FileWritten, 1, 0, "s"), crash("a")), nil},
		{"nor one that the recovery recorded", then(said("go"), begins("a", "write"), crash("a"), modified("x", "a", event.FileWritten, 1, 0, "s")), nil},
		{"but a command may have changed more", then(said("go"), begins("a", "bash"), crash("a"), modified("x", "a", event.FileExecuted, 1, 0, "s")), []string{"bash a 3000 4 true"}},
		{"also when the user says how to go on", then(said("go"), begins("a", "bash"), crash("a"), said("on")), []string{"bash a 3000 4 true"}},
		{"also when a task came to nothing in between", then(said("go"), begins("a", "bash"), crash("a"), event.TaskFailed{}, said("on")), []string{"bash a 3000 4 true"}},
		{"in a tree that is not watched, a command that was stopped or went on", then(
			said("go"), event.ContextNoted{Text: BlindNote}, begins("a", "bash"), begins("b", "process"), begins("c", "edit"),
			toolFailed("a"), completed("b"), completed("c"),
		), []string{"bash a 4000 9 false", "process b 6000 10 false"}},
		{"but not one that ran to its end", then(said("go"), event.ContextNoted{Text: BlindNote}, begins("a", "bash"), ran("a", 0)), nil},
		{"a completed task has told of it", then(said("go"), begins("a", "bash"), crash("a"), event.TaskCompleted{}, said("on")), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, u := range folded(Runs{}, records(tt.facts...)).Unseen() {
				got = append(got, fmt.Sprintf("%s %s %d %d %t", u.Tool, u.ToolUseID, u.StartTS, u.Seq, u.Crash))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestATreeThatCannotBeWatchedIsKnownFromTheNoteOnIt(t *testing.T) {
	if folded(Runs{}, records(said("go"), event.ContextNoted{Text: "the date"})).Blind {
		t.Error("any note says so")
	}
	if !folded(Runs{}, records(said("go"), event.ContextNoted{Text: BlindNote}, event.TaskCompleted{}, said("on"))).Blind {
		t.Error("the note is forgotten")
	}
}
