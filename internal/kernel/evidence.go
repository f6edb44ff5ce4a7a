package kernel

import (
	"path"
	"slices"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// Gate looks at what a task changed and which checks ran after it.
type Gate struct {
	Changes fold.Changes
	Runs    fold.Runs
	IsCheck func(command string) bool
}

// checks are the checks that ran after the last change of code in the task.
func (g Gate) checks(since int64) []fold.Run {
	last := int64(0)
	for _, f := range g.Changes.Since(since) {
		if !documentation(f.Path) {
			last = max(last, f.LastSeq)
		}
	}
	var found []fold.Run
	for _, run := range g.Runs.Done() {
		if run.Seq > last && g.IsCheck(run.Command) {
			found = append(found, run)
		}
	}
	return found
}

func (g Gate) changedCode(since int64) bool {
	for _, f := range g.Changes.Since(since) {
		if !documentation(f.Path) {
			return true
		}
	}
	return false
}

// unverified says that code changed and no check has passed since, or that
// the newest run of one failed.
func (g Gate) unverified(since int64) bool {
	return g.changedCode(since) && g.problem(since) != ""
}

// Exit codes of a shell that could not run the program (POSIX, Shell Command
// Language, 2.8.2): such a check says nothing about the project.
const (
	notExecutable = 126
	notFound      = 127
)

func (g Gate) problem(since int64) string {
	newest := map[string]int{}
	for _, run := range g.checks(since) {
		if run.ExitCode != notExecutable && run.ExitCode != notFound {
			newest[run.Command] = run.ExitCode
		}
	}
	for _, run := range g.checks(since) {
		if newest[run.Command] != 0 {
			return "the check `" + run.Command + "` failed after the last change"
		}
	}
	if len(newest) == 0 {
		return "code was changed and no check of the project ran after the last change"
	}
	return ""
}

// Evidence is what the task can show, from recorded facts alone.
func Evidence(s fold.Session, isCheck func(string) bool) event.CompletionEvidence {
	g := Gate{Changes: s.Changes, Runs: s.Runs, IsCheck: isCheck}
	e := event.CompletionEvidence{Objective: s.State.Task.Objective}
	for _, f := range s.Changes.Since(s.State.Task.Seq) {
		e.ChangedFiles = append(e.ChangedFiles, f.Path)
	}
	for _, run := range g.checks(s.State.Task.Seq) {
		e.Checks = append(e.Checks, event.CheckResult{
			Command: run.Command, ExitCode: run.ExitCode, Summary: lastLine(run.Output), DurationMS: run.DurationMS,
		})
	}
	if g.unverified(s.State.Task.Seq) {
		e.UnresolvedIssues = append(e.UnresolvedIssues, g.problem(s.State.Task.Seq))
	}
	return e
}

// lastLine is what a check said last, cut to a line of a screen. Notes of the
// tool itself stand in brackets.
func lastLine(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	for i := len(lines) - 1; i > 0 && strings.HasPrefix(line, "["); i-- {
		line = strings.TrimSpace(lines[i-1])
	}
	if r := []rune(line); len(r) > 120 {
		line = string(r[:120]) + "…"
	}
	return line
}

// documentation says that no check could tell whether a change of the file is
// right.
func documentation(name string) bool {
	base, ext := strings.ToLower(path.Base(name)), strings.ToLower(path.Ext(name))
	switch ext {
	case ".md", ".markdown", ".rst", ".adoc", ".org":
		return true
	case ".txt": // but not what tools are told in a text file
		return base != "cmakelists.txt" && !strings.HasPrefix(base, "requirements") && !strings.HasPrefix(base, "constraints")
	case "":
		return strings.HasPrefix(base, "license") || slices.Contains([]string{"copying", "changelog", "authors", "notice", "readme"}, base)
	}
	return false
}
