package kernel

import (
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

var (
	alone    = Limits{CanVerify: true}
	attended = Limits{CanVerify: true, CanAsk: true}
	able     = Limits{CanVerify: true, CanAsk: true, CanCompact: true, CompactAbove: 100}
)

type derivation struct {
	name   string
	facts  []event.Fact
	limits Limits
	want   string // how the action, spoken, begins
}

func derive(t *testing.T, rows []derivation) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := spoken(next(logOf(row.facts...).folded, row.limits)); !strings.HasPrefix(got, row.want) {
				t.Errorf("derived %q, want %q", got, row.want)
			}
		})
	}
}

var (
	hello   = says("do it")
	twoOpen = then(hello, started("1"), calls("1", "a", "read", `{}`), calls("1", "b", "bash", `{}`), answered("1", event.StopToolUse))
	steered = event.SteeringQueued{Text: "rather that"}
)

func TestTheMostUrgentComesFirst(t *testing.T) {
	derive(t, []derivation{
		{"nothing was asked", nil, able, "idle"},
		{"a message calls the model", then(hello), able, "call the model"},
		{"the calls of an answer are run", twoOpen, able, "execute a b"},
		{"what has a result is not run again", then(twoOpen, completed("a")), able, "execute b"},
		{"open calls are closed before an interrupt ends the task", then(twoOpen, event.Interrupted{}), able, "execute a b"},
		{"an interrupt ends the task", then(twoOpen, event.Interrupted{}, cancelled("a"), cancelled("b")), able, "interrupted"},
		{"an interrupt without calls ends the task", then(hello, started("1"), event.Interrupted{}), able, "interrupted"},
		{"a message after an interrupt is a task", then(hello, event.Interrupted{}, says("go on")), able, "call the model"},
		{"an interrupt goes before a queued word", then(hello, started("1"), steered, event.Interrupted{}), able, "interrupted"},
		{"open calls go before a queued word", then(twoOpen, steered), able, "execute a b"},
		{"a queued word enters behind the results", then(twoOpen, completed("a"), completed("b"), steered), able, "steer post-tool-batch: rather that"},
		{"a queued word enters before the first call", then(hello, steered), able, "steer pre-model-call: rather that"},
		{"a queued word keeps an answer from ending the task", then(hello, answers("1", event.StopEndTurn), steered), able, "steer pre-model-call"},
		{
			"what was injected is answered",
			then(hello, answers("1", event.StopEndTurn), steered, event.SteeringInjected{QueuedEventID: "e5"}), able, "call the model",
		},
		{"the words enter one by one", then(hello, steered, event.SteeringQueued{Text: "second"}), able, "steer pre-model-call: rather that"},
		{"what was taken back is not injected", then(hello, steered, event.SteeringWithdrawn{QueuedEventID: "e2"}), able, "call the model"},
		{
			"a queued word goes before compaction",
			then(hello, started("1"), answeredOf("1", event.StopEndTurn, 101), steered), able, "steer",
		},
		{"compaction goes before the end", then(hello, started("1"), answeredOf("1", event.StopEndTurn, 101)), able, "compact proactive-token-budget"},
		{"a message for later waits", then(hello, answers("1", event.StopEndTurn), event.MessageQueued{Text: "later"}), able, "done"},
		{"a dequeued message is a task", then(event.MessageQueued{Text: "later"}, event.MessageDequeued{QueuedEventID: "e1", By: event.TakenByEngine}), able, "call the model"},
		{"a message the user took back is none", then(event.MessageQueued{Text: "later"}, event.MessageDequeued{QueuedEventID: "e1", By: event.TakenByUser}), able, "idle"},
		{"after the end nothing happens", then(hello, answers("1", event.StopEndTurn), event.TaskCompleted{}), able, "idle"},
		{"after a failure nothing happens", then(hello, event.TaskFailed{Reason: event.FailedCost}), able, "idle"},
		{"calls that a failed task left open are closed", then(twoOpen, event.TaskFailed{Reason: event.FailedTime}), able, "execute a b"},
	})
}

func TestEveryReasonToStopHasItsAction(t *testing.T) {
	derive(t, []derivation{
		{"the end of the turn is the end", then(hello, answers("1", event.StopEndTurn)), able, "done"},
		{"a stop sequence is the end", then(hello, answers("1", event.StopSequence)), able, "done"},
		{"an unknown reason is the end", then(hello, answers("1", "tired")), able, "done"},
		{"an unknown reason waits for its calls", then(hello, started("1"), calls("1", "a", "read", `{}`), answered("1", "tired")), able, "execute a"},
		{"an empty answer is the end", then(hello, started("1"), answered("1", event.StopEndTurn)), able, "done"},
		{"results are answered", then(twoOpen, completed("a"), completed("b")), able, "call the model"},
		{"calls that are none are the end", then(hello, answers("1", event.StopToolUse)), able, "done"},
		{"a paused turn goes on", then(hello, answers("1", event.StopPauseTurn)), able, "call the model"},
		{"a refusal fails", then(hello, answers("1", event.StopRefusal)), able, "fail refusal: the model refused"},
		{"a message after a refusal works", then(hello, answers("1", event.StopRefusal), event.TaskFailed{}, says("please")), able, "call the model"},
		{"a cut text is continued", then(hello, answers("1", event.StopMaxTokens)), able, "call the model"},
		{
			"and once only",
			then(hello, answers("1", event.StopMaxTokens), answers("2", event.StopMaxTokens)), able, "fail output-limit: the output limit cut 2 answers in a row",
		},
		{
			"a whole answer in between starts the count anew",
			then(hello, answers("1", event.StopMaxTokens), runs("2", "ls", 0), answers("3", event.StopMaxTokens)), able, "call the model",
		},
		{"a cut call is told of", then(hello, cutCall("1"), cutCall("2")), able, "call the model"},
		{"and fails the third time", then(hello, cutCall("1"), cutCall("2"), cutCall("3")), able, "fail output-limit: the output limit cut 3 answers"},
		{"a full window is compacted", then(hello, answers("1", event.StopContextWindow)), able, "compact reactive-overflow"},
		{
			"a full window is compacted after its calls",
			then(hello, started("1"), calls("1", "a", "read", `{}`), answered("1", event.StopContextWindow)), able, "execute a",
		},
		{
			"and the model goes on from the checkpoint",
			then(hello, answers("1", event.StopContextWindow), event.ContextCompacted{}), able, "call the model",
		},
		{
			"two full windows in a row fail",
			then(hello, answers("1", event.StopContextWindow), event.ContextCompacted{}, answers("2", event.StopContextWindow)),
			able, "fail model-fatal-error: the request is still too long after compaction",
		},
		{"a full window without compaction fails", then(hello, answers("1", event.StopContextWindow)), attended, "fail model-fatal-error: the conversation no longer fits"},
	})
}

func cutCall(request string) []event.Fact {
	id := "t" + request
	return []event.Fact{
		started(request), calls(request, id, "write", `{}`), answered(request, event.StopMaxTokens),
		event.ToolFailed{ToolUseID: id, ModelText: "cut", ErrorKind: event.ToolInvalidInput},
	}
}

func TestAFailedRequestIsRepeatedOnlyWhereThatMayHelp(t *testing.T) {
	exhausted := then(hello, started("1"), failed("1", event.ErrorRetryable, true))
	overflow := then(hello, started("1"), failed("1", event.ErrorContextOverflow, true))
	compacted := then(overflow, event.ContextCompacted{})
	derive(t, []derivation{
		{"retries that are used up fail", exhausted, able, "fail model-fatal-error: the server said no"},
		{"a refused key fails", then(hello, started("1"), failed("1", event.ErrorAuth, true)), able, "fail model-fatal-error"},
		{"a refused request fails", then(hello, started("1"), failed("1", event.ErrorInvalidRequest, true)), able, "fail model-fatal-error"},
		{"a refused request fails although nobody said so", then(hello, started("1"), failed("1", event.ErrorInvalidRequest, false)), able, "fail"},
		{"a queued word does not call again", then(exhausted, steered), able, "fail model-fatal-error"},
		{"a new message does", then(exhausted, event.TaskFailed{}, says("again")), able, "call the model"},
		{
			"a failure goes before compaction",
			then(hello, started("1"), answeredOf("1", event.StopMaxTokens, 101), event.ContextCompacted{}, started("2"), failed("2", event.ErrorAuth, true)), able, "fail",
		},
		{"an overflow is compacted", overflow, able, "compact reactive-overflow"},
		{"and tried once more", compacted, able, "call the model"},
		{"and then fails", then(compacted, started("2"), failed("2", event.ErrorContextOverflow, true)), able, "fail model-fatal-error: the request is still too long after compaction (the server said no)"},
		{"an answer in between starts the count anew", then(compacted, runs("2", "ls", 0), started("3"), failed("3", event.ErrorContextOverflow, true)), able, "compact reactive-overflow"},
		{"without compaction an overflow fails", overflow, attended, "fail model-fatal-error: the conversation no longer fits the model's context window (the server said no)"},
		{"a message after an overflow is compacted first", then(overflow, event.TaskFailed{}, says("again")), able, "compact"},
		{
			"a message after an overflow is tried where nothing compacts: the model may be another",
			then(overflow, event.TaskFailed{}, event.ModelChanged{From: "m", To: "n"}, says("again")), attended, "call the model",
		},
	})
}

func TestCompactionIsDerivedOncePerCall(t *testing.T) {
	full := then(hello, started("1"), calls("1", "a", "read", `{}`), answeredOf("1", event.StopToolUse, 101), completed("a"))
	derive(t, []derivation{
		{"a crowded window is compacted", full, able, "compact proactive-token-budget"},
		{"at the limit it is not", then(hello, started("1"), calls("1", "a", "read", `{}`), answeredOf("1", event.StopToolUse, 100), completed("a")), able, "call the model"},
		{"afterwards the task goes on", then(full, event.ContextCompacted{}), able, "call the model"},
		{"without a limit nothing is", full, Limits{CanCompact: true}, "call the model"},
		{"without compaction nothing is", full, attended, "call the model"},
		{
			"a call of another purpose does not count",
			then(full, event.ModelRequestStarted{RequestID: "c", Purpose: event.PurposeCompaction}, answeredOf("c", event.StopEndTurn, 9), event.ContextCompacted{}), able, "call the model",
		},
	})
}

func TestCountersSurviveBecauseTheyAreFolded(t *testing.T) {
	same := then(hello, runs("1", "ls", 0), runs("2", "ls", 0), runs("3", "ls", 0))
	bounded := Limits{MaxResponses: 2}
	derive(t, []derivation{
		{"two equal calls are none too many", then(hello, runs("1", "ls", 0), runs("2", "ls", 0)), attended, "call the model"},
		{"three are asked about", same, attended, `ask about bash {"command":"ls"}, made 3 times`},
		{"three fail where nobody is", same, alone, "fail doom-loop: the model made the same call 3 times in a row (bash"},
		{"another call in between starts the count anew", then(hello, runs("1", "ls", 0), runs("2", "ls", 0), runs("3", "pwd", 0), runs("4", "ls", 0)), alone, "call the model"},
		{"an answer lets it go on", then(same, event.QuestionAsked{QuestionID: "q"}, event.QuestionAnswered{QuestionID: "q"}), attended, "call the model"},
		{"a word of the user lets it go on", then(same, steered, event.SteeringInjected{QueuedEventID: "e14"}), alone, "call the model"},
		{"a message after it works as usual", then(same, event.TaskFailed{}, says("stop that")), alone, "call the model"},
		{"an answer after three equal calls is the end", then(same, answers("4", event.StopEndTurn)), alone, "done"},
		{"the calls of a failed attempt do not count", then(
			hello, runs("1", "ls", 0), runs("2", "ls", 0), started("3"), calls("3", "t3", "bash", `{"command":"ls"}`),
			failed("3", event.ErrorRetryable, false), cancelled("t3"),
		), alone, "call the model"},

		{"below the limit the model is called", then(hello, runs("1", "ls", 0)), bounded, "call the model"},
		{"at the limit the task fails", then(hello, runs("1", "ls", 0), runs("2", "pwd", 0)), bounded, "fail iteration-budget-exhausted: the task took 2 model calls"},
		{"the last answer may be the end", then(hello, runs("1", "ls", 0), answers("2", event.StopEndTurn)), bounded, "done"},
		{"failed attempts do not count", then(hello, runs("1", "ls", 0), started("2"), failed("2", event.ErrorRetryable, false)), bounded, "call the model"},
		{"the next task counts anew", then(hello, runs("1", "ls", 0), runs("2", "pwd", 0), event.TaskFailed{}, says("go on")), bounded, "call the model"},
	})
}

func TestAResumedSessionGoesOnWhereItStopped(t *testing.T) {
	resumed := event.SessionResumed{}
	recovered := event.ToolCancelled{ToolUseID: "a", Reason: event.CancelRecovery, ModelText: "[ended]"}
	derive(t, []derivation{
		{"before the first call", then(hello, resumed), able, "call the model"},
		{"while an answer arrived", then(hello, started("1"), text("1", "half"), resumed), able, "call the model"},
		{"while an answer with a call arrived", then(hello, started("1"), calls("1", "a", "bash", `{}`), recovered, resumed), able, "call the model"},
		{"between a failed attempt and the next", then(hello, started("1"), failed("1", event.ErrorRetryable, false), resumed), able, "call the model"},
		{"cut off by a shutdown", then(hello, started("1"), failed("1", event.ErrorCancelled, true), resumed), able, "call the model"},
		{"cut off by an interrupt", then(hello, started("1"), event.Interrupted{}, failed("1", event.ErrorCancelled, true), resumed), able, "interrupted"},
		{"before the calls ran", then(twoOpen, recovered, event.ToolCancelled{ToolUseID: "b", Reason: event.CancelRecovery, ModelText: "x"}, resumed), able, "call the model"},
		{"before a retry that was used up was told", then(hello, started("1"), failed("1", event.ErrorRetryable, true), resumed), able, "fail"},
		{"before the end was recorded", then(hello, answers("1", event.StopEndTurn), resumed), able, "done"},
		{"after a task", then(hello, answers("1", event.StopEndTurn), event.TaskCompleted{}, resumed), able, "idle"},
		{"with a word in the queue", then(hello, started("1"), steered, resumed), able, "steer pre-model-call"},
		{"between overflow and compaction", then(hello, started("1"), failed("1", event.ErrorContextOverflow, true), resumed), able, "compact reactive-overflow"},
	})
}

func TestAPermissionThatNobodyGaveFailsTheTaskAtItsEnd(t *testing.T) {
	silent := event.PermissionDenied{PermissionRequestID: "p", Source: event.DeniedByTimeout}
	asked := event.PermissionRequested{PermissionRequestID: "p", ToolUseID: "t1"}
	denied := func(by event.PermissionDenied) []event.Fact {
		return then(hello, started("1"), calls("1", "t1", "bash", `{}`), answered("1", event.StopToolUse), asked, by,
			event.ToolFailed{ToolUseID: "t1", ErrorKind: event.ToolPermissionDenied, ModelText: "no"})
	}
	derive(t, []derivation{
		{"the model is told first", denied(silent), alone, "call the model"},
		{"then the task fails", then(denied(silent), answers("2", event.StopEndTurn)), alone, "fail permission-denied"},
		{"where somebody is there it is done", then(denied(silent), answers("2", event.StopEndTurn)), attended, "done"},
		{
			"a refusal by a rule is an answer",
			then(denied(event.PermissionDenied{PermissionRequestID: "p", Source: event.DeniedByPolicy}), answers("2", event.StopEndTurn)), alone, "done",
		},
	})
}

func TestChangedCodeIsVerifiedTwiceAtMost(t *testing.T) {
	changed := then(hello, edits("1", "a.go"), answers("2", event.StopEndTurn))
	nudge := func(n int) event.Fact { return event.VerificationRequested{Attempt: n, ModelText: "run the tests"} }
	derive(t, []derivation{
		{"code without a check is verified", changed, able, "verify 1"},
		{"the demand is answered", then(changed, nudge(1)), able, "call the model"},
		{"a second demand follows", then(changed, nudge(1), answers("3", event.StopEndTurn)), able, "verify 2"},
		{"and no third", then(changed, nudge(1), answers("3", event.StopEndTurn), nudge(2), answers("4", event.StopEndTurn)), able, "done"},
		{"with a check it is done", then(hello, edits("1", "a.go"), runs("2", "go test ./...", 0), answers("3", event.StopEndTurn)), able, "done"},
		{"verification can be off", changed, Limits{CanAsk: true}, "done"},
		{"a change of an earlier task is none of this one", then(hello, edits("1", "a.go"), event.TaskCompleted{}, says("and now"), answers("2", event.StopEndTurn)), able, "done"},
		{"a refusal is not verified", then(hello, edits("1", "a.go"), answers("2", event.StopRefusal)), able, "fail refusal"},
	})
}
