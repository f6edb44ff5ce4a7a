package verify

import "slices"

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
	return slices.ContainsFunc(checks, func(check []string) bool {
		return len(words) >= len(check) && slices.Equal(words[:len(check)], check)
	}) && !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(helpful, w) })
}

// idle are commands that may follow a check: they leave files as they are.
var idle = [][]string{
	{"echo"}, {"printf"}, {"true"}, {":"}, {"cd"}, {"pwd"}, {"date"}, {"ls"}, {"git", "status"}, {"git", "diff"}, {"git", "log"},
}

func changesNothing(words []string) bool {
	return slices.ContainsFunc(idle, func(first []string) bool {
		return len(words) >= len(first) && slices.Equal(words[:len(first)], first)
	})
}
