// Package model makes one model call: builds the request, streams the answer,
// publishes what settles, and repeats a failed attempt where that may help.
//
// It promises that an attempt is in the log before it is on the wire, that
// text is published as notices while it comes and as facts once a block is
// whole, that no call of an answer is recorded in a form the service would
// refuse for ever, and that each wait between attempts is announced. What the
// prompt looks like is contextengine's business; the wire is anthropic's; what
// happens after the answer, the kernel's. Start reading at Runtime.Call.
package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/khaelor/khaelor/internal/anthropic"
	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/contextengine"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// Log is where calls are recorded.
type Log interface {
	Publish(event.Fact) (event.Record, error)
	Notify(event.Notice)
	Fold() fold.Session
}

// Streamer sends a request and reports its answer.
type Streamer interface {
	Stream(ctx context.Context, body []byte, h anthropic.Handler) (anthropic.Reply, error)
}

// Runtime makes the conversational calls of one session. All fields but
// Budget must be set.
type Runtime struct {
	Log     Log
	Context *contextengine.Engine
	Client  Streamer
	Clock   *clock.Clock
	// Params are what the next request says besides the conversation.
	Params func() contextengine.Params
	// Budget is asked before every attempt; what it answers ends the task.
	Budget func(fold.Session) *event.TaskFailed
}

// Call makes one call, with as many attempts as the retry budget allows. The
// error is the log's; how the call went is in the log.
func (r *Runtime) Call(ctx context.Context) error {
	if err := r.continueCut(); err != nil {
		return err
	}
	started := r.Clock.Now()
	for attempt := 1; ; attempt++ {
		if r.Budget != nil {
			if over := r.Budget(r.Log.Fold()); over != nil {
				_, err := r.Log.Publish(*over)
				return err
			}
		}
		failure, err := r.attempt(ctx)
		if err != nil || failure == nil {
			return err
		}
		delay, again, err := r.giveUpOrAnnounce(attempt, r.Clock.Since(started), failure)
		if err != nil || !again {
			return err
		}
		if (anthropic.Backoff{Clock: r.Clock}).Wait(ctx, delay) != nil {
			return nil // the kernel sees that ctx has ended
		}
	}
}

// continueCut says why the conversation ends with the assistant's own words,
// which the service does not accept as a question.
func (r *Runtime) continueCut() error {
	s := r.Log.Fold()
	if s.History.LastRole() != fold.Assistant || s.State.Request.Stop == event.StopPauseTurn && !endsInSpace(s.History) {
		return nil
	}
	text := "Your answer was cut off here. Go on where it stopped."
	switch s.State.Request.Stop {
	case event.StopMaxTokens:
		text = "Your answer reached the output limit. Go on where it stopped, without repeating anything."
	case event.StopPauseTurn:
		text = "Go on."
	}
	_, err := r.Log.Publish(event.ContextNoted{Text: text})
	return err
}

// endsInSpace says that the last words end in white space, which the service
// refuses at the end of a request.
func endsInSpace(h fold.History) bool {
	last := h.Blocks()[len(h.Blocks())-1]
	return last.Kind == fold.TextBlock && last.Text != strings.TrimRight(last.Text, " \t\r\n")
}

// shownFailure is how much of a server's words a fact holds, in characters: a
// gateway may answer with a whole page.
const shownFailure = 4000

// failure is an attempt without an answer.
type failure struct {
	requestID string
	err       *anthropic.Error
	usage     *event.ModelUsage // what was counted by then, if anything was
}

// attempt makes one request. A failed one is not recorded yet.
func (r *Runtime) attempt(ctx context.Context) (*failure, error) {
	params := r.Params()
	request := r.Context.Build(r.Log.Fold(), params)
	id := "req_" + r.Clock.ID()
	start := r.Clock.Now()
	if _, err := r.Log.Publish(event.ModelRequestStarted{
		RequestID: id, Model: params.Model, Purpose: event.PurposeMain, ContextStats: request.Stats,
	}); err != nil {
		return nil, err
	}
	answer := &answer{log: r.Log, requestID: id}
	reply, err := r.Client.Stream(ctx, request.Body, answer)
	if err == nil {
		return nil, r.completed(answer, reply, start)
	}
	r.Context.Release() // the transport may still be reading the body
	var failed *anthropic.Error
	if errors.As(err, &failed) {
		f := &failure{requestID: id, err: failed}
		if reply.Usage.Known {
			counted := usageOf(reply.Usage)
			f.usage = &counted
		}
		return f, nil
	}
	return nil, err
}

func (r *Runtime) completed(a *answer, reply anthropic.Reply, start time.Time) error {
	_, err := r.Log.Publish(event.ModelResponseCompleted{
		RequestID:  a.requestID,
		StopReason: event.StopReason(event.Text(reply.StopReason)),
		Usage:      usageOf(reply.Usage),
		DurationMS: r.Clock.Since(start).Milliseconds(),
	})
	if err != nil {
		return err
	}
	return a.reject(reply.CutBlock)
}

func usageOf(u anthropic.Usage) event.ModelUsage {
	return event.ModelUsage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
		CacheReadTokens: u.CacheReadTokens, CacheWriteTokens: u.CacheWriteTokens,
	}
}

// giveUpOrAnnounce records the failure, closes the attempt's calls, and says
// when the next attempt is due.
func (r *Runtime) giveUpOrAnnounce(attempt int, elapsed time.Duration, f *failure) (time.Duration, bool, error) {
	backoff := anthropic.Backoff{Clock: r.Clock}
	delay, again := backoff.Next(attempt, elapsed, f.err)
	again = again && f.err.Retryable()
	message := f.err.Error()
	if why := backoff.GiveUp(attempt, elapsed, f.err); !again && why != "" && f.err.Retryable() {
		message = fmt.Sprintf("%s (%s)", message, why)
	}
	kind := event.ModelErrorKind(f.err.Kind)
	if _, err := r.Log.Publish(event.ModelRequestFailed{
		RequestID: f.requestID, Kind: kind, Message: event.Clip(event.Text(message), shownFailure), Status: f.err.Status, RetriesExhausted: !again, Usage: f.usage,
	}); err != nil {
		return 0, false, err
	}
	if kind != event.ErrorCancelled {
		if err := r.dropCalls(f.requestID); err != nil {
			return 0, false, err
		}
	}
	if again {
		r.Log.Notify(event.ModelRetryScheduled{
			RequestID: f.requestID, Attempt: attempt + 1, DelayMS: delay.Milliseconds(), Kind: kind, Status: f.err.Status,
		})
	}
	return delay, again, nil
}

// dropCalls closes the calls of an attempt that has no answer: none of them
// ran, and none is in the history.
func (r *Runtime) dropCalls(requestID string) error {
	for _, call := range r.Log.Fold().State.Calls {
		if call.RequestID != requestID {
			continue
		}
		if _, err := r.Log.Publish(event.ToolCancelled{
			ToolUseID: call.ID, Reason: event.CancelResponseFailed,
			ModelText: "[Cancelled: the answer with this call did not arrive whole.]",
		}); err != nil {
			return err
		}
	}
	return nil
}
