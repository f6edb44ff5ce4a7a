package builtin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/khaelor/khaelor/internal/ignore"
	"github.com/khaelor/khaelor/internal/workspace"
)

// countedFile is a file that ripgrep found, below the folder it searched.
type countedFile struct {
	rel   string
	lines int
}

// ripgrepOutput bounds what is read of it, in bytes: some hundred thousand
// files with a match.
const ripgrepOutput = 64 << 20

// ripgrep lets ripgrep find the files of a large tree, and counts their
// matching lines. It is told to follow the same rules as walk: what its own
// configuration and the user's global ignore file say is left aside. What
// stands in .khaelorignore it does not know; that is applied here.
func ripgrep(ctx context.Context, ws workspace.Workspace, program, root string, p *pattern, filter *globFilter) ([]countedFile, error) {
	argv := []string{
		program, "--no-config", "--no-messages", "--color=never", "--crlf", "--count", "--null", "--no-heading",
		"--no-ignore-dot", "--no-ignore-global", "--no-require-git",
	}
	above := rulesAbove(ws, root)
	if len(above.Git) == 0 {
		argv = append(argv, "--no-ignore-parent")
	}
	argv = append(argv, "-e", p.source, "--", ".")
	run, err := ws.Exec(ctx, workspace.Command{Argv: argv, Cwd: root, MaxOutput: ripgrepOutput})
	if err != nil {
		return nil, err
	}
	if run.ExitCode > 1 && run.Stderr.Total > 0 || run.Output.Omitted() > 0 {
		return nil, errors.New("ripgrep: " + run.Stderr.String())
	}
	own := &ownRules{ws: ws, root: root, above: ignore.Rules{Own: above.Own}, known: map[string]ignore.Rules{}}
	var files []countedFile
	for rest := run.Output.Bytes(); len(rest) > 0; {
		var name, n []byte
		name, rest, _ = bytes.Cut(rest, []byte{0})
		n, rest, _ = bytes.Cut(rest, []byte("\n"))
		lines, err := strconv.Atoi(strings.TrimSuffix(string(n), "\r")) // --crlf is for its own lines, too
		rel := strings.TrimPrefix(string(name), "./")
		if err == nil && filter.fits(rel) && !own.ignored(rel) {
			files = append(files, countedFile{rel, lines})
		}
	}
	slices.SortFunc(files, func(a, b countedFile) int { return comparePaths(a.rel, b.rel) })
	return files, nil
}

// comparePaths is the order of a walk: by the names on the way.
func comparePaths(a, b string) int {
	return cmp.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
}

// ownRules applies the .khaelorignore files to single paths below a root.
type ownRules struct {
	ws    workspace.Workspace
	root  string
	above ignore.Rules
	known map[string]ignore.Rules // by folder below root: the rules in it
}

func (o *ownRules) ignored(rel string) bool {
	for i := range len(rel) {
		if rel[i] == '/' && o.in(path.Dir(rel[:i])).Ignored(filepath.Dir(filepath.Join(o.root, rel[:i])), path.Base(rel[:i]), true) {
			return true
		}
	}
	return o.in(path.Dir(rel)).Ignored(filepath.Dir(filepath.Join(o.root, rel)), path.Base(rel), false)
}

func (o *ownRules) in(dir string) ignore.Rules {
	rules, ok := o.known[dir]
	if ok {
		return rules
	}
	rules = o.above
	if dir != "." {
		rules = o.in(path.Dir(dir))
	}
	rules = with(o.ws, rules, filepath.Join(o.root, dir), ownIgnore, true)
	o.known[dir] = rules
	return rules
}
