package fakeapi

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// turn is a request in shorthand: one text block of 4 bytes, one token, per
// word. "!" after a word is a 5-minute mark, "!!" one of an hour; "|" goes from
// system to messages.
func shorthand(t *testing.T, model, extra, words string) *Request {
	t.Helper()
	var parts [2][]string
	at := 0
	for word := range strings.FieldsSeq(words) {
		if word == "|" {
			at = 1
			continue
		}
		text := strings.TrimRight(word, "!")
		mark := map[int]string{0: "", 1: `,"cache_control":{"type":"ephemeral"}`, 2: `,"cache_control":{"type":"ephemeral","ttl":"1h"}`}[len(word)-len(text)]
		parts[at] = append(parts[at], fmt.Sprintf(`{"type":"text","text":"%-4s"%s}`, text, mark))
	}
	req, f := parseRequest([]byte(`{"model":"` + model + `","max_tokens":1,` + extra + `"system":[` + strings.Join(parts[0], ",") +
		`],"messages":[{"role":"user","content":[` + strings.Join(parts[1], ",") + `]}]}`))
	if f != nil {
		t.Fatal(f.Message)
	}
	req.prompt = layOut(req)
	return req
}

func TestThePromptCacheReadsAndWritesAtBreakpoints(t *testing.T) {
	type step struct {
		after                    time.Duration // since the step before
		model, extra, words      string
		read, short, long, input int
	}
	far := strings.Repeat("x ", 19)
	further := strings.Repeat("x ", 20)
	const auto = `"cache_control":{"type":"ephemeral"},`
	cases := []struct {
		name  string
		least int
		steps []step
	}{
		{"nothing without a mark", 1, []step{
			{words: "s | a b", input: 3},
			{words: "s | a b", input: 3},
		}},
		{"written, then read and extended", 1, []step{
			{words: "s! | a b!", short: 3},
			{words: "s! | a b c d!", read: 3, short: 2},
			{words: "s! | a b c d! e", read: 5, input: 1},
		}},
		{"only breakpoints are entries", 1, []step{
			{words: "s | a b c!", short: 4},
			{words: "s | a b! x", short: 3, input: 1},
		}},
		{"a changed block keeps what is before it", 1, []step{
			{words: "s! | a b!", short: 3},
			{words: "s! | z b!", read: 1, short: 2},
		}},
		{"a changed system block keeps nothing", 1, []step{
			{words: "s! | a!", short: 2},
			{words: "t! | a!", short: 2},
		}},
		{"twenty blocks are looked at", 1, []step{
			{words: "s | a!", short: 2},
			{words: "s | a " + far + "!", read: 2, short: 19},
		}},
		{"the twenty-first is out of reach", 1, []step{
			{words: "s | a!", short: 2},
			{words: "s | a " + further + "!", short: 22},
		}},
		{"a second breakpoint reaches it", 1, []step{
			{words: "s | a!", short: 2},
			{words: "s | a! " + further + "!", read: 2, short: 20},
		}},
		{"below the minimum nothing is written", 4, []step{
			{words: "s! | a b!", input: 3},
			{words: "s! | a b c!", short: 4},
			{words: "s! | a b c! d", read: 4, input: 1},
		}},
		{"five minutes, renewed by a read", 1, []step{
			{words: "s | a!", short: 2},
			{after: 4 * time.Minute, words: "s | a!", read: 2},
			{after: 4 * time.Minute, words: "s | a!", read: 2},
			{after: 5 * time.Minute, words: "s | a!", short: 2},
		}},
		{"an hour", 1, []step{
			{words: "s!! | a!", long: 1, short: 1},
			{after: 59 * time.Minute, words: "s!! | a!", read: 1, short: 1},
			{after: 60 * time.Minute, words: "s!! | a!", long: 1, short: 1},
		}},
		{"models do not share", 1, []step{
			{words: "s | a!", short: 2},
			{model: "other", words: "s | a!", short: 2},
		}},
		{"thinking belongs to the messages", 1, []step{
			{words: "s! | a!", short: 2},
			{extra: `"thinking":{"type":"adaptive"},`, words: "s! | a!", read: 1, short: 1},
		}},
		{"tool_choice belongs to the messages", 1, []step{
			{words: "s! | a!", short: 2},
			{extra: `"tool_choice":{"type":"none"},`, words: "s! | a!", read: 1, short: 1},
		}},
		{"tools come first", 1, []step{
			{words: "s! | a!", short: 2},
			{extra: `"tools":[{"name":"abcd","input_schema":{}}],`, words: "s! | a!", short: 4},
		}},
		{"a deferred tool is not in the prompt", 1, []step{
			{words: "s! | a!", short: 2},
			{extra: `"tools":[{"name":"abcd","input_schema":{},"defer_loading":true}],`, words: "s! | a!", read: 2},
		}},
		{"a mark on the request is on its last block", 1, []step{
			{extra: auto, words: "s | a", short: 2},
			{extra: auto, words: "s | a b", read: 2, short: 1},
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			store, now := cache{}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			for i, step := range c.steps {
				now = now.Add(step.after)
				if step.model == "" {
					step.model = "m"
				}
				words := strings.ReplaceAll(step.words, " !", "!")
				u := store.use(shorthand(t, step.model, step.extra, words).prompt, c.least, now)
				if u.CacheReadInputTokens != step.read || u.CacheCreation.Short != step.short || u.CacheCreation.Long != step.long || u.InputTokens != step.input {
					t.Errorf("step %d: read %d, 5m %d, 1h %d, input %d", i, u.CacheReadInputTokens, u.CacheCreation.Short, u.CacheCreation.Long, u.InputTokens)
				}
				if u.CacheCreationInputTokens != step.short+step.long {
					t.Errorf("step %d: %d written in all", i, u.CacheCreationInputTokens)
				}
			}
		})
	}
}

func TestABrokenPrefixIsNamed(t *testing.T) {
	// Three messages each, so that no request looks like a new conversation.
	body := func(system, first, second, extra string) string {
		return `{"model":"m","max_tokens":1,` + extra + `"system":[{"type":"text","text":"` + system + `"}],"messages":[` +
			`{"role":"user","content":"` + first + `"},{"role":"assistant","content":"ok"},` +
			`{"role":"user","content":[{"type":"text","text":"` + second + `","cache_control":{"type":"ephemeral"}},{"type":"text","text":"tail"}]}]}`
	}
	base := body("s", "a", "b", "")
	cases := []struct{ name, next, want string }{
		{"the same", base, ""},
		{"another tail", strings.Replace(base, "tail", "other", 1), ""},
		{"marks moved", strings.Replace(base, `,"cache_control":{"type":"ephemeral"}`, "", 1), ""},
		{"string or block", strings.Replace(base, `"content":"a"`, `"content":[{"type":"text","text":"a"}]`, 1), ""},
		{"more", strings.TrimSuffix(base, "]}") + `,{"role":"assistant","content":"x"},{"role":"user","content":"y"}]}`, ""},
		{"system", body("t", "a", "b", ""), "system.0 (text) differs"},
		{"first message", body("s", "z", "b", ""), "messages.0.content.0 (text) differs"},
		{"last settled block", body("s", "a", "z", ""), "messages.2.content.0 (text) differs"},
		{"an escape", body("s", `\u0061`, "b", ""), "messages.0.content.0 (text) differs"},
		{"a tool more", body("s", "a", "b", `"tools":[{"name":"x","input_schema":{"type":"object"}}],`), "system.0 (text) became tools.0 (x)"},
		{"thinking", body("s", "a", "b", `"tool_choice":{"type":"none"},`), "thinking or tool_choice differs"},
		{"a message gone", `{"model":"m","max_tokens":1,"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"ok"}]}`, "messages.2.content.0 (text) is gone"},
		{"a new conversation", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"z"}]}`, ""},
		{"another model", strings.Replace(body("t", "a", "b", ""), `"m"`, `"n"`, 1), ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, Options{Script: Script{Turns: []Turn{{Repeat: 2}}}})
			sendOK(t, s, base)
			sendOK(t, s, c.next)
			if got := s.Requests()[1].PrefixBreak; got != c.want {
				t.Errorf("got %q", got)
			}
			if got := len(s.Problems()); got > 0 != (c.want != "") {
				t.Errorf("problems %q", s.Problems())
			}
		})
	}
}

func TestConversationsMayInterleave(t *testing.T) {
	s := start(t, Options{Script: Script{Turns: []Turn{{Repeat: -1}}}})
	msg := func(first string, more int) string {
		list := `{"role":"user","content":"` + first + `"}`
		for i := range more {
			list += fmt.Sprintf(`,{"role":"assistant","content":"%d"},{"role":"user","content":"go on"}`, i)
		}
		return request("", list)
	}
	for _, body := range []string{msg("one", 0), msg("two", 0), msg("one", 1), msg("two", 1), msg("one", 2)} {
		sendOK(t, s, body)
	}
	if p := s.Problems(); len(p) > 0 {
		t.Error(p)
	}
	sendOK(t, s, msg("three", 1))
	if p := s.Problems(); len(p) != 1 || p[0] != "request 5: prefix broken: messages.0.content.0 (text) differs" {
		t.Errorf("problems %q", p)
	}
}

func TestABoundaryTheScriptAnnouncesIsNoBreak(t *testing.T) {
	s := start(t, Options{Script: Script{Turns: []Turn{{}, {NewPrefix: true}}}})
	sendOK(t, s, request("", ask+`,`+call+`,`+result))
	sendOK(t, s, request("", strings.Replace(ask, "hi", "summary", 1)+`,`+call+`,`+result))
	if p := s.Problems(); len(p) > 0 {
		t.Error(p)
	}
}

func TestReportedUsageIsTheSimulations(t *testing.T) {
	script := always(Text("12345"))
	script.MinCachePrefix = 10
	s := start(t, Options{Script: script})
	body := request(`"system":[{"type":"text","text":"`+strings.Repeat("word", 20)+`","cache_control":{"type":"ephemeral"}}],`, ask)
	sendOK(t, s, body)
	u := sendOK(t, s, body).Usage
	if u.CacheReadInputTokens != 20 || u.CacheCreationInputTokens != 0 || u.InputTokens != 1 || u.OutputTokens != 2 {
		t.Errorf("got %+v", u)
	}
}

func TestAFailedRequestWritesNoEntry(t *testing.T) {
	s := start(t, Options{Script: Script{MinCachePrefix: 1, Turns: []Turn{{Error: &Fault{Status: 529}}, {}}}})
	body := request(`"cache_control":{"type":"ephemeral"},`, ask)
	send(t, s, body)
	if u := sendOK(t, s, body).Usage; u.CacheCreationInputTokens != 1 {
		t.Errorf("got %+v", u)
	}
}
