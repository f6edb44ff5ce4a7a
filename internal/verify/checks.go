package verify

import (
	"slices"
	"strings"
)

// checks are the commands whose exit code says whether the project is sound:
// the words they begin with. Options and operands may follow.
var checks = [][]string{
	{"go", "test"},
	{"go", "vet"},
	{"go", "build"},
	{"cargo", "test"},
	{"cargo", "check"},
	{"cargo", "build"},
	{"cargo", "clippy"},
	{"npm", "test"},
	{"npm", "run", "test"},
	{"npm", "run", "build"},
	{"npm", "run", "lint"},
	{"npm", "run", "typecheck"},
	{"pnpm", "test"},
	{"pnpm", "run", "test"},
	{"yarn", "test"},
	{"bun", "test"},
	{"deno", "test"},
	{"npx", "tsc"},
	{"tsc"},
	{"npx", "vitest", "run"},
	{"npx", "jest"},
	{"node", "--test"},
	{"pytest"},
	{"python", "-m", "pytest"},
	{"python3", "-m", "pytest"},
	{"python", "-m", "unittest"},
	{"python3", "-m", "unittest"},
	{"mypy"},
	{"ruff", "check"},
	{"tox"},
	{"make", "test"},
	{"make", "check"},
	{"make", "lint"},
	{"mvn", "test"},
	{"mvn", "verify"},
	{"gradle", "test"},
	{"./gradlew", "test"},
	{"dotnet", "test"},
	{"dotnet", "build"},
	{"mix", "test"},
	{"rspec"},
	{"bundle", "exec", "rspec"},
	{"phpunit"},
	{"vendor/bin/phpunit"},
	{"swift", "test"},
	{"zig", "build", "test"},
	{"ctest"},
}

// helpful are options with which such a command does not check anything.
var helpful = []string{"-h", "--help", "--version", "-V", "--dry-run", "--collect-only", "--list", "-list"}

func inTable(words []string) bool {
	if words[0] == "make" && slices.Contains(words, "-n") {
		return false
	}
	return begins(words, checks) && !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(helpful, w) })
}

// idle are commands that leave files as they are and do not fail of their own,
// so that they may follow a check.
var idle = [][]string{
	{"echo"}, {"printf"}, {"true"}, {":"}, {"cd"}, {"pwd"}, {"date"}, {"ls"}, {"git", "status"}, {"git", "diff"}, {"git", "log"},
}

// looking are further commands that leave files as they are.
var looking = [][]string{
	{"cat"}, {"head"}, {"tail"}, {"wc"}, {"grep"}, {"rg"}, {"which"}, {"git", "show"}, {"git", "blame"}, {"git", "grep"}, {"git", "ls-files"},
}

func begins(words []string, table [][]string) bool {
	return slices.ContainsFunc(table, func(first []string) bool {
		return len(words) >= len(first) && slices.Equal(words[:len(first)], first)
	})
}

// writesItself says that an option makes a command of those tables write.
func writesItself(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "--output") || strings.HasPrefix(w, "--pre") })
}

// diverts says that after the command the words of a line may not mean what
// they say, or may not be reached.
func diverts(word string) bool {
	return slices.Contains([]string{
		"exit", "exec", "return", "logout", "kill", "trap", "eval", "source", ".", "hash", "alias", "enable", "set", "shopt", "builtin", "command",
		"pushd", "popd", "unset", "read", "mapfile", "readarray", "getopts", "printf",
	}, word)
}

// plainVariable says that a variable changes how a check looks or speaks, not
// what it checks.
func plainVariable(name string) bool {
	return strings.HasPrefix(name, "LC_") ||
		slices.Contains([]string{"CI", "NO_COLOR", "FORCE_COLOR", "TERM", "TZ", "LANG", "DEBUG", "NODE_ENV"}, name)
}
