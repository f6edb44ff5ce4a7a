package config

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestShowNamesEverySettingWithItsOrigin(t *testing.T) {
	cfg, _ := mustLoad(t, memory{"/h/config.json": "{\"budget\": {\n\"day\": 2.50}, \"permissions\": {\"deny\": [\"x\"]}}"}, everywhere)
	settings := cfg.Show()
	for _, want := range []Setting{
		{"budget.day", "2.5", Origin{User, "/h/config.json", 2}},
		{"permissions.deny", `"x"`, Origin{User, "/h/config.json", 2}},
		{"stallSeconds", "90", Origin{Layer: Shipped}},
		{"timeout", `"0s"`, Origin{Layer: Shipped}},
	} {
		if !slices.Contains(settings, want) {
			t.Errorf("missing %+v", want)
		}
	}
	for _, s := range settings {
		if !json.Valid([]byte(s.Value)) {
			t.Errorf("%s: %s is not JSON", s.Key, s.Value)
		}
	}
}

func TestTheSchemaHasEveryFieldOfTheTable(t *testing.T) {
	var schema struct {
		Properties map[string]struct {
			Type       string
			Default    json.RawMessage
			Properties map[string]struct{ Description string }
		}
	}
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	if p := schema.Properties["model"]; p.Type != "string" || string(p.Default) != `"claude-sonnet-4-5"` {
		t.Errorf("model: %+v", p)
	}
	for _, f := range Fields() {
		if f.Doc == "" {
			t.Errorf("%s has no help", f.Key)
		}
	}
	if schema.Properties["sandbox"].Properties["mode"].Description == "" {
		t.Error("nested fields are missing")
	}
}

func TestNearestNamesOnlyWhatIsClose(t *testing.T) {
	known := []string{"model", "auxModel", "permissions"}
	for word, want := range map[string]string{"modle": "model", "AUXMODEL": "auxModel", "zebra": ""} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest(%q) = %q", word, got)
		}
	}
}
