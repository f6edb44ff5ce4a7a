package session_test

import (
	"bytes"
	"errors"
	"io"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/disk/memdisk"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/session"
)

// Open counts what is read.
func (d *watchedDir) Open(name string) (io.ReadCloser, error) {
	d.mu.Lock()
	if d.opened == nil {
		d.opened = map[string]int{}
	}
	d.opened[path.Ext(name)]++
	d.mu.Unlock()
	return d.Dir.Open(name)
}

// logsRead answers how many logs were read since the last question.
func (d *watchedDir) logsRead() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.opened[".jsonl"]
	d.opened = nil
	return n
}

func list(tb testing.TB, s *session.Store, project string) []session.Meta {
	tb.Helper()
	all, err := s.List(project)
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func TestAListNeedsNoLogWhoseSidecarIsCurrentAndReadsOneThatGrew(t *testing.T) {
	dir := &watchedDir{Dir: memdisk.New()}
	s := testStore(dir, strict(t))
	l := create(t, s)
	publish(t, l,
		said("  Fix the\nparser, please. "), ask("r1"), answer("r1", event.StopEndTurn),
		event.ModelChanged{From: "m1", To: "m3"}, event.SessionRenamed{Title: "parser"}, event.TaskCompleted{},
	)
	closeLog(t, l)
	dir.logsRead()
	before := list(t, s, "")
	if n := dir.logsRead(); n != 0 {
		t.Errorf("%d logs read although the sidecar is current", n)
	}
	m := before[0]
	if m.ID != l.ID() || m.Title != "parser" || m.Model != "m3" || m.FirstMessage != "Fix the parser, please." || m.GitBranch != "main" ||
		m.Project != "p1" || m.WorkingDirectory != "/project" || m.Outcome != session.OutcomeCompleted || m.Events != 7 || m.Problem != "" {
		t.Errorf("meta %+v", m)
	}
	if tokens, responses := m.Usage().Total(); responses != 1 || tokens.InputTokens != 10 || m.TokenUsage[0].Model != "m1" {
		t.Errorf("usage %+v", m.TokenUsage)
	}

	l = reopen(t, s, l.ID())
	publish(t, l, said("more"))
	dir.logsRead()
	if grown := list(t, s, "p1")[0]; grown.Events != 8 || grown.Outcome != session.OutcomeNone || dir.logsRead() != 1 {
		t.Errorf("the list of a log that grew: %+v", grown)
	}
	closeLog(t, l)
}

func TestASidecarThatIsLostOrBrokenIsMadeAnewTheSame(t *testing.T) {
	dir := memdisk.New()
	s := testStore(dir, strict(t))
	l := create(t, s)
	publish(t, l, said(strings.Repeat("Größe 🙂 ", 500)), ask("r1"), call("r1", "toolu_1"), answer("r1", event.StopToolUse), done("toolu_1"))
	closeLog(t, l)
	want := list(t, s, "")
	sidecar := "p1/" + l.ID() + ".meta.json"
	for name, content := range map[string]string{
		"lost":              "",
		"broken":            "{",
		"of another":        `{"id":"x"}`,
		"of a smaller file": `{"id":"` + l.ID() + `","project":"p1","logSize":3}`,
	} {
		write(t, dir, sidecar, []byte(content))
		if content == "" {
			if err := dir.Remove(sidecar); err != nil {
				t.Fatal(err)
			}
		}
		if got := list(t, s, ""); !reflect.DeepEqual(got, want) {
			t.Errorf("sidecar %s: %+v, want %+v", name, got, want)
		}
	}
}

func TestALargeLogWithoutSidecarIsReadOnceAndItsTornLineNotCounted(t *testing.T) {
	whole := sample(t, "whole.jsonl")
	result := bytes.SplitAfter(whole, []byte("\n"))[7]
	long := bytes.Replace(result, []byte("Größe"), bytes.Repeat([]byte("x"), 2<<20), 1)
	dir := &watchedDir{Dir: place(t, slices.Concat(bytes.Replace(whole, result, long, 1), result[:len(result)-5]))}
	s := testStore(dir, strict(t))
	first := list(t, s, "")
	dir.logsRead()
	if first[0].Events != 11 || !reflect.DeepEqual(list(t, s, ""), first) || dir.logsRead() != 0 {
		t.Errorf("listed %+v", first)
	}
}

func TestAListIsNewestFirstOverAllProjectsAndShowsWhatCannotBeRead(t *testing.T) {
	dir := memdisk.New()
	s := testStore(dir, strict(t))
	first := create(t, s)
	other := started()
	other.ProjectHash = "p2"
	second, err := s.Create(other)
	if err != nil {
		t.Fatal(err)
	}
	publish(t, first, said("touched last"))
	closeLog(t, second)
	closeLog(t, first)
	write(t, dir, "p2/BROKEN.jsonl", []byte("garbage\n"))
	var healthy, broken []string
	for _, m := range list(t, s, "") {
		if m.Problem == "" {
			healthy = append(healthy, m.ID)
		} else {
			broken = append(broken, m.ID)
		}
	}
	if !reflect.DeepEqual(healthy, []string{first.ID(), second.ID()}) || !reflect.DeepEqual(broken, []string{"BROKEN"}) {
		t.Errorf("listed %q and, broken, %q", healthy, broken)
	}
	if only := list(t, s, "p1"); len(only) != 1 {
		t.Errorf("project p1 lists %d", len(only))
	}
	if none := list(t, s, "p9"); len(none) != 0 {
		t.Errorf("an unknown project lists %d", len(none))
	}
}

func TestASessionIsFoundByWhatIsUniqueOfItsId(t *testing.T) {
	s := testStore(memdisk.New(), strict(t))
	a, b := create(t, s), create(t, s)
	closeLog(t, a)
	closeLog(t, b)
	for _, id := range []string{a.ID(), strings.ToLower(a.ID())} {
		if ref, err := s.Find(id); err != nil || ref.ID != a.ID() || ref.Project != "p1" {
			t.Errorf("find %s: %+v, %v", id, ref, err)
		}
	}
	common := 0
	for a.ID()[common] == b.ID()[common] {
		common++
	}
	if ref, err := s.Find(a.ID()[:common+1]); err != nil || ref.ID != a.ID() {
		t.Errorf("find by a unique beginning: %+v, %v", ref, err)
	}
	var several *session.AmbiguousError
	if _, err := s.Find(a.ID()[:common]); !errors.As(err, &several) || len(several.IDs) != 2 {
		t.Errorf("find by a common beginning: %v", err)
	}
	var none *session.NotFoundError
	for _, id := range []string{"", "zzz", "../p1/" + a.ID(), a.ID() + "X"} {
		if _, err := s.Find(id); !errors.As(err, &none) {
			t.Errorf("find %q: %v", id, err)
		}
	}
}

func TestARemovedSessionIsGoneWithAllThatBelongsToIt(t *testing.T) {
	dir := memdisk.New()
	s := testStore(dir, strict(t))
	l, other := create(t, s), create(t, s)
	if _, err := l.PutBlob([]byte("x")); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	closeLog(t, other)
	if err := s.Remove(l.ID()); err != nil {
		t.Fatal(err)
	}
	left, err := dir.List("p1")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if !strings.Contains(e.Name, other.ID()) {
			t.Errorf("%s is left", e.Name)
		}
	}
	closeLog(t, reopen(t, s, other.ID()))
}
