package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/event"
)

// answerQuestion asks what the model, or the engine, wants to know. waited says
// that somebody waited for it.
func (s *lines) answerQuestion(ctx context.Context, q event.QuestionAsked) (waited bool, err error) {
	line, err := s.ask(ctx, questionText(q))
	if err != nil {
		return false, err
	}
	err = s.chat.engine.Dispatch(command.AnswerQuestion{QuestionID: q.QuestionID, Answer: chosen(q, line)})
	if errors.Is(err, engine.ErrNotAsked) {
		return false, nil
	}
	return true, s.complain(err)
}

func questionText(q event.QuestionAsked) string {
	var b strings.Builder
	b.WriteString(visible(q.Question))
	for i, option := range q.Options {
		fmt.Fprintf(&b, "\n  %d  %s", i+1, visible(option))
	}
	switch {
	case len(q.Options) > 0 && q.Multiple:
		b.WriteString("\n[numbers such as 1,3, or words of your own]")
	case len(q.Options) > 0:
		b.WriteString("\n[a number, or words of your own]")
	}
	return b.String()
}

// chosen is what a line answers: options by their words or their numbers, or
// else the line as it is.
func chosen(q event.QuestionAsked, line string) []string {
	same := func(option string) bool { return strings.EqualFold(option, line) }
	if i := slices.IndexFunc(q.Options, same); i >= 0 {
		return []string{q.Options[i]}
	}
	numbers := []string{line}
	if q.Multiple {
		numbers = strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' || r == ';' })
	}
	var options []string
	for _, number := range numbers {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(q.Options) {
			return []string{line}
		}
		if option := q.Options[n-1]; !slices.Contains(options, option) {
			options = append(options, option)
		}
	}
	if len(options) == 0 {
		return []string{line}
	}
	return options
}

// shownItems is how many items of a task list are shown at most.
const shownItems = 12

// todoPanel is a task list as lines. Of a long one what is done gives way.
func todoPanel(items []event.TodoItem) string {
	marks := map[event.TodoStatus]string{event.TodoDone: "[x]", event.TodoActive: "[>]", event.TodoPending: "[ ]"}
	hidden := len(items) - shownItems
	var b strings.Builder
	left := 0
	for _, item := range items {
		if left < hidden && item.Status == event.TodoDone {
			left++
			continue
		}
		fmt.Fprintf(&b, "  %s %s\n", marks[item.Status], oneLine(item.Text))
	}
	if left > 0 {
		return fmt.Sprintf("  … %d done\n", left) + b.String()
	}
	return b.String()
}
