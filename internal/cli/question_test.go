package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

func TestAQuestionIsAnsweredByNumbersOrWords(t *testing.T) {
	fruit := event.List[string]{"apple", "Pear", "plum"}
	one, many := event.QuestionAsked{Options: fruit}, event.QuestionAsked{Options: fruit, Multiple: true}
	sizes, open := event.QuestionAsked{Options: event.List[string]{"4", "2", "1"}}, event.QuestionAsked{}
	for _, tt := range []struct {
		name string
		q    event.QuestionAsked
		line string
		want []string
	}{
		{"a number", one, "2", []string{"Pear"}},
		{"an option's words", one, "pear", []string{"Pear"}},
		{"words of one's own", one, "a fig", []string{"a fig"}},
		{"a number that is none of them", one, "4", []string{"4"}},
		{"several where one is asked for", one, "1,2", []string{"1,2"}},
		{"several", many, "1,3", []string{"apple", "plum"}},
		{"several, apart and twice", many, "3, 1 3", []string{"plum", "apple"}},
		{"one of several", many, "2", []string{"Pear"}},
		{"a number beside another word", many, "1, fig", []string{"1, fig"}},
		{"words are before numbers", sizes, "2", []string{"2"}},
		{"a question without options", open, "1", []string{"1"}},
		{"only commas", many, ",", []string{","}},
	} {
		if got := chosen(tt.q, tt.line); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

func TestATaskListIsShownShort(t *testing.T) {
	items := []event.TodoItem{{Text: "look", Status: event.TodoDone}, {Text: "cut\x1b[2J", Status: event.TodoActive}, {Text: "sew", Status: event.TodoPending}}
	if got := todoPanel(items); !strings.HasPrefix(got, "  [x] look\n  [>] cut") || !strings.HasSuffix(got, "\n  [ ] sew\n") || strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
	items = nil
	for i := range 30 {
		status := event.TodoPending
		if i < 20 {
			status = event.TodoDone
		}
		items = append(items, event.TodoItem{Text: fmt.Sprint(i), Status: status})
	}
	got := todoPanel(items)
	if !strings.HasPrefix(got, "  … 18 done\n  [x] 18\n") || strings.Count(got, "\n") != shownItems+1 {
		t.Errorf("%s", got)
	}
}
