package model

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
)

func TestBlocksSettleAsFactsInTheirOrder(t *testing.T) {
	whole := answers(
		fakeapi.Think("Let me think."), fakeapi.Block{Type: "redacted_thinking", Data: "secret+/="},
		fakeapi.Text("I look <&> see 𝄞."), fakeapi.Call("bash", `{"command":"ls","n":1.0,"big":12345678901234567890}`), fakeapi.Call("bash", `{}`),
	)
	whole.DeltaBytes = 3
	r := newRig(t, whole, answers(fakeapi.Text("Done.")))
	r.say("look")
	r.call()
	want := []string{
		"model.request-started", "model.thinking-block-completed", "model.opaque-block-completed", "model.text-block-completed",
		"tool.requested", "tool.requested", "model.response-completed",
	}
	if got := r.names(); !slices.Equal(got, want) {
		t.Errorf("facts %v, want %v", got, want)
	}
	if calls := told[event.ToolRequested](r); string(calls[0].Input) != `{"command":"ls","n":1.0,"big":12345678901234567890}` || string(calls[1].Input) != `{}` {
		t.Errorf("calls %+v", calls)
	}
	var shown strings.Builder
	for _, d := range noticed[event.ModelTextDelta](r) {
		shown.WriteString(d.Text)
	}
	if shown.String() != "I look <&> see 𝄞." || len(noticed[event.ModelThinkingDelta](r)) == 0 || len(noticed[event.ToolCallStarted](r)) != 2 || len(noticed[event.ToolInputDelta](r)) == 0 {
		t.Errorf("shown %q, notices %d", shown.String(), len(r.notices))
	}
	r.results()
	r.call()
	if r.stopped() != event.StopEndTurn {
		t.Errorf("stopped for %q", r.stopped())
	}
}

func TestUsageIsCountedOnce(t *testing.T) {
	r := newRig(t, recorded(t, "plain.sse"))
	r.say("hello")
	r.call()
	if tokens, n := r.log.Fold().Usage.Total(); n != 1 || tokens != (event.ModelUsage{InputTokens: 10, OutputTokens: 7, CacheReadTokens: 5, CacheWriteTokens: 3}) {
		t.Errorf("usage %+v of %d answers", tokens, n)
	}
}

// use is a call as a server might send it.
func use(id, name, input string) fakeapi.Block {
	block := map[string]json.RawMessage{"type": []byte(`"tool_use"`), "input": []byte(input)}
	block["id"], _ = json.Marshal(id)
	block["name"], _ = json.Marshal(name)
	raw, _ := json.Marshal(block)
	return fakeapi.Block{Type: "raw", Raw: raw}
}

func TestAnIDThatCannotBeSentBackIsReplaced(t *testing.T) {
	r := newRig(t,
		answers(use("", "bash", `{"a":1}`), use("a b/c", "bash", `{"b":1}`), use("ok", "bash", `{"c":1}`), use("ok", "bash", `{"d":1}`), use("ünï", "bash", `{"e":1}`)),
		answers(use("ok", "bash", `{"f":1}`), use("new", "bash", `{"g":1}`)),
		answers(fakeapi.Text("Done.")))
	r.say("do it")
	for range 3 {
		r.call()
		r.results()
	}
	var ids []string
	for _, f := range r.facts {
		if call, ok := f.Fact.(event.ToolRequested); ok {
			id := call.ToolUseID
			if strings.HasPrefix(id, "toolu_k") && id != "toolu_k"+itoa(f.Seq) {
				t.Errorf("fact %d is call %s", f.Seq, id)
			}
			if slices.Contains(ids, id) {
				t.Errorf("id %s is used twice", id)
			}
			ids = append(ids, strings.TrimRight(id, "0123456789"))
		}
	}
	if want := []string{"toolu_k", "toolu_k", "ok", "toolu_k", "toolu_k", "toolu_k", "new"}; !slices.Equal(ids, want) {
		t.Errorf("ids %v, want %v", ids, want)
	}
}

func itoa(n int64) string {
	b, _ := json.Marshal(n)
	return string(b)
}

func TestTwoCallsOfOneIDBecomeTwo(t *testing.T) {
	r := newRig(t, recorded(t, "duplicate_ids.sse"), answers(fakeapi.Text("Done.")))
	r.say("do it")
	r.call()
	r.results()
	r.call()
	if calls := told[event.ToolRequested](r); len(calls) != 2 || calls[0].ToolUseID != "toolu_same" || !strings.HasPrefix(calls[1].ToolUseID, "toolu_k") {
		t.Errorf("calls %+v", calls)
	}
}

func TestAnIDOfAFailedAttemptIsNotUsedAgain(t *testing.T) {
	broken := answers(use("call_0", "bash", `{"command":"ls"}`), fakeapi.Text("and"))
	broken.MidError, broken.ErrorAfterEvents = &fakeapi.Fault{Type: "overloaded_error", Message: "busy"}, 7
	r := newRig(t, broken, answers(use("call_0", "bash", `{"command":"ls"}`)))
	r.say("do it")
	r.call()
	if calls := told[event.ToolRequested](r); len(calls) != 2 || calls[0].ToolUseID != "call_0" || !strings.HasPrefix(calls[1].ToolUseID, "toolu_k") {
		t.Errorf("calls %+v", calls)
	}
	r.results()
}

func TestAnInputThatIsNoObjectIsQuotedAndNotRun(t *testing.T) {
	r := newRig(t,
		answers(use("a", "bash", `[]`), use("b", "bash", `"x"`), use("c", "bash", `7`), use("d", "bash", `{"fine": true}`)),
		answers(fakeapi.Text("Done.")))
	r.say("do it")
	r.call()
	if open := r.log.Fold().State.Calls; len(open) != 1 || open[0].ID != "d" || string(open[0].Input) != `{"fine":true}` {
		t.Errorf("open calls %+v", open)
	}
	for i, quoted := range []string{"[]", `"x"`, "7"} {
		failed, call := told[event.ToolFailed](r)[i], told[event.ToolRequested](r)[i]
		if failed.ErrorKind != event.ToolInvalidInput || !strings.HasSuffix(failed.ModelText, quoted) || string(call.Input) != "{}" {
			t.Errorf("call %s%s failed with %+v", call.ToolUseID, call.Input, failed)
		}
	}
	r.results()
	r.call()
}

func TestANameThatNoToolCanHaveIsSentBackInAnotherForm(t *testing.T) {
	r := newRig(t,
		answers(use("a", "", `{}`), use("b", "ba sh", `{}`), use("c", strings.Repeat("é", 300), `{}`), use("d", "nosuch", `{}`)),
		answers(fakeapi.Text("Done.")))
	r.say("do it")
	r.call()
	want := []string{"unknown_", "unknown_ba_sh", "unknown_" + strings.Repeat("_", 100), "nosuch"}
	for i, call := range told[event.ToolRequested](r) {
		if call.ToolName != want[i] {
			t.Errorf("name %q, want %q", call.ToolName, want[i])
		}
	}
	r.results()
	r.call()
}

func TestHalfASurrogateNeverReachesTheWire(t *testing.T) {
	odd := fakeapi.Block{Type: "raw", Raw: []byte(`{"type":"server_note","text":"half \ud83d whole \ud83d\ude00 escaped \\ud83d"}`)}
	half := answers(
		fakeapi.Block{Type: "tool_use", ID: "a", Name: "bash", PartialInput: `{"command":"echo \ud83d and \ud83d\ude00 and \\ud83d \udc00","\udbff":1}`},
	)
	half.StopReason = "tool_use"
	r := newRig(t, half, answers(fakeapi.Text("Done.")))
	r.say("do it")
	r.call()
	call := told[event.ToolRequested](r)[0]
	if want := `{"command":"echo \ufffd and \ud83d\ude00 and \\ud83d \ufffd","\ufffd":1}`; string(call.Input) != want {
		t.Errorf("input %s, want %s", call.Input, want)
	}
	r.results()
	r.call()
	if got, want := string(loneSurrogates(odd.Raw)), `{"type":"server_note","text":"half \ufffd whole \ud83d\ude00 escaped \\ud83d"}`; got != want {
		t.Errorf("block %s, want %s", got, want)
	}
}

func TestACallThatTheOutputLimitCutIsNotRun(t *testing.T) {
	cut := func(partial string) fakeapi.Turn {
		turn := answers(fakeapi.Call("bash", `{"command":"ls"}`), fakeapi.Block{Type: "tool_use", ID: "cut", Name: "write", PartialInput: partial})
		turn.StopReason = "max_tokens"
		return turn
	}
	whole := answers(fakeapi.Call("bash", `{"command":"ls"}`), fakeapi.Call("write", `{"path":"a"}`))
	whole.StopReason = "max_tokens"
	empty := answers(fakeapi.Call("bash", `{"command":"ls"}`), use("cut", "write", `{}`)) // without a single delta
	empty.StopReason = "max_tokens"
	for _, c := range []struct {
		name string
		turn fakeapi.Turn
		cut  bool
	}{
		{"within its input", cut(`{"path":"a.txt","content":"half`), true},
		{"before its input", empty, true},
		{"after an opening brace", cut(`{`), true},
		{"behind its input", whole, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, c.turn, answers(fakeapi.Text("Smaller, then.")))
			r.say("write")
			r.call()
			failed := told[event.ToolFailed](r)
			if open := len(r.log.Fold().State.Calls); c.cut != (len(failed) == 1) || c.cut != (open == 1) {
				t.Fatalf("open %d, failed %+v", open, failed)
			}
			if c.cut && (failed[0].ErrorKind != event.ToolInvalidInput || !strings.Contains(failed[0].ModelText, "output limit") || string(told[event.ToolRequested](r)[1].Input) != "{}") {
				t.Errorf("failed %+v", failed[0])
			}
			r.results()
			r.call()
		})
	}
}

func TestTheRecordedCutCallIsNotRun(t *testing.T) {
	r := newRig(t, recorded(t, "tool_cut_max_tokens.sse"), answers(fakeapi.Text("Smaller, then.")))
	r.say("write")
	r.call()
	if open := r.log.Fold().State.Calls; len(open) != 0 || len(told[event.ToolFailed](r)) != 1 {
		t.Errorf("open %+v", open)
	}
	r.call()
}

func TestBlankTextIsNotSentBack(t *testing.T) {
	r := newRig(t, recorded(t, "blank_text_then_tool.sse"), answers(fakeapi.Text(" ")), answers(fakeapi.Text("Well.")))
	r.say("read")
	r.call()
	r.results()
	r.call()
	r.say("and?")
	r.call()
	r.converses("user: read", `assistant calls toolu_1: read{"path":"a.txt"}`, "user answers toolu_1: result of toolu_1", "user: and?", "assistant: Well.")
}

func TestAnEmptyAnswerLeavesNothingInTheHistory(t *testing.T) {
	r := newRig(t, answers(), recorded(t, "refusal_empty.sse"), answers(fakeapi.Text("Well.")))
	r.say("hello")
	r.call()
	if r.stopped() != event.StopEndTurn {
		t.Errorf("stopped for %q", r.stopped())
	}
	r.say("are you there?")
	r.call()
	if r.stopped() != event.StopRefusal {
		t.Errorf("stopped for %q", r.stopped())
	}
	r.say("please")
	r.call()
	r.converses("user: hello", "user: are you there?", "user: please", "assistant: Well.")
}

func TestACutTextIsContinued(t *testing.T) {
	cut := answers(fakeapi.Text("Chapter one "))
	cut.StopReason = "max_tokens"
	r := newRig(t, cut, answers(fakeapi.Text("and two.")))
	r.say("write")
	r.call()
	r.call()
	r.converses("user: write", "assistant: Chapter one ",
		"user: Your answer reached the output limit. Go on where it stopped, without repeating anything.", "assistant: and two.")
}

func TestARefusalKeepsWhatWasSaid(t *testing.T) {
	refused := answers(fakeapi.Text("I would "))
	refused.StopReason = "refusal"
	r := newRig(t, refused, answers(fakeapi.Text("Yes.")))
	r.say("something")
	r.call()
	r.say("something else")
	r.call()
	r.converses("user: something", "assistant: I would ", "user: something else", "assistant: Yes.")
}

func TestAPausedTurnGoesOnWithTheHistoryAsItIs(t *testing.T) {
	paused := answers(fakeapi.Text("Searching."), fakeapi.Block{Type: "raw", Raw: []byte(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"q":"<x>"}}`)})
	paused.StopReason = "pause_turn"
	spaced := answers(fakeapi.Text("Still. \n"))
	spaced.StopReason = "pause_turn"
	r := newRig(t, paused, spaced, answers(fakeapi.Text("Found.")))
	r.say("search")
	r.call()
	r.call()
	r.call()
	r.converses("user: search", "assistant: Searching.", "assistant sends: server_tool_use", "assistant: Still. \n", "user: Go on.", "assistant: Found.")
}
