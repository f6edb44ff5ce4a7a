package repo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/workspace"
)

// quiet are the settings under which git runs no program of the repository's.
// A protocol could run one when an object that is missing here were fetched.
var quiet = []string{
	"--no-optional-locks", "--no-pager",
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "diff.external=",
	"-c", "core.pager=cat", "-c", "core.sshCommand=false", "-c", "submodule.recurse=false",
	"-c", "protocol.allow=never", "-c", "protocol.file.allow=never", "-c", "protocol.ext.allow=never",
	"-c", "protocol.ssh.allow=never", "-c", "protocol.git.allow=never", "-c", "protocol.http.allow=never", "-c", "protocol.https.allow=never",
}

// maxOutput bounds what is read of git's answers, in bytes.
const maxOutput = 64 << 20

// maxTime bounds how long git is waited for: 30 times what the status of
// 200,000 files takes. Git reads whatever is named .gitignore, and a pipe of
// that name gives it nothing, for ever.
const maxTime = 10 * time.Second

// errGit reports that git is missing or did not answer.
var errGit = errors.New("git failed")

// git asks git something in the working tree.
func (r *Repo) git(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	off, err := r.withoutFilters(ctx)
	if err != nil {
		return nil, err
	}
	argv := append(append([]string{"git"}, quiet...), off...)
	result, err := r.run(ctx, stdin, append(argv, args...))
	if err != nil {
		return nil, err
	}
	if result.ExitCode != 0 {
		return result.Output.Bytes(), fmt.Errorf("%w: git %s: exit %d: %s", errGit, args[0], result.ExitCode, strings.TrimSpace(result.Stderr.String()))
	}
	return result.Output.Bytes(), nil
}

// run waits for git as long as maxTime says, and once in vain: what it waited
// for is likely to be there the next time, too.
func (r *Repo) run(ctx context.Context, stdin []byte, argv []string) (workspace.Result, error) {
	if r.silent.Load() {
		return workspace.Result{}, fmt.Errorf("%w: it did not answer before", errGit)
	}
	result, err := r.ws.Exec(ctx, workspace.Command{
		Argv: argv, Cwd: r.root, Stdin: stdin, MaxOutput: maxOutput, Timeout: r.patience,
	})
	if err != nil {
		return workspace.Result{}, fmt.Errorf("%w: %w", errGit, err)
	}
	if result.TimedOut {
		r.silent.Store(true)
		return workspace.Result{}, fmt.Errorf("%w: no answer within %s", errGit, r.patience)
	}
	return result, nil
}

// withoutFilters switches off the clean and smudge programs that the
// repository's own configuration names. Those of the user's stay.
func (r *Repo) withoutFilters(ctx context.Context) (off []string, err error) {
	config := strings.ToLower(r.read(path.Join(r.commonDir, "config")) + r.read(path.Join(r.gitDir, "config.worktree")))
	if !strings.Contains(config, "filter") && !strings.Contains(config, "include") {
		return nil, nil
	}
	for _, scope := range []string{"--local", "--worktree"} {
		result, err := r.run(ctx, nil, append(append([]string{"git"}, quiet...), "config", scope, "--includes", "--name-only", "-z", "--get-regexp", `^filter\..*`))
		if err != nil {
			return nil, err
		}
		for key := range strings.SplitSeq(result.Output.String(), "\x00") {
			switch {
			case strings.Contains(key, "="): // git would take the first = for the end of the key
				return nil, fmt.Errorf("%w: %s cannot be switched off", errGit, key)
			case strings.HasSuffix(key, ".required"):
				off = append(off, "-c", key+"=false")
			case key != "":
				off = append(off, "-c", key+"=")
			}
		}
	}
	return off, nil
}

// mostNames bounds each list of a baseline; its hash covers all files.
const mostNames = 1000

// Baseline is what is changed in the repository now. Without a repository, or
// without a git that answers, there is none.
func (r *Repo) Baseline(ctx context.Context) (event.GitBaseline, bool) {
	st, err := r.status(ctx, "--untracked-files=normal")
	if err != nil {
		return event.GitBaseline{}, false
	}
	head := r.Head()
	b := event.GitBaseline{Branch: event.Text(head.Branch), DirtyFiles: named(st.dirty), UntrackedFiles: named(st.untracked)}
	diff := []byte{}
	if len(st.dirty) > 0 {
		// A repository without a commit has no HEAD to compare with; its
		// baseline is then the status alone.
		diff, _ = r.git(ctx, nil, "diff", "--no-ext-diff", "--no-textconv", "--no-color",
			"--submodule=short", "--ignore-submodules=dirty", "HEAD")
		if r.silent.Load() {
			return event.GitBaseline{}, false
		}
	}
	sum := sha256.Sum256(diff)
	b.DiffHash = hex.EncodeToString(sum[:])
	return b, true
}

func named(names []string) (list event.List[string]) {
	for i, name := range names {
		if i == mostNames {
			return append(list, fmt.Sprintf("%s%d more", andMore, len(names)-i))
		}
		list = append(list, event.Text(name))
	}
	return list
}

// andMore begins the last entry of a list that was cut.
const andMore = "… and "

// status is what is not as in the last commit: names relative to the root, as
// git has them.
type status struct{ dirty, untracked []string }

// status reads `git status --porcelain=v1 -z` (git-status(1)): two letters, a
// blank, a path; a rename is followed by the path it came from.
func (r *Repo) status(ctx context.Context, how ...string) (status, error) {
	if r.root == "" {
		return status{}, errGit
	}
	args := append([]string{"status", "--porcelain=v1", "-z", "--ignore-submodules=dirty"}, how...)
	out, err := r.git(ctx, nil, args...)
	if err != nil {
		return status{}, err
	}
	var s status
	fields := strings.Split(string(out), "\x00")
	for i := 0; i < len(fields); i++ {
		f := fields[i]
		switch {
		case len(f) < 4:
		case f[:2] == "??":
			s.untracked = append(s.untracked, f[3:])
		default:
			s.dirty = append(s.dirty, f[3:])
			if strings.ContainsAny(f[:2], "RC") {
				i++
			}
		}
	}
	return s, nil
}

// ignored says which of the paths, relative to the root, git leaves out.
func (r *Repo) ignored(ctx context.Context, paths []string) map[string]bool {
	ignored := map[string]bool{}
	if r.root == "" || len(paths) == 0 {
		return ignored
	}
	// Exit code 1 says that none is ignored.
	out, _ := r.git(ctx, []byte(strings.Join(paths, "\x00")), "check-ignore", "-z", "--stdin")
	for p := range strings.SplitSeq(string(out), "\x00") {
		ignored[p] = true
	}
	return ignored
}

// committed is a file's content in a commit.
func (r *Repo) committed(ctx context.Context, commit, name string) ([]byte, bool) {
	data, err := r.git(ctx, nil, "cat-file", "blob", commit+":"+name)
	return data, err == nil
}

// hashSize is how many bytes the name of a commit has at least, that of SHA-1.
const hashSize = 20

// commit is the hash of the last commit, "" without one. It is in a file that
// is quickly read, unless git has packed it.
func (r *Repo) commit(ctx context.Context) string {
	if r.root == "" {
		return ""
	}
	head := r.read(path.Join(r.gitDir, "HEAD"))
	ref, onBranch := strings.CutPrefix(head, "ref: ")
	if onBranch {
		head = r.read(path.Join(r.commonDir, ref))
	}
	if raw, err := hex.DecodeString(head); err == nil && len(raw) >= hashSize {
		return head
	}
	out, err := r.git(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// between are the files that differ between two commits.
func (r *Repo) between(ctx context.Context, old, now string) ([]string, error) {
	out, err := r.git(ctx, nil, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=all", old, now)
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 }), nil
}
