package engine_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/tool"
)

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// repository makes the folder one with a commit, a dirty and an untracked file.
func (w *world) repository() {
	w.Helper()
	w.file("kept.txt", "one\n")
	w.file("dirty.txt", "one\n")
	git(w.T, w.dir, "init", "-q", "-b", "main")
	git(w.T, w.dir, "add", ".")
	git(w.T, w.dir, "commit", "-q", "-m", "first")
	w.file("dirty.txt", "one\ntwo\n")
	w.file("new.txt", "new\n")
	w.resume() // an engine looks for the repository when it starts
}

func TestTheBaselineIsRecordedAtTheStartAndBeforeTheFirstEdit(t *testing.T) {
	w := newWorld(t, script(
		turn(bash("t1", "echo three >> dirty.txt; echo ours > ours.txt")), turn(bash("t2", "echo four >> dirty.txt")),
		turn(fakeapi.Text("Done.")), turn(fakeapi.Text("Nothing more."))))
	w.repository()
	w.say("begin")
	w.say("again")
	w.completed()
	got := facts[event.BaselineRecorded](w)
	if len(got) != 2 || got[0].When != event.AtSessionStart || got[1].When != event.BeforeEdit {
		t.Fatalf("baselines %+v", got)
	}
	for _, b := range got {
		if b.Baseline.Branch != "main" || !slices.Equal(b.Baseline.DirtyFiles, []string{"dirty.txt"}) ||
			!slices.Equal(b.Baseline.UntrackedFiles, []string{"new.txt"}) || b.Baseline.DiffHash == "" {
			t.Errorf("%s: %+v", b.When, b.Baseline)
		}
	}
	if got[0].Baseline.DiffHash != got[1].Baseline.DiffHash {
		t.Error("the first edit is part of the baseline")
	}
	edit := slices.IndexFunc(w.records(), func(r event.Record) bool { return is[event.ToolStarted](r.Fact) })
	for _, r := range w.records()[edit:] {
		if is[event.BaselineRecorded](r.Fact) {
			t.Error("a baseline was recorded after the first edit began")
		}
	}
}

func TestASessionThatOnlyReadsHasTheBaselineOfItsStart(t *testing.T) {
	w := newWorld(t, script(turn(call("t1", "read", `{"path":"kept.txt"}`)), turn(fakeapi.Text("Done."))))
	w.repository()
	w.say("begin")
	w.completed()
	if got := only[event.BaselineRecorded](w); got.When != event.AtSessionStart {
		t.Errorf("recorded %+v", got)
	}
	w.resume()
	only[event.BaselineRecorded](w)
}

// changed are the files that the log attributes to us.
func changed(w *world) string {
	w.Helper()
	var list []string
	for _, m := range facts[event.FileModified](w) {
		list = append(list, m.ToolUseID+" "+string(m.Operation)+" "+m.Path)
	}
	return strings.Join(list, ", ")
}

func TestFilesThatACommandChangedAreRecordedWithItsCall(t *testing.T) {
	w := newWorld(t, script(
		turn(bash("t1", "echo two >> kept.txt; rm dirty.txt; mkdir sub; echo x > sub/made.txt; false")),
		turn(call("t2", "write", `{"path":"own.txt","content":"x\n"}`), bash("t3", "echo nothing")),
		turn(fakeapi.Text("Done."))))
	w.repository()
	w.say("begin")
	w.completed()
	if got := changed(w); got != "t1 exec dirty.txt, t1 exec kept.txt, t1 exec sub/made.txt, t2 write own.txt" {
		t.Errorf("changed: %s", got)
	}
	for _, m := range facts[event.FileModified](w) {
		if m.Path == "kept.txt" && (m.DiffStats.Added != 1 || !strings.Contains(m.Diff, "+two") || m.BeforeSHA256 == "" || m.AfterSHA256 == "") {
			t.Errorf("kept.txt: %+v", m)
		}
	}
	evidence := only[event.TaskCompleted](w).Evidence
	if got := strings.Join(evidence.ChangedFiles, " "); got != "dirty.txt kept.txt sub/made.txt own.txt" {
		t.Errorf("the evidence names %s", got)
	}
	order := slices.IndexFunc(w.records(), func(r event.Record) bool { return is[event.FileModified](r.Fact) })
	if done := slices.IndexFunc(w.records(), func(r event.Record) bool { return is[event.ToolCompleted](r.Fact) }); done < order {
		t.Error("the result is logged before the files it changed")
	}
}

func TestWhatTheUserEditsBetweenCallsIsNotOurs(t *testing.T) {
	var w *world
	w = newWorld(t, script(
		turn(bash("t1", "echo x > a.txt"), call("t2", "user", `{}`), bash("t3", "echo y > b.txt")),
		turn(call("t4", "user", `{}`), call("t5", "process", `{"action":"list"}`)),
		turn(fakeapi.Text("Done."))),
		own("user", func(context.Context, *tool.Env, map[string]any) (tool.Result, error) {
			w.file("users.txt", strings.Repeat("x", len(w.records())))
			return tool.Result{}, nil
		}))
	w.repository()
	w.say("begin")
	w.completed()
	if got := changed(w); got != "t1 exec a.txt, t3 exec b.txt" {
		t.Errorf("changed: %s", got)
	}
}

func TestWhatACancelledCommandChangedIsRecordedToo(t *testing.T) {
	w := newWorld(t, script(turn(bash("t1", "echo x > a.txt; echo ready; sleep 300"))))
	output := noticed[event.ToolOutput](w)
	w.do(submit("begin"))
	await(w, "the command", output)
	w.do(interrupt)
	w.rest()
	if got := changed(w); got != "t1 exec a.txt" {
		t.Errorf("changed: %s", got)
	}
}

func TestAFileThatSomebodyElseChangedIsToldOnceBeforeTheNextMessage(t *testing.T) {
	w := newWorld(t, script(
		turn(call("t1", "read", `{"path":"a.txt"}`)), turn(fakeapi.Text("Read.")),
		turn(fakeapi.Text("Two.")), turn(fakeapi.Text("Three.")), turn(fakeapi.Text("Four.")), turn(fakeapi.Text("Five."))))
	w.file("a.txt", "one\n")
	notes := func(text string) (changed []string) {
		w.say(text)
		for _, n := range facts[event.ContextNoted](w) {
			if strings.HasPrefix(n.Text, "<changed>") {
				changed = append(changed, n.Text)
			}
		}
		return changed
	}
	if got := notes("read it"); len(got) != 0 {
		t.Errorf("told %q, and nothing changed", got)
	}
	w.file("a.txt", "two\n")
	if got := notes("and now?"); len(got) != 1 || !strings.Contains(got[0], "a.txt") {
		t.Errorf("told %q", got)
	}
	w.resume()
	if got := notes("again"); len(got) != 1 {
		t.Errorf("the same content was told again: %q", got)
	}
	w.file("a.txt", "three\n")
	if got := notes("once more"); len(got) != 2 {
		t.Errorf("another content was not told: %q", got)
	}
	if err := os.Remove(filepath.Join(w.dir, "a.txt")); err != nil {
		t.Fatal(err)
	}
	if got := notes("gone"); len(got) != 3 || !strings.Contains(got[2], "is gone") {
		t.Errorf("told %q", got)
	}
}

func TestWhereNobodySeesWhatCommandsChangeTheEvidenceSaysSo(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 20,000 files")
	}
	w := newWorld(t, script(
		turn(bash("t1", "ls > /dev/null")), turn(fakeapi.Text("Looked.")),
		turn(bash("t2", "touch 1")), turn(bash("t3", "touch 2")), turn(fakeapi.Text("Done."))))
	for i := range 20_001 {
		w.file(fmt.Sprintf("%d", i), "")
	}
	w.say("look")
	if e := only[event.TaskCompleted](w).Evidence; len(e.UnresolvedIssues) != 0 {
		t.Errorf("issues of a look: %q", e.UnresolvedIssues)
	}
	w.say("change")
	if e := facts[event.TaskCompleted](w)[1].Evidence; len(e.UnresolvedIssues) != 1 || !strings.HasPrefix(e.UnresolvedIssues[0], "the tree is too large to see what commands changed") {
		t.Errorf("issues %q", e.UnresolvedIssues)
	}
	notes := 0
	for _, n := range facts[event.ContextNoted](w) {
		if n.Text == fold.BlindNote {
			notes++
		}
	}
	if notes != 1 {
		t.Errorf("the model is told %d times", notes)
	}
}

// A process that has ended changed what nobody looked at: it is recorded before
// the task ends, so that the evidence counts it.
func TestWhatABackgroundProcessChangedIsRecordedWhenItHasEnded(t *testing.T) {
	var w *world
	w = newWorld(t, script(
		turn(call("t1", "process", `{"action":"start","command":"while [ ! -e go ]; do sleep 0.02; done; echo x > late.txt"}`)),
		turn(call("t2", "user", `{}`)),
		turn(fakeapi.Text("Done."))),
		own("user", func(context.Context, *tool.Env, map[string]any) (tool.Result, error) {
			ended := heard[event.ProcessExited](w)
			w.file("go", "")
			await(w, "the end of the process", ended)
			return tool.Result{}, nil
		}))
	w.repository()
	w.say("begin")
	w.completed()
	if got := changed(w); got != " exec go,  exec late.txt" {
		t.Errorf("changed: %q", got)
	}
	if got := only[event.TaskCompleted](w).Evidence.ChangedFiles; !slices.Equal(got, []string{"go", "late.txt"}) {
		t.Errorf("the evidence names %v", got)
	}
}
