package fakeapi

import (
	"encoding/json"
	"strings"
	"testing"
)

// request builds a body around messages; fields go in front.
func request(fields, messages string) string {
	return `{"model":"m","max_tokens":2000,` + fields + `"messages":[` + messages + `]}`
}

const (
	ask    = `{"role":"user","content":"hi"}`
	call   = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"ls","input":{}}]}`
	result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}`
	png    = "iVBORw0KGgoAAAANSUhEUg=="
)

func userPart(part string) string { return `{"role":"user","content":[` + part + `]}` }

func image(media, data string) string {
	return `{"type":"image","source":{"type":"base64","media_type":"` + media + `","data":"` + data + `"}}`
}

func tool(name, rest string) string {
	return `{"name":"` + name + `","input_schema":{"type":"object"}` + rest + `}`
}

func TestARequestThatBreaksARuleIsRefusedInTheServicesWords(t *testing.T) {
	mark := `,"cache_control":{"type":"ephemeral"}`
	long := `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	textPart := `{"type":"text","text":"x"` + mark + `}`
	answer := `{"role":"assistant","content":`
	cases := []struct{ name, body, want string }{
		{"not JSON", `{"model":`, "The request body is not valid JSON: unexpected end of JSON input"},
		{"not UTF-8", request("", "{\"role\":\"user\",\"content\":\"\xff\"}"), "The request body is not valid JSON: str is not valid UTF-8"},
		{"half a surrogate", `{"model":"\ud83d"}`, "The request body is not valid JSON: no low surrogate in string: line 1 column 11 (char 10)"},
		{"not an object", `[]`, "body: Input should be an object"},
		{"unknown field", request(`"foo":1,`, ask), "foo: Extra inputs are not permitted"},
		{"no model", `{"max_tokens":1,"messages":[` + ask + `]}`, "model: Field required"},
		{"no max_tokens", `{"model":"m","messages":[` + ask + `]}`, "max_tokens: Field required"},
		{"max_tokens 0", `{"model":"m","max_tokens":0,"messages":[` + ask + `]}`, "max_tokens: Input should be greater than or equal to 1"},
		{"max_tokens of the model", `{"model":"m","max_tokens":9000,"messages":[` + ask + `]}`, "max_tokens: 9000 > 8000, which is the maximum allowed number of output tokens for m"},
		{"max_tokens a string", `{"model":"m","max_tokens":"1","messages":[` + ask + `]}`, "max_tokens: Input should be a valid integer"},
		{"no messages", `{"model":"m","max_tokens":1}`, "messages: Field required"},
		{"messages empty", request("", ""), "messages: at least one message is required"},
		{"messages an object", `{"model":"m","max_tokens":1,"messages":{}}`, "messages: Input should be a valid array"},
		{"first role", request("", answer+`"x"},`+ask), `messages: first message must use the "user" role`},
		{"no role", request("", `{"content":"x"}`), "messages.0.role: Field required"},
		{"other role", request("", `{"role":"tool","content":"x"}`), "messages.0.role: Input should be 'user' or 'assistant'"},
		{"system role", request("", `{"role":"system","content":"x"}`), "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role."},
		{"unknown message field", request("", `{"role":"user","content":"x","id":"1"}`), "messages.0.id: Extra inputs are not permitted"},
		{"empty message", request("", ask+`,`+answer+`[]},`+ask), "messages.1: all messages must have non-empty content except for the optional final assistant message"},
		{"empty string", request("", `{"role":"user","content":""}`), "messages.0: all messages must have non-empty content except for the optional final assistant message"},
		{"empty text", request("", userPart(`{"type":"text","text":""}`)), "messages: text content blocks must be non-empty"},
		{"blank text", request("", userPart(`{"type":"text","text":" \n"}`)), "messages: text content blocks must contain non-whitespace text"},
		{"mark on empty text", request("", userPart(`{"type":"text","text":""`+mark+`}`)), "messages.0.content.0.text: cache_control cannot be set for empty text blocks"},
		{"final white space", request("", ask+`,`+answer+`"x "}`), "messages: final assistant content cannot end with trailing whitespace"},
		{"no block type", request("", userPart(`{"text":"x"}`)), "messages.0.content.0.type: Field required"},
		{"unknown block type", request("", userPart(`{"type":"odd"}`)), "messages.0.content.0: Input tag 'odd' found using 'type' does not match any of the expected tags, or the block differs from the one that was sent"},
		{"unknown block field", request("", userPart(`{"type":"text","text":"x","id":"1"}`)), "messages.0.content.0.text.id: Extra inputs are not permitted"},
		{"text a number", request("", userPart(`{"type":"text","text":1}`)), "messages.0.content.0.text.text: Input should be a valid string"},

		{"call without result", request("", ask+`,`+call+`,`+ask), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` block must have a corresponding `tool_result` block in the next message."},
		{"call at the end", request("", ask+`,`+call), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` block must have a corresponding `tool_result` block in the next message."},
		{"text before the result", request("", ask+`,`+call+`,`+userPart(`{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"a","content":"ok"}`)), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` block must have a corresponding `tool_result` block in the next message."},
		{"two results", request("", ask+`,`+call+`,`+result+`,`+result), "messages.3.content: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a"},
		{"result without call", request("", ask+`,`+result), "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."},
		{"one id twice", request("", ask+`,`+call+`,`+result+`,`+call+`,`+result), "messages.3.content.0: `tool_use` ids must be unique"},
		{"odd id", request("", ask+`,`+strings.Replace(call, `"a"`, `"a b/c"`, 1)+`,`+result), "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
		{"empty id", request("", ask+`,`+strings.Replace(call, `"a"`, `""`, 1)+`,`+result), "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
		{"input an array", request("", ask+`,`+strings.Replace(call, `{}`, `[]`, 1)+`,`+result), "messages.1.content.0.tool_use.input: Input should be an object"},
		{"input absent", request("", ask+`,`+strings.Replace(call, `,"input":{}`, ``, 1)+`,`+result), "messages.1.content.0.tool_use.input: Field required"},
		{"tool name", request("", ask+`,`+strings.Replace(call, `"ls"`, `"l s"`, 1)+`,`+result), "messages.1.content.0.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"},
		{"call by the user", request("", userPart(`{"type":"tool_use","id":"a","name":"ls","input":{}}`)), "messages.0.content.0: `tool_use` blocks can only be in `assistant` messages"},
		{"result by the assistant", request("", ask+`,`+answer+`[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}`), "messages.1.content.0: `tool_result` blocks can only be in `user` messages"},
		{"empty text in a result", request("", ask+`,`+call+`,`+strings.Replace(result, `"ok"`, `[{"type":"text","text":""}]`, 1)), "messages: text content blocks must be non-empty"},
		{"picture in a failed result", request("", ask+`,`+call+`,`+strings.Replace(result, `"ok"`, `[`+image("image/png", png)+`],"is_error":true`, 1)), "messages.2.content.0.tool_result: all content must be type `text` if `is_error` is true"},
		{"call in a result", request("", ask+`,`+call+`,`+strings.Replace(result, `"ok"`, `[{"type":"thinking","thinking":"x"}]`, 1)), "messages.2.content.0.tool_result.content.0: Input tag 'thinking' found using 'type' does not match any of the expected tags: 'document', 'image', 'text'"},

		{"media type", request("", userPart(image("image/bmp", png))), "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"},
		{"other picture", request("", userPart(image("image/jpeg", png))), "messages.0.content.0.image.source.base64: The image was specified using the image/jpeg media type, but the image appears to be a image/png image"},
		{"no picture", request("", userPart(image("image/png", "aGVsbG8="))), "messages.0.content.0.image.source.base64: Could not process image"},
		{"no base64", request("", userPart(image("image/png", "!"))), "messages.0.content.0.image.source.base64.data: Input should be valid base64"},
		{"no PDF", request("", userPart(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGVsbG8="}}`)), "messages.0.content.0.document.source.base64.data: The PDF specified was not valid."},

		{"unsigned thinking", request("", ask+`,`+answer+`[{"type":"thinking","thinking":"x"},{"type":"text","text":"y"}]},`+ask), "messages.1.content.0.thinking.signature: Field required"},
		{"forged thinking", request("", ask+`,`+answer+`[{"type":"thinking","thinking":"x","signature":"y"},{"type":"text","text":"y"}]},`+ask), "messages.1.content.0: Invalid `signature` in `thinking` block"},
		{"other model's thinking", request("", ask+`,`+answer+`[{"type":"thinking","thinking":"x","signature":"`+sign("other", "x")+`"},{"type":"text","text":"y"}]},`+ask), "messages.1.content.0: Invalid `signature` in `thinking` block"},
		{"mark on thinking", request("", ask+`,`+answer+`[{"type":"thinking","thinking":"x","signature":"`+sign("m", "x")+`"`+mark+`},{"type":"text","text":"y"}]},`+ask), "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted"},
		{"an answer that ends in thinking", request("", ask+`,`+answer+`[{"type":"text","text":"y"},{"type":"thinking","thinking":"x","signature":"`+sign("m", "x")+`"}]},`+ask), "messages.1: The final block in an assistant message cannot be `thinking`."},
		{"unknown redacted data", request("", ask+`,`+answer+`[{"type":"redacted_thinking","data":"x"},{"type":"text","text":"y"}]},`+ask), "messages.1.content.0: Invalid `data` in `redacted_thinking` block"},
		{"thinking by the user", request("", userPart(`{"type":"thinking","thinking":"x","signature":"y"}`)), "messages.0.content.0: `thinking` blocks may only be in `assistant` messages"},

		{"thinking type", request(`"thinking":{"type":"on"},`, ask), "thinking: Input tag 'on' found using 'type' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'"},
		{"no budget", request(`"thinking":{"type":"enabled"},`, ask), "thinking.enabled.budget_tokens: Field required"},
		{"small budget", request(`"thinking":{"type":"enabled","budget_tokens":10},`, ask), "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"},
		{"adaptive with a budget", request(`"thinking":{"type":"adaptive","budget_tokens":1024},`, ask), "thinking.adaptive.budget_tokens: Extra inputs are not permitted"},
		{"budget over max_tokens", request(`"thinking":{"type":"enabled","budget_tokens":2000},`, ask), "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size"},
		{"temperature with thinking", request(`"temperature":0.5,"thinking":{"type":"enabled","budget_tokens":1024},`, ask), "`temperature` may only be set to 1 when thinking is enabled."},
		{"forced tool with thinking", request(`"tools":[`+tool("ls", "")+`],"tool_choice":{"type":"any"},"thinking":{"type":"adaptive"},`, ask), "Thinking may not be enabled when tool_choice forces tool use."},

		{"tool without schema", request(`"tools":[{"name":"ls"}],`, ask), "tools.0.custom.input_schema: Field required"},
		{"schema without type", request(`"tools":[{"name":"ls","input_schema":{}}],`, ask), "tools.0.custom.input_schema.type: Field required"},
		{"schema of another type", request(`"tools":[{"name":"ls","input_schema":{"type":"string"}}],`, ask), "tools.0.custom.input_schema.type: Input should be 'object'"},
		{"odd schema", request(`"tools":[{"name":"ls","input_schema":{"type":"object","required":"x"}}],`, ask), "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12)."},
		{"tool without name", request(`"tools":[{"input_schema":{"type":"object"}}],`, ask), "tools.0.custom.name: Field required"},
		{"odd tool name", request(`"tools":[`+tool("l s", "")+`],`, ask), "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"},
		{"one tool twice", request(`"tools":[`+tool("ls", "")+`,`+tool("ls", "")+`],`, ask), "tools: Tool names must be unique."},
		{"unknown tool field", request(`"tools":[`+tool("ls", `,"parameters":{}`)+`],`, ask), "tools.0.custom.parameters: Extra inputs are not permitted"},
		{"choice of no tool", request(`"tools":[`+tool("ls", "")+`],"tool_choice":{"type":"tool","name":"cat"},`, ask), "Tool 'cat' not found in provided tools"},
		{"choice without tools", request(`"tool_choice":{"type":"auto"},`, ask), "tool_choice: may only be specified while providing tools"},

		{"five marks", request(`"tools":[`+tool("ls", mark)+`],"system":[`+textPart+`],`, userPart(textPart+`,`+textPart+`,`+textPart)), "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		{"1h after 5m", request(`"system":[`+textPart+`],`, userPart(`{"type":"text","text":"x"`+long+`}`)), "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."},
		{"mark of another type", request("", userPart(`{"type":"text","text":"x","cache_control":{"type":"for ever"}}`)), "messages.0.content.0.text.cache_control.type: Input should be 'ephemeral'"},
		{"other life time", request("", userPart(`{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"2h"}}`)), "messages.0.content.0.text.cache_control.ephemeral.ttl: Input should be '5m' or '1h'"},
		{"empty system block", request(`"system":[{"type":"text","text":""}],`, ask), "system: text content blocks must be non-empty"},
		{"picture in system", request(`"system":[`+image("image/png", png)+`],`, ask), "system.0.type: Input should be 'text'"},
		{"too long", request("", `{"role":"user","content":"`+strings.Repeat("word", 1001)+`"}`), "prompt is too long: 1001 tokens > 1000 maximum"},
	}
	script := always(Text("ok"))
	script.Models = []Model{{ID: "m", MaxInputTokens: 1000, MaxTokens: 8000}}
	s := start(t, Options{Script: script})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			status, body, _ := send(t, s, c.body)
			if kind, text := errorMessage(t, body); status != 400 || kind != "invalid_request_error" || text != c.want {
				t.Errorf("%d %s: %s", status, kind, text)
			}
		})
	}
	if got := len(s.Problems()); got != len(cases) {
		t.Errorf("%d problems for %d refusals", got, len(cases))
	}
}

func TestARequestThatKeepsTheRulesIsAnswered(t *testing.T) {
	answer := `{"role":"assistant","content":`
	cases := []struct{ name, body string }{
		{"results in two messages", request("", ask+`,`+answer+`[{"type":"tool_use","id":"a","name":"ls","input":{}},{"type":"tool_use","id":"b","name":"ls","input":{}}]},`+
			result+`,`+strings.Replace(result, `"a"`, `"b"`, 1)+`,`+ask)},
		{"a result without content", request("", ask+`,`+call+`,`+strings.Replace(result, `,"content":"ok"`, ``, 1))},
		{"an empty string as result", request("", ask+`,`+call+`,`+strings.Replace(result, `"ok"`, `""`, 1))},
		{"a picture as result", request("", ask+`,`+call+`,`+strings.Replace(result, `"ok"`, `[`+image("image/png", png)+`]`, 1))},
		{"empty assistant message at the end", request("", ask+`,`+answer+`[]}`)},
		{"a whole surrogate pair", request("", `{"role":"user","content":"\ud83d\ude00 \\ud83d"}`)},
		{"1h before 5m", request(`"system":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}],"cache_control":{"type":"ephemeral"},`, ask)},
		{"the service's own tool", request(`"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":5}],`, ask)},
		{"thinking of this model", request(`"thinking":{"type":"enabled","budget_tokens":1024},`, ask+`,`+answer+`[{"type":"thinking","thinking":"x","signature":"`+sign("m", "x")+`"},{"type":"text","text":"y"}]},`+ask)},
	}
	s := start(t, Options{Script: always(Text("ok"))})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { sendOK(t, s, c.body) })
	}
}

func TestAnUnlistedModelIsNotFound(t *testing.T) {
	script := always(Text("ok"))
	script.Models = []Model{{ID: "other"}}
	s := start(t, Options{Script: script})
	status, body, _ := send(t, s, hello)
	if kind, text := errorMessage(t, body); status != 404 || kind != "not_found_error" || text != "model: m" {
		t.Errorf("%d %s %s", status, kind, text)
	}
}

// loop sends a first request, and gives the blocks of its answer.
func loop(t *testing.T, s *Server, model string) []string {
	t.Helper()
	m := sendOK(t, s, `{"model":"`+model+`","max_tokens":2000,`+thinkOn+`"messages":[`+ask+`]}`)
	var blocks []string
	for _, raw := range m.Content {
		blocks = append(blocks, string(raw))
	}
	return blocks
}

const thinkOn = `"thinking":{"type":"enabled","budget_tokens":1024},`

func TestThinkingOfAToolLoopMustComeBackWhole(t *testing.T) {
	const expected = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceding the lastmost set of `tool_use` and `tool_result` blocks)."
	const changed = "messages.1.content: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."
	cases := []struct {
		name, model, fields string
		keep                []int // of thinking, redacted, call, odd block
		want                string
	}{
		{"whole", "m", thinkOn, []int{0, 1, 2, 3}, ""},
		{"without any", "m", thinkOn, []int{2, 3}, expected},
		{"without one", "m", thinkOn, []int{0, 2, 3}, changed},
		{"in another order", "m", thinkOn, []int{1, 0, 2, 3}, changed},
		{"thinking off", "m", "", []int{2, 3}, ""},
		{"another model", "n", thinkOn, []int{2, 3}, ""},
		{"another model gets it", "n", thinkOn, []int{0, 1, 2, 3}, "messages.1.content.0: Invalid `signature` in `thinking` block"},
		{"another model gets the redacted one", "n", thinkOn, []int{1, 2, 3}, "messages.1.content.0: Invalid `data` in `redacted_thinking` block"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, Options{Script: always(
				Think("hm"), Block{Type: "redacted_thinking", Data: "zz"},
				Block{Type: "tool_use", ID: "a", Name: "ls"},
				Block{Type: "raw", Raw: json.RawMessage(`{"type":"odd","n":1}`)})})
			blocks := loop(t, s, "m")
			var kept []string
			for _, i := range c.keep {
				kept = append(kept, blocks[i])
			}
			body := `{"model":"` + c.model + `","max_tokens":2000,` + c.fields + `"messages":[` + ask +
				`,{"role":"assistant","content":[` + strings.Join(kept, ",") + `]},` + result + `]}`
			status, text, _ := send(t, s, body)
			if c.want == "" {
				if status != 200 {
					t.Error(text)
				}
				return
			}
			if _, got := errorMessage(t, text); got != c.want {
				t.Errorf("got %d %s", status, got)
			}
		})
	}
}

func TestAnOpaqueBlockMustComeBackAsItWas(t *testing.T) {
	s := start(t, Options{Script: always(Block{Type: "raw", Raw: json.RawMessage(`{"type":"odd","n":1.0}`)})})
	loop(t, s, "m")
	for block, want := range map[string]int{`{"type":"odd","n":1.0}`: 200, `{"type":"odd","n":1}`: 400, `{"n":1.0,"type":"odd"}`: 400} {
		status, text, _ := send(t, s, request("", ask+`,{"role":"assistant","content":[`+block+`]},`+ask))
		if status != want {
			t.Errorf("%s: %d %s", block, status, text)
		}
	}
}

func TestAnotherServerKnowsTheThinkingOfThisOne(t *testing.T) {
	script := always(Think("hm"), Block{Type: "redacted_thinking", Data: "zz"}, Text("done"))
	blocks := loop(t, start(t, Options{Script: script}), "m")
	body := request(thinkOn, ask+`,{"role":"assistant","content":[`+strings.Join(blocks, ",")+`]},`+ask)
	sendOK(t, start(t, Options{Script: script}), body)
}

func TestARecordedSignatureHoldsForItsTextOnly(t *testing.T) {
	s := start(t, Options{Script: always(Block{Type: "thinking", Thinking: "hm", Signature: "recorded"}, Text("done"))})
	loop(t, s, "m")
	for text, want := range map[string]int{"hm": 200, "hmm": 400, "": 400} {
		block := `{"type":"thinking","thinking":"` + text + `","signature":"recorded"}`
		status, body, _ := send(t, s, request("", ask+`,{"role":"assistant","content":[`+block+`,{"type":"text","text":"done"}]},`+ask))
		if status != want {
			t.Errorf("%q: %d %s", text, status, body)
		}
	}
}
