package event

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"pgregory.net/rapid"
)

// anyText is text as it comes from models, terminals and files: what JSON,
// HTML and JavaScript treat specially, at any place.
var anyText = rapid.Custom(func(t *rapid.T) string {
	pieces := rapid.SliceOfN(rapid.OneOf(
		rapid.SampledFrom([]string{
			"<b>&amp;</b>", "\u2028", "\u2029", "👩‍👩‍👧", "\x00", "\x1b[31m", "\x7f", "\"", `\`, `\u0041`, `\ud800`, "\n", "\r\n", "\t",
			"\b\f", "/", "\ufffd", "\ufeff", "e\u0301", "é", "\U0010ffff", "}}", `","text":"`, "plain",
		}),
		rapid.String(),
	), 0, 5).Draw(t, "pieces")
	return strings.Join(pieces, "")
})

// anyRaw is compact JSON that does not survive a detour through Go values:
// number spellings, key order, keys given twice, escapes of choice.
var anyRaw = rapid.Custom(func(t *rapid.T) json.RawMessage {
	raw, err := marshal(anyText.Draw(t, "text"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := marshal(anyText.Draw(t, "key"))
	if err != nil {
		t.Fatal(err)
	}
	return json.RawMessage(rapid.SampledFrom([]string{
		`{}`, `{"b":1.0,"a":1e3}`, `{"n":123456789012345678901234567890}`, `{"a":1,"a":2}`, `{"x":"\u0041\/"}`,
		`{"z":[],"y":[{},{}],"x":null}`, `{"-0":-0.0,"E":1E+2}`, `{"u":"` + "\u2028" + `"}`,
		fmt.Sprintf(`{%s:%s}`, key, raw), fmt.Sprintf(`{"deep":[[{"t":%s}]],"b":true}`, raw),
	}).Draw(t, "raw"))
})

// anyFact is any fact of the catalog with anything in it.
func anyFact(all []Fact) *rapid.Generator[Fact] {
	return rapid.Custom(func(t *rapid.T) Fact {
		v := reflect.New(reflect.TypeOf(rapid.SampledFrom(all).Draw(t, "type"))).Elem()
		fill(t, v, false)
		return v.Interface().(Fact)
	})
}

func anyNotice() *rapid.Generator[Notice] {
	return rapid.Custom(func(t *rapid.T) Notice {
		v := reflect.New(reflect.TypeOf(rapid.SampledFrom(notices).Draw(t, "type"))).Elem()
		fill(t, v, false)
		return v.Interface().(Notice)
	})
}

// fill draws a value. An absent optional slice is nil and an empty List is
// empty but not nil, as the decoder leaves them.
func fill(t *rapid.T, v reflect.Value, optional bool) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), strings.HasSuffix(v.Type().Field(i).Tag.Get("json"), ",omitempty"))
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "present") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), false)
		}
	case reflect.Slice:
		fillSlice(t, v, optional)
	case reflect.String:
		v.SetString(anyText.Draw(t, "string"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.OneOf(rapid.Int64Range(-2, 12), rapid.Int64()).Draw(t, "int"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	default:
		t.Fatalf("no generator for %v", v.Type())
	}
}

func fillSlice(t *rapid.T, v reflect.Value, optional bool) {
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		if !optional || rapid.Bool().Draw(t, "present") {
			v.Set(reflect.ValueOf(anyRaw.Draw(t, "raw")))
		}
		return
	}
	n := rapid.IntRange(0, 3).Draw(t, "len")
	if n == 0 && optional {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	for i := range n {
		fill(t, v.Index(i), false)
	}
}
