package permission

import (
	"slices"
	"strings"
)

// git returns the subcommand and what follows it.
func (s scene) git() (sub string, rest []string) {
	if s.name != "git" {
		return "", nil
	}
	words := dropGlobalOptions(s.words)
	if len(words) < 2 {
		return "", nil
	}
	return words[1], words[2:]
}

func hasWord(words []string, wanted ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		return slices.Contains(wanted, name)
	})
}

// hasFlag finds a short option also inside a bundle.
func hasFlag(words []string, letter string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, letter)
	})
}

func forced(rest []string) bool {
	return hasFlag(rest, "f") || hasWord(rest, "--force", "--force-with-lease", "--force-if-includes")
}

// pushedRefs are the refspecs of a push: what follows the remote.
func pushedRefs(rest []string) []string {
	var operands []string
	for i := 0; i < len(rest); i++ {
		switch w := rest[i]; {
		case w == "-o" || w == "--push-option" || w == "--receive-pack" || w == "--exec" || w == "--repo":
			i++
		case !strings.HasPrefix(w, "-"):
			operands = append(operands, w)
		}
	}
	if len(operands) < 2 {
		return nil
	}
	return operands[1:]
}

func protectedPush(s scene) bool {
	sub, rest := s.git()
	if sub != "push" {
		return false
	}
	if hasWord(rest, "--mirror", "--prune") || (forced(rest) && hasWord(rest, "--all", "--branches")) {
		return true
	}
	deletes := hasFlag(rest, "d") || hasWord(rest, "--delete")
	for _, ref := range pushedRefs(rest) {
		plus := strings.HasPrefix(ref, "+")
		from, to, split := strings.Cut(strings.TrimPrefix(ref, "+"), ":")
		if !split {
			to = from
		}
		if (plus || forced(rest) || deletes || (split && from == "")) && s.f.protected(to) {
			return true
		}
	}
	return false
}

func (f *fold) protected(branch string) bool {
	branch = strings.TrimPrefix(strings.TrimPrefix(branch, "refs/"), "heads/")
	return slices.ContainsFunc(f.opt.ProtectedBranches, func(pattern string) bool {
		return globMatch(pattern, branch) || globMatch(branch, pattern)
	})
}

// blindForcePush: which branch it hits depends on what is checked out.
func blindForcePush(s scene) bool {
	sub, rest := s.git()
	if sub != "push" || !forced(rest) {
		return false
	}
	refs := pushedRefs(rest)
	return len(refs) == 0 || slices.Contains(refs, "HEAD") || slices.Contains(refs, "@")
}

func rewritesHistory(s scene) bool {
	if s.name == "rm" || s.name == "mv" || s.name == "find" {
		return removesRepository(s)
	}
	switch sub, rest := s.git(); sub {
	case "filter-branch", "filter-repo":
		return true
	case "reflog":
		return hasWord(rest, "expire", "delete")
	case "gc", "prune":
		return hasWord(rest, "--prune", "--expire") && (hasWord(rest, "now", "all") || slices.ContainsFunc(rest, func(w string) bool {
			return strings.HasSuffix(w, "=now") || strings.HasSuffix(w, "=all")
		}))
	case "update-ref":
		return hasFlag(rest, "d") || hasWord(rest, "--stdin")
	}
	return false
}

func removesRepository(s scene) bool {
	return slices.ContainsFunc(operandTexts(s.words), func(w string) bool {
		parts := elements(resolve(s.u.dir, w))
		last := parts[len(parts)-1]
		inside := len(parts) > 1 && parts[len(parts)-2] == ".git" && wordSet("objects refs logs * head packed-refs")[last]
		if s.name == "find" && !slices.Contains(s.words, "-delete") {
			return false
		}
		return last == ".git" || inside
	})
}

func discardsWork(s scene) bool {
	switch sub, rest := s.git(); sub {
	case "reset":
		return hasWord(rest, "--hard", "--merge", "--keep")
	case "checkout":
		return hasWord(rest, "--", "--force", ".", "--ours", "--theirs", "--pathspec-from-file") || hasFlag(rest, "f") || len(operandTexts(append([]string{"x"}, rest...))) > 1
	case "switch":
		return hasWord(rest, "--force", "--discard-changes") || hasFlag(rest, "f")
	case "restore":
		return !hasWord(rest, "--staged", "-S") || hasWord(rest, "--worktree", "-W")
	case "clean":
		return !hasFlag(rest, "n") && !hasWord(rest, "--dry-run")
	case "stash":
		return hasWord(rest, "drop", "clear")
	case "branch":
		return hasFlag(rest, "D") || hasFlag(rest, "f") || (hasWord(rest, "--delete") && hasWord(rest, "--force"))
	case "worktree":
		return hasWord(rest, "remove") && forced(rest)
	case "rm":
		return forced(rest)
	}
	return false
}

// programKeys are prefixes of configuration keys that name programs, or files
// that do.
var programKeys = strings.Fields("alias. core.hookspath core.pager core.editor core.fsmonitor core.sshcommand core.askpass core.gitproxy " +
	"core.attributesfile core.alternaterefscommand filter. diff. difftool. merge. mergetool. credential. gpg. sequence.editor pager. " +
	"interactive. include. includeif. uploadpack. receive. protocol. url. init.templatedir remote. http. ssh. browser. man. web. trailer. gc. submodule. sendemail. core.worktree")

// setsProgramKey: git config that writes such a key, or edits the whole file.
func setsProgramKey(words []string) bool {
	if len(words) < 3 || words[1] != "config" {
		return false
	}
	if readOnlyGit["config"][words[2]] {
		return false
	}
	if hasWord(words, "--edit", "-e", "edit") {
		return true
	}
	return slices.ContainsFunc(words[2:], func(w string) bool {
		w = strings.ToLower(w)
		return slices.ContainsFunc(programKeys, func(key string) bool { return strings.HasPrefix(w, key) })
	})
}
