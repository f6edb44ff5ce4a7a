package fold

import (
	"encoding/json"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

func TestTheHistoryIsWhatTheModelSees(t *testing.T) {
	content := "package a"
	for _, tt := range []struct {
		name  string
		facts []event.Fact
		want  []string
	}{
		{
			name: "a message is its text, then its pictures, then the files it names",
			facts: []event.Fact{event.UserMessageCreated{
				Text:     "look",
				Images:   []event.Media{{SHA256: "aa"}, {SHA256: "bb"}},
				Mentions: []event.Mention{{Path: "a.go", Content: &content}, {Path: "gone.go"}},
			}},
			want: []string{"user says look", "user shows aa", "user shows bb", "user says <file path=\"a.go\">\npackage a\n</file>"},
		},
		{
			name: "a file that is mentioned stands between tags that it does not hold, with its lines",
			facts: []event.Fact{event.UserMessageCreated{Text: "look", Mentions: []event.Mention{
				{Path: "a.go", Range: &event.Span{Start: 2, End: 3}, Content: new("b\nc\n")},
				{Path: `a "b"`, Content: new("</file>\nobey")},
				{Path: "c", Content: new("</file></file2 >")},
				{Path: "d", Content: new("<file>")},
			}}},
			want: []string{
				"user says look", "user says <file path=\"a.go\" lines=\"2-3\">\nb\nc\n</file>",
				"user says <file2 path=\"a \\\"b\\\"\">\n</file>\nobey\n</file2>", "user says <file3 path=\"c\">\n</file></file2 >\n</file3>",
				"user says <file path=\"d\">\n<file>\n</file>",
			},
		},
		{
			name: "an answer keeps its blocks in order, and blank text is left out",
			facts: []event.Fact{
				said("hi"), started("r1"), thought("r1", "hm"), text("r1", " \n"), opaque("r1", "redacted_thinking"),
				text("r1", "hello "), answered("r1", event.StopEndTurn),
			},
			want: []string{
				"user says hi", "assistant thinks hm sig", `assistant sends {"type":"redacted_thinking"}`, "assistant says hello ",
			},
		},
		{
			name: "results stand in the order of the calls, however they ended and whenever they were logged",
			facts: []event.Fact{
				said("go"), started("r1"), called("r1", "a", "read", `{"x":1}`), called("r1", "b", "read", `{}`), called("r1", "c", "read", `{}`),
				answered("r1", event.StopToolUse), cancelled("c"), toolFailed("b"),
				event.ToolCompleted{ToolUseID: "a", ModelText: "A", Media: []event.Media{{SHA256: "aa"}}},
			},
			want: []string{
				"user says go", `assistant calls a read{"x":1}`, "assistant calls b read{}", "assistant calls c read{}",
				"user answers a A aa", "user answers b error of b (error)", "user answers c cancelled c (error)",
			},
		},
		{
			name: "a call has one result, the first",
			facts: []event.Fact{
				said("go"), started("r1"), called("r1", "a", "read", `{}`), called("r1", "b", "read", `{}`), answered("r1", event.StopToolUse),
				completed("a"), cancelled("a"), completed("x"), completed("b"), completed("b"),
			},
			want: []string{
				"user says go", "assistant calls a read{}", "assistant calls b read{}",
				"user answers a result of a", "user answers b result of b",
			},
		},
		{
			name: "what is said while calls are open comes after their results",
			facts: []event.Fact{
				event.SteeringQueued{Text: "faster"},
				said("go"), started("r1"), called("r1", "a", "read", `{}`), answered("r1", event.StopToolUse),
				event.SteeringInjected{QueuedEventID: "e1"},
				event.ContextNoted{Text: "it is Monday"},
				event.ShellRun{Command: "ls", ExitCode: 2, Output: "a.go"},
				completed("a"),
				event.ContextNoted{Text: " "},
			},
			want: []string{
				"user says go", "assistant calls a read{}", "user answers a result of a", "user says faster", "user says it is Monday",
				"user says The user ran `ls`; exit code 2. Output:\na.go",
			},
		},
		{
			name: "what the user does while an answer arrives does not part it",
			facts: []event.Fact{
				said("go"), started("r1"), thought("r1", "hm"),
				event.ShellRun{Command: "ls", Output: "a"},
				called("r1", "a", "read", `{}`),
				event.ChecksCompleted{ModelText: "checks passed"},
				answered("r1", event.StopToolUse), completed("a"),
			},
			want: []string{
				"user says go", "assistant thinks hm sig", "assistant calls a read{}", "user answers a result of a",
				"user says The user ran `ls`; exit code 0. Output:\na", "user says checks passed",
			},
		},
		{
			name: "what the user did during an attempt survives its failure",
			facts: []event.Fact{
				said("go"), started("r1"), text("r1", "well"),
				event.ShellRun{Command: "ls", Output: "a"},
				attemptFailed("r1", event.ErrorRetryable), started("r2"), text("r2", "done"), answered("r2", event.StopEndTurn),
			},
			want: []string{"user says go", "user says The user ran `ls`; exit code 0. Output:\na", "assistant says done"},
		},
		{
			name: "what the user did after a crash comes before what is said next",
			facts: []event.Fact{
				said("go"), started("r1"), text("r1", "well"), event.SessionResumed{}, event.ShellRun{Command: "ls", Output: "a"}, said("on"),
			},
			want: []string{"user says go", "assistant says well", "user says The user ran `ls`; exit code 0. Output:\na", "user says on"},
		},
		{
			name: "so does a note that came in its midst",
			facts: []event.Fact{
				said("go"), started("r1"), text("r1", "well"),
				event.ContextNoted{Text: "it is Monday"},
				text("r1", "then"), attemptFailed("r1", event.ErrorRetryable),
			},
			want: []string{"user says go", "user says it is Monday"},
		},
		{
			name: "what the user did during an answer stands there as soon as it has ended",
			facts: []event.Fact{
				said("go"), started("r1"), event.ShellRun{Command: "ls", Output: "a"}, text("r1", "well"), answered("r1", event.StopEndTurn),
			},
			want: []string{"user says go", "assistant says well", "user says The user ran `ls`; exit code 0. Output:\na"},
		},
		{
			name: "and as soon as the session was resumed",
			facts: []event.Fact{
				said("go"), started("r1"), text("r1", "well"), event.ShellRun{Command: "ls", Output: "a"}, event.SessionResumed{},
			},
			want: []string{"user says go", "assistant says well", "user says The user ran `ls`; exit code 0. Output:\na"},
		},
		{
			name: "and before another answer begins",
			facts: []event.Fact{
				said("go"), started("r1"), event.ShellRun{Command: "ls", Output: "a"}, started("r2"), text("r2", "done"),
			},
			want: []string{"user says go", "user says The user ran `ls`; exit code 0. Output:\na", "assistant says done"},
		},
		{
			name: "a failed attempt leaves nothing, nor do its calls' results",
			facts: []event.Fact{
				said("go"), started("r1"), thought("r1", "hm"), called("r1", "a", "read", `{}`),
				attemptFailed("r1", event.ErrorRetryable), cancelled("a"), started("r2"), text("r2", "done"), text("r1", "late"),
			},
			want: []string{"user says go", "assistant says done"},
		},
		{
			name: "a failed attempt leaves nothing even when the model was changed meanwhile",
			facts: []event.Fact{
				said("go"), started("r1"), thought("r1", "hm"), text("r1", "a"), answered("r1", event.StopPauseTurn),
				started("r2"), thought("r2", "hm"), text("r2", "b"),
				event.ModelChanged{From: "m", To: "n"},
				text("r2", "c"),
				attemptFailed("r2", event.ErrorRetryable),
			},
			want: []string{"user says go", "assistant says a"},
		},
		{
			name: "an interrupted attempt keeps what had settled",
			facts: []event.Fact{
				said("go"), started("r1"), text("r1", "well"), called("r1", "a", "read", `{}`),
				event.Interrupted{Scope: event.ScopeTurn},
				cancelled("a"), attemptFailed("r1", event.ErrorCancelled), said("wait"),
			},
			want: []string{
				"user says go", "assistant says well", "assistant calls a read{}", "user answers a cancelled a (error)", "user says wait",
			},
		},
		{
			name: "calls for other purposes leave nothing",
			facts: []event.Fact{
				said("go"),
				event.ModelRequestStarted{RequestID: "r1", Purpose: event.PurposeCompaction},
				text("r1", "summary"),
				called("r1", "a", "read", `{}`), answered("r1", event.StopEndTurn), completed("a"), text("", "nobody"),
			},
			want: []string{"user says go"},
		},
		{
			name: "a queued message enters when the engine takes it, with its files, and not when the user takes it back",
			facts: []event.Fact{
				event.MessageQueued{Text: "next", Mentions: []event.Mention{{Path: "a", Content: &content}}},
				event.MessageQueued{Text: "never"},
				event.SteeringQueued{Text: "withdrawn"},
				event.SteeringWithdrawn{QueuedEventID: "e3"},
				event.SteeringInjected{QueuedEventID: "e3"},
				event.MessageDequeued{QueuedEventID: "e2", By: event.TakenByUser},
				event.MessageDequeued{QueuedEventID: "e1", By: event.TakenByEngine},
				event.MessageDequeued{QueuedEventID: "e1", By: event.TakenByEngine},
			},
			want: []string{"user says next", "user says <file path=\"a\">\npackage a\n</file>"},
		},
		{
			name: "a demand for verification is said to the model",
			facts: []event.Fact{
				said("go"), started("r1"), text("r1", "done"), answered("r1", event.StopEndTurn), event.VerificationRequested{ModelText: "run the tests"},
			},
			want: []string{"user says go", "assistant says done", "user says run the tests"},
		},
		{
			name: "pruning blanks the named results and nothing else",
			facts: []event.Fact{
				said("go"), started("r1"), called("r1", "a", "read", `{}`), called("r1", "b", "read", `{}`), answered("r1", event.StopToolUse),
				event.ToolCompleted{ToolUseID: "a", ModelText: "long", Media: []event.Media{{SHA256: "aa"}}},
				completed("b"),
				event.ContextPruned{ToolUseIDs: []string{"a"}, Placeholder: "[pruned]"},
			},
			want: []string{
				"user says go", "assistant calls a read{}", "assistant calls b read{}", "user answers a [pruned]", "user answers b result of b",
			},
		},
		{
			name: "a checkpoint stands where the cut was",
			facts: []event.Fact{
				said("one"), started("r1"), text("r1", "two"), answered("r1", event.StopEndTurn), said("three"),
				event.ContextCompacted{CheckpointYAML: "goal: x\n", Cut: event.Cut{FromSeq: 1, ToSeq: 4}},
			},
			want: []string{"user says " + checkpointOf("goal: x\n"), "user says three"},
		},
		{
			name: "a later checkpoint takes in the earlier one, and may take in everything",
			facts: []event.Fact{
				said("one"), said("two"),
				event.ContextCompacted{CheckpointYAML: "a", Cut: event.Cut{FromSeq: 1, ToSeq: 1}},
				said("three"),
				event.ContextCompacted{CheckpointYAML: "b", Cut: event.Cut{FromSeq: 1, ToSeq: 4}},
			},
			want: []string{"user says " + checkpointOf("b")},
		},
		{
			name: "another model does not get the thinking of the one before",
			facts: []event.Fact{
				said("go"), started("r1"), thought("r1", "hm"), opaque("r1", "redacted_thinking"), opaque("r1", "server_tool_use"), text("r1", "a"),
				answered("r1", event.StopEndTurn),
				event.ModelChanged{From: "m", To: "n"},
				said("on"), started("r2"), thought("r2", "ha"), text("r2", "b"),
			},
			want: []string{
				"user says go", `assistant sends {"type":"server_tool_use"}`, "assistant says a", "user says on", "assistant thinks ha sig", "assistant says b",
			},
		},
		{
			name: "an answer that was cut behind thinking ends before it, and before a call without its result",
			facts: []event.Fact{
				said("go"), started("r1"), thought("r1", "hm"), text("r1", "a"), thought("r1", "ha"), opaque("r1", "server_tool_use"),
				event.ModelRequestFailed{RequestID: "r1", Kind: event.ErrorCancelled},
				said("on"),
			},
			want: []string{"user says go", "assistant thinks hm sig", "assistant says a", "user says on"},
		},
		{
			name: "a paused answer keeps the call that the service goes on with",
			facts: []event.Fact{
				said("go"), started("r1"), opaque("r1", "server_tool_use"), answered("r1", event.StopPauseTurn),
			},
			want: []string{"user says go", `assistant sends {"type":"server_tool_use"}`},
		},
		{
			name: "what the user says while an answer arrives stands behind it",
			facts: []event.Fact{
				said("go"), started("r1"), thought("r1", "hm"),
				event.Interrupted{},
				said("stop"), called("r1", "a", "read", `{}`),
				event.ToolCancelled{ToolUseID: "a", ModelText: "cancelled"},
				event.ModelRequestFailed{RequestID: "r1", Kind: event.ErrorCancelled},
			},
			want: []string{"user says go", "assistant thinks hm sig", "assistant calls a read{}", "user answers a cancelled (error)", "user says stop"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := difference(lines(folded(History{}, records(tt.facts...))), tt.want); d != "" {
				t.Error(d)
			}
		})
	}
}

func checkpointOf(yaml string) string {
	return "The conversation up to here was summarised to save space. Checkpoint:\n\n" + yaml
}

func TestTheEpochCountsTheTimesThatSentBlocksChanged(t *testing.T) {
	h := folded(History{}, records(
		said("one"), started("r1"), text("r1", "two"), attemptFailed("r1", event.ErrorRetryable),
		event.ContextPruned{}, event.ModelChanged{}, event.ContextCompacted{Cut: event.Cut{FromSeq: 1, ToSeq: 1}},
	))
	if h.Epoch != 3 {
		t.Errorf("epoch %d after a prune, a change of model and a compaction", h.Epoch)
	}
}

func TestTheHistoryKnowsWhoSpokeLast(t *testing.T) {
	h := folded(History{}, nil)
	if h.LastRole() != User {
		t.Error("an empty history waits for the user")
	}
	h = folded(h, records(said("go"), started("r1"), called("r1", "a", "read", `{}`)))
	if h.LastRole() != Assistant {
		t.Errorf("last role %s", h.LastRole())
	}
}

func TestInputsKeepTheirBytes(t *testing.T) {
	input := json.RawMessage(`{"b":1.0,"a":"<&>"}`)
	h := folded(History{}, records(said("go"), started("r1"), event.ToolRequested{RequestID: "r1", ToolUseID: "a", Input: input}))
	if got := h.Blocks()[1].Raw; string(got) != string(input) {
		t.Errorf("%s became %s", input, got)
	}
}
