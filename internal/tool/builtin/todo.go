package builtin

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
)

//go:embed todo.md
var todoDoc string

type todoInput struct {
	Items []event.TodoItem `json:"items"`
}

func todoTool() tool.Tool {
	return tool.Define(tool.Spec[todoInput]{
		Name: "todo", Doc: todoDoc, Kind: event.UITodo,
		Schema: `{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"status":{"enum":["pending","active","done"]}},"required":["text","status"]}}},"required":["items"]}`,
		Run:    todo,
	})
}

// Bounds of a task list. It is a panel on the screen, not a document.
const (
	mostItems = 100
	mostItem  = 500 // characters of one
)

func todo(_ context.Context, _ *tool.Env, in todoInput) (tool.Result, error) {
	if in.Items == nil {
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "items is missing: send the whole list, or [] to clear it.")
	}
	if n := len(in.Items); n > mostItems {
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "%d items are too many: at most %d; put small steps together.", n, mostItems)
	}
	counts := map[event.TodoStatus]int{}
	items := make([]event.TodoItem, len(in.Items))
	for i, item := range in.Items {
		item.Text = strings.Join(strings.Fields(event.Text(item.Text)), " ")
		if err := badItem(i+1, item); err != nil {
			return tool.Result{}, err
		}
		items[i] = item
		counts[item.Status]++
	}
	summary := fmt.Sprintf("%d of %d done", counts[event.TodoDone], len(items))
	if len(items) == 0 {
		summary = "task list cleared"
	}
	return tool.Result{
		Text: summary, UI: event.ToolUI{Kind: event.UITodo, Summary: summary},
		Facts: []event.Fact{event.TodoUpdated{Items: items}},
	}, nil
}

func badItem(number int, item event.TodoItem) error {
	switch item.Status {
	case event.TodoPending, event.TodoActive, event.TodoDone:
	default:
		return tool.Errorf(event.ToolInvalidInput, "The status of item %d is pending, active or done, not %q.", number, event.Clip(string(item.Status), 40))
	}
	switch n := len([]rune(item.Text)); {
	case n == 0:
		return tool.Errorf(event.ToolInvalidInput, "Item %d has no text.", number)
	case n > mostItem:
		return tool.Errorf(event.ToolInvalidInput, "Item %d has %d characters; at most %d: say it in one line.", number, n, mostItem)
	}
	return nil
}
