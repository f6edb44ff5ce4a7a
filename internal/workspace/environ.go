package workspace

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// secretNames are the variables that never reach a command unless the user
// allows them by name: known credentials and whatever is named like one.
// Matched in upper case by path.Match, to which a slash is like any character.
func secretNames() []string {
	return []string{
		"ANTHROPIC_*", "KHAELOR_*", "AWS_*", "OPENAI_*",
		"*TOKEN", "*TOKENS", "*_KEY", "*_KEYS", "*APIKEY", "*_KEY_ID", "*_KEY_BASE64", "*PRIVATE_KEY*",
		"*SECRET*", "*PASSWORD*", "*PASSWD*", "*PASSPHRASE*", "*_PASS", "*_PWD", "*CREDENTIAL*",
		"*_PAT", "*_AUTH", "*_COOKIE", "*_DSN",
	}
}

// shellNames are variables by which an environment changes what a command line
// means. What was analysed is what must run, so nobody can allow them.
func shellNames() []string {
	return []string{
		"BASH_ENV", "ENV", "BASH_FUNC_*", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE",
		"PS4", "BASH_XTRACEFD", "BASH_COMPAT", "POSIXLY_CORRECT", "PROMPT_COMMAND",
	}
}

// alone are the variables that tell programs that nobody sits at a terminal, so
// that they end with a message where they would wait for somebody. Without a
// terminal most find out by themselves; these are for those who would open a
// window, wait for an editor, or run on a terminal of ours (Command.TTY).
func alone() []string {
	const noEditor = "echo 'there is no editor here: pass the text by options (-m, -F, --no-edit), or set GIT_EDITOR for the command' >&2; false"
	return []string{
		"AGENT=khaelor", "KHAELOR=1",
		"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat", "GH_PAGER=cat",
		"EDITOR=false", "VISUAL=false", "GIT_EDITOR=" + noEditor,
		"GIT_SEQUENCE_EDITOR=echo 'there is no editor here: set GIT_SEQUENCE_EDITOR to a command that edits the list' >&2; false",
		"GIT_MERGE_AUTOEDIT=no", // as git does by itself without a terminal
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never",
		"DEBIAN_FRONTEND=noninteractive",
	}
}

// Environ is base without secrets and without what redefines the shell. allow
// holds names or patterns (path.Match, * for slashes too) that come back although
// they look like secrets, and that stay as the user has them although they would
// ask him. Added is what tells programs that nobody sits at a terminal, and what
// keeps a repository's git configuration from naming a program to run.
func Environ(base, allow []string) []string {
	var env, kept []string
	for _, entry := range base {
		name, _, ok := strings.Cut(entry, "=")
		upper := strings.ToUpper(name)
		switch {
		case !ok || matches(shellNames(), upper):
		case matches(allow, upper):
			env, kept = append(env, entry), append(kept, name)
		case !matches(secretNames(), upper):
			env = append(env, entry)
		}
	}
	for _, entry := range alone() {
		if name, _, _ := strings.Cut(entry, "="); !slices.Contains(kept, name) {
			env = setVars(env, entry)
		}
	}
	return gitConfig(env, "core.fsmonitor", "false")
}

func matches(patterns []string, name string) bool {
	plain := func(s string) string { return strings.ReplaceAll(s, "/", "\x00") } // which is in no name
	name = plain(name)
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(plain(strings.ToUpper(pattern)), name)
		return ok && err == nil
	})
}

// setVars sets variables, replacing what had the name.
func setVars(env []string, entries ...string) []string {
	for _, entry := range entries {
		name, _, _ := strings.Cut(entry, "=")
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		env = append(env, entry)
	}
	return env
}

// gitConfig adds one override to those the environment already has
// (git-config(1), GIT_CONFIG_COUNT).
func gitConfig(env []string, key, value string) []string {
	count := 0
	for _, entry := range env {
		if text, ok := strings.CutPrefix(entry, "GIT_CONFIG_COUNT="); ok {
			count, _ = strconv.Atoi(text) // git refuses a bad count; it begins anew here
		}
	}
	n := strconv.Itoa(count)
	return setVars(env, "GIT_CONFIG_KEY_"+n+"="+key, "GIT_CONFIG_VALUE_"+n+"="+value, "GIT_CONFIG_COUNT="+strconv.Itoa(count+1))
}
