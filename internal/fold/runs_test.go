package fold

import (
	"reflect"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

// ran is the result of a command with its exit code.
func ran(id string, exit int) event.Fact {
	return event.ToolCompleted{ToolUseID: id, ModelText: "out", DurationMS: 5, UI: event.ToolUI{Kind: event.UIExec, ExitCode: &exit}}
}

func TestCommandsThatEndedAreRuns(t *testing.T) {
	test := func(id string) event.Fact { return called("r", id, "bash", `{"command":"go test"}`) }
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
		{"the next message starts with none", then(said("go"), test("a"), ran("a", 0), said("on")), nil},
		{"as does a queued message that the engine takes", then(test("a"), ran("a", 0), event.MessageDequeued{By: event.TakenByEngine}), nil},
		{"but not one that the user takes back", then(test("a"), ran("a", 0), event.MessageDequeued{By: event.TakenByUser}), []Run{run(2, 0)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := folded(Runs{}, records(tt.facts...)).Done(); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}
