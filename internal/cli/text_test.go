package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

// Terminal 9: what reaches a terminal moves no cursor, sets no title and turns
// no text around, also when it is JSON.
func TestNothingIsShownUnseen(t *testing.T) {
	const text = "a\x1b]0;t\x07b\u009b31mc\u202ed\u200be\x7f\U000e0041f\nüñ漢"
	var indented bytes.Buffer
	if err := writeJSON(&indented, map[string]string{"t": text}); err != nil {
		t.Fatal(err)
	}
	line := result{Text: text, Error: reason(text)}.line()
	for what, shown := range map[string]string{"text": visible(text), "JSON": indented.String(), "result": string(line)} {
		if i := strings.IndexFunc(shown, func(r rune) bool {
			return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
		}); i >= 0 {
			t.Errorf("%s shows %q", what, shown[i:])
		}
		if !strings.Contains(shown, "üñ漢") {
			t.Errorf("%s spoils what is harmless: %q", what, shown)
		}
	}
	var back map[string]string
	if err := json.Unmarshal(indented.Bytes(), &back); err != nil || back["t"] != text {
		t.Errorf("the JSON means %q: %v", back["t"], err)
	}
	var r struct{ Text string }
	if err := json.Unmarshal(line, &r); err != nil || r.Text != text {
		t.Errorf("the result means %q: %v", r.Text, err)
	}
}
