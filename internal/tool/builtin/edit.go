package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/khaelor/khaelor/internal/charset"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/tool/builtin/match"
	"github.com/khaelor/khaelor/internal/wording"
	"github.com/khaelor/khaelor/internal/workspace"
)

// editLimit is up to which size a file is edited: looking for a place takes
// some ten times as much memory.
const editLimit = 10 << 20

//go:embed edit.md
var editDoc string

type editInput struct {
	Path       string `json:"path"`
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
}

func editTool() tool.Tool {
	return tool.Define(tool.Spec[editInput]{
		Name: "edit", Doc: editDoc, Kind: event.UIEdit,
		Schema: `{"type":"object","properties":{"path":{"type":"string"},"old_string":{"type":"string"},"new_string":{"type":"string"},"replace_all":{"type":"boolean"}},"required":["path","old_string","new_string"]}`,
		Needs:  func(env *tool.Env, in editInput) (tool.Need, error) { return pathNeed(env, in.Path, true) },
		Run:    edit,
	})
}

func edit(_ context.Context, env *tool.Env, in editInput) (tool.Result, error) {
	t, err := locate(env, in.Path, true)
	if err != nil {
		return tool.Result{}, err
	}
	switch {
	case in.OldString == "":
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "old_string is empty. To create a file or replace all of it use write.")
	case strings.ContainsRune(in.NewString, 0):
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "new_string holds a NUL character, which would make the file binary.")
	case in.OldString == in.NewString:
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "old_string and new_string are the same; nothing was changed.")
	}
	data, err := editable(env, t)
	if err != nil {
		return tool.Result{}, err
	}
	set, ok := charset.Detect(data) // all of it: what the head does not tell counts here
	if !ok {
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "%s is a binary file; edit changes text only.", t.shown)
	}
	text, err := set.Decode(data)
	if err != nil {
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "%s cannot be edited without damage: %v. Change it with bash.", t.shown, err)
	}
	found, err := match.Apply(text, wanted(text, in))
	if err != nil {
		return tool.Result{}, mismatch(err, t.shown)
	}
	after, err := set.Encode(found.Text)
	if err != nil {
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "%s: %v. Nothing was changed.", t.shown, err)
	}
	c := change{
		target: t, operation: event.FileEdited, exists: true,
		before: data, after: after, was: text, is: found.Text,
	}
	fact, err := c.apply(env)
	if err != nil {
		return tool.Result{}, err
	}
	return changed(edited(t.shown, found, fact.DiffStats), "Edit", fact), nil
}

// wanted is the edit asked for. A byte order mark, which read does not show, is
// no part of it unless the text has it there.
func wanted(text string, in editInput) match.Edit {
	e := match.Edit{Old: in.OldString, New: in.NewString, All: in.ReplaceAll}
	if bare, ok := strings.CutPrefix(e.Old, "\ufeff"); ok && bare != "" && !strings.Contains(text, e.Old) {
		e.Old, e.New = bare, strings.TrimPrefix(e.New, "\ufeff")
	}
	return e
}

func editable(env *tool.Env, t target) ([]byte, error) {
	info, err := workspace.Stat(env.Workspace, t.Path.Path)
	if err == nil && info.IsRegular && info.Size > editLimit {
		return nil, tool.Errorf(event.ToolInvalidInput, "%s has %d bytes; files over %d are changed with bash.", t.shown, info.Size, editLimit)
	}
	data, err := env.Workspace.ReadFile(t.Path.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(env, t)
	case err != nil:
		return nil, failure(err, t.shown)
	}
	return data, nil
}

func edited(shown string, found match.Result, stats event.DiffStats) string {
	text := fmt.Sprintf("edited %s: %s, %s (%s)", shown, wording.Count(len(found.Places), "place"), lineList(linesOf(found.Places)), counted(stats))
	if found.Rung > match.Exact {
		text += "; old_string fits there but for " + found.Rung.String()
	}
	return text
}

func linesOf(places []match.Place) []int {
	lines := make([]int, 0, listedLines+1)
	for _, p := range places[:min(len(places), listedLines+1)] {
		lines = append(lines, p.Line)
	}
	return lines
}

// listedLines is how many line numbers say enough.
const listedLines = 20

func lineList(lines []int) string {
	words := make([]string, 0, listedLines)
	for i, n := range lines {
		if i == listedLines {
			words = append(words, "…")
			break
		}
		words = append(words, strconv.Itoa(n))
	}
	if len(lines) == 1 {
		return "line " + words[0]
	}
	return "lines " + strings.Join(words, ", ")
}

// mismatch explains why an edit was not made, and from what to make the next.
func mismatch(err error, shown string) error {
	var ambiguous *match.AmbiguousError
	var miss *match.NotFoundError
	switch {
	case errors.As(err, &ambiguous):
		return tool.Errorf(event.ToolAmbiguousEdit, "%s", severally(ambiguous, shown))
	case errors.As(err, &miss):
		return tool.Errorf(event.ToolNotFound, "old_string is not in %s. Nothing was changed. %s", shown, nearby(miss.Near))
	}
	return tool.Errorf(event.ToolInvalidInput, "The edit would leave %s as it is.", shown)
}

func severally(e *match.AmbiguousError, shown string) string {
	number := strconv.Itoa(len(e.Lines))
	if e.More {
		number = "over " + number
	}
	but, do := "", "Add lines around it so that it fits one, or set replace_all."
	if e.Rung > match.Exact {
		but = " but for " + e.Rung.String()
	}
	if e.Rung > match.LineEndings {
		do = "Copy it exactly from one of them, or add lines around it."
	}
	return fmt.Sprintf("old_string fits %s places in %s%s: %s. Nothing was changed. %s", number, shown, but, lineList(e.Lines), do)
}

func nearby(r *match.Region) string {
	if r == nil {
		return "Nothing in it is like old_string: read it, or look for the text with grep."
	}
	how, quote := "", func(s string) string { return s }
	switch {
	case r.Blank():
		how, quote = " in white space only", strconv.Quote
	case r.Alike():
		how, quote = " in look-alike characters only", strconv.QuoteToASCII
	case slices.ContainsFunc(slices.Concat(r.Text, r.Want), unseen):
		quote = strconv.Quote
	}
	if r.Blank() && strings.Contains(strings.Join(r.Text, ""), "\t") != strings.Contains(strings.Join(r.Want, ""), "\t") {
		how += " (tabs and blanks)"
	}
	return fmt.Sprintf("Most like it are lines %d-%d, which differ%s from line %d on.\nfile:\n%s\nold_string:\n%s",
		r.First, r.Last, how, r.Line, quoted(r.Text, r.Want, quote), quoted(r.Want, r.Text, quote))
}

// unseen reports a line with a character that does not show.
func unseen(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && !unicode.IsPrint(r) })
}

// excerptLength is how much of a long line is shown, in characters; excerptLead
// is how much of that comes before the first difference.
const (
	excerptLength = 300
	excerptLead   = 60
)

// quoted shows lines, and of long ones the part where they begin to differ from
// the others.
func quoted(lines, others []string, quote func(string) string) string {
	if len(lines) == 0 {
		return "(no line there)"
	}
	shown := make([]string, len(lines))
	for i, line := range lines {
		other := ""
		if i < len(others) {
			other = others[i]
		}
		shown[i] = excerptOf(line, other, quote)
	}
	return strings.Join(shown, "\n")
}

func excerptOf(line, other string, quote func(string) string) string {
	if utf8.RuneCountInString(line) <= excerptLength {
		return quote(line)
	}
	common := 0
	for common < min(len(line), len(other)) && line[common] == other[common] {
		common++
	}
	from := 0
	if common > excerptLength-excerptLead {
		for from = common - excerptLead; from < common && !utf8.RuneStart(line[from]); {
			from++
		}
	}
	before, after := "", ""
	part := string(wording.Prefix([]byte(line[from:]), excerptLength))
	if from > 0 {
		before = "…"
	}
	if from+len(part) < len(line) {
		after = "…"
	}
	return before + quote(part) + after
}
