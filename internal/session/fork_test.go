package session_test

import (
	"bytes"
	"testing"

	"github.com/khaelor/khaelor/internal/disk/memdisk"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/session"
)

func TestAForkIsACopyUnderItsOwnIdThatSaysWhereItComesFrom(t *testing.T) {
	s := testStore(memdisk.New(), strict(t))
	l := create(t, s)
	sha, err := l.PutBlob([]byte("picture"))
	if err != nil {
		t.Fatal(err)
	}
	later, err := l.PutBlob([]byte("after the cut"))
	if err != nil {
		t.Fatal(err)
	}
	publish(t, l,
		event.UserMessageCreated{Text: "look", Images: []event.Media{{MediaType: "image/png", SHA256: sha}}},
		ask("r1"), call("r1", "toolu_1"), answer("r1", event.StopToolUse),
		event.ToolCompleted{ToolUseID: "toolu_1", ModelText: "1.0 <&> Größe", Media: []event.Media{{SHA256: later}}},
	)
	closeLog(t, l)
	source := records(t, s, l.ID())
	for at := int64(1); at <= 6; at++ {
		id, err := s.Fork(l.ID(), at)
		if err != nil {
			t.Fatal(err)
		}
		isCopy(t, source[:at], records(t, s, id), id)
		resumed := reopen(t, s, id)
		if _, err := resumed.Blob(later); (err == nil) != (at == 6) {
			t.Errorf("fork at %d: the blob of fact 6: %v", at, err)
		}
		closeLog(t, resumed)
		if report := sound(t, s, id); report.Unfinished {
			t.Errorf("fork at %d is unfinished after it was opened", at)
		}
	}
	id, err := s.Fork(l.ID(), 0)
	if err != nil {
		t.Fatal(err)
	}
	isCopy(t, source, records(t, s, id), id)
	for _, at := range []int64{-1, 7} {
		if _, err := s.Fork(l.ID(), at); err == nil {
			t.Errorf("fork at %d of 6 facts succeeds", at)
		}
	}
	if n := len(list(t, s, "")); n != 8 {
		t.Errorf("%d sessions, want the source and 7 forks", n)
	}
}

// A message that waits in the original waits in the fork, its picture with it.
func TestAForkKeepsThePictureOfAQueuedMessage(t *testing.T) {
	s := testStore(memdisk.New(), strict(t))
	l := create(t, s)
	sha, err := l.PutBlob([]byte("picture"))
	if err != nil {
		t.Fatal(err)
	}
	publish(t, l,
		event.UserMessageCreated{Text: "look"},
		event.MessageQueued{Text: "then this", Images: []event.Media{{MediaType: "image/png", SHA256: sha}}},
	)
	closeLog(t, l)
	id, err := s.Fork(l.ID(), 0)
	if err != nil {
		t.Fatal(err)
	}
	fork := reopen(t, s, id)
	defer closeLog(t, fork)
	if data, err := fork.Blob(sha); err != nil || string(data) != "picture" {
		t.Errorf("the fork has %q: %v", data, err)
	}
}

func isCopy(t *testing.T, source, fork []event.Record, id string) {
	t.Helper()
	at := len(source)
	if len(fork) != at+1 {
		t.Fatalf("the fork has %d facts, want %d", len(fork), at+1)
	}
	for i, r := range source {
		want := bytes.Replace(r.Line, []byte(r.SessionID), []byte(id), 1)
		if !bytes.Equal(fork[i].Line, want) {
			t.Errorf("line %d is\n%s\nwant\n%s", i+1, fork[i].Line, want)
		}
	}
	if f, ok := fork[at].Fact.(event.SessionForked); !ok || f.AtSeq != int64(at) || f.FromSessionID != source[0].SessionID {
		t.Errorf("the fork ends with %+v", fork[at].Fact)
	}
}

func TestAForkKeepsWhatThisProgramDoesNotKnow(t *testing.T) {
	content := bytes.Replace(sample(t, "whole.jsonl"), []byte(`"mentions":[]`), []byte(`"mentions":[], "later": {"a" : 1.0}`), 1)
	content = append(content, `{"v":2,"id":"01J00000000000000000000012","sessionId":"`+sampleID+`","seq":12,"ts":1767225612000,"type":"goal.linked","payload":{"x": 1}}`+"\n"...)
	dir := place(t, content)
	s := testStore(dir, strict(t))
	id, err := s.Fork(sampleID, 0)
	if err != nil {
		t.Fatal(err)
	}
	isCopy(t, records(t, s, sampleID), records(t, s, id), id)
}

func TestAForkOfAnOpenSessionDoesNotNeedItsLock(t *testing.T) {
	s := testStore(memdisk.New(), strict(t))
	l := create(t, s)
	publish(t, l, said("go"))
	id, err := s.Fork(l.ID(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var fork *session.Log = reopen(t, s, id)
	closeLog(t, fork)
	closeLog(t, l)
}
