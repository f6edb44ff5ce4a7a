package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

// logOf writes facts as a log, whatever they are.
func logOf(tb testing.TB, facts ...event.Fact) []byte {
	tb.Helper()
	var out []byte
	for i, f := range facts {
		var err error
		out, err = event.AppendLine(out, event.Record{
			V: 1, ID: fmt.Sprintf("e%d", i+1), SessionID: sampleID, Seq: int64(i + 1), TS: 1767225600000 + int64(i), Fact: f,
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

func TestTheSampleLogsPassTheCheck(t *testing.T) {
	for name, want := range map[string]struct {
		unfinished bool
		note       string
	}{"whole.jsonl": {}, "dangling_call.jsonl": {unfinished: true}, "torn_tail.jsonl": {note: "torn"}} {
		dir := place(t, sample(t, name))
		report := sound(t, testStore(dir, strict(t)), sampleID)
		notes := fmt.Sprint(report.Notes)
		if report.Unfinished != want.unfinished || (want.note == "") != (len(report.Notes) == 0) || !strings.Contains(notes, want.note) {
			t.Errorf("%s: %+v", name, report)
		}
	}
}

func TestTheCheckNamesEachBrokenInvariant(t *testing.T) {
	missing := strings.Repeat("ab", 32)
	turn := []event.Fact{said("go"), ask("r1"), call("r1", "toolu_1"), answer("r1", event.StopToolUse)}
	for want, facts := range map[string][]event.Fact{
		`ends call "toolu_1" a second time`:          append(turn[:4:4], done("toolu_1"), event.ToolCancelled{ToolUseID: "toolu_1"}),
		`ends call "toolu_9", which is not`:          {event.ToolFailed{ToolUseID: "toolu_9"}},
		`call "toolu_1" has no result before`:        append(turn[:4:4], ask("r2")),
		`call id "toolu_1" is empty or used twice`:   append(turn[:3:3], call("r1", "toolu_1")),
		`tool.approved names call "toolu_9"`:         {event.ToolApproved{ToolUseID: "toolu_9"}},
		`tool.started names call "toolu_9"`:          {event.ToolStarted{ToolUseID: "toolu_9"}},
		`permission request "q1", which is not`:      {event.PermissionGranted{PermissionRequestID: "q1"}},
		`permission request "q2" a second time`:      {event.PermissionRequested{PermissionRequestID: "q2"}, event.PermissionDenied{PermissionRequestID: "q2"}, event.PermissionGranted{PermissionRequestID: "q2"}},
		`question "q3", which is not`:                {event.QuestionAnswered{QuestionID: "q3", Answer: []byte(`""`)}},
		`ends request "r9", which is not`:            {answer("r9", event.StopEndTurn)},
		`belongs to request "r9", which is not open`: {event.ModelTextBlockCompleted{RequestID: "r9"}},
		`request "r1" a second time`:                 append(turn[:4:4], event.ModelRequestFailed{RequestID: "r1"}),
		`queued steering "e9", which is not`:         {event.SteeringInjected{QueuedEventID: "e9"}},
		`queued steering "e2" a second time`:         {event.SteeringQueued{}, event.SteeringWithdrawn{QueuedEventID: "e2"}, event.SteeringInjected{QueuedEventID: "e2"}},
		`queued message "e9", which is not`:          {event.MessageDequeued{QueuedEventID: "e9"}},
		`parts call toolu_1 from its result`:         append(turn[:4:4], done("toolu_1"), event.ContextCompacted{Cut: event.Cut{FromSeq: 1, ToSeq: 5}}),
		`thinking without a signature`:               {ask("r1"), event.ModelThinkingBlockCompleted{RequestID: "r1"}},
		`the tools tier is not the text`:             {event.TierRecorded{Tier: event.TierTools, Text: "[]", SHA256: missing}},
		`names the blob "` + missing:                 {event.UserMessageCreated{Images: []event.Media{{SHA256: missing}}}},
	} {
		dir := place(t, logOf(t, append([]event.Fact{started()}, facts...)...))
		report, err := testStore(dir, strict(t)).Check(sampleID)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Problems) != 1 || !strings.Contains(report.Problems[0].Text, want) {
			t.Errorf("want only %q, got %+v", want, report.Problems)
		}
	}
}

func TestTheCheckReadsOnBehindDamage(t *testing.T) {
	content := logOf(t, started(), said("a"), said("b"), event.ToolFailed{ToolUseID: "toolu_9"})
	broken := strings.Replace(string(content), `"seq":2`, `"seq":x`, 1)
	dir := place(t, []byte(broken))
	report, err := testStore(dir, strict(t)).Check(sampleID)
	if err != nil {
		t.Fatal(err)
	}
	var lines []int64
	for _, p := range report.Problems {
		lines = append(lines, p.Line)
	}
	if fmt.Sprint(lines) != "[2 4]" || report.Events != 3 {
		t.Errorf("%d events, problems %+v", report.Events, report.Problems)
	}
}

func TestTheCheckNotesWhatIsAllowedButNotOurs(t *testing.T) {
	content := string(logOf(t, started(), said("a"), event.FileModified{BeforeSHA256: strings.Repeat("ab", 32)}, said("b"), said("c")))
	content = strings.Replace(content, `"ts":1767225600003`, `"ts":5`, 1)
	content = strings.ReplaceAll(content, `"mentions":[]`, `"mentions":[],"later":1`)
	dir := place(t, []byte(content))
	report := sound(t, testStore(dir, strict(t)), sampleID)
	var notes []string
	for _, n := range report.Notes {
		notes = append(notes, fmt.Sprintf("%d %.22s", n.Line, n.Text))
	}
	want := `["2 not in the form this p" "3 the recorded content o" "4 the clock went backwar"]`
	if got := fmt.Sprintf("%q", notes); got != want || !strings.Contains(report.Notes[0].Text, "(3 lines") {
		t.Errorf("notes %s, want %s; %+v", got, want, report.Notes)
	}
}
