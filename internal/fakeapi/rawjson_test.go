package fakeapi

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// rebuild decodes JSON with the walkers.
func rebuild(t *testing.T, raw []byte) any {
	raw = raw[next(raw, 0):]
	switch raw[0] {
	case '{':
		m := map[string]any{}
		for key, value := range members(raw) {
			m[key] = rebuild(t, value)
		}
		return m
	case '[':
		list := []any{}
		for i, value := range elements(raw) {
			if i != len(list) {
				t.Fatalf("element %d has number %d", len(list), i)
			}
			list = append(list, rebuild(t, value))
		}
		return list
	case '"':
		return unquote(raw[:skip(raw, 0)])
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func FuzzTheWalkersReadWhatTheDecoderReads(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5e3,"x\"y\\",{"b":null}],"c":{},"d":[]}`, ` [ true , false , null ] `, `"\\\""`, "{\n\t\"a\" :\r 1 }", `[[],[[]],{}]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want any
		if checkJSON([]byte(text)) != nil || json.Unmarshal([]byte(text), &want) != nil {
			t.Skip()
		}
		if got := rebuild(t, bytes.TrimSpace([]byte(text))); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	})
}

func FuzzAStringIsWrittenAsJSON(f *testing.F) {
	for _, seed := range []string{"", "plain", "a\"b\\c\nd\te\x00\x1f", "äöü <&> 😀 \u2028"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got string
		if err := json.Unmarshal(appendString(nil, text), &got); err != nil {
			t.Fatal(err)
		}
		if got != string([]rune(text)) {
			t.Errorf("%q became %q", text, got)
		}
	})
}

func FuzzParseRequestNeverPanics(f *testing.F) {
	for _, seed := range []string{hello, request(thinkOn, ask+","+call+","+result), `{"messages":[1,{"role":null,"content":[{"type":1}]}],"tools":[[]],"system":[""]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		req, fault := parseRequest([]byte(body))
		if fault != nil {
			return
		}
		req.prompt = layOut(req)
		h := newHistory(Script{})
		_ = checker{req: req, model: Model{MaxInputTokens: 1 << 30}, history: &h}.check()
	})
}

func TestHalfASurrogatePairIsFound(t *testing.T) {
	cases := map[string]int{
		`"\ud83d\ude00"`: -1, `"\\ud83d"`: -1, `"\ud83d"`: 1, `"a\ude00"`: 2, `"\ud83dx\ude00"`: 1, `"\ud83d\ud83d\ude00"`: 1, `"\u0041\n"`: -1, `"\uD83D\uDE00"`: -1,
	}
	for text, want := range cases {
		if got := loneSurrogate([]byte(text)); got != want {
			t.Errorf("%s: %d", text, got)
		}
	}
}
