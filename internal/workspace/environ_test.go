package workspace_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

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
	env = slices.DeleteFunc(env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasSuffix(name, "PAGER") && strings.HasSuffix(entry, "=cat") || strings.HasSuffix(name, "EDITOR") || name == "VISUAL" || strings.Contains(name, "ASKPASS")
	})
	want := []string{
		"AGENT=khaelor", "DB_PASS=s", "DEBIAN_FRONTEND=noninteractive", "GCM_INTERACTIVE=never", "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=a.b",
		"GIT_CONFIG_KEY_1=core.fsmonitor", "GIT_CONFIG_VALUE_0=c", "GIT_CONFIG_VALUE_1=false", "GIT_MERGE_AUTOEDIT=no", "GIT_TERMINAL_PROMPT=0",
		"HOME=/home/dev", "KEYMAP=de", "KHAELOR=1", "LANG=C", "NPM_TOKEN=s", "OLDPWD=/x", "PATH=/bin:/usr/bin", "SSH_AUTH_SOCK=/run/ssh",
	}
	slices.Sort(env)
	if !slices.Equal(env, want) {
		t.Errorf("the environment is\n%s\nnot\n%s", strings.Join(env, "\n"), strings.Join(want, "\n"))
	}
}

// npm takes its settings from variables named like this one.
func TestASlashHidesNoSecret(t *testing.T) {
	base := []string{
		"npm_config_//registry.npmjs.org/:_authToken=s", "npm_config_//a.b/c/:_password=s", "a/b/SECRET/c=s", "/TOKEN=s", "BASH_FUNC_a/b%%=s",
		"npm_config_//own.host/:_authToken=s", "npm_config_//own.host/npm/:_authToken=s", "x/y=s", "A/B_KEY=s", "A_B_KEY=s",
	}
	env := workspace.Environ(base, []string{"npm_config_//own.host/*", "a/b_key"})
	env = slices.DeleteFunc(env, func(entry string) bool { return !strings.HasSuffix(entry, "=s") })
	if want := []string{"npm_config_//own.host/:_authToken=s", "npm_config_//own.host/npm/:_authToken=s", "x/y=s", "A/B_KEY=s"}; !slices.Equal(env, want) {
		t.Errorf("%q, not %q", env, want)
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
		"PATH=" + os.Getenv("PATH"), "HIDE=1", "ANTHROPIC_API_KEY=sk-test-123", "FOO_TOKEN=token-4711", "BAR_TOKEN=allowed", "npm_config_//a.b/:_authToken=token-4711",
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

func TestTheUserKeepsWhatAsksHimIfHeSaysSo(t *testing.T) {
	base := []string{"GIT_ASKPASS=/opt/ask", "SSH_ASKPASS=/opt/ask", "EDITOR=vi"}
	env := workspace.Environ(base, []string{"git_askpass"})
	if !slices.Contains(env, "GIT_ASKPASS=/opt/ask") || !slices.Contains(env, "SSH_ASKPASS=false") || !slices.Contains(env, "EDITOR=false") {
		t.Errorf("%q", env)
	}
}

// Who wants a person, a pager or an editor ends quickly and says why.
func TestInteractiveProgramsEndAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ws := open(t, dir)
	for _, line := range []string{
		"git init -q . && git config user.name a && git config user.email a@b.c && touch f && git add f && git commit -qm one",
		"echo x >f && git commit -qam two && git checkout -qb side HEAD~1 && echo y >g && git add g && git commit -qm three",
	} {
		if r := run(t, ws, workspace.Command{Line: line}); r.ExitCode != 0 {
			t.Fatalf("%s: %s", line, r.Output.String())
		}
	}
	for _, c := range []struct {
		program, line string
		fails         bool
		says          string
	}{
		{"git", "echo z >f; git commit -a", true, "there is no editor here"},
		{"git", "git commit --amend --no-edit -a -q", false, ""},
		{"git", "git rebase -i HEAD~1", true, "set GIT_SEQUENCE_EDITOR"},
		{"git", "git rebase --abort; GIT_SEQUENCE_EDITOR=true git rebase -q -i HEAD~1", false, ""},
		{"git", "git checkout -q f; git merge -s ours master || git merge -s ours main", false, "ours"},
		{"git", "git log", false, "three"},
		{"git", "git -c core.pager='sleep 300' log --oneline", false, "three"},
		{"git", "git -c credential.helper= ls-remote https://127.0.0.1:1/x", true, ""},
		{"python3", "python3 -c 'input()'", true, "EOFError"},
		{"sudo", "sudo -k; sudo -S true </dev/null; sudo -n true; true", false, ""},
		{"su", "su nobody -c true; true", false, ""},
		{"ssh", "ssh -o ConnectTimeout=1 -p 1 127.0.0.1 true", true, ""},
		{"man", "man git-init >/dev/null; true", false, ""},
		{"less", "less f", false, "z"},
		{"sh", "$PAGER f; $MANPAGER f", false, "z"},
		{"sh", "read x </dev/tty", true, ""},
		{"sh", "$EDITOR f", true, ""},
		{"passwd", "passwd nobody", true, ""},
	} {
		if _, err := workspace.LookPath(ws, c.program); err != nil {
			t.Logf("no %s here", c.program)
			continue
		}
		r := run(t, ws, workspace.Command{Line: c.line, Timeout: 8 * time.Second})
		if r.TimedOut || (r.ExitCode != 0) != c.fails || !strings.Contains(r.Output.String(), c.says) {
			t.Errorf("%s: exit code %d, timed out %v: %s", c.line, r.ExitCode, r.TimedOut, r.Output.String())
		}
	}
}

// Locale 2: what runs for the user keeps the user's language.
func TestCommandsKeepTheLocale(t *testing.T) {
	ws, err := workspace.NewLocal(t.TempDir(), workspace.WithEnviron([]string{"PATH=" + os.Getenv("PATH"), "LANG=tr_TR.UTF-8", "LC_NUMERIC=de_DE.UTF-8"}))
	must(t, err)
	defer ws.Close()
	r := run(t, ws, workspace.Command{Line: "echo $LANG $LC_NUMERIC [$LC_ALL]"})
	if r.Output.String() != "tr_TR.UTF-8 de_DE.UTF-8 []\n" {
		t.Errorf("%q", r.Output.String())
	}
}
