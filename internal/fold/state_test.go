package fold

import (
	"reflect"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

// stateCase folds facts and looks at one part of the state.
type stateCase struct {
	name  string
	facts []event.Fact
	look  func(State) any
	want  any
}

func runStateCases(t *testing.T, cases []stateCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.look(folded(State{}, records(tt.facts...))); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// then joins facts and lists of facts.
func then(parts ...any) []event.Fact {
	var all []event.Fact
	for _, p := range parts {
		switch p := p.(type) {
		case event.Fact:
			all = append(all, p)
		case []event.Fact:
			all = append(all, p...)
		}
	}
	return all
}

// answer is a whole answer with one call of the shell.
func answer(request, id, command string) []event.Fact {
	return []event.Fact{
		started(request), called(request, id, "bash", `{"command":"`+command+`"}`), answered(request, event.StopToolUse), completed(id),
	}
}

func TestTheSessionIsTheHeadOfTheLog(t *testing.T) {
	branch := "main"
	start := event.SessionStarted{
		Title: "t", ProjectHash: "h", WorkingDirectory: "/w", GitBranch: &branch, Model: "m", AuxModel: "x",
	}
	info := SessionInfo{
		ID: "s", Title: "t", Directory: "/w", ProjectHash: "h", Model: "m", AuxModel: "x", Branch: "main", StartedTS: 1000,
	}
	renamed, moved, detached := info, info, info
	renamed.Title, moved.Model, detached.Branch = "new", "n", ""
	look := func(s State) any { return s.Session }
	runStateCases(t, []stateCase{
		{"it names the session", then(start), look, info},
		{"without a branch there is none", then(event.SessionStarted{
			Title: "t", ProjectHash: "h", WorkingDirectory: "/w", Model: "m", AuxModel: "x",
		}), look, detached},
		{"a new title replaces the old", then(start, event.SessionRenamed{Title: "new"}), look, renamed},
		{"another model replaces the old", then(start, event.ModelChanged{From: "m", To: "n"}), look, moved},
		{"a fork has its own id", then(start, event.SessionForked{FromSessionID: "o", AtSeq: 1}), look, info},
		{"every fact is counted", then(start, event.Unknown{Type: "x.y"}), func(s State) any { return s.LastSeq }, int64(2)},
		{"the task list is replaced whole, and outlives its task", then(
			event.TodoUpdated{Items: []event.TodoItem{{Text: "a", Status: event.TodoActive}, {Text: "b", Status: event.TodoPending}}},
			event.TodoUpdated{Items: []event.TodoItem{{Text: "b", Status: event.TodoDone}}}, said("next"),
		), func(s State) any { return s.Todo }, []event.TodoItem{{Text: "b", Status: event.TodoDone}}},
		{"baselines are remembered by their moment", then(
			event.BaselineRecorded{When: event.AtSessionStart}, event.BaselineRecorded{When: event.BeforeEdit},
		), func(s State) any { return s.BaselineMoments }, []event.BaselineMoment{event.AtSessionStart, event.BeforeEdit}},
		{"the newest of each tier counts", then(
			event.TierRecorded{Tier: event.TierTools, Text: "1"}, event.TierRecorded{Tier: event.TierStatic, Text: "2"},
			event.TierRecorded{Tier: event.TierTools, Text: "3"},
		), func(s State) any {
			tools, _ := s.Tier(event.TierTools)
			static, _ := s.Tier(event.TierStatic)
			_, session := s.Tier(event.TierSession)
			return []any{tools.Text, static.Text, session}
		}, []any{"3", "2", false}},
	})
}

func TestATaskOpensWithAMessageAndEndsWithItsResult(t *testing.T) {
	look := func(s State) any {
		return []any{s.Task.Open, s.Task.Objective, s.Task.Seq, s.Task.StartTS, s.Task.Result}
	}
	done, failure := event.TaskCompleted{}, event.TaskFailed{Reason: event.FailedModel}
	stop := event.Interrupted{Scope: event.ScopeTurn}
	var none event.Fact
	runStateCases(t, []stateCase{
		{"a message opens one", then(said("go")), look, []any{true, "go", int64(1), int64(1000), none}},
		{"completion ends it", then(said("go"), done), look, []any{false, "go", int64(1), int64(1000), done}},
		{"failure ends it", then(said("go"), failure), look, []any{false, "go", int64(1), int64(1000), failure}},
		{"an interrupt ends it", then(said("go"), stop), look, []any{false, "go", int64(1), int64(1000), stop}},
		{"the next message opens the next", then(said("go"), done, said("on")), look, []any{true, "on", int64(3), int64(3000), none}},
		{
			"a queued message that the engine takes opens one", then(event.MessageQueued{Text: "q"}, event.MessageDequeued{QueuedEventID: "e1", By: event.TakenByEngine}),
			look,
			[]any{true, "q", int64(2), int64(2000), none},
		},
		{
			"one that the user takes back opens none", then(event.MessageQueued{Text: "q"}, event.MessageDequeued{QueuedEventID: "e1", By: event.TakenByUser}),
			look,
			[]any{false, "", int64(0), int64(0), none},
		},
		{
			"one that is not queued opens none", then(event.MessageDequeued{QueuedEventID: "e9", By: event.TakenByEngine}),
			look,
			[]any{false, "", int64(0), int64(0), none},
		},
	})
}

func TestAnInterruptHoldsUntilTheNextMessage(t *testing.T) {
	look := func(s State) any { return s.Interrupted }
	stop := event.Interrupted{}
	runStateCases(t, []stateCase{
		{"it holds", then(said("go"), stop), look, true},
		{"results do not lift it", then(said("go"), started("r1"), called("r1", "a", "read", "{}"), stop, cancelled("a")), look, true},
		{"a message lifts it", then(said("go"), stop, said("on")), look, false},
		{"a queued message that is taken lifts it", then(
			event.MessageQueued{Text: "q"}, stop, event.MessageDequeued{QueuedEventID: "e1", By: event.TakenByEngine},
		), look, false},
	})
}

func TestQueuesKeepTheirOrder(t *testing.T) {
	steering := func(s State) any { return s.Steering }
	messages := func(s State) any { return s.Messages }
	words := then(event.SteeringQueued{Text: "a"}, event.SteeringQueued{Text: "b"}, event.SteeringQueued{Text: "c"})
	mentions := event.List[event.Mention]{{Path: "p"}}
	waiting := then(event.MessageQueued{Text: "a", Mentions: mentions}, event.MessageQueued{Text: "b"})
	runStateCases(t, []stateCase{
		{"words wait in order", words, steering, []Queued{{EventID: "e1", Text: "a"}, {EventID: "e2", Text: "b"}, {EventID: "e3", Text: "c"}}},
		{
			"an injected word leaves", then(words, event.SteeringInjected{QueuedEventID: "e1"}), steering,
			[]Queued{{EventID: "e2", Text: "b"}, {EventID: "e3", Text: "c"}},
		},
		{
			"a withdrawn word leaves", then(words, event.SteeringWithdrawn{QueuedEventID: "e2"}), steering,
			[]Queued{{EventID: "e1", Text: "a"}, {EventID: "e3", Text: "c"}},
		},
		{"messages wait in order, with their files", waiting, messages, []Queued{{EventID: "e1", Text: "a", Mentions: mentions}, {EventID: "e2", Text: "b"}}},
		{
			"a message leaves whoever takes it", then(waiting, event.MessageDequeued{QueuedEventID: "e1", By: event.TakenByUser}), messages,
			[]Queued{{EventID: "e2", Text: "b"}},
		},
		{"an interrupt leaves the queues alone", then(words, event.Interrupted{}), func(s State) any { return len(s.Steering) }, 3},
	})
}

func TestARequestIsFollowedToItsEnd(t *testing.T) {
	look := func(s State) any {
		return []any{s.Request.ID, s.Request.Phase, s.Request.Stop, s.Request.Calls, s.Request.Text, s.Request.Failure.Kind}
	}
	stop, none := event.StopToolUse, event.ModelErrorKind("")
	runStateCases(t, []stateCase{
		{"none at first", then(said("go")), look, []any{"", NoRequest, event.StopReason(""), 0, false, none}},
		{"one that began is streaming", then(started("r1")), look, []any{"r1", Streaming, event.StopReason(""), 0, false, none}},
		{"its text and calls are counted", then(
			started("r1"), text("r1", "a"), called("r1", "a", "read", "{}"), called("r1", "b", "read", "{}"), answered("r1", stop),
		), look, []any{"r1", Answered, stop, 2, true, none}},
		{"blank text is none", then(started("r1"), text("r1", " \n"), answered("r1", event.StopEndTurn)), look, []any{"r1", Answered, event.StopEndTurn, 0, false, none}},
		{"it may fail", then(started("r1"), attemptFailed("r1", event.ErrorAuth)), look, []any{"r1", Failed, event.StopReason(""), 0, false, event.ErrorAuth}},
		{
			"facts of an earlier one change nothing", then(started("r1"), started("r2"), text("r1", "a"), called("r1", "a", "read", "{}"), answered("r1", stop), attemptFailed("r1", event.ErrorAuth)),
			look,
			[]any{"r2", Streaming, event.StopReason(""), 0, false, none},
		},
		{
			"a compaction's call is not the conversation's", then(started("r1"), answered("r1", event.StopEndTurn), event.ModelRequestStarted{RequestID: "c", Purpose: event.PurposeCompaction}, answered("c", stop)),
			look,
			[]any{"r1", Answered, event.StopEndTurn, 0, false, none},
		},
		{
			"a nudge's call is", then(event.ModelRequestStarted{RequestID: "n", Purpose: event.PurposeNudge}),
			look,
			[]any{"n", Streaming, event.StopReason(""), 0, false, none},
		},
	})
}

func TestANewWordOfTheUsersSideSupersedesTheStopReason(t *testing.T) {
	look := func(s State) any { return s.Request.Superseded }
	whole := then(said("go"), started("r1"), text("r1", "a"), answered("r1", event.StopEndTurn))
	runStateCases(t, []stateCase{
		{"an answer stands", whole, look, false},
		{"until a message", then(whole, said("on")), look, true},
		{"until an injected word", then(whole, event.SteeringInjected{}), look, true},
		{"until a note", then(whole, event.ContextNoted{Text: "n"}), look, true},
		{"until a demand for verification", then(whole, event.VerificationRequested{Attempt: 1}), look, true},
		{"until checks say something", then(whole, event.ChecksCompleted{ModelText: "failed"}), look, true},
		{"but not when checks say nothing", then(whole, event.ChecksCompleted{}), look, false},
		{"and not by a queued word", then(whole, event.SteeringQueued{Text: "w"}), look, false},
		{"a new call begins afresh", then(whole, said("on"), started("r2")), look, false},
	})
}

func TestCallsAreOpenUntilTheirResult(t *testing.T) {
	a := Call{RequestID: "r1", ID: "a", Name: "read", Input: []byte(`{}`)}
	b := Call{RequestID: "r1", ID: "b", Name: "bash", Input: []byte(`{"command":"x"}`)}
	approved, running := a, b
	approved.Approved, running.Started = true, true
	asked := then(said("go"), started("r1"), called("r1", "a", "read", `{}`), called("r1", "b", "bash", `{"command":"x"}`))
	look := func(s State) any { return s.Calls }
	runStateCases(t, []stateCase{
		{"in block order", asked, look, []Call{a, b}},
		{"approval and start are noted", then(asked, event.ToolApproved{ToolUseID: "a"}, event.ToolStarted{ToolUseID: "b"}), look, []Call{approved, running}},
		{"completion closes", then(asked, completed("a")), look, []Call{b}},
		{"failure closes", then(asked, toolFailed("b")), look, []Call{a}},
		{"cancellation closes", then(asked, cancelled("b"), cancelled("a")), look, []Call(nil)},
		{"a failed attempt leaves them to be closed", then(asked, attemptFailed("r1", event.ErrorRetryable)), look, []Call{a, b}},
	})
}

func TestCallsMayRunOnlyWhenTheirAnswerArrivedWhole(t *testing.T) {
	look := func(s State) any { return s.Runnable() }
	asked := then(said("go"), started("r1"), called("r1", "a", "read", `{}`))
	runStateCases(t, []stateCase{
		{"not while it arrives", asked, look, false},
		{"when it arrived", then(asked, answered("r1", event.StopToolUse)), look, true},
		{"not when it failed", then(asked, attemptFailed("r1", event.ErrorRetryable)), look, false},
		{"not after an interrupt", then(asked, answered("r1", event.StopToolUse), event.Interrupted{}), look, false},
		{"not after the task's end", then(asked, answered("r1", event.StopToolUse), event.TaskFailed{}), look, false},
	})
}

func TestPermissionsAndQuestionsWaitForTheirAnswer(t *testing.T) {
	ask := event.PermissionRequested{PermissionRequestID: "p1", ToolUseID: "a", Capability: "exec"}
	question := event.QuestionAsked{QuestionID: "q1", ToolUseID: "a"}
	asked := then(said("go"), started("r1"), called("r1", "a", "bash", `{}`), ask, question)
	look := func(s State) any { return []any{s.Permissions, s.Questions, len(s.Task.Unanswered)} }
	permissions, questions := []OpenPermission{{Seq: 4, PermissionRequested: ask}}, []event.QuestionAsked{question}
	noPermissions, noQuestions := []OpenPermission(nil), []event.QuestionAsked(nil)
	runStateCases(t, []stateCase{
		{"they wait", asked, look, []any{permissions, questions, 0}},
		{"a grant answers", then(asked, event.PermissionGranted{PermissionRequestID: "p1"}), look, []any{noPermissions, questions, 0}},
		{"a refusal answers", then(asked, event.PermissionDenied{PermissionRequestID: "p1", Source: event.DeniedByUser}), look, []any{noPermissions, questions, 0}},
		{"nobody being there is counted", then(asked, event.PermissionDenied{PermissionRequestID: "p1", Source: event.DeniedByTimeout}), look, []any{noPermissions, questions, 1}},
		{"another's answer changes nothing", then(asked, event.PermissionGranted{PermissionRequestID: "p2"}, event.QuestionAnswered{QuestionID: "q2"}), look, []any{permissions, questions, 0}},
		{"a question is answered", then(asked, event.QuestionAnswered{QuestionID: "q1"}), look, []any{permissions, noQuestions, 0}},
		{"the call's result ends both", then(asked, cancelled("a")), look, []any{noPermissions, noQuestions, 0}},
	})
}

func TestCountersAreFolded(t *testing.T) {
	overflow, tooLong := attemptFailed("r2", event.ErrorContextOverflow), answered("r1", event.StopContextWindow)
	twice := then(said("go"), answer("r1", "a", "ls"), answer("r2", "b", "ls"))
	responses := func(s State) any { return s.Task.Responses }
	overflows := func(s State) any { return s.Task.Overflows }
	cut := func(s State) any { return s.Task.Cut }
	repeated := func(s State) any { return s.Task.Repeated }
	compacted := func(s State) any { return []any{s.CompactedSinceCall, s.ContextTokens} }
	usage := event.ModelResponseCompleted{RequestID: "r1", Usage: event.ModelUsage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 4, CacheWriteTokens: 8}}
	runStateCases(t, []stateCase{
		{"responses of a task", twice, responses, 2},
		{"failed attempts are no responses", then(twice, started("r3"), attemptFailed("r3", event.ErrorRetryable)), responses, 2},
		{"the next task starts at none", then(twice, event.TaskCompleted{}, said("on")), responses, 0},

		{"an overflow refused", then(said("go"), started("r2"), overflow), overflows, 1},
		{"two overflows in a row, by refusal and by stop reason", then(said("go"), started("r1"), tooLong, started("r2"), overflow), overflows, 2},
		{"two overflows in a row by stop reason", then(said("go"), started("r1"), tooLong, started("r1"), tooLong), overflows, 2},
		{"an answer that fits ends the row", then(said("go"), started("r2"), overflow, started("r1"), answered("r1", event.StopEndTurn)), overflows, 0},
		{"another failure does not", then(said("go"), started("r2"), overflow, started("r1"), attemptFailed("r1", event.ErrorRetryable)), overflows, 1},

		{"answers cut by the output limit, in a row", then(said("go"), started("r1"), answered("r1", event.StopMaxTokens), started("r2"), answered("r2", event.StopMaxTokens)), cut, 2},
		{"a whole answer ends the row of cut ones", then(said("go"), started("r1"), answered("r1", event.StopMaxTokens), started("r2"), answered("r2", event.StopToolUse)), cut, 0},

		{"demands for verification", then(said("go"), event.VerificationRequested{Attempt: 2}), func(s State) any { return s.Task.Nudges }, 2},

		{"a call that repeats itself", twice, repeated, 2},
		{"other input is another call", then(twice, answer("r3", "c", "pwd")), repeated, 1},
		{"calls of failed attempts were not made", then(
			twice, started("r3"), called("r3", "c", "bash", `{"command":"ls"}`), attemptFailed("r3", event.ErrorRetryable), cancelled("c"), answer("r4", "d", "ls"),
		), repeated, 3},
		{"what was interrupted was made", then(
			twice, started("r3"), called("r3", "c", "bash", `{"command":"ls"}`), attemptFailed("r3", event.ErrorCancelled),
		), repeated, 3},
		{"a word of the user ends the row", then(twice, event.SteeringInjected{}, answer("r3", "c", "ls")), repeated, 1},
		{"an answer to the question ends the row", then(twice, event.QuestionAnswered{QuestionID: "q"}), repeated, 0},
		{"and it is named for the question", twice, func(s State) any { return s.Task.LastCall() }, `bash {"command":"ls"}`},

		{"the context is what the last call used", then(said("go"), started("r1"), usage), compacted, []any{false, int64(15)}},
		{"after compaction it is not known", then(said("go"), started("r1"), usage, event.ContextCompacted{}), compacted, []any{true, int64(0)}},
		{"a call comes between two compactions", then(said("go"), event.ContextCompacted{}, started("r1")), compacted, []any{false, int64(0)}},
	})
}

func TestTheAnswerIsTheTextOfTheNewestAnswer(t *testing.T) {
	look := func(s State) any { return []any{s.Task.Answer, s.Task.AnswerSeq} }
	first := then(said("go"), started("r1"), text("r1", "one"), text("r1", " "), text("r1", "two"), answered("r1", event.StopEndTurn))
	runStateCases(t, []stateCase{
		{"its blocks are joined", first, look, []any{"one\n\ntwo", int64(5)}},
		{"a later answer replaces it", then(first, started("r2"), text("r2", "three")), look, []any{"three", int64(8)}},
		{"one without text leaves none", then(first, started("r2"), answered("r2", event.StopToolUse)), look, []any{"", int64(5)}},
	})
}

func TestAnIDOfACallIsKnownForEver(t *testing.T) {
	s := State{}
	for i, f := range []event.Fact{
		event.UserMessageCreated{Text: "go"},
		event.ModelRequestStarted{RequestID: "r1", Purpose: event.PurposeMain},
		event.ToolRequested{RequestID: "r1", ToolUseID: "dropped", ToolName: "read", Input: []byte(`{}`)},
		event.ModelRequestFailed{RequestID: "r1", Kind: event.ErrorRetryable},
		event.ToolCancelled{ToolUseID: "dropped", Reason: event.CancelResponseFailed},
	} {
		s = s.Apply(event.Record{Seq: int64(i + 1), Fact: f})
	}
	if !s.HasCall("dropped") || s.HasCall("other") {
		t.Errorf("dropped %t, other %t; want true, false", s.HasCall("dropped"), s.HasCall("other"))
	}
}

func TestAnAnswerThatWasCutGoesOnInTheNextOne(t *testing.T) {
	for _, tt := range []struct {
		name  string
		facts []event.Fact
		want  string
	}{
		{"cut by the output limit", []event.Fact{
			said("go"), started("r1"), text("r1", "first "), answered("r1", event.StopMaxTokens),
			event.ContextNoted{Text: "go on"},
			started("r2"), text("r2", "second"), answered("r2", event.StopEndTurn),
		}, "first second"},
		{"paused, and the next attempt failed once", []event.Fact{
			said("go"), started("r1"), text("r1", "first "), answered("r1", event.StopPauseTurn),
			started("r2"), text("r2", "lost"),
			event.ModelRequestFailed{RequestID: "r2", Kind: event.ErrorRetryable},
			started("r3"), text("r3", "second"), answered("r3", event.StopEndTurn),
		}, "first second"},
		{"an answer after calls is one of its own", []event.Fact{
			said("go"), started("r1"), text("r1", "I look"), called("r1", "a", "read", `{}`), answered("r1", event.StopToolUse),
			completed("a"), started("r2"), text("r2", "done"), answered("r2", event.StopEndTurn),
		}, "done"},
		{"a new task", []event.Fact{
			said("go"), started("r1"), text("r1", "first"), answered("r1", event.StopMaxTokens),
			said("again"), started("r2"), text("r2", "second"), answered("r2", event.StopEndTurn),
		}, "second"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := folded(State{}, records(tt.facts...)).Task.Answer; got != tt.want {
				t.Errorf("answer %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAQuestionOfTheEngineEndsWithItsTask(t *testing.T) {
	asked := event.QuestionAsked{QuestionID: "q", Question: "go on?"}
	for name, end := range map[string]event.Fact{
		"interrupt": event.Interrupted{}, "failure": event.TaskFailed{}, "another message": said("again"),
	} {
		if s := folded(State{}, records(said("go"), asked, end)); len(s.Questions) != 0 {
			t.Errorf("after %s %d questions are open", name, len(s.Questions))
		}
	}
}

func TestAProcessRunsUntilItsEndIsInTheLog(t *testing.T) {
	s := folded(State{}, records(
		event.ProcessStarted{ProcessID: "p1", PID: 7}, event.ProcessStarted{ProcessID: "p2", PID: 8}, event.ProcessExited{ProcessID: "p1"},
	))
	if len(s.Running) != 1 || s.Running[0].ProcessID != "p2" || s.Running[0].PID != 8 || s.Processes != 2 {
		t.Errorf("running %+v of %d", s.Running, s.Processes)
	}
}

func TestWhatNobodyWasThereToAllowIsNamed(t *testing.T) {
	s := folded(State{}, records(
		said("go"), started("r1"), called("r1", "a", "bash", `{}`), answered("r1", event.StopToolUse),
		event.PermissionRequested{PermissionRequestID: "p", ToolUseID: "a", Descriptor: "bash: deploy"},
		event.PermissionDenied{PermissionRequestID: "p", Source: event.DeniedByTimeout},
	))
	if got := s.Task.Unanswered; len(got) != 1 || got[0] != "bash: deploy" {
		t.Errorf("unanswered: %q", got)
	}
}
