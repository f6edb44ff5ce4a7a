package session

import (
	"fmt"
	"slices"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// openCalls are the calls without a result, in the order of the log. The
// fold's own list leaves out calls of requests that are not in the
// conversation; a result is owed to those as well.
type openCalls []openCall

type openCall struct {
	id      string
	started bool // it may have had an effect
}

func (c openCalls) apply(f event.Fact) openCalls {
	switch p := f.(type) {
	case event.ToolRequested:
		return append(c, openCall{id: p.ToolUseID})
	case event.ToolStarted:
		for i := range c {
			c[i].started = c[i].started || c[i].id == p.ToolUseID
		}
	}
	if id, ok := closes(f); ok {
		return slices.DeleteFunc(c, func(call openCall) bool { return call.id == id })
	}
	return c
}

// closes says which call the fact is the result of.
func closes(f event.Fact) (id string, ok bool) {
	switch p := f.(type) {
	case event.ToolCompleted:
		return p.ToolUseID, true
	case event.ToolFailed:
		return p.ToolUseID, true
	case event.ToolCancelled:
		return p.ToolUseID, true
	}
	return "", false
}

// recovered is the result of a call that the end of the program left open. Its
// beginning is not waited for: when the power went, a call may have run of
// which only the request is left.
func (c openCall) recovered() event.ToolCancelled {
	text := "[KHAELOR ended before it recorded that this call began. It may not have run: look before repeating it.]"
	if c.started {
		text = "[KHAELOR ended while this call ran. It may have had an effect in part, and it was not run again: look before repeating it.]"
	}
	return event.ToolCancelled{ToolUseID: c.id, Reason: event.CancelRecovery, ModelText: text}
}

// badCut says why a compaction may not cut there: "" when both halves of
// every call stay together and no answer of the model is split (a thinking
// block may not lose what followed it).
func badCut(h fold.History, last int64, cut event.Cut) string {
	if cut.FromSeq < 1 || cut.FromSeq > cut.ToSeq || cut.ToSeq > last {
		return fmt.Sprintf("cut %d to %d is not a range of the %d facts there are", cut.FromSeq, cut.ToSeq, last)
	}
	inside := func(b fold.Block) bool { return cut.FromSeq <= b.Seq && b.Seq <= cut.ToSeq }
	uses := map[string]bool{} // by call without a result so far: is it inside
	var before fold.Block
	for i, b := range h.Blocks() {
		switch b.Kind {
		case fold.ToolUseBlock:
			uses[b.ID] = inside(b)
		case fold.ToolResultBlock:
			if use, ok := uses[b.ID]; ok && use != inside(b) {
				return "the cut parts call " + b.ID + " from its result"
			}
			delete(uses, b.ID)
		}
		if i > 0 && before.Role == fold.Assistant && b.Role == fold.Assistant && inside(before) != inside(b) {
			return fmt.Sprintf("the cut splits the model's answer at fact %d", b.Seq)
		}
		before = b
	}
	for id, use := range uses {
		if use {
			return "the cut takes call " + id + ", which has no result yet"
		}
	}
	return ""
}
