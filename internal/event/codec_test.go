package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func recordOf(f Fact) Record {
	return Record{V: Version, ID: "01A", SessionID: "01S", Seq: 7, TS: 1732000000000, Fact: f}
}

// mustLine is the record's line without its newline.
func mustLine(t rapid.TB, r Record) []byte {
	t.Helper()
	line, err := AppendLine(nil, r)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if bytes.IndexByte(line, '\n') != len(line)-1 {
		t.Fatalf("not one line: %q", line)
	}
	return line[:len(line)-1]
}

func TestEveryFactSurvivesTheLog(t *testing.T) {
	generated := anyFact(facts(t))
	rapid.Check(t, func(t *rapid.T) {
		want := Record{
			V:         Version,
			ID:        "01" + anyText.Draw(t, "id"),
			SessionID: "01" + anyText.Draw(t, "session"),
			Seq:       rapid.Int64Min(1).Draw(t, "seq"),
			TS:        rapid.Int64().Draw(t, "ts"),
			Critical:  rapid.Bool().Draw(t, "critical"),
			Fact:      generated.Draw(t, "fact"),
		}
		if rapid.Bool().Draw(t, "parent") {
			want.ParentID = anyText.Draw(t, "parentId")
		}
		line := mustLine(t, want)
		got, err := DecodeLine(line)
		if err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if !bytes.Equal(got.Line, line) {
			t.Fatalf("Line is not the line:\n%s\n%s", got.Line, line)
		}
		got.Line = nil
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("decoded\n%#v\nfrom %s\nwant\n%#v", got, line, want)
		}
		if again := mustLine(t, got); !bytes.Equal(again, line) {
			t.Fatalf("encoded again:\n%s\n%s", again, line)
		}
	})
}

func TestEveryNoticeIsOneLineInDeclaredOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live := Live{ID: anyText.Draw(t, "id"), SessionID: "01S", TS: rapid.Int64().Draw(t, "ts"), Notice: anyNotice().Draw(t, "notice")}
		line, err := AppendNotice([]byte("before\n"), live)
		if err != nil {
			t.Fatal(err)
		}
		line, ok := bytes.CutPrefix(line, []byte("before\n"))
		if !ok || bytes.IndexByte(line, '\n') != len(line)-1 {
			t.Fatalf("not one line after what was there: %q", line)
		}
		payload, err := marshal(live.Notice)
		if err != nil {
			t.Fatal(err)
		}
		want, err := marshal(struct {
			ID        string          `json:"id"`
			SessionID string          `json:"sessionId"`
			TS        int64           `json:"ts"`
			Type      string          `json:"type"`
			Payload   json.RawMessage `json:"payload"`
		}{live.ID, live.SessionID, live.TS, NoticeNameOf(live.Notice), payload})
		if err != nil {
			t.Fatal(err)
		}
		if got := line[:len(line)-1]; !bytes.Equal(got, want) {
			t.Fatalf("have %s\nwant %s", got, want)
		}
	})
}

func TestCanonicalBytes(t *testing.T) {
	minus, empty := -1, ""
	for _, c := range []struct {
		name string
		fact Fact
		want string
	}{
		{
			"a detached head is null",
			SessionStarted{Title: "t", ProjectHash: "p", WorkingDirectory: "/w", Model: "m", AuxModel: "a", KhaelorVersion: "1"},
			`"type":"session.started","payload":{"title":"t","projectHash":"p","workingDirectory":"/w","gitBranch":null,"model":"m","auxModel":"a","khaelorVersion":"1"}`,
		},
		{
			"a signal leaves no exit code",
			ProcessExited{ProcessID: "p1", Cause: Crashed, DurationMS: 3},
			`"type":"process.exited","payload":{"processId":"p1","exitCode":null,"cause":"crashed","durationMs":3}`,
		},
		{
			"nil lists are arrays",
			UserMessageCreated{Text: "hi"},
			`"type":"user.message-created","payload":{"text":"hi","mentions":[]}`,
		},
		{
			"nil lists are arrays further down",
			TaskCompleted{},
			`"type":"task.completed","payload":{"evidence":{"objective":"","changedFiles":[],"checks":[],"unresolvedIssues":[]}}`,
		},
		{
			"an empty capture is not an absent one",
			MessageQueued{Mentions: List[Mention]{{Path: "a", Content: &empty}, {Path: "b"}}},
			`"type":"user.message-queued","payload":{"text":"","mentions":[{"path":"a","content":""},{"path":"b"}]}`,
		},
		{
			"text is escaped for JSON, not for HTML",
			ContextNoted{Text: "<a href=\"&\">\u2028é👍\x1b\x7f\n"},
			`"type":"context.noted","payload":{"text":"<a href=\"&\">\u2028é👍\u001b` + "\x7f" + `\n"}`,
		},
		{
			"and inside lists, too",
			ContextPruned{ToolUseIDs: List[string]{"<&>"}, Placeholder: "[gone]"},
			`"type":"context.pruned","payload":{"toolUseIds":["<&>"],"placeholder":"[gone]","tokensReclaimedEstimate":0}`,
		},
		{
			"input keeps its bytes",
			ToolRequested{RequestID: "r", ToolUseID: "u", ToolName: "bash", Input: json.RawMessage(`{"z":1.0,"a":1e3,"n":12345678901234567890,"h":"<\u0041>"}`)},
			`"type":"tool.requested","payload":{"requestId":"r","blockIndex":0,"toolUseId":"u","toolName":"bash","input":{"z":1.0,"a":1e3,"n":12345678901234567890,"h":"<\u0041>"}}`,
		},
		{
			"input is made compact",
			ToolRequested{Input: json.RawMessage("{\n  \"a\": [1, 2]\n}")},
			`"type":"tool.requested","payload":{"requestId":"","blockIndex":0,"toolUseId":"","toolName":"","input":{"a":[1,2]}}`,
		},
		{
			"optional fields are absent when empty",
			ToolCompleted{ToolUseID: "u", ModelText: "ok", DurationMS: 5, UI: ToolUI{Kind: UIRead, Summary: "Read a"}},
			`"type":"tool.completed","payload":{"toolUseId":"u","modelText":"ok","durationMs":5,"ui":{"kind":"read","summary":"Read a"}}`,
		},
		{
			"optional fields stand in order",
			ToolCompleted{
				ToolUseID: "u", SpillFile: "/s", UI: ToolUI{Kind: UIExec, DiffStats: &DiffStats{Added: 2}, ExitCode: &minus, MatchCount: new(int)},
				Media: []Media{{MediaType: "image/png", SHA256: "ff"}},
			},
			`"type":"tool.completed","payload":{"toolUseId":"u","modelText":"","spillFile":"/s","durationMs":0,"ui":{"kind":"exec","summary":"","diffStats":{"added":2,"removed":0},"exitCode":-1,"matchCount":0},"media":[{"mediaType":"image/png","sha256":"ff"}]}`,
		},
		{
			"an unknown fact is its raw payload",
			Unknown{Type: "later.thing", Raw: []byte(`{"b":1, "a":2}`)},
			`"type":"later.thing","payload":{"b":1, "a":2}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := `{"v":1,"id":"01A","sessionId":"01S","seq":7,"ts":1732000000000,` + c.want + `}`
			if got := string(mustLine(t, recordOf(c.fact))); got != want {
				t.Errorf("\nhave %s\nwant %s", got, want)
			}
		})
	}
}

func TestTheEnvelopeStandsInOrder(t *testing.T) {
	r := recordOf(ToolStarted{ToolUseID: "u", ToolName: "bash"})
	r.ParentID, r.Critical = "01\"P", true
	want := `{"v":1,"id":"01A","sessionId":"01S","seq":7,"ts":1732000000000,"parentId":"01\"P","type":"tool.started","critical":true,"payload":{"toolUseId":"u","toolName":"bash"}}`
	if got := string(mustLine(t, r)); got != want {
		t.Errorf("\nhave %s\nwant %s", got, want)
	}
	if r.Name() != "tool.started" || (Live{Notice: ToolOutput{}}).Name() != "tool.output" {
		t.Error("a record and a notice go by the name of what they carry")
	}
}

func TestALineThatWasReadIsWrittenAsItStands(t *testing.T) {
	for _, c := range []struct{ name, line string }{
		{"unknown envelope field", `{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"context.noted","host":{"a":[1.0]},"payload":{"text":"x"}}`},
		{"unknown payload field", `{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"context.noted","payload":{"text":"x","mood":"good","n":1e0}}`},
		{"unknown field in a frequent fact", `{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"tool.started","payload":{"toolUseId":"x","toolName":"bash","host":1}}`},
		{"another order and spacing", ` { "payload" : {"text":"x"}, "type":"context.noted","ts":2,"seq":1,"sessionId":"s","id":"a","v":1 } `},
		{"escapes of another writer", `{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"context.noted","payload":{"text":"\u0078"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := DecodeLine([]byte(c.line))
			if err != nil {
				t.Fatal(err)
			}
			if r.V != 1 || r.ID != "a" || r.SessionID != "s" || r.Seq != 1 || r.TS != 2 {
				t.Errorf("envelope: %+v", r)
			}
			switch f := r.Fact.(type) {
			case ContextNoted:
				if f.Text != "x" {
					t.Errorf("text %q", f.Text)
				}
			case ToolStarted:
				if f.ToolUseID != "x" || f.ToolName != "bash" {
					t.Errorf("%+v", f)
				}
			default:
				t.Errorf("decoded to %T", f)
			}
			if got := string(mustLine(t, r)); got != c.line {
				t.Errorf("\nhave %s\nwant %s", got, c.line)
			}
		})
	}
}

func TestAnUnknownFactIsKept(t *testing.T) {
	for _, c := range []struct {
		name, line string
		want       Record
	}{
		{
			"of a type from a later program",
			`{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"later.thing","payload":{"b":1.0, "a":2}}`,
			Record{V: 1, ID: "a", SessionID: "s", Seq: 1, TS: 2, Fact: Unknown{Type: "later.thing", Raw: []byte(`{"b":1.0, "a":2}`)}},
		},
		{
			"that may not be skipped, below another fact",
			`{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"parentId":"p","type":"later.thing","critical":true,"payload":{}}`,
			Record{V: 1, ID: "a", SessionID: "s", Seq: 1, TS: 2, ParentID: "p", Critical: true, Fact: Unknown{Type: "later.thing", Raw: []byte(`{}`)}},
		},
		{
			"of a known name in a later version, where it may mean something else",
			`{"v":2,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"context.noted","payload":{"text":"x"}}`,
			Record{V: 2, ID: "a", SessionID: "s", Seq: 1, TS: 2, Fact: Unknown{Type: "context.noted", Raw: []byte(`{"text":"x"}`)}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			line := []byte(c.line)
			got, err := DecodeLine(line)
			if err != nil {
				t.Fatal(err)
			}
			if got.Name() != c.want.Name() {
				t.Errorf("name %q", got.Name())
			}
			if again := mustLine(t, got); !bytes.Equal(again, line) {
				t.Errorf("written as %s", again)
			}
			got.Line = nil
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("\nhave %+v\nwant %+v", got, c.want)
			}
			if copied := mustLine(t, got); !bytes.Equal(copied, line) {
				t.Errorf("written anew as %s", copied)
			}
		})
	}
}

func TestAFactDoesNotShareItsLine(t *testing.T) {
	for _, want := range []Fact{
		Unknown{Type: "later.thing", Raw: []byte(`{"a":1}`)},
		ToolRequested{ToolUseID: "u", ToolName: "bash", Input: json.RawMessage(`{"a":1}`)},
		ContextNoted{Text: "x"},
	} {
		line := mustLine(t, recordOf(want))
		r, err := DecodeLine(line)
		if err != nil {
			t.Fatal(err)
		}
		clear(line)
		if !reflect.DeepEqual(r.Fact, want) {
			t.Errorf("%+v after the line was reused, want %+v", r.Fact, want)
		}
	}
}

func TestOlderLinesAreMigratedStepByStep(t *testing.T) {
	renamed := func(name string, payload []byte) (string, []byte, error) {
		if name == "note.said" {
			name = "note.written"
		}
		return name, bytes.Replace(payload, []byte(`"words"`), []byte(`"body"`), 1), nil
	}
	moved := func(name string, payload []byte) (string, []byte, error) {
		switch name {
		case "note.written":
			return "context.noted", bytes.Replace(payload, []byte(`"body"`), []byte(`"text"`), 1), nil
		case "note.broken":
			return "", nil, errors.New("no body")
		}
		return name, payload, nil
	}
	third := decoder{version: 3, steps: map[int]migration{1: renamed, 2: moved}}
	line := func(v int, name, payload string) []byte {
		return fmt.Appendf(nil, `{"v":%d,"id":"a","sessionId":"s","seq":1,"ts":2,"type":%q,"payload":%s}`, v, name, payload)
	}
	for _, c := range []struct {
		name string
		line []byte
		v    int
		want Fact
	}{
		{"two steps", line(1, "note.said", `{"words":"x"}`), 1, ContextNoted{Text: "x"}},
		{"one step", line(2, "note.written", `{"body":"x"}`), 2, ContextNoted{Text: "x"}},
		{"none", line(3, "context.noted", `{"text":"x"}`), 3, ContextNoted{Text: "x"}},
		{"steps that leave it alone", line(1, "session.renamed", `{"title":"x"}`), 1, SessionRenamed{Title: "x"}},
		{"a later version", line(4, "context.noted", `{"text":"x"}`), 4, Unknown{Type: "context.noted", Raw: []byte(`{"text":"x"}`)}},
		{"unknown after its steps", line(1, "other.thing", `{"a":1}`), 1, Unknown{Type: "other.thing", Raw: []byte(`{"a":1}`)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := third.decode(c.line)
			if err != nil {
				t.Fatal(err)
			}
			if r.V != c.v || !reflect.DeepEqual(r.Fact, c.want) || !bytes.Equal(r.Line, c.line) {
				t.Errorf("have %+v, line %s", r, r.Line)
			}
		})
	}
	_, err := third.decode(line(1, "note.broken", `{}`))
	if err == nil || !strings.Contains(err.Error(), "decode note.broken: migrate from version 2: no body") {
		t.Errorf("error %v", err)
	}
}

func TestWhatIsNotAnEnvelopeIsRefusedByName(t *testing.T) {
	for _, c := range []struct{ name, line, says string }{
		{"nothing", ``, "unexpected end"},
		{"not JSON", `hello`, "invalid character"},
		{"torn", `{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"context.noted","payload":{"text":"x"}`, "unexpected end"},
		{"two values", `{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"later","payload":{}}{}`, "after top-level value"},
		{"an array", `[]`, "array"},
		{"no v", `{"id":"a","sessionId":"s","seq":1,"ts":2,"type":"later","payload":{}}`, ": v is"},
		{"v 0", `{"v":0,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"later","payload":{}}`, ": v is"},
		{"v of another type", `{"v":"1","id":"a","sessionId":"s","seq":1,"ts":2,"type":"later","payload":{}}`, "v of type int"},
		{"v not whole", `{"v":1.5,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"later","payload":{}}`, "v of type int"},
		{"no id", `{"v":1,"sessionId":"s","seq":1,"ts":2,"type":"later","payload":{}}`, ": id is"},
		{"empty session", `{"v":1,"id":"a","sessionId":"","seq":1,"ts":2,"type":"later","payload":{}}`, ": sessionId is"},
		{"no seq", `{"v":1,"id":"a","sessionId":"s","ts":2,"type":"later","payload":{}}`, ": seq is"},
		{"seq 0", `{"v":1,"id":"a","sessionId":"s","seq":0,"ts":2,"type":"context.noted","payload":{"text":"x"}}`, ": seq is"},
		{"seq too large", `{"v":1,"id":"a","sessionId":"s","seq":9223372036854775808,"ts":2,"type":"later","payload":{}}`, "seq of type int64"},
		{"empty type", `{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"","payload":{}}`, ": type is"},
		{"no payload", `{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"later"}`, ": payload is"},
		{"payload null", `{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"context.noted","payload":null}`, ": payload is"},
		{"payload an array", `{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"context.noted","payload":[]}`, ": payload is"},
		{"field of another type", `{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"context.noted","payload":{"text":5}}`, "decode context.noted: "},
		{"field of another type in a frequent fact", `{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"tool.started","payload":{"toolUseId":[],"toolName":"x"}}`, "decode tool.started: "},
		{"list of another type", `{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"subtask.merged","payload":{"files":{}}}`, "decode subtask.merged: "},
		{"invalid UTF-8 in the envelope", "{\"v\":1,\"id\":\"\xff\",\"sessionId\":\"s\",\"seq\":1,\"ts\":2,\"type\":\"later\",\"payload\":{}}", "invalid UTF-8"},
		{"invalid UTF-8 in the payload", "{\"v\":1,\"id\":\"a\",\"sessionId\":\"s\",\"seq\":1,\"ts\":2,\"type\":\"context.noted\",\"payload\":{\"text\":\"\xc3\"}}", "invalid UTF-8"},
		{"invalid UTF-8 in an input", "{\"v\":1,\"id\":\"a\",\"sessionId\":\"s\",\"seq\":1,\"ts\":2,\"type\":\"tool.requested\",\"payload\":{\"requestId\":\"r\",\"blockIndex\":0,\"toolUseId\":\"u\",\"toolName\":\"n\",\"input\":{\"a\":\"\xed\xa0\x80\"}}}", "invalid UTF-8"},
		{"control character in a string", "{\"v\":1,\"id\":\"a\",\"sessionId\":\"s\",\"seq\":1,\"ts\":2,\"type\":\"tool.started\",\"payload\":{\"toolUseId\":\"u\x01\",\"toolName\":\"n\"}}", "invalid character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := DecodeLine([]byte(c.line))
			if err == nil {
				t.Fatalf("accepted as %+v", r)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %q does not say %q", err, c.says)
			}
			if !reflect.DeepEqual(r, Record{}) {
				t.Errorf("left a record behind: %+v", r)
			}
		})
	}
}

func TestWhatCouldNotBeReadAgainIsNotWritten(t *testing.T) {
	before := []byte("before\n")
	for _, c := range []struct {
		name string
		fact Fact
		says string
	}{
		{"input that is not JSON", ToolRequested{Input: json.RawMessage(`{"a":`)}, "encode tool.requested: "},
		{"input that is not UTF-8", ToolRequested{Input: json.RawMessage("{\"a\":\"\xff\"}")}, "encode tool.requested: invalid UTF-8"},
		{"unknown payload that is not UTF-8", Unknown{Type: "later.thing", Raw: []byte("{\"a\":\"\xff\"}")}, "encode later.thing: invalid UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := AppendLine(before, recordOf(c.fact))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v does not say %q", err, c.says)
			}
			if !bytes.Equal(got, before) {
				t.Errorf("left %q behind", got)
			}
		})
	}
}

func TestAnEmptyAMissingAndANullListAreTheSame(t *testing.T) {
	want := string(mustLine(t, recordOf(SubtaskMerged{SubtaskID: "s"})))
	for _, payload := range []string{
		`{"subtaskId":"s","files":[],"conflicts":[]}`, `{"subtaskId":"s"}`, `{"subtaskId":"s","files":null,"conflicts":null}`,
	} {
		r, err := DecodeLine([]byte(`{"v":1,"id":"01A","sessionId":"01S","seq":7,"ts":1732000000000,"type":"subtask.merged","payload":` + payload + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if f := r.Fact.(SubtaskMerged); len(f.Files) != 0 || len(f.Conflicts) != 0 {
			t.Errorf("%s: %+v", payload, f)
		}
		r.Line = nil
		if got := string(mustLine(t, r)); got != want {
			t.Errorf("%s is written as %s", payload, got)
		}
	}
}

func TestTextIsValidUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"":             "",
		"plain é👍":     "plain é👍",
		"a\xffb":       "a\ufffdb",
		"cut \xe2\x82": "cut \ufffd",
		"\xed\xa0\x80": "\ufffd",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}
