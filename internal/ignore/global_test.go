package ignore

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheGlobalIgnoreFileIsFoundAsGitFindsIt(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"by default":                      {"/h/.config/git/ignore": "*.x"},
		"by the environment":              {"/x/git/ignore": "*.x"},
		"in the home folder":              {"/h/.gitconfig": "[core]\n\texcludesFile = ~/.ig\n", "/h/.ig": "*.x"},
		"quoted":                          {"/h/.gitconfig": "[user]\nname = a\n[core] excludesfile = \"~/my \\\"files\\\"/ig\" ; mine\n", "/h/my \"files\"/ig": "*.x"},
		"in another case":                 {"/h/.gitconfig": "[CORE]\nExcludesFILE=/e/ig # here", "/e/ig": "*.x"},
		"the last one":                    {"/h/.gitconfig": "[core]\nexcludesFile=/e/a\nexcludesFile = \\\n/e/ig  \n", "/e/a": "", "/e/ig": "*.x"},
		"home before XDG":                 {"/h/.config/git/config": "[core]\nexcludesFile=/e/a", "/h/.gitconfig": "[core]\nexcludesFile=/e/ig", "/e/ig": "*.x", "/e/a": ""},
		"included":                        {"/h/.gitconfig": "[include]\npath = more/cfg\n", "/h/more/cfg": "[core]\r\nexcludesFile=/e/ig\r\n", "/e/ig": "*.x"},
		"not of a section with a name":    {"/h/.gitconfig": "[core \"a\"]\nexcludesFile=/e/a", "/e/a": "", "/h/.config/git/ignore": "*.x"},
		"of the machine":                  {"/etc/gitconfig": "[core]\nbare\n\texcludesFile=/e/ig", "/e/ig": "*.x"},
		"a file that includes itself":     {"/h/.gitconfig": "[include]\npath=.gitconfig\n[core]\nexcludesFile=/e/ig", "/e/ig": "*.x"},
		"switched off":                    {"/h/.gitconfig": "[core]\nexcludesFile=\n", "/h/.config/git/ignore": "keep", "none": ""},
		"missing":                         {"/h/.gitconfig": "[core]\nexcludesFile=/nowhere\n", "/h/.config/git/ignore": "keep", "none": ""},
		"relative, which nobody can mean": {"/h/.gitconfig": "[core]\nexcludesFile=ig\n", "none": ""},
	} {
		t.Run(name, func(t *testing.T) {
			xdg := ""
			if _, ok := files["/x/git/ignore"]; ok {
				xdg = "/x"
			}
			f := Global("/p", "/h", xdg, func(path string) ([]byte, error) {
				data, ok := files[path]
				if !ok {
					return nil, fs.ErrNotExist
				}
				return []byte(data), nil
			})
			_, none := files["none"]
			got := Rules{}.And(false, f).Ignored("/p/q/", "a.x", false)
			if got == none {
				t.Errorf("got %v", got)
			}
		})
	}
}

// Values are read as git reads them.
func FuzzGitConfig(f *testing.F) {
	program, err := exec.LookPath("git")
	if err != nil {
		f.Skip("git is not here")
	}
	dir := f.TempDir()
	for _, seed := range []string{`a b`, `"a  " b `, `a\\b`, `"a;b" # c`, "a\\\nb", `\"x\"`, `a "`, `"`, `\q`, `x\`, "a\tb \t", "\x00", "a\r"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "\x00\r") {
			return
		}
		text = "[core]\n\texcludesFile = " + text + "\n"
		name := filepath.Join(dir, "config")
		must(t, os.WriteFile(name, []byte(text), 0o666))
		out, err := exec.Command(program, "config", "-z", "--file", name, "--get", "core.excludesfile").Output()
		if err != nil {
			return // git refuses the file, or has no value
		}
		got := ""
		for key, value := range settings(text) {
			if key == "core.excludesfile" {
				got = value
			}
		}
		// Whether a tab within a value stays one depends on git's version.
		got = strings.ReplaceAll(got, "\t", " ")
		if want := strings.ReplaceAll(strings.TrimSuffix(string(out), "\x00"), "\t", " "); got != want {
			t.Errorf("%q: got %q, git says %q", text, got, want)
		}
	})
}
