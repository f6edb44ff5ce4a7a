package event

import (
	"reflect"
	"strings"
	"testing"
)

func TestATypicalLogIsReadTheFastWay(t *testing.T) {
	missing := map[string]bool{}
	for name := range walks {
		missing[name] = true
	}
	for _, line := range typicalLog(t, 90) {
		fast, ok := standard.fast(line)
		if !ok {
			t.Errorf("left to the general decoder: %.200s", line)
			continue
		}
		general, err := standard.general(line)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(fast, general) {
			t.Errorf("%.200s\nfast    %+v\ngeneral %+v", line, fast, general)
		}
		delete(missing, fast.Name())
	}
	for name := range missing {
		t.Errorf("%s has a decoder of its own and is not in the log", name)
	}
}

// The cases are the parts of a payload that a typical log does not show.
func TestEveryWayThroughAPayloadIsFast(t *testing.T) {
	zero, many := 0, 41
	for name, f := range map[string]Fact{
		"a spilled result":  ToolCompleted{ToolUseID: "u", ModelText: "a\n\x1b[0m\u2028é", SpillFile: "/s\\p", DurationMS: 1, UI: ToolUI{Kind: UIExec}},
		"a result with all": ToolCompleted{UI: ToolUI{Kind: UIEdit, Summary: "s", DiffStats: &DiffStats{Added: 3, Removed: 4}, ExitCode: &zero, MatchCount: &many}},
		"no diff":           ToolCompleted{UI: ToolUI{Kind: UISearch, MatchCount: &many}},
		"no sections":       ModelRequestStarted{ContextStats: ContextStats{Sections: List[Section]{}}},
		"a whole file":      FileRead{Path: "a \"b\"", Bytes: 999_999_999_999_999_999, ToolUseID: "u"},
		"an empty input":    ToolRequested{Input: []byte(`{}`)},
	} {
		line := mustLine(t, recordOf(f))
		got, ok := catalog[NameOf(f)].fast([]byte(payloadIn(line)))
		if !ok || !reflect.DeepEqual(got, f) {
			t.Errorf("%s: %v, %+v, want %+v", name, ok, got, f)
		}
	}
}

func payloadIn(line []byte) string {
	_, payload, _ := strings.Cut(string(line[:len(line)-1]), `"payload":`)
	return payload
}

// A log's memory is mostly such strings.
func TestATextWithEscapesIsAllocatedOnce(t *testing.T) {
	text := `"` + strings.Repeat(`say \"hello\"\\\n`, 400) + `",` + strings.Repeat(" ", 20_000)
	var got string
	allocs := testing.AllocsPerRun(10, func() {
		w := walker{rest: []byte(text), ok: true}
		got = w.text("")
	})
	if want := strings.Repeat("say \"hello\"\\\n", 400); got != want {
		t.Fatalf("read %q", got)
	}
	if allocs != 2 { // one of them is the test's own copy
		t.Errorf("%v allocations, want 2", allocs)
	}
}

// encoding/json gives up at a depth of 10,000 counted from where it starts, so
// that a payload by itself may be one deeper than on its line.
func TestDepthIsCountedFromTheLine(t *testing.T) {
	for _, depth := range []int{10, 8_000, 9_990, 9_997, 9_998, 9_999, 10_000, 20_000} {
		input := `{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`
		for _, payload := range []string{
			`{"requestId":"r","blockIndex":0,"toolUseId":"u","toolName":"n","input":` + input + `}`,
			`{"text":"x","more":` + input + `}`,
		} {
			name := "tool.requested"
			if strings.HasPrefix(payload, `{"text"`) {
				name = "context.noted"
			}
			agree(t, []byte(`{"v":1,"id":"01A","sessionId":"01S","seq":7,"ts":2,"type":"`+name+`","payload":`+payload+`}`))
		}
	}
}
