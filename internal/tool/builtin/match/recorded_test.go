package match

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// recorded is an edit that a model asked for.
type recorded struct {
	ID     string
	Before string
	After  string
	Edit   struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
		All bool   `json:"replace_all"`
	}
	Error struct {
		Kind    string
		Matches int
	}
}

func readRecorded(t *testing.T, name string) []recorded {
	t.Helper()
	path := filepath.Join("..", "..", "..", "..", "..", "shared", "data", "edits", name)
	data, err := os.ReadFile(path)
	if err != nil && os.Getenv("KHAELOR_REQUIRE_SHARED") == "" {
		t.Skip("shared data not here: " + path)
	}
	if err != nil {
		t.Fatal(err)
	}
	var list []recorded
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data))
	for lines.Scan() {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

func TestRecordedEditsGiveTheRecordedFiles(t *testing.T) {
	for _, r := range readRecorded(t, "edits-ok.jsonl") {
		got, err := Apply(r.Before, Edit{Old: r.Edit.Old, New: r.Edit.New, All: r.Edit.All})
		if err != nil || got.Text != r.After {
			t.Errorf("%s: the file differs (%v)", r.ID, err)
		}
	}
}

func TestRecordedFailuresFailTheSameWay(t *testing.T) {
	for _, r := range readRecorded(t, "edits-failing.jsonl") {
		got, err := Apply(r.Before, Edit{Old: r.Edit.Old, New: r.Edit.New, All: r.Edit.All})
		var ambiguous *AmbiguousError
		var missing *NotFoundError
		var ok bool
		switch r.Error.Kind {
		case "not_unique":
			ok = errors.As(err, &ambiguous) && len(ambiguous.Lines) == r.Error.Matches
		case "not_found":
			ok = errors.As(err, &missing) || err == nil && got.Rung > Exact
		case "no_change":
			ok = errors.Is(err, ErrNoChange)
		}
		if !ok {
			t.Errorf("%s: got %v, want %+v", r.ID, err, r.Error)
		}
	}
}
