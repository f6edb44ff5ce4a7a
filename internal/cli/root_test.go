package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestWhatWasMeantAsACommandIsNoMessage(t *testing.T) {
	root := (&App{}).root().root
	for line, want := range map[string]string{
		"verify":                   "no command verify",
		"mcp list":                 "no command mcp",
		"sesions list":             "did you mean khaelor sessions",
		"docotr":                   "did you mean khaelor doctor",
		"fix the tests":            "",
		"hello":                    "",
		"import is broken in a.py": "",
		"":                         "",
	} {
		err := misspelt(root, strings.Fields(line))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

func TestTheWordBehindResumeIsItsSession(t *testing.T) {
	flags := (&App{}).root().root.Flags()
	for line, want := range map[string]string{
		"-r 01M8 go":          "--resume=01M8 go",
		"-p -r NOPE go":       "-p --resume=NOPE go",
		"-r":                  "-r",
		"-r -p":               "-r -p",
		"-p -v -r newest":     "-p --resume=newest -- -v",
		"--resume=NOPE hello": "--resume=NOPE hello",
	} {
		if got := normalize(flags, strings.Fields(line)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q became %q, want %q", line, got, want)
		}
	}
	if got := normalize(flags, []string{"-r", "fix the tests"}); !slices.Equal(got, []string{"-r", "fix the tests"}) {
		t.Errorf("a prompt behind -r became %q", got)
	}
}
