package event

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The tables below repeat seed 003 §4 and contract §4 by hand, as the third
// witness beside the structs and the documentation made from them. Fields
// stand in wire order; "?" marks an optional one, "~" one that can be null,
// "[]" an array, "{…}" an object.

var seedFacts = map[string]string{
	"session.started":       "title projectHash workingDirectory gitBranch~ model auxModel khaelorVersion parentSessionId?",
	"session.resumed":       "khaelorVersion replayedSeq model toolNames[]",
	"session.renamed":       "title",
	"session.model-changed": "from to reason",
	"git.baseline-recorded": "when baseline{branch dirtyFiles[] untrackedFiles[] diffHash}",

	"user.message-created":   "text mentions[]{path range?{start end} content?} images?[]{mediaType sha256}",
	"user.steering-queued":   "text",
	"user.steering-injected": "queuedEventId seam afterSeq",
	"user.interrupted":       "scope pendingToolUseIds[]",

	"model.request-started":          "requestId model purpose contextStats{estimatedInputTokens sections[]{name estimatedTokens}}",
	"model.text-block-completed":     "requestId blockIndex text",
	"model.thinking-block-completed": "requestId blockIndex thinking signature",
	"tool.requested":                 "requestId blockIndex toolUseId toolName input",
	"model.response-completed":       "requestId stopReason usage{inputTokens outputTokens cacheReadTokens cacheWriteTokens} durationMs",
	"model.request-failed":           "requestId kind message status? retriesExhausted usage?{inputTokens outputTokens cacheReadTokens cacheWriteTokens}",

	"permission.requested": "permissionRequestId toolUseId capability descriptor suggestion?{capability pattern} capabilities?[] callHash?",
	"permission.granted":   "permissionRequestId scope feedback? editedInput?",
	"permission.denied":    "permissionRequestId source feedback",

	"tool.approved":  "toolUseId via",
	"tool.started":   "toolUseId toolName",
	"tool.completed": "toolUseId modelText spillFile? durationMs ui{kind summary diffStats?{added removed} exitCode? matchCount?} media?[]{mediaType sha256}",
	"tool.failed":    "toolUseId modelText errorKind durationMs",
	"tool.cancelled": "toolUseId reason modelText",

	"file.read":     "path range?{start end} bytes mtimeMs toolUseId sha256?",
	"file.modified": "path operation diffStats{added removed} diff? toolUseId beforeSha256? afterSha256?",

	"process.started": "processId pid command cwd name? toolUseId",
	"process.exited":  "processId exitCode~ cause durationMs",

	"context.pruned":    "toolUseIds[] placeholder tokensReclaimedEstimate",
	"context.compacted": "checkpointYaml cut{fromSeq toSeq} trigger tokensBefore summaryModel",

	"task.verification-requested": "attempt detectedChecks[] withheldCandidateSeq modelText",
	"task.completed":              "evidence{objective changedFiles[] checks[]{command exitCode summary durationMs} unresolvedIssues[]}",
	"task.failed":                 "reason detail",
}

var addedFacts = map[string]string{
	"session.forked":               "fromSessionId atSeq",
	"model.opaque-block-completed": "requestId blockIndex blockType raw",
	"user.shell-run":               "command exitCode output durationMs",
	"user.message-queued":          "text mentions[]{path range?{start end} content?} images?[]{mediaType sha256}",
	"user.message-dequeued":        "queuedEventId by",
	"user.steering-withdrawn":      "queuedEventId",
	"user.question-asked":          "questionId toolUseId question options[] multiple?",
	"user.question-answered":       "questionId answer",
	"todo.updated":                 "items[]{text status}",
	"phase.entered":                "phase from by",
	"phase.design-proposed":        "designId title markdown",
	"phase.design-approved":        "designId by",
	"phase.design-rejected":        "designId feedback",
	"verify.checks-completed":      "trigger checks[]{command exitCode summary durationMs} round modelText afterSeq",
	"memory.recalled":              "entries[]{id hash} text",
	"memory.saved":                 "id kind text source",
	"memory.forgotten":             "id",
	"context.tier-recorded":        "tier text sha256",
	"repo.map-recorded":            "text tokensEstimate",
	"subtask.started":              "subtaskId childSessionId kind objective branch",
	"subtask.finished":             "subtaskId outcome evidence{objective changedFiles[] checks[]{command exitCode summary durationMs} unresolvedIssues[]} usage{inputTokens outputTokens cacheReadTokens cacheWriteTokens}",
	"subtask.merged":               "subtaskId files[] conflicts[]",
	"subtask.discarded":            "subtaskId reason",
	"context.noted":                "text",
}

var seedNotices = map[string]string{
	"model.text-delta":        "requestId blockIndex text",
	"model.thinking-delta":    "requestId blockIndex text",
	"model.tool-call-started": "requestId blockIndex toolUseId toolName",
	"model.tool-input-delta":  "requestId blockIndex toolUseId partialJson",
	"tool.output":             "toolUseId chunk",
	"process.output":          "processId stream chunk",
}

var addedNotices = map[string]string{
	"model.retry-scheduled": "requestId attempt delayMs kind status",
}

func TestFactsHaveTheNamesAndFieldsOfTheContract(t *testing.T) {
	if len(seedFacts) != 32 {
		t.Errorf("the table has %d facts of the seed, want 32", len(seedFacts))
	}
	got := map[string]string{}
	for _, f := range facts(t) {
		got[NameOf(f)] = shape(reflect.TypeOf(f))
	}
	compareShapes(t, got, seedFacts, addedFacts)
}

func TestNoticesHaveTheNamesAndFieldsOfTheContract(t *testing.T) {
	if len(seedNotices) != 6 {
		t.Errorf("the table has %d notices of the seed, want 6", len(seedNotices))
	}
	got := map[string]string{}
	for _, n := range notices {
		got[NoticeNameOf(n)] = shape(reflect.TypeOf(n))
	}
	compareShapes(t, got, seedNotices, addedNotices)
}

func compareShapes(t *testing.T, got map[string]string, tables ...map[string]string) {
	t.Helper()
	want := 0
	for _, table := range tables {
		want += len(table)
		for name, fields := range table {
			if got[name] != fields {
				t.Errorf("%s:\n have %q\n want %q", name, got[name], fields)
			}
		}
	}
	if len(got) != want {
		t.Errorf("%d names, the contract has %d", len(got), want)
	}
}

// shape writes a struct's fields in the notation of the tables.
func shape(t reflect.Type) string {
	var fields []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, optional := strings.CutSuffix(f.Tag.Get("json"), ",omitempty")
		elem, mark := f.Type, ""
		if optional {
			mark = "?"
		}
		if elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
			if !optional {
				mark = "~"
			}
		}
		if elem.Kind() == reflect.Slice && elem.Elem().Kind() != reflect.Uint8 {
			elem, mark = elem.Elem(), mark+"[]"
		}
		if elem.Kind() == reflect.Struct {
			mark += "{" + shape(elem) + "}"
		}
		fields = append(fields, name+mark)
	}
	return strings.Join(fields, " ")
}

func TestEveryWireNameIsUsedOnce(t *testing.T) {
	names := Names()
	for _, n := range notices {
		names = append(names, NoticeNameOf(n))
	}
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			t.Errorf("%s is the name of two", names[i])
		}
	}
}

func TestEveryTypeWithTheMethodIsListed(t *testing.T) {
	src := parseSource(t)
	listed := []string{goName(Unknown{})} // the one fact that has no name of its own
	for _, f := range facts(t) {
		listed = append(listed, goName(f))
	}
	sameNames(t, "durable()", src.methods["durable"], listed)
	listed = nil
	for _, n := range notices {
		listed = append(listed, goName(n))
	}
	sameNames(t, "ephemeral()", src.methods["ephemeral"], listed)
}

func sameNames(t *testing.T, method string, have, listed []string) {
	t.Helper()
	for _, name := range have {
		if !slices.Contains(listed, name) {
			t.Errorf("%s has %s and is not listed", name, method)
		}
	}
	for _, name := range listed {
		if !slices.Contains(have, name) {
			t.Errorf("%s is listed and has no %s", name, method)
		}
	}
}

// A slice without omitempty would be null when it is empty; only a List is an
// array then.
func TestARequiredArrayIsAList(t *testing.T) {
	for _, f := range facts(t) {
		requireLists(t, NameOf(f), reflect.TypeOf(f))
	}
}

func requireLists(t *testing.T, path string, typ reflect.Type) {
	t.Helper()
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, optional := strings.CutSuffix(f.Tag.Get("json"), ",omitempty")
		elem := f.Type
		if elem.Kind() == reflect.Pointer {
			elem = elem.Elem()
		}
		if elem.Kind() == reflect.Slice && elem.Elem().Kind() != reflect.Uint8 {
			if isList := strings.HasPrefix(elem.Name(), "List["); isList == optional {
				t.Errorf("%s.%s: %v, optional %v", path, name, f.Type, optional)
			}
			elem = elem.Elem()
		}
		if elem.Kind() == reflect.Struct {
			requireLists(t, path+"."+name, elem)
		}
	}
}

func TestWireEnumsHaveTheValuesOfTheContract(t *testing.T) {
	want := map[string]string{
		"ChangeReason":      "user config",
		"BaselineMoment":    "session-start pre-first-edit",
		"Seam":              "post-tool-batch pre-model-call",
		"Taker":             "user engine",
		"InterruptScope":    "turn",
		"Purpose":           "main compaction verification-nudge",
		"StopReason":        "end_turn tool_use max_tokens refusal pause_turn stop_sequence model_context_window_exceeded",
		"ModelErrorKind":    "retryable context-overflow auth invalid-request cancelled",
		"GrantScope":        "once session always-project",
		"DenialSource":      "user policy hardline timeout",
		"ApprovalVia":       "policy-allow user-once user-session user-always rule mode hook",
		"UIKind":            "read search edit exec process todo question web index memory subtask mcp",
		"ToolErrorKind":     "invalid-input not-found ambiguous-edit exec-error timeout permission-denied stale internal",
		"CancelReason":      "interrupted resume-recovery shutdown response-failed",
		"TodoStatus":        "pending active done",
		"FileOperation":     "write edit exec",
		"ExitCause":         "exited stopped-by-tool khaelor-shutdown crashed",
		"OutputStream":      "stdout stderr",
		"CompactionTrigger": "proactive-token-budget reactive-overflow user-command",
		"Tier":              "tools static session",
		"FailureReason":     "model-fatal-error iteration-budget-exhausted user-abandoned cost-budget-exhausted time-budget-exhausted permission-denied refusal output-limit doom-loop",
		"CheckTrigger":      "edit-batch completion user",
		"Actor":             "user model config",
	}
	src := parseSource(t)
	for name, values := range src.values {
		var got []string
		for _, v := range values {
			got = append(got, v.value)
		}
		if have := strings.Join(got, " "); have != want[name] {
			t.Errorf("%s: have %q, want %q", name, have, want[name])
		}
	}
	if len(src.values) != len(want) {
		t.Errorf("%d enums in the source, %d in the table", len(src.values), len(want))
	}
}
