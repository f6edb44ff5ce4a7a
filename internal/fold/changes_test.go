package fold

import (
	"reflect"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

func read(path, sha string) event.Fact { return event.FileRead{Path: path, SHA256: sha} }

func modified(path, id string, op event.FileOperation, added, removed int, after string) event.Fact {
	return event.FileModified{
		Path: path, ToolUseID: id, Operation: op, DiffStats: event.DiffStats{Added: added, Removed: removed}, AfterSHA256: after,
	}
}

func TestTheNewestSightingOfAFileCounts(t *testing.T) {
	c := folded(Changes{}, records(
		read("a", "1"), read("b", "2"), read("a", "3"), modified("b", "x", event.FileEdited, 1, 0, "4"), modified("c", "x", event.FileExecuted, 0, 1, ""),
	))
	for path, want := range map[string]Sighting{
		"a": {Path: "a", SHA256: "3", Seq: 3, Shown: true},
		"b": {Path: "b", SHA256: "4", Seq: 4},
		"c": {Path: "c", SHA256: "", Seq: 5},
	} {
		if got, ok := c.Latest(path); !ok || got != want {
			t.Errorf("%s was seen as %+v (%t), want %+v", path, got, ok, want)
		}
	}
	if _, ok := c.Latest("d"); ok {
		t.Error("a file that nobody read was seen")
	}
}

// A whole file may be overwritten when the model knows what it held.
func TestWhatTheModelKnowsOfAFileIsWhatItReadWroteOrEdited(t *testing.T) {
	edit := func(before, after string) event.Fact {
		return event.FileModified{Path: "f", Operation: event.FileEdited, BeforeSHA256: before, AfterSHA256: after}
	}
	wrote := modified("f", "x", event.FileWritten, 1, 0, "w")
	ran := modified("f", "x", event.FileExecuted, 1, 0, "r")
	for name, c := range map[string]struct {
		facts []event.Fact
		want  string
	}{
		"read":                                 {[]event.Fact{read("f", "1")}, "1"},
		"written":                              {[]event.Fact{wrote}, "w"},
		"edited as read":                       {[]event.Fact{read("f", "1"), edit("1", "2")}, "2"},
		"edited twice":                         {[]event.Fact{read("f", "1"), edit("1", "2"), edit("2", "3")}, "3"},
		"edited after somebody else (Edit 14)": {[]event.Fact{read("f", "1"), edit("1b", "2")}, "1"},
		"and once more":                        {[]event.Fact{read("f", "1"), edit("1b", "2"), edit("2", "3")}, "1"},
		"edited without a look":                {[]event.Fact{edit("1", "2")}, ""},
		"changed by a command":                 {[]event.Fact{read("f", "1"), ran}, "1"},
		"edited after a command":               {[]event.Fact{read("f", "1"), ran, edit("r", "2")}, "1"},
		"read again":                           {[]event.Fact{read("f", "1"), ran, read("f", "r"), edit("r", "2")}, "2"},
	} {
		got, ok := folded(Changes{}, records(c.facts...)).Seen("f")
		if ok != (c.want != "") || got.SHA256 != c.want {
			t.Errorf("%s: the model knows %q, want %q", name, got.SHA256, c.want)
		}
	}
}

func TestChangesSinceAFactAreSummedByFile(t *testing.T) {
	c := folded(Changes{}, records(
		modified("a", "1", event.FileWritten, 10, 0, "x"),
		modified("b", "2", event.FileEdited, 2, 1, "x"),
		modified("a", "3", event.FileEdited, 1, 4, "x"),
		modified("b", "4", event.FileEdited, 1, 0, "x"),
		event.ContextCompacted{Cut: event.Cut{FromSeq: 1, ToSeq: 4}},
	))
	a := FileChange{
		Path: "a", Operations: []event.FileOperation{event.FileWritten, event.FileEdited},
		Stats: event.DiffStats{Added: 11, Removed: 4}, ToolUseIDs: []string{"1", "3"}, LastSeq: 3,
	}
	b := FileChange{
		Path: "b", Operations: []event.FileOperation{event.FileEdited},
		Stats: event.DiffStats{Added: 3, Removed: 1}, ToolUseIDs: []string{"2", "4"}, LastSeq: 4,
	}
	later := FileChange{
		Path: "b", Operations: []event.FileOperation{event.FileEdited},
		Stats: event.DiffStats{Added: 1}, ToolUseIDs: []string{"4"}, LastSeq: 4,
	}
	for since, want := range map[int64][]FileChange{0: {a, b}, 3: {later}, 4: nil} {
		if got := c.Since(since); !reflect.DeepEqual(got, want) {
			t.Errorf("since %d\ngot  %+v\nwant %+v", since, got, want)
		}
	}
	if len(c.Edits()) != 4 {
		t.Errorf("%d edits, want 4", len(c.Edits()))
	}
}

func TestTheNewestBaselineCounts(t *testing.T) {
	if (Changes{}).Baseline != nil {
		t.Error("there is a baseline before any was recorded")
	}
	c := folded(Changes{}, records(
		event.BaselineRecorded{Baseline: event.GitBaseline{Branch: "old"}}, event.BaselineRecorded{Baseline: event.GitBaseline{Branch: "new"}},
	))
	if c.Baseline == nil || c.Baseline.Branch != "new" {
		t.Errorf("baseline %+v", c.Baseline)
	}
}
