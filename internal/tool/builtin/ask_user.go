package builtin

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
)

//go:embed ask_user.md
var askUserDoc string

type askUserInput struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
	Multiple bool     `json:"multiple"`
}

func askUserTool() tool.Tool {
	return tool.Define(tool.Spec[askUserInput]{
		Name: "ask_user", Doc: askUserDoc, Kind: event.UIQuestion,
		Schema: `{"type":"object","properties":{"question":{"type":"string"},"options":{"type":"array","items":{"type":"string"}},"multiple":{"type":"boolean"}},"required":["question"]}`,
		Run:    askUser,
	})
}

// Bounds of a question, which stands on one screen.
const (
	mostQuestion = 4000 // characters
	mostOptions  = 20
	mostOption   = 300 // characters
)

func askUser(ctx context.Context, env *tool.Env, in askUserInput) (tool.Result, error) {
	q, err := question(in)
	if err != nil {
		return tool.Result{}, err
	}
	answer, err := env.Ask(ctx, q)
	ui := event.ToolUI{Kind: event.UIQuestion, Summary: "asked: " + firstLine(q.Text)}
	switch {
	case errors.Is(err, tool.ErrNobody):
		ui.Summary = "nobody to ask: " + firstLine(q.Text)
		return tool.Result{Text: "Nobody is there to ask. Decide yourself and say in your answer what you assumed.", UI: ui}, nil
	case err != nil:
		return tool.Result{}, err
	}
	text := strings.TrimSpace(strings.Join(answer, "\n"))
	if text == "" {
		text = "(The user gave no answer.)"
	}
	return tool.Result{Text: tool.Clip(text, tool.ResultLimit).Text, UI: ui}, nil
}

func question(in askUserInput) (tool.Question, error) {
	q := tool.Question{Text: strings.TrimSpace(event.Text(in.Question)), Multiple: in.Multiple && len(in.Options) > 1}
	switch n := len([]rune(q.Text)); {
	case n == 0:
		return q, tool.Errorf(event.ToolInvalidInput, "The question is empty.")
	case n > mostQuestion:
		return q, tool.Errorf(event.ToolInvalidInput, "The question has %d characters; at most %d.", n, mostQuestion)
	case len(in.Options) > mostOptions:
		return q, tool.Errorf(event.ToolInvalidInput, "%d options are too many: at most %d.", len(in.Options), mostOptions)
	}
	for i, o := range in.Options {
		o = strings.Join(strings.Fields(event.Text(o)), " ")
		if n := len([]rune(o)); n == 0 || n > mostOption {
			return q, tool.Errorf(event.ToolInvalidInput, "Option %d has %d characters; it must have 1 to %d.", i+1, n, mostOption)
		}
		q.Options = append(q.Options, o)
	}
	return q, nil
}
