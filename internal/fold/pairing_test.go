package fold

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/khaelor/khaelor/internal/event"
)

// unpaired says what the service would refuse in a conversation whose calls
// are closed; "" when nothing.
func unpaired(blocks []Block) string {
	ids := map[string]bool{}
	for len(blocks) > 0 {
		calls, rest := side(blocks, Assistant)
		replies, after := side(rest, User)
		var asked, got []string
		for _, b := range calls {
			switch {
			case b.Kind == ToolUseBlock && ids[b.ID]:
				return "two calls are named " + b.ID
			case b.Kind == ToolUseBlock:
				ids[b.ID] = true
				asked = append(asked, b.ID)
			case b.Kind == TextBlock && strings.TrimSpace(b.Text) == "":
				return "blank text"
			}
		}
		for i, b := range replies {
			if b.Kind == ToolResultBlock && i != len(got) {
				return "a result stands behind other words: " + b.ID
			}
			if b.Kind == ToolResultBlock {
				got = append(got, b.ID)
			}
		}
		if !slices.Equal(asked, got) {
			return "calls " + strings.Join(asked, " ") + " have results " + strings.Join(got, " ")
		}
		blocks = after
	}
	return ""
}

// side splits off the leading blocks of a role.
func side(blocks []Block, role Role) (own, rest []Block) {
	n := slices.IndexFunc(blocks, func(b Block) bool { return b.Role != role })
	if n < 0 {
		n = len(blocks)
	}
	return blocks[:n], blocks[n:]
}

func TestEveryCallHasOneResultWhereverASessionStops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := session(t).log
		l.records = l.records[:rapid.IntRange(2, len(l.records)).Draw(t, "cut")]
		for _, call := range folded(State{}, l.records).Calls {
			l.add(event.ToolCancelled{ToolUseID: call.ID, Reason: event.CancelRecovery, ModelText: "lost"})
		}
		l.add(event.SessionResumed{})
		l.add(said("and now?"))
		blocks := folded(History{}, l.records).Blocks()
		if problem := unpaired(blocks); problem != "" {
			t.Fatalf("%s\nin\n  %s\nof\n  %s", problem, indented(lines(folded(History{}, l.records))), indented(names(l.records)))
		}
		if blocks[0].Role != User || blocks[len(blocks)-1].Text != "and now?" {
			t.Fatalf("the conversation does not begin and end with the user:\n  %s", indented(lines(folded(History{}, l.records))))
		}
	})
}

func names(records []event.Record) []string {
	var all []string
	for _, r := range records {
		all = append(all, r.Name())
	}
	return all
}

func TestNothingIsLostAddedOrPartedBetweenTheLogAndTheHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := session(t)
		s.say(said("end"), "end")
		h := folded(History{}, s.records)

		var spoken, texts []string
		for _, b := range h.Blocks() {
			switch {
			case b.Role == Assistant:
				spoken = append(spoken, spokenLine(b))
			case b.Kind == TextBlock:
				texts = append(texts, b.Text)
			}
		}
		var want []string
		for _, b := range s.heard() {
			want = append(want, b.line)
		}
		if d := difference(spoken, want); d != "" {
			t.Fatalf("the assistant's blocks: %s\nof\n  %s", d, indented(names(s.records)))
		}
		if d := difference(texts, s.said); d != "" {
			t.Fatalf("the user's words: %s\nof\n  %s", d, indented(names(s.records)))
		}
		if problem := parted(h.Blocks(), s.heard()); problem != "" {
			t.Fatalf("%s\nin\n  %s", problem, indented(lines(h)))
		}
	})
}

func spokenLine(b Block) string {
	switch b.Kind {
	case ThinkingBlock:
		return "thinks " + b.Text
	case OpaqueBlock:
		return "sends " + string(b.Raw)
	case ToolUseBlock:
		return "calls " + b.ID
	}
	return "says " + b.Text
}

// parted says whether other words stand between two blocks of one answer.
func parted(blocks []Block, spoken []tagged) string {
	n, last := 0, -1
	for i, b := range blocks {
		if b.Role == User {
			continue
		}
		if n > 0 && spoken[n-1].request == spoken[n].request && last != i-1 {
			return "the answer " + spoken[n].request + " is parted before " + spokenLine(b)
		}
		n, last = n+1, i
	}
	return ""
}

func TestWithinAnEpochTheHistoryOnlyGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h History
		for _, r := range session(t).records {
			before, epoch := lines(h), h.Epoch
			h = h.Apply(r)
			after := lines(h)
			if changes := rewrites(r.Fact); h.Epoch != epoch {
				if !changes || h.Epoch != epoch+1 {
					t.Fatalf("%s moved the epoch from %d to %d", r.Name(), epoch, h.Epoch)
				}
				continue
			} else if changes {
				t.Fatalf("%s left the epoch at %d", r.Name(), epoch)
			}
			if failed, ok := r.Fact.(event.ModelRequestFailed); ok && failed.Kind != event.ErrorCancelled {
				before = before[:kept(before, after)]
			}
			if len(after) < len(before) || !slices.Equal(after[:len(before)], before) {
				t.Fatalf("%s (seq %d) changed earlier blocks: %s", r.Name(), r.Seq, difference(after, before))
			}
		}
	})
}

func rewrites(f event.Fact) bool {
	switch f.(type) {
	case event.ContextPruned, event.ContextCompacted, event.ModelChanged:
		return true
	}
	return false
}

// kept is how far a failed attempt left the blocks alone: the dropped ones are
// the assistant's, at the end.
func kept(before, after []string) int {
	n := len(before)
	for n > 0 && strings.HasPrefix(before[n-1], string(Assistant)) && (n > len(after) || before[n-1] != after[n-1]) {
		n--
	}
	return n
}
