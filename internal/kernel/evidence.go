package kernel

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// Gate looks at what the present work changed and which checks ran after it.
type Gate struct {
	Changes fold.Changes
	Runs    fold.Runs
	Judge
}

// Judge knows commands. Both functions must be set.
type Judge struct {
	// IsCheck says whether a command is a check of the project, wholly.
	IsCheck func(fold.Run) bool
	// ChangesNothing says whether a command only looks.
	ChangesNothing func(fold.Run) bool
}

// last are the newest facts that something may have changed by: files that are
// code, calls that a crash cut off, and commands that nobody could watch. Zero
// is never.
type last struct{ code, crash, blind int64 }

func (l last) any() int64 { return max(l.code, l.crash, l.blind) }

func (g Gate) last() last {
	var l last
	for _, f := range g.Changes.Since(g.Runs.Since) {
		if !documentation(f.Path) {
			l.code = max(l.code, f.LastSeq)
		}
	}
	for _, u := range g.Runs.Unseen() {
		switch {
		case !u.Crash:
			l.blind = max(l.blind, u.Seq)
		case !documented(u):
			l.crash = max(l.crash, u.Seq)
		}
	}
	for _, run := range g.Runs.Done() {
		if g.Runs.Blind && !g.IsCheck(run) && !g.ChangesNothing(run) {
			l.blind = max(l.blind, run.Seq)
		}
	}
	return l
}

// documented says that the call was about one file, of documentation.
func documented(u fold.Unseen) bool {
	var input struct {
		Path string `json:"path"`
	}
	return json.Unmarshal(u.Input, &input) == nil && documentation(input.Path)
}

// checks are the checks that ran after a fact.
func (g Gate) checks(after int64) []fold.Run {
	var found []fold.Run
	for _, run := range g.Runs.Done() {
		if run.Seq > after && g.IsCheck(run) {
			found = append(found, run)
		}
	}
	return found
}

// unverified says that something was changed and no check has passed since, or
// that the newest run of one failed.
func (g Gate) unverified() bool { return len(g.problems()) > 0 }

// Exit codes of a shell that could not run the program (POSIX, Shell Command
// Language, 2.8.2): such a check says nothing about the project.
const (
	notExecutable = 126
	notFound      = 127
)

func wasRun(check fold.Run) bool {
	return check.ExitCode != notExecutable && check.ExitCode != notFound
}

// problems are what speaks against the work, nothing when nothing was changed.
func (g Gate) problems() []string {
	last := g.last()
	if last.any() == 0 {
		return nil
	}
	type check struct{ command, cwd string }
	newest := map[check]int{}
	var order []check
	for _, run := range g.checks(last.any()) {
		if c := (check{run.Command, run.Cwd}); wasRun(run) {
			newest[c] = run.ExitCode
			order = append(order, c)
		}
	}
	for _, c := range order {
		if newest[c] != 0 {
			return []string{"the check `" + event.Clip(c.command, shownCommand) + "` failed after the last change"}
		}
	}
	if len(newest) > 0 {
		return nil
	}
	return g.unchecked(last)
}

// unchecked says what has happened since the newest check of all.
func (g Gate) unchecked(l last) (problems []string) {
	checked := int64(0)
	for _, run := range g.checks(0) {
		if wasRun(run) {
			checked = run.Seq
		}
	}
	if l.code > checked {
		problems = append(problems, "code was changed and no check of the project ran after the last change")
	}
	if l.crash > checked {
		problems = append(problems, "a call was cut off by a crash, what it changed is not known, and no check of the project ran after it")
	}
	if l.blind > checked {
		problems = append(problems, "the tree is too large to see what commands changed, and no check of the project ran after them")
	}
	return problems
}

// Bounds of what the evidence holds: names of a list, characters of a text.
const (
	mostFiles      = 1000
	shownObjective = 2000
	shownCommand   = 400
)

// Evidence is what the task can show, from recorded facts alone.
func Evidence(s fold.Session, j Judge) event.CompletionEvidence {
	g := Gate{Changes: s.Changes, Runs: s.Runs, Judge: j}
	e := event.CompletionEvidence{
		Objective: event.Clip(s.State.Task.Objective, shownObjective), UnresolvedIssues: g.problems(),
	}
	for _, f := range s.Changes.Since(s.Runs.Since) {
		e.ChangedFiles = append(e.ChangedFiles, f.Path)
	}
	if more := len(e.ChangedFiles) - mostFiles; more > 0 {
		e.ChangedFiles = append(e.ChangedFiles[:mostFiles], fmt.Sprintf("… and %d more", more))
	}
	for _, run := range g.checks(g.last().any()) {
		e.Checks = append(e.Checks, event.CheckResult{
			Command: event.Clip(run.Command, shownCommand), ExitCode: run.ExitCode, Summary: lastLine(run.Output), DurationMS: run.DurationMS,
		})
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
	return event.Clip(line, 120)
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
