package event

import "testing"

func TestClipCutsBetweenCharacters(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"short", 5, "short"},
		{"longer", 5, "longe…"},
		{"größe", 5, "größe"},
		{"größer", 5, "größe…"},
		{"", 0, ""},
	} {
		if got := Clip(c.text, c.most); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
}
