package fakeapi

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
)

// maxMarks is the documented number of cache breakpoints in one request.
const maxMarks = 4

// minThinkingBudget is the documented smallest thinking budget, in tokens.
const minThinkingBudget = 1024

var (
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	callID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
)

// checker holds one request against the rules. Its methods give the first broken
// rule in the service's words, nil when there is none.
type checker struct {
	req     *Request
	model   Model
	history *history
	// counting is true for count_tokens, which needs no max_tokens and has no window.
	counting bool
}

func (c checker) check() *Fault {
	for _, rule := range []func() *Fault{
		c.limits, c.thinking, c.tools, c.toolChoice, c.marks, c.system, c.roles, c.parts, c.pairs, c.keptThinking, c.window,
	} {
		if f := rule(); f != nil {
			return f
		}
	}
	return nil
}

func (c checker) limits() *Fault {
	switch n := c.req.MaxTokens; {
	case c.counting:
		return nil
	case !c.req.hasMaxTokens:
		return invalid("max_tokens: Field required")
	case n < 1:
		return invalid("max_tokens: Input should be greater than or equal to 1")
	case c.model.MaxTokens > 0 && n > c.model.MaxTokens:
		return invalid("max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s", n, c.model.MaxTokens, c.model.ID)
	}
	return nil
}

func (c checker) thinking() *Fault {
	t := c.req.Thinking
	switch {
	case t.Type == "" && t.raw == nil, t.Type == "disabled":
		return nil
	case !t.On():
		return invalid("thinking: Input tag '%s' found using 'type' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'", t.Type)
	case t.Type == "enabled" && t.Budget < minThinkingBudget:
		return invalid("thinking.enabled.budget_tokens: Input should be greater than or equal to %d", minThinkingBudget)
	case !c.counting && t.Budget >= c.req.MaxTokens:
		return invalid("`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size")
	case c.req.Temperature != nil && *c.req.Temperature != 1:
		return invalid("`temperature` may only be set to 1 when thinking is enabled.")
	}
	if kind := kindOf(c.req.ToolChoice); kind == "any" || kind == "tool" {
		return invalid("Thinking may not be enabled when tool_choice forces tool use.")
	}
	return nil
}

func (c checker) tools() *Fault {
	names := map[string]bool{}
	for i, t := range c.req.Tools {
		if t.Type != "" && t.Type != "custom" {
			continue // the service's own tools have no schema
		}
		switch {
		case t.extra != "":
			return invalid("tools.%d.custom.%s: Extra inputs are not permitted", i, t.extra)
		case t.Name == "":
			return invalid("tools.%d.custom.name: Field required", i)
		case !toolName.MatchString(t.Name):
			return invalid("tools.%d.custom.name: String should match pattern '%s'", i, toolName)
		case names[t.Name]:
			return invalid("tools: Tool names must be unique.")
		}
		if f := checkSchema(i, t.InputSchema); f != nil {
			return f
		}
		names[t.Name] = true
	}
	return nil
}

func checkSchema(i int, raw json.RawMessage) *Fault {
	var schema struct {
		Type       *string                    `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	switch {
	case len(raw) == 0:
		return invalid("tools.%d.custom.input_schema: Field required", i)
	case json.Unmarshal(raw, &schema) != nil:
		return invalid("tools.%d.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12).", i)
	case schema.Type == nil:
		return invalid("tools.%d.custom.input_schema.type: Field required", i)
	case *schema.Type != "object":
		return invalid("tools.%d.custom.input_schema.type: Input should be 'object'", i)
	}
	return nil
}

func (c checker) toolChoice() *Fault {
	if c.req.ToolChoice == nil {
		return nil
	}
	var choice struct{ Type, Name string }
	if json.Unmarshal(c.req.ToolChoice, &choice) != nil {
		return invalid("tool_choice: Input should be an object")
	}
	switch choice.Type {
	case "auto", "any", "none":
		if len(c.req.Tools) == 0 && choice.Type != "none" {
			return invalid("tool_choice: may only be specified while providing tools")
		}
		return nil
	case "tool":
		for _, t := range c.req.Tools {
			if t.Name == choice.Name {
				return nil
			}
		}
		return invalid("Tool '%s' not found in provided tools", choice.Name)
	}
	return invalid("tool_choice: Input tag '%s' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'", choice.Type)
}

// marks counts the breakpoints and looks at the order of their life times.
func (c checker) marks() *Fault {
	count, short := 0, false
	for at, mark := range c.req.marks() {
		switch count++; {
		case mark == longLife && short:
			return invalid("%s.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.", at)
		case mark == shortLife:
			short = true
		}
	}
	if count > maxMarks {
		return invalid("A maximum of %d blocks with cache_control may be provided. Found %d.", maxMarks, count)
	}
	return nil
}

func (c checker) system() *Fault {
	for i, part := range c.req.System {
		switch {
		case part.Type != "text":
			return invalid("system.%d.type: Input should be 'text'", i)
		case part.Text == "" && part.Mark != 0:
			return invalid("system.%d.text: cache_control cannot be set for empty text blocks", i)
		case part.Text == "" && part.Raw[0] != '"':
			return invalid("system: text content blocks must be non-empty")
		case part.Text != "" && strings.TrimSpace(part.Text) == "":
			return invalid("system: text content blocks must contain non-whitespace text")
		}
	}
	return nil
}

func (c checker) window() *Fault {
	if n := c.req.prompt.tokens(); !c.counting && n > c.model.MaxInputTokens {
		return invalid("prompt is too long: %d tokens > %d maximum", n, c.model.MaxInputTokens)
	}
	return nil
}

// findModel is apart from the other rules because its answer is a 404.
func findModel(script Script, id string) (Model, *Fault) {
	if id == "" {
		return Model{}, invalid("model: Field required")
	}
	m, ok := script.model(id)
	if !ok {
		return Model{}, &Fault{Status: http.StatusNotFound, Message: "model: " + id}
	}
	return m, nil
}
