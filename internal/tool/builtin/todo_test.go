package builtin

import (
	"slices"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
)

func item(text string, status event.TodoStatus) event.TodoItem {
	return event.TodoItem{Text: text, Status: status}
}

func TestATaskListIsReplacedWhole(t *testing.T) {
	for _, tt := range []struct {
		name       string
		items      []event.TodoItem
		text       string
		wantLogged []event.TodoItem
	}{
		{
			"a list",
			[]event.TodoItem{item("look", event.TodoDone), item("cut", event.TodoActive), item("sew", event.TodoPending)},
			"1 of 3 done",
			[]event.TodoItem{item("look", event.TodoDone), item("cut", event.TodoActive), item("sew", event.TodoPending)},
		},
		{"several that are under way", []event.TodoItem{item("a", event.TodoActive), item("b", event.TodoActive)}, "0 of 2 done", []event.TodoItem{item("a", event.TodoActive), item("b", event.TodoActive)}},
		{"lines are one line", []event.TodoItem{item(" a\n\tb\xff ", event.TodoDone)}, "1 of 1 done", []event.TodoItem{item("a b\ufffd", event.TodoDone)}},
		{"no item clears it", []event.TodoItem{}, "task list cleared", []event.TodoItem{}},
	} {
		p := newProject(t, nil)
		r := p.done(todo(t.Context(), p.env, todoInput{Items: tt.items}))
		equal(t, r.Text, tt.text)
		updated, ok := r.Facts[0].(event.TodoUpdated)
		if !ok || len(r.Facts) != 1 || !slices.Equal(updated.Items, tt.wantLogged) || r.UI.Kind != event.UITodo {
			t.Errorf("%s: %+v", tt.name, r)
		}
	}
}

func TestATaskListThatIsNoneIsExplained(t *testing.T) {
	p := newProject(t, nil)
	many := make([]event.TodoItem, mostItems+1)
	for _, tt := range []struct {
		items []event.TodoItem
		words string
	}{
		{nil, "items is missing"},
		{[]event.TodoItem{item("a", event.TodoDone), item("b", "doing")}, `status of item 2 is pending, active or done, not "doing"`},
		{[]event.TodoItem{item("a", "")}, "status of item 1"},
		{[]event.TodoItem{item(" \n", event.TodoDone)}, "Item 1 has no text"},
		{[]event.TodoItem{item(strings.Repeat("ä", mostItem+1), event.TodoDone)}, "501 characters"},
		{many, "101 items"},
	} {
		_, err := todo(t.Context(), p.env, todoInput{Items: tt.items})
		p.refused(err, event.ToolInvalidInput, tt.words)
	}
	p.done(todo(t.Context(), p.env, todoInput{Items: []event.TodoItem{item(strings.Repeat("ä", mostItem), event.TodoDone)}}))
}
