package match

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// recorded is an edit that a model asked for.
type recorded struct {
	ID          string
	Before      string
	After       string
	AfterSHA256 string `json:"after_sha256"`
	Edit        struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
		All bool   `json:"replace_all"`
	}
	Error struct {
		Kind    string
		Matches int
	}
}

func (r recorded) apply() (Result, error) {
	return Apply(r.Before, Edit{Old: r.Edit.Old, New: r.Edit.New, All: r.Edit.All})
}

func readRecorded(t *testing.T, name string) []recorded {
	t.Helper()
	path := filepath.Join("..", "..", "..", "..", "..", "shared", "data", "edits", name)
	data, err := os.ReadFile(path)
	if err != nil && os.Getenv("KHAELOR_REQUIRE_SHARED") == "" {
		t.Skip("shared data not here: " + path)
	}
	if err == nil && strings.HasSuffix(name, ".gz") {
		var packed *gzip.Reader
		if packed, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(packed)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	var list []recorded
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	if len(list) == 0 {
		t.Fatal("no records in " + path)
	}
	return list
}

func TestRecordedEditsGiveTheRecordedFiles(t *testing.T) {
	for _, r := range readRecorded(t, "edits-ok.jsonl") {
		got, err := r.apply()
		if err != nil || got.Text != r.After || got.Rung != Exact {
			t.Errorf("%s: the file differs (%v)", r.ID, err)
		}
		outsideIsKept(t, r.Before, got)
	}
}

func TestRecordedEditsOfLargeFilesGiveTheRecordedFiles(t *testing.T) {
	for _, r := range readRecorded(t, "edits-large.jsonl.gz") {
		got, err := r.apply()
		if sum := sha256.Sum256([]byte(got.Text)); err != nil || hex.EncodeToString(sum[:]) != r.AfterSHA256 {
			t.Errorf("%s: the file differs (%v)", r.ID, err)
		}
		outsideIsKept(t, r.Before, got)
	}
}

// An edit that was not found applies when one step of the contract leads to
// exactly one place, and gives the file with that place edited; the others fail
// as recorded. What is right is decided by simple means that share nothing with
// the matcher.
func TestRecordedFailuresApplyOrFailAsTheyShould(t *testing.T) {
	applied := map[Rung]int{}
	for _, r := range readRecorded(t, "edits-failing.jsonl") {
		got, err := r.apply()
		var ambiguous *AmbiguousError
		var missing *NotFoundError
		ok := false
		switch r.Error.Kind {
		case "not_unique":
			ok = errors.As(err, &ambiguous) && len(ambiguous.Lines) == r.Error.Matches
		case "no_change":
			ok = errors.Is(err, ErrNoChange)
		case "not_found":
			switch files := naive(r.Before, r.Edit.Old, r.Edit.New); len(files) {
			case 0:
				ok = errors.As(err, &missing)
			case 1:
				if ok = err == nil && got.Text == files[0]; ok {
					t.Logf("%s applies but for %s in line %d", r.ID, got.Rung, got.Places[0].Line)
					applied[got.Rung]++
					outsideIsKept(t, r.Before, got)
				}
			default:
				ok = errors.As(err, &ambiguous) && len(ambiguous.Lines) == len(files)
			}
		}
		if !ok {
			t.Errorf("%s: got %v (%v), want %+v", r.ID, err, got.Rung, r.Error)
		}
	}
	if len(applied) != 1 || applied[Indentation] != 5 {
		t.Errorf("applied: %v, want 5 but for indentation", applied)
	}
}

// naive is for each place that one step leads to the file after the edit.
func naive(text, old, new string) []string {
	trailing := regexp.MustCompile(`(?m)[ \t]+$`)
	unescape := func(s string) string {
		is, err := strconv.Unquote(`"` + strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`, `\"`, `\"`).Replace(s) + `"`)
		if err != nil {
			return s
		}
		return is
	}
	same := func(s string) string { return s }
	for _, step := range []struct{ text, old func(string) string }{
		{text: func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }},
		{text: func(s string) string { return trailing.ReplaceAllString(s, "") }},
		{text: func(s string) string { return norm.NFKC.String(straight(s)) }},
		{text: html.UnescapeString},
		{text: html.UnescapeString, old: same},
		{text: same, old: html.UnescapeString},
		{text: same, old: unescape},
	} {
		if step.old == nil {
			step.old = step.text
		}
		folded, part := step.text(text), step.old(old)
		if n := strings.Count(folded, part); n > 0 && (folded != text || part != old) {
			// Only where nothing else in the file is folded is the right file
			// as simple as this; a step that folds more needs a case of its own.
			files := make([]string, n)
			for i := range files {
				files[i] = strings.Replace(text, part, new, 1)
			}
			return files
		}
	}
	return naiveShift(strings.Split(text, "\n"), strings.Split(strings.TrimSuffix(old, "\n"), "\n"), strings.Split(strings.TrimSuffix(new, "\n"), "\n"))
}

// naiveShift lays the old lines over all lines of the text and looks for one
// margin that all of them lack, or have too much.
func naiveShift(text, old, new []string) (files []string) {
	for at := 0; at+len(old) <= len(text); at++ {
		for _, margin := range []string{"\t", "\t\t", "\t\t\t", "  ", "    ", "        "} {
			for _, more := range []bool{true, false} {
				moved := func(lines []string) string {
					out := make([]string, len(lines))
					for i, line := range lines {
						switch {
						case line == "":
						case more:
							out[i] = margin + line
						default:
							out[i] = strings.TrimPrefix(line, margin)
						}
					}
					return strings.Join(out, "\n")
				}
				if moved(old) == strings.Join(text[at:at+len(old)], "\n") && moved(old) != strings.Join(old, "\n") {
					after := append(append([]string{}, text[:at]...), moved(new))
					files = append(files, strings.Join(append(after, text[at+len(old):]...), "\n"))
				}
			}
		}
	}
	return files
}
