package session_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/disk"
	"github.com/khaelor/khaelor/internal/disk/memdisk"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/session"
)

const sampleID = "01J0000000000000000000SESS"

func sample(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

const sampleLog = "p1/" + sampleID + ".jsonl"

// place puts a log of that content into a new folder.
func place(tb testing.TB, content []byte) *memdisk.Dir {
	tb.Helper()
	dir := memdisk.New()
	write(tb, dir, sampleLog, content)
	return dir
}

func write(tb testing.TB, dir disk.Dir, name string, content []byte) {
	tb.Helper()
	if err := dir.WriteFile(name, content); err != nil {
		tb.Fatal(err)
	}
}

// read is a file's content, nil when it is missing.
func read(tb testing.TB, dir disk.Dir, name string) []byte {
	tb.Helper()
	f, err := dir.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		tb.Fatal(err)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func TestALogTornAtAnyByteOfItsLastLineOpensAndGoesOnWithWholeLines(t *testing.T) {
	whole := sample(t, "whole.jsonl")
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for size := last; size <= len(whole); size++ {
		dir := place(t, whole[:size])
		var reports int
		s := testStore(dir, func(error) { reports++ })
		l := reopen(t, s, sampleID)
		torn := size - last
		if size == len(whole) {
			torn = 0
		}
		if l.Recovered().TornBytes != torn || (reports > 0) != (torn > 0) {
			t.Fatalf("cut at %d: recovered %+v, %d reports", size, l.Recovered(), reports)
		}
		publish(t, l, said("go on"))
		closeLog(t, l)
		sound(t, s, sampleID)
		if kept := read(t, dir, sampleLog+".torn"); torn > 0 && string(kept) != string(whole[last:size])+"\n" {
			t.Fatalf("cut at %d: kept aside %q", size, kept)
		}
		again := reopen(t, s, sampleID)
		if rec := again.Recovered(); rec.TornBytes != 0 || len(rec.Cancelled) != 0 {
			t.Fatalf("cut at %d: the second open repairs %+v", size, rec)
		}
		closeLog(t, again)
	}
}

func TestALastLineThatIsNoEventIsTornEvenWithItsNewline(t *testing.T) {
	for _, tail := range []string{"{\"v\":1,\n", "\x00\x00\x00\x00", "\n", "null\n", "{}\n", strings.Repeat("x", 1<<20)} {
		whole := sample(t, "whole.jsonl")
		dir := place(t, append(bytes.Clone(whole), tail...))
		l := reopen(t, testStore(dir, func(error) {}), sampleID)
		if l.Recovered().TornBytes != len(tail) {
			t.Errorf("tail %.20q: recovered %+v", tail, l.Recovered())
		}
		closeLog(t, l)
		if got := read(t, dir, sampleLog); !bytes.Equal(got, whole) {
			t.Errorf("tail %.20q: the log is now %d bytes, want %d", tail, len(got), len(whole))
		}
	}
}

// The beginning of a call is not waited for: after a power loss a call that ran
// can look like one that did not.
func TestACallWhoseBeginningIsNotInTheLogMayHaveRun(t *testing.T) {
	dir := memdisk.New()
	s := testStore(dir, func(error) {})
	l := create(t, s)
	publish(t, l, said("go"), ask("r1"), call("r1", "toolu_1"), answer("r1", event.StopToolUse), event.ToolStarted{ToolUseID: "toolu_1"})
	s = testStore(dir.PowerLoss(), func(error) {})
	again := reopen(t, s, l.ID())
	closeLog(t, again)
	all := records(t, s, l.ID())
	last, ok := all[len(all)-1].Fact.(event.ToolCancelled)
	if !ok || all[len(all)-2].Name() == "tool.started" || !strings.Contains(last.ModelText, "may not have run") {
		t.Errorf("the last fact is %+v", all[len(all)-1].Fact)
	}
}

func TestACallLeftOpenGetsOneResultThatSaysWhetherItMayHaveRun(t *testing.T) {
	dir := place(t, sample(t, "dangling_call.jsonl"))
	s := testStore(dir, strict(t))
	if report := sound(t, s, sampleID); !report.Unfinished {
		t.Error("check does not see that a call is open")
	}
	l := reopen(t, s, sampleID)
	if got := l.Recovered().Cancelled; len(got) != 1 {
		t.Fatalf("cancelled %q", got)
	}
	closeLog(t, l)
	all := records(t, s, sampleID)
	last, ok := all[len(all)-1].Fact.(event.ToolCancelled)
	if !ok || last.Reason != event.CancelRecovery || !strings.Contains(last.ModelText, "may have had an effect") {
		t.Errorf("the last fact is %+v", all[len(all)-1].Fact)
	}
	if report := sound(t, s, sampleID); report.Unfinished {
		t.Error("still unfinished")
	}
	again := reopen(t, s, sampleID)
	if rec := again.Recovered(); len(rec.Cancelled) != 0 {
		t.Errorf("the second open cancels %q", rec.Cancelled)
	}
	closeLog(t, again)
}

func TestDamageBeforeTheLastLineRefusesResumeAndStillShowsWhatIsSound(t *testing.T) {
	lines := bytes.SplitAfter(sample(t, "whole.jsonl"), []byte("\n"))
	edit := func(change func([][]byte) [][]byte) []byte { return bytes.Join(change(slices.Clone(lines)), nil) }
	for name, test := range map[string]struct {
		content []byte
		line    int64
		want    string
	}{
		"line that is no JSON": {edit(func(l [][]byte) [][]byte { l[4] = []byte("garbage\n"); return l }), 5, "envelope"},
		"line that is glued":   {edit(func(l [][]byte) [][]byte { l[4] = append(l[4][:30:30], l[5]...); l[5] = nil; return l }), 5, "envelope"},
		"line that is gone":    {edit(func(l [][]byte) [][]byte { l[4] = nil; return l }), 5, "seq 6 where 5 belongs"},
		"line that is doubled": {edit(func(l [][]byte) [][]byte { l[4] = l[3]; return l }), 5, "seq 4 where 5 belongs"},
		"line of another": {edit(func(l [][]byte) [][]byte {
			l[4] = bytes.Replace(l[4], []byte("SESS"), []byte("ELSE"), 1)
			return l
		}), 5, "ELSE"},
		"beginning that is gone": {edit(func(l [][]byte) [][]byte { return l[1:] }), 1, "seq 2 where 1 belongs"},
		"wrong first fact": {edit(func(l [][]byte) [][]byte {
			return [][]byte{bytes.Replace(l[1], []byte(`"seq":2`), []byte(`"seq":1`), 1)}
		}), 1, "not with session.started"},
		"nothing whole": {lines[0][:50], 1, "no whole event"},
		"empty":         {nil, 1, "no whole event"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := place(t, test.content)
			s := testStore(dir, strict(t))
			_, err := s.Open(sampleID)
			var damage *session.DamagedError
			if !errors.As(err, &damage) || damage.Line != test.line || !strings.Contains(damage.Reason, test.want) {
				t.Fatalf("error %v, want damage at line %d: %s", err, test.line, test.want)
			}
			if !bytes.Equal(read(t, dir, sampleLog), test.content) {
				t.Error("the damaged log was changed")
			}
			if test.line > 1 {
				showsUpTo(t, s, test.line-1)
			}
		})
	}
}

// showsUpTo demands that a damaged log can be viewed and forked before line n+1.
func showsUpTo(t *testing.T, s *session.Store, n int64) {
	t.Helper()
	v, err := s.View(sampleID)
	if err != nil {
		t.Fatal(err)
	}
	var seen int64
	var damage *session.DamagedError
	for r, err := range v.Records() {
		if err == nil {
			seen = r.Seq
		} else if !errors.As(err, &damage) {
			t.Error(err)
		}
	}
	if seen != n || damage == nil {
		t.Errorf("viewed %d facts, then %v", seen, damage)
	}
	if _, err := s.Fork(sampleID, 0); !errors.As(err, &damage) {
		t.Errorf("fork of the whole: %v", err)
	}
	id, err := s.Fork(sampleID, n)
	if err != nil {
		t.Fatal(err)
	}
	closeLog(t, reopen(t, s, id))
	sound(t, s, id)
}

func TestAnUnknownFactIsSkippedUnlessItIsCritical(t *testing.T) {
	line := `{"v":1,"id":"01J00000000000000000000012","sessionId":"` + sampleID + `","seq":12,"ts":1767225612000,"type":"goal.linked",CRITICAL"payload":{"x":1}}` + "\n"
	whole := string(sample(t, "whole.jsonl"))

	dir := place(t, []byte(whole+strings.Replace(line, "CRITICAL", "", 1)))
	s := testStore(dir, strict(t))
	l := reopen(t, s, sampleID)
	if got := l.Unknown(); !slices.Equal(got, []string{"goal.linked"}) {
		t.Errorf("unknown %q", got)
	}
	if r := publish(t, l, said("go on")); r.Seq != 13 {
		t.Errorf("seq %d", r.Seq)
	}
	closeLog(t, l)

	dir = place(t, []byte(whole+strings.Replace(line, "CRITICAL", `"critical":true,`, 1)))
	s = testStore(dir, strict(t))
	var newer *session.NewerError
	if _, err := s.Open(sampleID); !errors.As(err, &newer) || !strings.Contains(err.Error(), "update khaelor") {
		t.Errorf("error %v", err)
	}
	if report, err := s.Check(sampleID); err != nil || len(report.Problems) != 1 {
		t.Errorf("check %+v, %v", report, err)
	}
}

func TestASessionThatIsOpenIsRefusedToTheSecondAndFreeAgainAfterClose(t *testing.T) {
	folder := t.TempDir()
	s := testStore(realDir(t, folder), strict(t))
	other := testStore(realDir(t, folder), strict(t))
	l := create(t, s)
	publish(t, l, said("go"))
	if _, err := other.Open(l.ID()); !errors.Is(err, disk.ErrLocked) || !strings.Contains(err.Error(), "process ") {
		t.Errorf("open while it is open: %v", err)
	}
	if err := other.Remove(l.ID()); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("remove while it is open: %v", err)
	}
	if n := len(records(t, other, l.ID())); n != 2 {
		t.Errorf("viewed %d facts of the open session", n)
	}
	closeLog(t, l)
	closeLog(t, reopen(t, other, l.ID()))
}

func TestAViewMayBeLeftAtAnyFact(t *testing.T) {
	v, err := testStore(place(t, sample(t, "whole.jsonl")), strict(t)).View(sampleID)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		n := 0
		for r, err := range v.Records() {
			if n++; err != nil || r.Seq != int64(n) {
				t.Fatalf("fact %d: %+v, %v", n, r, err)
			}
			if n == 3 {
				break
			}
		}
	}
}

func TestALineOfTwelveMegabytesIsReadLikeAnyOther(t *testing.T) {
	s := testStore(memdisk.New(), strict(t))
	l := create(t, s)
	long := strings.Repeat("0123456789ab", 1<<20)
	publish(t, l, said("go"), ask("r1"), call("r1", "toolu_1"), answer("r1", event.StopToolUse),
		event.ToolCompleted{ToolUseID: "toolu_1", ModelText: long}, said("short"))
	live := l.Fold()
	closeLog(t, l)
	again := reopen(t, s, l.ID())
	if !reflect.DeepEqual(again.Fold(), live) {
		t.Error("the replayed state differs")
	}
	closeLog(t, again)
}

func TestALogUnderAnotherFileNameIsResumedByThatNameAndKeepsItsOwnId(t *testing.T) {
	dir := memdisk.New()
	write(t, dir, "p1/copy.jsonl", sample(t, "whole.jsonl"))
	s := testStore(dir, strict(t))
	l := reopen(t, s, "copy")
	if r := publish(t, l, said("go on")); l.ID() != "copy" || r.SessionID != sampleID {
		t.Errorf("log %s, line of %s", l.ID(), r.SessionID)
	}
	closeLog(t, l)
	sound(t, s, "copy")
}
