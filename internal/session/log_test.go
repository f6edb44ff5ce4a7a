package session_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/khaelor/khaelor/internal/bus"
	"github.com/khaelor/khaelor/internal/disk"
	"github.com/khaelor/khaelor/internal/disk/memdisk"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/session"
)

func TestAPublishedFactIsInTheLogAsItWasAnnouncedAndFolded(t *testing.T) {
	s := testStore(memdisk.New(), strict(t))
	l := create(t, s)
	var heard []event.Record
	l.Bus().OnAny(func(r event.Record) { heard = append(heard, r) }, nil)
	r := publish(t, l, said("read <a> & \"b\""))
	if r.Seq != 2 || r.SessionID != l.ID() || r.V != event.Version {
		t.Errorf("envelope %+v", r)
	}
	logged := records(t, s, l.ID())
	if len(logged) != 2 || !reflect.DeepEqual(logged[1], r) || !reflect.DeepEqual(heard, []event.Record{r}) {
		t.Errorf("logged %+v\nheard %+v\nreturned %+v", logged, heard, r)
	}
	if state := l.Fold().State; state.LastSeq != 2 || state.Task.Objective != "read <a> & \"b\"" {
		t.Errorf("folded %+v", state)
	}
	closeLog(t, l)
	sound(t, s, l.ID())
}

func TestPublishersAtTheSameTimeGetNumbersWithoutGapsAndHandlersRunOneAtATime(t *testing.T) {
	s := testStore(memdisk.New(), strict(t))
	l := create(t, s)
	var inside, overlaps int
	var order []int64
	l.Bus().OnAny(func(r event.Record) {
		if inside++; inside != 1 {
			overlaps++
		}
		order = append(order, r.Seq)
		inside--
	}, func(event.Live) {
		if inside++; inside != 1 {
			overlaps++
		}
		inside--
	})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 50 {
				l.Notify(event.ToolOutput{Chunk: "x"})
				if _, err := l.Publish(event.ContextNoted{Text: fmt.Sprint(w, i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	closeLog(t, l) // waits for the deliveries
	if overlaps > 0 || len(order) != 200 || !slices.IsSorted(order) {
		t.Errorf("%d overlaps, %d facts heard in order %v", overlaps, len(order), order)
	}
	if report := sound(t, s, l.ID()); report.Events != 201 {
		t.Errorf("%d events", report.Events)
	}
}

func TestCloseWaitsUntilSubscribersHaveHeardEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := create(t, testStore(memdisk.New(), strict(t)))
		release := make(chan struct{})
		bus.On(l.Bus(), func(event.Record, event.ContextNoted) { <-release })
		var closed atomic.Bool
		go func() {
			if _, err := l.Publish(event.ContextNoted{Text: "x"}); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		go func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			closed.Store(true)
		}()
		synctest.Wait()
		if closed.Load() {
			t.Error("closed while a handler is at work")
		}
		close(release)
		synctest.Wait()
		if !closed.Load() {
			t.Error("not closed after the handler ended")
		}
	})
}

func TestAHandlerMayPublishAndIsHeardAfterwards(t *testing.T) {
	s := testStore(memdisk.New(), strict(t))
	l := create(t, s)
	var heard []string
	bus.On(l.Bus(), func(event.Record, event.SessionRenamed) {
		heard = append(heard, "renamed")
		publish(t, l, event.ContextNoted{Text: "from the handler"})
		heard = append(heard, "handler ends")
	})
	bus.On(l.Bus(), func(_ event.Record, p event.ContextNoted) { heard = append(heard, p.Text) })
	publish(t, l, event.SessionRenamed{Title: "t"})
	if want := []string{"renamed", "handler ends", "from the handler"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
	closeLog(t, l)
}

func TestAToolTurnWaitsForTheDeviceExactlyTwice(t *testing.T) {
	dir := &watchedDir{Dir: memdisk.New()}
	s := testStore(dir, strict(t))
	l := create(t, s)
	publish(t, l, said("go"))
	dir.taken()
	for turn := range 3 {
		request, a, b := fmt.Sprint("r", turn), fmt.Sprint("toolu_a", turn), fmt.Sprint("toolu_b", turn)
		publish(t, l, ask(request), call(request, a), call(request, b), answer(request, event.StopToolUse))
		if n := dir.taken(); n != 1 {
			t.Errorf("%d syncs up to the answer, want 1", n)
		}
		publish(t, l,
			event.ToolStarted{ToolUseID: a}, event.ToolStarted{ToolUseID: b},
			done(b), event.FileRead{Path: "a.txt", ToolUseID: a}, done(a),
		)
		if n := dir.taken(); n != 1 {
			t.Errorf("%d syncs for the batch, want 1", n)
		}
	}
	publish(t, l, event.ContextNoted{Text: "x"})
	closeLog(t, l)
	if n := dir.taken(); n != 1 {
		t.Errorf("%d syncs on close, want 1", n)
	}
}

func TestCompactionAndTheEndOfATaskAreSyncedAndACleanCloseIsNotSyncedAgain(t *testing.T) {
	dir := &watchedDir{Dir: memdisk.New()}
	l := create(t, testStore(dir, strict(t)))
	publish(t, l, said("go"), ask("r1"), answer("r1", event.StopEndTurn))
	for _, f := range []event.Fact{
		event.ContextCompacted{Cut: event.Cut{FromSeq: 1, ToSeq: 2}}, event.TaskCompleted{}, event.TaskFailed{}, event.Interrupted{},
	} {
		dir.taken()
		publish(t, l, f)
		if n := dir.taken(); n != 1 {
			t.Errorf("%s: %d syncs, want 1", event.NameOf(f), n)
		}
	}
	closeLog(t, l)
	closeLog(t, l)
	if n := dir.taken(); n != 0 {
		t.Errorf("%d syncs on closing what is synced", n)
	}
	if _, err := l.Publish(said("late")); !errors.Is(err, session.ErrClosed) {
		t.Errorf("publish after close: %v", err)
	}
}

func TestAFullDiskIsReportedAtOnceAndWorkGoesOnWhenThereIsRoom(t *testing.T) {
	for _, cause := range []error{disk.ErrNoSpace, disk.ErrIO} {
		dir := memdisk.New()
		s := testStore(dir, strict(t))
		l := create(t, s)
		var heard int
		l.Bus().OnAny(func(event.Record) { heard++ }, nil)
		before := l.Fold()
		dir.FailAppendAfter(0, cause, 10) // and what got in cannot be cut off
		r, err := l.Publish(said("go"))
		var failed *session.WriteError
		if !errors.As(err, &failed) || !errors.Is(err, cause) || !strings.Contains(err.Error(), l.ID()+".jsonl") {
			t.Errorf("error %v", err)
		}
		if r.Fact != nil || heard != 0 || !reflect.DeepEqual(l.Fold(), before) {
			t.Errorf("record %+v, %d heard: something happened", r, heard)
		}
		dir.FailAppendAfter(0, nil, 0)
		if r := publish(t, l, said("again")); r.Seq != 2 || heard != 1 {
			t.Errorf("seq %d, %d heard after the disk was freed", r.Seq, heard)
		}
		closeLog(t, l)
		if report := sound(t, s, l.ID()); report.Events != 2 || len(report.Notes) > 0 {
			t.Errorf("check %+v", report)
		}
	}
}

func TestASyncThatFailedIsMadeUpForByTheNextPublish(t *testing.T) {
	dir := &watchedDir{Dir: memdisk.New()}
	s := testStore(dir, strict(t))
	l := create(t, s)
	publish(t, l, said("go"), ask("r1"))
	dir.failing(disk.ErrIO)
	r, err := l.Publish(answer("r1", event.StopEndTurn))
	if r.Seq != 4 || !errors.Is(err, disk.ErrIO) {
		t.Errorf("record %+v, error %v; want the record and the error", r, err)
	}
	dir.failing(nil)
	dir.taken()
	publish(t, l, event.ContextNoted{Text: "x"}, event.ContextNoted{Text: "y"})
	if n := dir.taken(); n != 1 {
		t.Errorf("%d syncs, want the one that was owed", n)
	}
	closeLog(t, l)
	sound(t, s, l.ID())
}

func TestASessionThatCannotBeBegunLeavesNothingToResume(t *testing.T) {
	dir := memdisk.New()
	dir.FailAppendAfter(0, disk.ErrNoSpace, 10)
	s := testStore(dir, strict(t))
	if _, err := s.Create(started()); !errors.Is(err, disk.ErrNoSpace) || !strings.Contains(err.Error(), "free some space and go on") || strings.Contains(err.Error(), "was not done") {
		t.Errorf("error %v", err)
	}
	if all, err := s.List(""); err != nil || len(all) != 0 {
		t.Errorf("list %v, %v", all, err)
	}
}

func TestFactsThatMayNotEnterALogAreRefused(t *testing.T) {
	s := testStore(memdisk.New(), strict(t))
	l := create(t, s) // 1
	publish(t, l,
		said("go"), ask("r1"), // 2, 3
		event.ModelThinkingBlockCompleted{RequestID: "r1", Thinking: "hm", Signature: "s"}, // 4
		call("r1", "toolu_1"), answer("r1", event.StopToolUse), // 5, 6
		done("toolu_1"),                  // 7
		ask("r2"), call("r2", "toolu_2"), // 8, 9
	)
	cut := func(from, to int64) event.Fact {
		return event.ContextCompacted{Cut: event.Cut{FromSeq: from, ToSeq: to}}
	}
	for name, f := range map[string]event.Fact{
		"unknown":                  event.Unknown{Type: "goal.added", Raw: []byte("{}")},
		"input that is no JSON":    event.ToolRequested{Input: []byte("{")},
		"input that is no UTF-8":   event.ToolRequested{Input: []byte("{\"a\":\"\xff\"}")},
		"call without its result":  cut(1, 6),
		"result without its call":  cut(6, 7),
		"thinking without answer":  cut(1, 4),
		"answer without thinking":  cut(5, 7),
		"call that is still open":  cut(8, 9),
		"range that is turned":     cut(3, 2),
		"range beyond what exists": cut(1, 10),
	} {
		if _, err := l.Publish(f); !errors.Is(err, session.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r := publish(t, l, cut(1, 7)); r.Seq != 10 {
		t.Errorf("a sound cut got seq %d, want 10", r.Seq)
	}
	closeLog(t, l)
}

func TestNoticesReachSubscribersAndNotTheLog(t *testing.T) {
	s := testStore(memdisk.New(), strict(t))
	l := create(t, s)
	var got []event.Live
	l.Bus().OnAny(nil, func(n event.Live) { got = append(got, n) })
	l.Notify(event.ModelTextDelta{RequestID: "r1", Text: "Gr"})
	closeLog(t, l)
	l.Notify(event.ModelTextDelta{RequestID: "r1", Text: "late"})
	if len(got) != 1 || got[0].SessionID != l.ID() || got[0].ID == "" {
		t.Errorf("heard %+v", got)
	}
	if n := len(records(t, s, l.ID())); n != 1 {
		t.Errorf("%d lines in the log, want 1", n)
	}
}

func TestBlobsAreKeptOnceByTheirHashAndOnlyByThat(t *testing.T) {
	dir := memdisk.New()
	s := testStore(dir, strict(t))
	l := create(t, s)
	sha, err := l.PutBlob([]byte("hello"))
	if err != nil || sha != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" {
		t.Fatalf("%s, %v", sha, err)
	}
	if again, err := l.PutBlob([]byte("hello")); err != nil || again != sha {
		t.Errorf("again %s, %v", again, err)
	}
	if data, err := l.Blob(sha); err != nil || string(data) != "hello" {
		t.Errorf("%q, %v", data, err)
	}
	for _, name := range []string{"", "../" + l.ID() + ".jsonl", sha[:10]} {
		if _, err := l.Blob(name); err == nil || !strings.Contains(err.Error(), "not a SHA-256") {
			t.Errorf("blob %q: %v", name, err)
		}
	}
	write(t, dir, "p1/"+l.ID()+".blobs/"+sha, []byte("hullo"))
	if _, err := l.Blob(sha); err == nil || !strings.Contains(err.Error(), "not what its name says") {
		t.Errorf("a blob that was changed: %v", err)
	}
	closeLog(t, l)
}
