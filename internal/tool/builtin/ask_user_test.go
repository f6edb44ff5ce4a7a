package builtin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
)

func TestTheAnswerOfTheUserIsTheResult(t *testing.T) {
	for _, tt := range []struct {
		in     askUserInput
		want   tool.Question
		answer []string
		text   string
	}{
		{askUserInput{Question: " Which? "}, tool.Question{Text: "Which?"}, []string{"the left"}, "the left"},
		{
			askUserInput{Question: "Which?", Options: []string{" a\nb ", "c"}, Multiple: true},
			tool.Question{Text: "Which?", Options: []string{"a b", "c"}, Multiple: true},
			[]string{"c", "a b"},
			"c\na b",
		},
		{askUserInput{Question: "Which?", Options: []string{"a"}, Multiple: true}, tool.Question{Text: "Which?", Options: []string{"a"}}, nil, "(The user gave no answer.)"},
		{askUserInput{Question: "x\xff"}, tool.Question{Text: "x\ufffd"}, []string{" "}, "(The user gave no answer.)"},
	} {
		p := newProject(t, nil)
		p.env.Ask = func(_ context.Context, q tool.Question) ([]string, error) {
			if q.Text != tt.want.Text || !slices.Equal(q.Options, tt.want.Options) || q.Multiple != tt.want.Multiple {
				t.Errorf("asked %+v, want %+v", q, tt.want)
			}
			return tt.answer, nil
		}
		r := p.done(askUser(t.Context(), p.env, tt.in))
		equal(t, r.Text, tt.text)
		if r.UI.Kind != event.UIQuestion || len(r.Facts) > 0 {
			t.Errorf("%+v", r)
		}
	}
}

func TestALongAnswerIsBounded(t *testing.T) {
	p := newProject(t, nil)
	p.env.Ask = func(context.Context, tool.Question) ([]string, error) {
		return []string{strings.Repeat("a", 1<<20)}, nil
	}
	if r := p.done(askUser(t.Context(), p.env, askUserInput{Question: "?"})); len(r.Text) > tool.ResultLimit+100 {
		t.Errorf("%d bytes", len(r.Text))
	}
}

func TestNobodyToAskIsNoFailure(t *testing.T) {
	p := newProject(t, nil)
	p.env.Ask = func(context.Context, tool.Question) ([]string, error) { return nil, tool.ErrNobody }
	if r := p.done(askUser(t.Context(), p.env, askUserInput{Question: "Which?"})); !strings.HasPrefix(r.Text, "Nobody is there to ask. Decide yourself") {
		t.Errorf("%q", r.Text)
	}
	broken := errors.New("the log is full")
	p.env.Ask = func(context.Context, tool.Question) ([]string, error) { return nil, broken }
	if _, err := askUser(t.Context(), p.env, askUserInput{Question: "Which?"}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestAQuestionThatIsNoneIsExplained(t *testing.T) {
	p := newProject(t, nil)
	p.env.Ask = func(context.Context, tool.Question) ([]string, error) {
		t.Error("it was asked")
		return nil, nil
	}
	for words, in := range map[string]askUserInput{
		"is empty":           {Question: " \n"},
		"4001 characters":    {Question: strings.Repeat("?", 4001)},
		"21 options":         {Question: "?", Options: make([]string, 21)},
		"Option 2 has 0":     {Question: "?", Options: []string{"a", " "}},
		"Option 1 has 301 c": {Question: "?", Options: []string{strings.Repeat("a", 301)}},
	} {
		_, err := askUser(t.Context(), p.env, in)
		p.refused(err, event.ToolInvalidInput, words)
	}
}
