package wording

import "testing"

func TestCountPutsNounsIntoThePlural(t *testing.T) {
	for _, c := range []struct {
		n    int
		noun string
		want string
	}{
		{0, "line", "0 lines"},
		{1, "line", "1 line"},
		{2, "match", "2 matches"},
		{3, "entry", "3 entries"},
	} {
		if got := Count(c.n, c.noun); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestNameIsOneLineOfText(t *testing.T) {
	for path, want := range map[string]string{
		"a b.txt":           "a b.txt",
		"\u00fcn\u00ef.txt": "\u00fcn\u00ef.txt",
		"nl\nname":          `"nl\nname"`,
		"\xff":              `"\xff"`,
		"\x1b[2J":           `"\x1b[2J"`,
	} {
		if got := Name(path); got != want {
			t.Errorf("Name(%q) = %s, want %s", path, got, want)
		}
	}
}

func TestPrefixCutsBetweenCharacters(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{{"gr\u00f6\u00dfe", 3, "gr\u00f6"}, {"ab", 5, "ab"}, {"", 1, ""}, {"\xff\xfeab", 2, "\xff\xfe"}} {
		if got := string(Prefix([]byte(c.text), c.n)); got != c.want {
			t.Errorf("Prefix(%q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
}
