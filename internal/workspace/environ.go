package workspace

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// secretNames are the variables that never reach a command unless the user
// allows them by name: known credentials and whatever is named like one.
// Matched in upper case by path.Match.
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

// Environ is base without secrets and without what redefines the shell. allow
// holds names or patterns (path.Match) that come back although they look like
// secrets. Added is what tells programs that nobody sits at a terminal, and
// what keeps a repository's git configuration from naming a program to run.
func Environ(base, allow []string) []string {
	var env []string
	for _, entry := range base {
		name, _, ok := strings.Cut(entry, "=")
		name = strings.ToUpper(name)
		switch {
		case !ok || matches(shellNames(), name):
		case matches(secretNames(), name) && !matches(allow, name):
		default:
			env = append(env, entry)
		}
	}
	env = setVars(env, "AGENT=khaelor", "KHAELOR=1", "GIT_TERMINAL_PROMPT=0", "PAGER=cat", "GIT_PAGER=cat")
	return gitConfig(env, "core.fsmonitor", "false")
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(strings.ToUpper(pattern), name)
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
