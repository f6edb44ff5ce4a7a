package fold

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/khaelor/khaelor/internal/event"
)

// script draws a session as an engine could write it, and remembers what must
// come of it.
type script struct {
	*rapid.T
	log
	n int // numbers requests, calls and texts

	calls    []string // open, in block order
	request  string   // the answer that arrives
	steering []string // event ids of queued words
	texts    map[string]string

	spoken  []tagged // the assistant's blocks that must be there, in order
	said    []string // texts of the user's side that must be there, in order
	results []string // ids of all calls in spoken
}

// tagged is a block of the assistant as a line, and the attempt it is of.
type tagged struct{ request, line string }

// session draws several turns.
func session(t *rapid.T) *script {
	s := &script{T: t, texts: map[string]string{}}
	s.add(event.SessionStarted{Model: "m"})
	for range rapid.IntRange(1, 3).Draw(t, "turns") {
		s.turn()
	}
	return s
}

func (s *script) chance(percent int, label string) bool {
	return rapid.IntRange(0, 99).Draw(s.T, label) >= 100-percent
}

func (s *script) next(kind string) string {
	s.n++
	return fmt.Sprintf("%s%d", kind, s.n)
}

// say adds a fact whose text must reach the history.
func (s *script) say(f event.Fact, text string) {
	s.add(f)
	s.said = append(s.said, text)
}

func (s *script) turn() {
	text := s.next("message")
	s.say(event.UserMessageCreated{Text: text}, text)
	for range rapid.IntRange(1, 4).Draw(s.T, "calls of the model") {
		s.between()
		if !s.attempt() || !s.batch() {
			return
		}
	}
	s.add(event.TaskCompleted{})
}

// between is what can happen at a seam.
func (s *script) between() {
	if len(s.steering) > 0 && s.chance(70, "inject") {
		id := s.steering[0]
		s.steering = s.steering[1:]
		s.say(event.SteeringInjected{QueuedEventID: id}, s.texts[id])
	}
	if s.chance(20, "note") {
		text := s.next("note")
		s.say(event.ContextNoted{Text: text}, text)
	}
	if s.chance(20, "nudge") {
		text := s.next("nudge")
		s.say(event.VerificationRequested{ModelText: text}, text)
	}
	if len(s.results) > 0 && s.chance(20, "prune") {
		s.add(event.ContextPruned{ToolUseIDs: event.List[string]{rapid.SampledFrom(s.results).Draw(s.T, "pruned")}, Placeholder: "[pruned]"})
	}
	if s.chance(20, "change the model") {
		s.changeModel()
	}
}

func (s *script) changeModel() {
	s.add(event.ModelChanged{From: "m", To: "m"})
	s.spoken = slices.DeleteFunc(s.spoken, func(b tagged) bool { return b.line[0] == 't' })
}

// meanwhile is what the user can do at any time.
func (s *script) meanwhile() {
	switch rapid.IntRange(0, 7).Draw(s.T, "meanwhile") {
	case 0:
		text := s.next("word")
		s.add(event.SteeringQueued{Text: text})
		id := s.records[len(s.records)-1].ID
		s.steering, s.texts[id] = append(s.steering, id), text
	case 1:
		if n := len(s.steering); n > 0 {
			s.add(event.SteeringWithdrawn{QueuedEventID: s.steering[n-1]})
			s.steering = s.steering[:n-1]
		}
	case 2:
		output := s.next("output")
		s.say(event.ShellRun{Command: "ls", Output: output}, "The user ran `ls`; exit code 0. Output:\n"+output)
	case 3:
		text := s.next("checks")
		s.say(event.ChecksCompleted{ModelText: text}, text)
	}
}

// attempt draws one attempt, and more while they fail. It says whether an
// answer arrived whole; else the task is over.
func (s *script) attempt() bool {
	s.request = s.next("r")
	s.add(event.ModelRequestStarted{RequestID: s.request, Model: "m", Purpose: event.PurposeMain})
	for i := range rapid.IntRange(0, 5).Draw(s.T, "blocks") {
		s.meanwhile()
		s.block(i)
	}
	s.meanwhile()
	switch rapid.IntRange(0, 9).Draw(s.T, "end of the attempt") {
	case 0:
		return s.fail()
	case 1:
		s.interrupt()
		return false
	case 2:
		s.crash()
		return false
	}
	s.add(event.ModelResponseCompleted{RequestID: s.request, StopReason: event.StopToolUse})
	s.request = ""
	return true
}

func (s *script) block(i int) {
	tag := s.next("b")
	keep := func(line string) { s.spoken = append(s.spoken, tagged{s.request, line}) }
	switch rapid.IntRange(0, 6).Draw(s.T, "block") {
	case 0:
		s.add(event.ModelTextBlockCompleted{RequestID: s.request, BlockIndex: i, Text: rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(s.T, "blank")})
	case 1, 2:
		s.add(event.ModelTextBlockCompleted{RequestID: s.request, BlockIndex: i, Text: tag})
		keep("says " + tag)
	case 3:
		s.add(event.ModelThinkingBlockCompleted{RequestID: s.request, BlockIndex: i, Thinking: tag, Signature: "sig"})
		keep("thinks " + tag)
	case 4:
		s.add(event.ModelOpaqueBlockCompleted{RequestID: s.request, BlockIndex: i, BlockType: "odd", Raw: json.RawMessage(`"` + tag + `"`)})
		keep(`sends "` + tag + `"`)
	default:
		s.add(event.ToolRequested{RequestID: s.request, BlockIndex: i, ToolUseID: tag, ToolName: "read", Input: json.RawMessage(`{}`)})
		keep("calls " + tag)
		s.calls, s.results = append(s.calls, tag), append(s.results, tag)
	}
}

// fail drops the attempt and makes another.
func (s *script) fail() bool {
	kind := rapid.SampledFrom([]event.ModelErrorKind{event.ErrorRetryable, event.ErrorContextOverflow}).Draw(s.T, "kind")
	s.add(event.ModelRequestFailed{RequestID: s.request, Kind: kind})
	s.spoken = slices.DeleteFunc(s.spoken, func(b tagged) bool { return b.request == s.request })
	s.results = slices.DeleteFunc(s.results, func(id string) bool { return slices.Contains(s.calls, id) })
	s.closeAll(event.CancelResponseFailed)
	return s.attempt()
}

// interrupt ends what is under way, in either order.
func (s *script) interrupt() {
	s.add(event.Interrupted{Scope: event.ScopeTurn, PendingToolUseIDs: s.calls})
	first := s.chance(50, "the attempt ends first")
	if first && s.request != "" {
		s.add(event.ModelRequestFailed{RequestID: s.request, Kind: event.ErrorCancelled})
	}
	s.closeAll(event.CancelInterrupted)
	if !first && s.request != "" {
		s.add(event.ModelRequestFailed{RequestID: s.request, Kind: event.ErrorCancelled})
	}
	s.request = ""
}

// crash ends what is under way without a word; recovery closes the calls.
func (s *script) crash() {
	s.closeAll(event.CancelRecovery)
	s.request = ""
	s.add(event.SessionResumed{})
	s.meanwhile()
}

func (s *script) closeAll(reason event.CancelReason) {
	for _, id := range s.calls {
		s.add(event.ToolCancelled{ToolUseID: id, Reason: reason, ModelText: "cancelled"})
	}
	s.calls = nil
}

// batch gives the open calls their results in any order. It says whether the
// task goes on.
func (s *script) batch() bool {
	for len(s.calls) > 0 {
		s.meanwhile()
		switch rapid.IntRange(0, 19).Draw(s.T, "batch") {
		case 0:
			s.interrupt()
			return false
		case 1:
			s.crash()
			return false
		}
		i := rapid.IntRange(0, len(s.calls)-1).Draw(s.T, "which")
		id := s.calls[i]
		s.add(
			event.PermissionRequested{PermissionRequestID: "p" + id, ToolUseID: id}, event.PermissionGranted{PermissionRequestID: "p" + id},
			event.ToolApproved{ToolUseID: id}, event.ToolStarted{ToolUseID: id},
			modified("a", id, event.FileEdited, 1, 0, "1"), modified("b", id, event.FileEdited, 1, 0, "1"),
		)
		s.calls = slices.Delete(slices.Clone(s.calls), i, i+1)
		s.add(rapid.SampledFrom([]event.Fact{completed(id), toolFailed(id), cancelled(id)}).Draw(s.T, "result"))
	}
	return true
}

// heard are the assistant's blocks that a history keeps: an answer does not
// end in thinking.
func (s *script) heard() []tagged {
	var kept []tagged
	for i, b := range s.spoken {
		follows := slices.ContainsFunc(s.spoken[i:], func(later tagged) bool {
			return later.request == b.request && !strings.HasPrefix(later.line, "thinks")
		})
		if follows {
			kept = append(kept, b)
		}
	}
	return kept
}
