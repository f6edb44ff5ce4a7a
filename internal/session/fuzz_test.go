package session_test

import (
	"bytes"
	"reflect"
	"testing"
)

// FuzzOpen puts anything at all into a log: it is refused and left as it is,
// or it opens, goes on, and a second open finds nothing to repair.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"whole.jsonl", "torn_tail.jsonl", "dangling_call.jsonl"} {
		f.Add(sample(f, name))
	}
	f.Add([]byte("\n\n{}\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		dir := place(t, content)
		s := testStore(dir, func(error) {})
		if all := list(t, s, ""); len(all) != 1 {
			t.Errorf("listed %d sessions", len(all))
		}
		if _, err := s.Check(sampleID); err != nil {
			t.Errorf("check: %v", err)
		}
		l, err := s.Open(sampleID)
		if err != nil {
			if _, again := s.Open(sampleID); again == nil || again.Error() != err.Error() {
				t.Errorf("refused with %v, then with %v", err, again)
			}
			if !bytes.Equal(read(t, dir, sampleLog), content) {
				t.Error("the refused log was changed")
			}
			return
		}
		publish(t, l, said("go on"))
		live := l.Fold()
		closeLog(t, l)
		again := reopen(t, s, sampleID)
		if rec := again.Recovered(); rec.TornBytes != 0 || len(rec.Cancelled) != 0 || !reflect.DeepEqual(again.Fold(), live) {
			t.Errorf("the second open repairs %+v or differs", rec)
		}
		closeLog(t, again)
	})
}
