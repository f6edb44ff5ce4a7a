package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
)

// answers brings the user's answers to whoever waits for them. An answer may
// come before the waiting begins: the question is in the log first.
type answers struct {
	mu      sync.Mutex
	waiting map[string]chan tool.Answer
	asked   map[string]chan []string
}

func newAnswers() *answers {
	return &answers{waiting: map[string]chan tool.Answer{}, asked: map[string]chan []string{}}
}

func (a *answers) permission(id string, answer tool.Answer) error {
	return deliver(a, a.waiting, id, answer)
}

func (a *answers) question(c command.AnswerQuestion) error {
	return deliver(a, a.asked, c.QuestionID, c.Answer)
}

func deliver[T any](a *answers, to map[string]chan T, id string, answer T) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	ch, ok := to[id]
	if !ok {
		return ErrNotAsked
	}
	select {
	case ch <- answer:
		return nil
	default:
		return ErrNotAsked // answered already
	}
}

// expect is where the answer will come. The caller ends the waiting.
func expect[T any](a *answers, from map[string]chan T, id string) (answer <-chan T, end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ch := make(chan T, 1)
	from[id] = ch
	return ch, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(from, id)
	}
}

// asker puts questions to the user of an engine.
type asker struct{ e *Engine }

// Expect implements tool.Asker.
func (a asker) Expect(id string) func(context.Context) (tool.Answer, error) {
	if !a.e.o.Attended {
		return func(context.Context) (tool.Answer, error) {
			return tool.Answer{Source: event.DeniedByTimeout}, nil
		}
	}
	answer, end := expect(a.e.answers, a.e.answers.waiting, id)
	return func(ctx context.Context) (tool.Answer, error) {
		defer end()
		select {
		case got := <-answer:
			return got, nil
		case <-ctx.Done():
			return tool.Answer{}, ctx.Err()
		}
	}
}

// AskRepeated implements kernel.User.
func (a asker) AskRepeated(ctx context.Context, call string, times int) error {
	words, err := a.put(ctx, event.QuestionAsked{
		Question: fmt.Sprintf("The model made the same call %d times in a row: %s. Go on?", times, tool.Clip(event.Text(call), 400).Text),
		Options:  event.List[string]{"go on", "stop"},
	})
	switch {
	case ctx.Err() != nil:
		return nil // the kernel sees that ctx has ended
	case err != nil:
		return err
	case len(words) > 0 && strings.EqualFold(words[0], "go on"):
		return nil
	}
	return a.e.publish(event.TaskFailed{Reason: event.FailedDoomLoop, Detail: "stopped by the user: the model repeated itself"})
}

// ask puts the question of a call.
func (a asker) ask(ctx context.Context, toolUseID string, q tool.Question) ([]string, error) {
	if !a.e.o.Attended {
		return nil, tool.ErrNobody
	}
	return a.put(ctx, event.QuestionAsked{ToolUseID: toolUseID, Question: q.Text, Options: q.Options, Multiple: q.Multiple})
}

// put logs a question, waits for its answer and logs that.
func (a asker) put(ctx context.Context, q event.QuestionAsked) ([]string, error) {
	q.QuestionID = a.e.o.Clock.ID()
	answer, end := expect(a.e.answers, a.e.answers.asked, q.QuestionID)
	defer end()
	if err := a.e.publish(q); err != nil {
		return nil, err
	}
	select {
	case words := <-answer:
		valid := make([]string, len(words))
		for i, w := range words {
			valid[i] = event.Text(w)
		}
		raw, err := json.Marshal(valid)
		if err != nil {
			return nil, fmt.Errorf("encode answer: %w", err)
		}
		return valid, a.e.publish(event.QuestionAnswered{QuestionID: q.QuestionID, Answer: raw})
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
