package workspace_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/workspace"
)

func TestSecretsDoNotReachCommands(t *testing.T) {
	env := workspace.Environ([]string{
		"PATH=/bin:/usr/bin", "HOME=/home/dev", "OLDPWD=/x", "SSH_AUTH_SOCK=/run/ssh", "broken", "KEYMAP=de", "LANG=C",
		"ANTHROPIC_API_KEY=s", "ANTHROPIC_AUTH_TOKEN=s", "ANTHROPIC_BASE_URL=s", "AWS_SECRET_ACCESS_KEY=s", "AWS_PROFILE=s",
		"GITHUB_TOKEN=s", "FOO_TOKEN=s", "foo_token=s", "NPM_TOKEN=s", "MY_SECRET=s", "PGPASSWORD=s", "MYSQL_PWD=s", "DB_PASS=s",
		"KHAELOR_HOME=s", "STRIPE_APIKEY=s", "GOOGLE_APPLICATION_CREDENTIALS=s", "X_KEY=s", "BASH_ENV=s", "ENV=s",
		"BASH_FUNC_ls%%=s", "CDPATH=s", "PAGER=less",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_VALUE_0=c",
	}, []string{"NPM_TOKEN", "DB_*", "ENV"})
	want := []string{
		"AGENT=khaelor", "DB_PASS=s", "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=a.b", "GIT_CONFIG_KEY_1=core.fsmonitor",
		"GIT_CONFIG_VALUE_0=c", "GIT_CONFIG_VALUE_1=false", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "HOME=/home/dev",
		"KEYMAP=de", "KHAELOR=1", "LANG=C", "NPM_TOKEN=s", "OLDPWD=/x", "PAGER=cat", "PATH=/bin:/usr/bin", "SSH_AUTH_SOCK=/run/ssh",
	}
	slices.Sort(env)
	if !slices.Equal(env, want) {
		t.Errorf("the environment is\n%s\nnot\n%s", strings.Join(env, "\n"), strings.Join(want, "\n"))
	}
}

func TestCommandsSeeTheScrubbedEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-test-123")
	t.Setenv("FOO_TOKEN", "token-4711")
	ws := open(t, t.TempDir())
	r := run(t, ws, workspace.Command{Line: "env"})
	for _, secret := range []string{"sk-test-123", "token-4711"} {
		if strings.Contains(r.Output.String(), secret) {
			t.Errorf("env shows %s", secret)
		}
	}
	r = run(t, ws, workspace.Command{Line: "git config core.fsmonitor; echo $KHAELOR"})
	if !strings.HasSuffix(r.Output.String(), "1\n") {
		t.Errorf("%q", r.Output.String())
	}
}

func TestChildrenCannotReadOurOwnSecrets(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	ws := open(t, t.TempDir())
	r := run(t, ws, workspace.Command{Argv: []string{self}, Env: []string{
		"PATH=" + os.Getenv("PATH"), "HIDE=1", "ANTHROPIC_API_KEY=sk-test-123", "FOO_TOKEN=token-4711", "BAR_TOKEN=allowed",
	}})
	if out := r.Output.String(); r.ExitCode != 0 || !strings.Contains(out, "HIDE=1") || !strings.Contains(out, "BAR_TOKEN=allowed") ||
		!strings.Contains(out, "own: sk-test-123") || strings.Contains(strings.Replace(out, "own: sk-test-123", "", 1), "sk-test") || strings.Contains(out, "4711") {
		t.Errorf("exit code %d, %s%s", r.ExitCode, out, r.Stderr.String())
	}
}

// hide is the program that hides its secrets and runs a curious child; see
// TestMain.
func hide() {
	err := workspace.HideEnviron([]string{"BAR_TOKEN"})
	if err != nil {
		panic(err)
	}
	child := exec.Command("sh", "-c", "tr '\\0' '\\n' < /proc/$PPID/environ")
	child.Env = []string{"PATH=" + os.Getenv("PATH")}
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if err := child.Run(); err != nil {
		panic(err)
	}
	os.Stdout.WriteString("own: " + os.Getenv("ANTHROPIC_API_KEY") + "\n")
}
