package event

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// FuzzDecodeLine holds whatever the decoder accepts: it decodes the same both
// ways, is written as it stands, and written anew it says the same for good.
func FuzzDecodeLine(f *testing.F) {
	for _, line := range typicalLog(f, 27) {
		f.Add(line)
	}
	for _, fact := range facts(f) {
		f.Add(mustLine(f, recordOf(fact)))
	}
	for _, line := range []string{
		`{"v":2,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"context.noted","payload":{"text":"x"}}`,
		`{"v":1,"id":"\u0061\ud83d\ude00","sessionId":"s","seq":1,"ts":-2,"parentId":"p","type":"later","critical":true,"payload":{"x" : 1.0}}`,
		`{"v":1,"id":"a","sessionId":"s","seq":01,"ts":2e0,"type":"tool.started","payload":{"toolUseId":"","toolName":"\ud800"}}`,
		`{"v":1,"id":"a","sessionId":"s","seq":1,"ts":2,"type":"tool.started","payload":{"toolUseId":"u","toolName":"n"},"payload":{}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		agree(t, line)
		r, err := DecodeLine(line)
		if err != nil || bytes.IndexByte(line, '\n') >= 0 {
			return
		}
		if got := mustLine(t, r); !bytes.Equal(got, line) {
			t.Fatalf("read %q\nwritten %q", line, got)
		}
		r.Line = nil
		anew := mustLine(t, r)
		again, err := DecodeLine(anew)
		if err != nil {
			t.Fatalf("%v in %q, written for %q", err, anew, line)
		}
		again.Line = nil
		if third := mustLine(t, again); !bytes.Equal(third, anew) {
			t.Fatalf("first %q\nthen  %q", anew, third)
		}
	})
}

// FuzzPayload spends its time on the payloads that have a decoder of their own.
func FuzzPayload(f *testing.F) {
	names := walked()
	add := func(fact Fact, edit ...string) {
		payload, err := marshal(fact)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(slices.Index(names, NameOf(fact))), []byte(strings.NewReplacer(edit...).Replace(string(payload))))
	}
	for _, fact := range typicalTurn() {
		add(fact)
		add(fact, `,`, ` ,`)
		add(fact, `":"`, `":"\u00e9\"\\\/\b\f\n\r\t\u2028`)
		add(fact, `":"`, `":"\ud83d\ude00`)
		add(fact, `":"`, `":"\udead`)
		add(fact, `":"`, "\":\"\x00")
		add(fact, `":"`, `":"\u12`)
		add(fact, `":"`, `":"\`)
		add(fact, `":1`, `":01`)
		add(fact, `":1`, `":-1`)
		add(fact, `":1`, `":1.`)
		add(fact, `":1`, `":1234567890123456789`)
		add(fact, `":1`, `":null`)
		add(fact, `}`, `,"more":{}}`)
		add(fact, `}`, ` }`)
		add(fact, `{"`, `{"unknown":[],"`)
	}
	add(ToolCompleted{
		SpillFile: "/s", UI: ToolUI{DiffStats: &DiffStats{Added: 1, Removed: 2}, ExitCode: new(int), MatchCount: new(int)},
		Media: []Media{{MediaType: "image/png"}},
	})
	add(ModelRequestStarted{})
	f.Fuzz(func(t *testing.T, name uint8, payload []byte) {
		line := []byte(`{"v":1,"id":"01A","sessionId":"01S","seq":7,"ts":2,"type":"` + names[int(name)%len(names)] + `","payload":`)
		agree(t, append(append(line, payload...), '}'))
	})
}

// agree fails when the fast decoder accepts what the general one refuses or
// understands otherwise.
func agree(t *testing.T, line []byte) {
	t.Helper()
	fast, ok := standard.fast(line)
	if !ok {
		return
	}
	general, err := standard.general(line)
	if err != nil {
		t.Fatalf("fast accepts what general refuses: %v\n%q", err, line)
	}
	if !reflect.DeepEqual(fast, general) {
		t.Fatalf("%q\nfast    %#v\ngeneral %#v", line, fast.Fact, general.Fact)
	}
}

func walked() []string {
	var names []string
	for name := range walks {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
