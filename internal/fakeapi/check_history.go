package fakeapi

import (
	"slices"
	"strconv"
	"strings"
)

func (c checker) roles() *Fault {
	if !c.req.hasMessages {
		return invalid("messages: Field required")
	}
	if len(c.req.Messages) == 0 {
		return invalid("messages: at least one message is required")
	}
	last := len(c.req.Messages) - 1
	for i, m := range c.req.Messages {
		switch {
		case m.Role == "system":
			return invalid("messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role.")
		case m.Role != "user" && m.Role != "assistant":
			return invalid("messages.%d.role: Input should be 'user' or 'assistant'", i)
		case i == 0 && m.Role != "user":
			return invalid("messages: first message must use the \"user\" role")
		case m.empty() && (m.Role == "user" || i < last):
			return invalid("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
	}
	return nil
}

func (m Message) empty() bool {
	return len(m.Parts) == 0 || len(m.Parts) == 1 && m.Parts[0].Raw[0] == '"' && m.Parts[0].Text == ""
}

func (c checker) parts() *Fault {
	for i, m := range c.req.Messages {
		for j, part := range m.Parts {
			if f := c.part(m.Role, place(i, j), part); f != nil {
				return f
			}
		}
	}
	if f := c.endings(); f != nil {
		return f
	}
	last := c.req.Messages[len(c.req.Messages)-1]
	if n := len(last.Parts); last.Role == "assistant" && n > 0 {
		if text := last.Parts[n-1].Text; text != strings.TrimRight(text, " \t\r\n") {
			return invalid("messages: final assistant content cannot end with trailing whitespace")
		}
	}
	return nil
}

// endings refuses an assistant message that ends in thinking. Neighbouring
// messages of one role are one message.
func (c checker) endings() *Fault {
	for i, m := range c.req.Messages {
		next := i + 1
		if m.Role != "assistant" || len(m.Parts) == 0 || next < len(c.req.Messages) && c.req.Messages[next].Role == "assistant" {
			continue
		}
		if kind := m.Parts[len(m.Parts)-1].Type; kind == "thinking" || kind == "redacted_thinking" {
			return invalid("messages.%d: The final block in an assistant message cannot be `%s`.", i, kind)
		}
	}
	return nil
}

func (c checker) part(role, at string, p Part) *Fault {
	switch p.Type {
	case "text":
		return checkText(at, p)
	case "thinking", "redacted_thinking":
		if role != "assistant" {
			return invalid("%s: `%s` blocks may only be in `assistant` messages", at, p.Type)
		}
		return c.thought(at, p)
	case "tool_use":
		if role != "assistant" {
			return invalid("%s: `tool_use` blocks can only be in `assistant` messages", at)
		}
		return checkCall(at+".tool_use", p)
	case "tool_result":
		if role != "user" {
			return invalid("%s: `tool_result` blocks can only be in `user` messages", at)
		}
		return checkResult(at+".tool_result", p)
	case "image", "document":
		if role != "user" {
			return invalid("%s: `%s` blocks can only be in `user` messages", at, p.Type)
		}
		return checkMedia(at, p)
	}
	if !c.history.sent(p) {
		return invalid("%s: Input tag '%s' found using 'type' does not match any of the expected tags, or the block differs from the one that was sent", at, p.Type)
	}
	return nil
}

func checkText(at string, p Part) *Fault {
	switch {
	case p.Text == "" && p.Mark != 0:
		return invalid("%s.text: cache_control cannot be set for empty text blocks", at)
	case p.Text == "":
		return invalid("messages: text content blocks must be non-empty")
	case strings.TrimSpace(p.Text) == "":
		return invalid("messages: text content blocks must contain non-whitespace text")
	}
	return nil
}

func checkCall(at string, p Part) *Fault {
	switch {
	case !callID.MatchString(p.ID):
		return invalid("%s.id: String should match pattern '%s'", at, callID)
	case !toolName.MatchString(p.Name):
		return invalid("%s.name: String should match pattern '%s'", at, toolName)
	case len(p.Input) == 0:
		return invalid("%s.input: Field required", at)
	case p.Input[0] != '{':
		return invalid("%s.input: Input should be an object", at)
	}
	return nil
}

func checkResult(at string, p Part) *Fault {
	if !callID.MatchString(p.ToolUseID) {
		return invalid("%s.tool_use_id: String should match pattern '%s'", at, callID)
	}
	for i, inner := range p.Content {
		where := at + ".content." + strconv.Itoa(i)
		var f *Fault
		switch {
		case inner.Raw[0] == '"': // a bare string may be empty
		case inner.Type == "text":
			f = checkText(where, inner)
		case p.IsError:
			f = invalid("%s: all content must be type `text` if `is_error` is true", at)
		case inner.Type == "image", inner.Type == "document":
			f = checkMedia(where, inner)
		default:
			f = invalid("%s: Input tag '%s' found using 'type' does not match any of the expected tags: 'document', 'image', 'text'", where, inner.Type)
		}
		if f != nil {
			return f
		}
	}
	return nil
}

// thought checks that a thinking block is one of ours, untouched, and that the
// request goes to the model that made it.
func (c checker) thought(at string, p Part) *Fault {
	switch {
	case p.Type == "redacted_thinking" && !c.history.knows(p.Data, "", c.req.Model):
		return invalid("%s: Invalid `data` in `redacted_thinking` block", at)
	case p.Type == "thinking" && p.Signature == "":
		return invalid("%s.thinking.signature: Field required", at)
	case p.Type == "thinking" && p.Signature != sign(c.req.Model, p.Thinking) && !c.history.knows(p.Signature, p.Thinking, c.req.Model):
		return invalid("%s: Invalid `signature` in `thinking` block", at)
	}
	return nil
}

// located is a part with the place it had before messages were merged.
type located struct {
	*Part
	message, part int
}

type side struct {
	role  string
	parts []located
}

// sides joins neighbouring messages of one role, as the service does before it
// looks for pairs.
func (req *Request) sides() []side {
	var out []side
	for i := range req.Messages {
		m := &req.Messages[i]
		if n := len(out); n == 0 || out[n-1].role != m.Role {
			out = append(out, side{role: m.Role})
		}
		now := &out[len(out)-1]
		for j := range m.Parts {
			now.parts = append(now.parts, located{&m.Parts[j], i, j})
		}
	}
	return out
}

// pairs: each call has exactly one result, at the head of the next user message;
// no result stands alone; no id occurs twice.
func (c checker) pairs() *Fault {
	ids := map[string]bool{}
	var open []located // calls of the side before
	for _, s := range append(c.req.sides(), side{role: "end"}) {
		if f := answered(open, s); f != nil {
			return f
		}
		open = open[:0]
		for _, p := range s.parts {
			if p.Type != "tool_use" {
				continue
			}
			if ids[p.ID] {
				return invalid("%s: `tool_use` ids must be unique", place(p.message, p.part))
			}
			ids[p.ID] = true
			open = append(open, p)
		}
	}
	return nil
}

// answered holds the results of one side against the calls of the side before.
func answered(open []located, s side) *Fault {
	got, head := map[string]bool{}, true
	for _, p := range s.parts {
		if p.Type != "tool_result" {
			head = false
			continue
		}
		switch {
		case !slices.ContainsFunc(open, func(call located) bool { return call.ID == p.ToolUseID }):
			return invalid("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", place(p.message, p.part), p.ToolUseID)
		case got[p.ToolUseID]:
			return invalid("messages.%d.content: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", p.message, p.ToolUseID)
		}
		got[p.ToolUseID] = head
	}
	var missing []string
	for _, call := range open {
		if !got[call.ID] {
			missing = append(missing, call.ID)
		}
	}
	if len(missing) > 0 {
		return invalid("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", open[0].message, strings.Join(missing, ", "))
	}
	return nil
}

// keptThinking: in a tool loop the latest assistant message comes back with
// all the thinking it was sent with, in its order.
func (c checker) keptThinking() *Fault {
	sides := c.req.sides()
	if n := len(sides); n >= 2 && sides[n-1].role == "user" && c.req.Thinking.On() {
		return c.sameThinking(sides[n-2])
	}
	return nil
}

func (c checker) sameThinking(latest side) *Fault {
	var have, want []string
	for _, p := range latest.parts {
		switch p.Type {
		case "thinking":
			have = append(have, p.Signature)
		case "redacted_thinking":
			have = append(have, p.Data)
		case "tool_use":
			if want == nil {
				want = c.history.before(p.ID, c.req.Model)
			}
		}
	}
	if want == nil || slices.Equal(have, want) {
		return nil
	}
	first := latest.parts[0]
	if len(have) == 0 {
		return invalid("%s.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceding the lastmost set of `tool_use` and `tool_result` blocks).", place(first.message, first.part), first.Type)
	}
	return invalid("messages.%d.content: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", first.message)
}
