package fakeapi

import (
	"strings"
	"testing"
)

func TestAScriptIsRead(t *testing.T) {
	script, err := ParseScript([]byte(`{"prompt":"fix it","window":5000,"models":[{"id":"m"}],"turns":[
		{"blocks":[{"type":"text","text":"I look."},{"type":"tool_use","name":"read","input":{ "path":"a", "n":1.0 }}],"delay_ms":3},
		{"error":{"status":429,"retry_after":"3"},"repeat":2},
		{"raw":"event: x\n"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(script.Turns) != 3 || script.Prompt != "fix it" || script.Turns[1].Error.RetryAfter != "3" || script.Turns[0].DelayMS != 3 {
		t.Errorf("got %+v", script)
	}
	if got := string(script.Turns[0].Blocks[1].Input); got != `{ "path":"a", "n":1.0 }` {
		t.Errorf("input %s", got)
	}
}

func TestAScriptErrorNamesItsPlace(t *testing.T) {
	cases := []struct{ script, want string }{
		{`{`, "parse script: unexpected EOF"},
		{`{"turns":[{}]} x`, "parse script: something follows the end of the value"},
		{`{"turns":[]}`, "parse script: turns: there is none"},
		{`{"turnz":[]}`, `parse script: unknown field "turnz"`},
		{`{"window":-1,"turns":[{}]}`, "parse script: window, min_cache_prefix: must not be negative"},
		{`{"models":[{}],"turns":[{}]}`, "parse script: models[0].id: required"},
		{`{"turns":[{},{"block":[]}]}`, `parse script: turns[1]: unknown field "block"`},
		{`{"turns":[{"delay_ms":"x"}]}`, "parse script: turns[0]: cannot unmarshal string into Go struct field .Turn.delay_ms of type int"},
		{`{"turns":[{"blocks":[{"type":"text","txt":""}]}]}`, `parse script: turns[0].blocks[0]: unknown field "txt"`},
		{`{"turns":[{"blocks":[{"type":"tekst"}]}]}`, `parse script: turns[0].blocks[0].type: "tekst" is not text, thinking, redacted_thinking, tool_use or raw`},
		{`{"turns":[{"blocks":[{"type":"tool_use"}]}]}`, "parse script: turns[0].blocks[0].name: required"},
		{`{"turns":[{"blocks":[{"type":"tool_use","name":"x","input":1,"partial_input":"{"}]}]}`, "parse script: turns[0].blocks[0].partial_input: excludes input"},
		{`{"turns":[{"blocks":[{"type":"redacted_thinking"}]}]}`, "parse script: turns[0].blocks[0].data: required"},
		{`{"turns":[{"blocks":[{"type":"raw","raw":{}}]}]}`, "parse script: turns[0].blocks[0].raw: must be an object with a type"},
		{`{"turns":[{"error":{"status":42}}]}`, "parse script: turns[0].error: status: 42 is not between 200 and 599"},
		{`{"turns":[{"error":{"status":500},"raw":"x"}]}`, "parse script: turns[0].error: excludes blocks, raw and mid_error"},
		{`{"turns":[{"raw":"x","cut_after_events":2}]}`, "parse script: turns[0].raw: excludes blocks and everything counted in events"},
		{`{"turns":[{"error_after_events":2}]}`, "parse script: turns[0].error_after_events: needs mid_error"},
		{`{"turns":[{"mid_error":{}}]}`, "parse script: turns[0].mid_error: type: required"},
		{`{"turns":[{"mid_error":{"type":"x","status":500}}]}`, "parse script: turns[0].mid_error: only type and message can be set for an error inside the stream"},
		{`{"turns":[{"cut_clean":true}]}`, "parse script: turns[0].cut_clean: needs cut_after_events"},
		{`{"turns":[{"repeat":-2}]}`, "parse script: turns[0].repeat: -2 is less than -1"},
	}
	for _, c := range cases {
		_, err := ParseScript([]byte(c.script))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.script, err, c.want)
		}
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add(`{"turns":[{"blocks":[{"type":"tool_use","name":"x","input":{}}]}]}`)
	f.Add(`{"turns":[{"error":{"status":500}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		script, err := ParseScript([]byte(text))
		if err != nil && !strings.HasPrefix(err.Error(), "parse script: ") {
			t.Errorf("error without its operation: %v", err)
		}
		if err == nil && script.check() != nil {
			t.Error("a script was read that cannot be served")
		}
	})
}
