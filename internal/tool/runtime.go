package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// Causes of a cancelled context. Any other cause counts as a shutdown.
var (
	ErrInterrupted = errors.New("interrupted by the user")
	ErrShutdown    = errors.New("shutting down")
	ErrTimeUp      = errors.New("the task's time is up")
)

// Log is where the runtime records what happens.
type Log interface {
	Publish(event.Fact) (event.Record, error)
	Notify(event.Notice)
	Fold() fold.Session
}

// Policy decides about a call without asking anybody.
type Policy interface {
	Judge(tool, toolUseID string, need Need) Verdict
}

// Asker brings the user's answers.
type Asker interface {
	// Expect prepares for the answer to a question that is about to be logged.
	// The function it returns waits for the answer; it is called once.
	Expect(permissionRequestID string) (wait func(context.Context) (Answer, error))
}

// Action is what a policy says.
type Action string

const (
	Allow Action = "allow"
	Ask   Action = "ask"
	Deny  Action = "deny"
)

// Verdict is a policy's decision with its reason.
type Verdict struct {
	Action       Action
	Via          event.ApprovalVia  // of an allow
	Source       event.DenialSource // of a deny
	Capability   string
	Capabilities []string
	Descriptor   string
	Reason       string // for the model: why not, and what would be allowed
	Suggestion   *event.Grant
}

// Answer is what the user said.
type Answer struct {
	Granted     bool
	Scope       event.GrantScope
	Source      event.DenialSource // of a refusal
	Feedback    string
	EditedInput []byte // nil: as it was
}

// Runtime runs calls. All fields must be set.
type Runtime struct {
	Log    Log
	Tools  Registry
	Policy Policy
	Asker  Asker
	Clock  *clock.Clock
	// NewEnv makes what one call may use.
	NewEnv func(toolUseID string) *Env
	// BeforeEdit runs before the first call that may change files.
	BeforeEdit func(context.Context) error
	// AfterRun reports what else a call changed in the project, before its
	// result is logged.
	AfterRun func(ctx context.Context, tool string, reported []event.Fact) []event.Fact
}

// Run gives each call its one result, in order. The error is the log's: what
// goes wrong in a call is a result.
func (r *Runtime) Run(ctx context.Context, calls []fold.Call) error {
	left := &room{left: turnLimit}
	for _, call := range calls {
		if err := r.one(ctx, call, left); err != nil {
			return fmt.Errorf("run %s: %w", call.Name, err)
		}
	}
	return nil
}

func (r *Runtime) one(ctx context.Context, call fold.Call, left *room) error {
	if state := r.Log.Fold().State; !state.Runnable() || ctx.Err() != nil {
		return r.cancel(ctx, call, cancelReason(ctx, state), "")
	}
	env := r.NewEnv(call.ID)
	c := closing{call: call, start: r.Clock.Now(), room: left, env: env}
	t, known := r.Tools.Get(call.Name)
	if !known {
		return r.fail(c, Errorf(event.ToolNotFound, "There is no tool %q. The tools are: %s.",
			call.Name, strings.Join(r.Tools.Names(), ", ")))
	}
	note, err := r.permit(ctx, t, env, &call)
	if err != nil {
		return r.settle(ctx, c, Result{}, err)
	}
	if _, err := r.Log.Publish(event.ToolStarted{ToolUseID: call.ID, ToolName: call.Name}); err != nil {
		return err
	}
	result, err := r.execute(ctx, t, env, call)
	result, err = told(note, result, err)
	return r.settle(ctx, c, result, err)
}

// closing is what the end of a call is made of.
type closing struct {
	call  fold.Call
	start time.Time
	room  *room // of the batch
	env   *Env
}

// fit makes a text fit into what the batch has left. Where the whole text is
// kept already it is not kept again.
func (c closing) fit(text, spilled string) (fitted, spill string) {
	fitted = c.room.fit(text, func(whole string) string {
		if spilled == "" && c.env.Spill != nil {
			spilled, _ = c.env.Spill.Keep(whole) // without it the result is only shorter
		}
		return spilled
	})
	return fitted, spilled
}

// told adds to a result what the user said when allowing the call.
func told(note string, result Result, err error) (Result, error) {
	var failed *Error
	switch {
	case note == "":
	case err == nil:
		result.Text = said(result.Text) + note
	case errors.As(err, &failed):
		err = &Error{Kind: failed.Kind, Text: said(failed.Text) + note}
	}
	return result, err
}

// logError tells the log's failures from those of a call.
type logError struct{ error }

func (e logError) Unwrap() error { return e.error }

// permit returns nil once the call may run, with what the user added to it.
func (r *Runtime) permit(ctx context.Context, t Tool, env *Env, call *fold.Call) (note string, err error) {
	need, verdict, err := r.judge(t, env, *call)
	if err != nil {
		return "", err
	}
	if verdict.Action != Allow {
		asked := string(call.Input)
		note, verdict.Via, err = r.question(ctx, verdict, call)
		if err == nil && string(call.Input) != asked {
			need, err = r.edited(ctx, t, env, call)
		}
		if err != nil {
			return "", err
		}
	}
	if writes(need) {
		if err := r.BeforeEdit(ctx); err != nil {
			return "", logError{err}
		}
	}
	if ctx.Err() != nil { // while the user or BeforeEdit was waited for
		return "", ctx.Err()
	}
	if _, err := r.Log.Publish(event.ToolApproved{ToolUseID: call.ID, Via: verdict.Via}); err != nil {
		return "", logError{err}
	}
	return note, nil
}

func (r *Runtime) judge(t Tool, env *Env, call fold.Call) (need Need, v Verdict, err error) {
	defer caught(t.Name, &err)
	need, err = t.needs(env, call.Input)
	v = Verdict{Action: Allow, Via: event.ViaPolicy}
	if err == nil && len(need.Capabilities) > 0 {
		v = r.Policy.Judge(t.Name, call.ID, need)
	}
	return need, v, err
}

// edited judges a call anew whose input the user changed. The user allowed
// it; what nobody may allow stays refused.
func (r *Runtime) edited(ctx context.Context, t Tool, env *Env, call *fold.Call) (Need, error) {
	need, verdict, err := r.judge(t, env, *call)
	if err == nil && verdict.Action == Deny {
		_, _, err = r.question(ctx, verdict, call)
	}
	return need, err
}

func writes(n Need) bool {
	for _, c := range n.Capabilities {
		if c != FileRead {
			return true
		}
	}
	return false
}

// question records the question and its answer. A refusal is an *Error.
func (r *Runtime) question(ctx context.Context, v Verdict, call *fold.Call) (note string, via event.ApprovalVia, err error) {
	asked := event.PermissionRequested{
		PermissionRequestID: r.Clock.ID(), ToolUseID: call.ID, Capability: v.Capability,
		Descriptor: Clip(event.Text(v.Descriptor), mostDescriptor).Text, Suggestion: v.Suggestion, Capabilities: v.Capabilities,
		CallHash: callHash(call),
	}
	answer := Answer{Source: v.Source, Feedback: v.Reason}
	wait := func(context.Context) (Answer, error) { return answer, nil }
	if v.Action == Ask {
		wait = r.Asker.Expect(asked.PermissionRequestID)
	}
	if _, err := r.Log.Publish(asked); err != nil {
		return "", "", logError{err}
	}
	if answer, err = wait(ctx); err != nil {
		return "", "", err
	}
	if !answer.Granted {
		return "", "", r.refuse(asked, answer, v.Reason)
	}
	granted := event.PermissionGranted{
		PermissionRequestID: asked.PermissionRequestID, Scope: answer.Scope,
		Feedback: event.Text(answer.Feedback), EditedInput: answer.EditedInput,
	}
	if _, err := r.Log.Publish(granted); err != nil {
		return "", "", logError{err}
	}
	if answer.EditedInput != nil {
		call.Input = answer.EditedInput
	}
	return noteOf(answer), scopeVia[answer.Scope], nil
}

// noteOf is what the model is told of an answer.
func noteOf(a Answer) string {
	var note string
	if a.EditedInput != nil {
		note = "\n[The user changed the input; what ran is " + string(a.EditedInput) + "]"
	}
	if strings.TrimSpace(a.Feedback) != "" {
		note += "\n[The user says: " + a.Feedback + "]"
	}
	return note
}

var scopeVia = map[event.GrantScope]event.ApprovalVia{
	event.GrantOnce:    event.ViaUserOnce,
	event.GrantSession: event.ViaUserSession,
	event.GrantProject: event.ViaUserAlways,
}

func (r *Runtime) refuse(asked event.PermissionRequested, a Answer, reason string) error {
	feedback := a.Feedback
	if feedback == "" && a.Source != event.DeniedByUser {
		feedback = reason // of use where nobody decided about this very call
	}
	denied := event.PermissionDenied{
		PermissionRequestID: asked.PermissionRequestID, Source: a.Source, Feedback: event.Text(feedback),
	}
	if _, err := r.Log.Publish(denied); err != nil {
		return logError{err}
	}
	return Errorf(event.ToolPermissionDenied, "%s: %s. %s", refusals[a.Source], asked.Descriptor, feedback)
}

// refusals are what the model reads of a denial.
var refusals = map[event.DenialSource]string{
	event.DeniedByUser:     "The user refused this call",
	event.DeniedByPolicy:   "Not allowed by the rules",
	event.DeniedByHardline: "Never allowed",
	event.DeniedByTimeout:  "Not allowed, and nobody is there to ask",
}

func callHash(call *fold.Call) string {
	sum := sha256.Sum256([]byte(call.Name + "\x00" + string(call.Input)))
	return hex.EncodeToString(sum[:])
}

// caught makes a failed call of a tool's panic, so that it is no crash.
func caught(tool string, err *error) {
	if p := recover(); p != nil {
		*err = Errorf(event.ToolInternal, "%s failed inside: %v. This is a bug of KHAELOR; try another way.\n%s",
			tool, p, firstLines(string(debug.Stack()), 12))
	}
}

func (r *Runtime) execute(ctx context.Context, t Tool, env *Env, call fold.Call) (result Result, err error) {
	defer caught(t.Name, &err)
	result, err = t.run(ctx, env, call.Input)
	result.Facts = append(result.Facts, r.AfterRun(context.WithoutCancel(ctx), t.Name, result.Facts)...)
	return result, err
}

func firstLines(s string, n int) string {
	lines := strings.SplitAfterN(s, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "")
}

// settle logs what the call did and its one result.
func (r *Runtime) settle(ctx context.Context, c closing, result Result, err error) error {
	var broken logError
	if errors.As(err, &broken) {
		return broken.error
	}
	for _, f := range result.Facts {
		if _, err := r.Log.Publish(owned(f, c.call.ID)); err != nil {
			return err
		}
	}
	var failed *Error
	switch {
	case err == nil:
		return r.complete(c, result)
	case ctx.Err() != nil:
		return r.cancel(ctx, c.call, cancelReason(ctx, r.Log.Fold().State), result.Text)
	case errors.As(err, &failed):
		return r.fail(c, failed)
	}
	return r.fail(c, Errorf(event.ToolInternal, "%s: %v", c.call.Name, err))
}

// owned fills in which call a fact belongs to.
func owned(f event.Fact, toolUseID string) event.Fact {
	switch p := f.(type) {
	case event.FileRead:
		p.ToolUseID = toolUseID
		return p
	case event.FileModified:
		p.ToolUseID = toolUseID
		return p
	}
	return f
}

func (r *Runtime) complete(c closing, result Result) error {
	text, spilled := c.fit(result.Text, result.Spill)
	_, err := r.Log.Publish(event.ToolCompleted{
		ToolUseID: c.call.ID, ModelText: text, SpillFile: spilled,
		DurationMS: r.Clock.Since(c.start).Milliseconds(), UI: result.UI, Media: result.Media,
	})
	return err
}

func (r *Runtime) fail(c closing, e *Error) error {
	text, _ := c.fit(e.Text, "")
	_, err := r.Log.Publish(event.ToolFailed{
		ToolUseID: c.call.ID, ModelText: text, ErrorKind: e.Kind,
		DurationMS: r.Clock.Since(c.start).Milliseconds(),
	})
	return err
}

func (r *Runtime) cancel(ctx context.Context, call fold.Call, reason event.CancelReason, partial string) error {
	text := cancelText[reason]
	if errors.Is(context.Cause(ctx), ErrTimeUp) {
		text = "[Cancelled: the task's time is up.]"
	}
	if strings.TrimSpace(partial) != "" {
		text += "\nOutput until then:\n" + said(partial)
	}
	_, err := r.Log.Publish(event.ToolCancelled{ToolUseID: call.ID, Reason: reason, ModelText: text})
	return err
}

// cancelText is what the model reads. The words are part of logged history
// only, so they may change with a version.
var cancelText = map[event.CancelReason]string{
	event.CancelInterrupted:    "[Cancelled: the user interrupted.]",
	event.CancelShutdown:       "[Cancelled: KHAELOR was shut down.]",
	event.CancelResponseFailed: "[Cancelled: the answer with this call did not arrive whole.]",
	event.CancelRecovery:       "[Cancelled: KHAELOR ended before this call had a result. It may have run in part.]",
}

func cancelReason(ctx context.Context, s fold.State) event.CancelReason {
	switch {
	case s.Interrupted || errors.Is(context.Cause(ctx), ErrInterrupted):
		return event.CancelInterrupted
	case ctx.Err() != nil:
		return event.CancelShutdown
	case s.Request.Phase == fold.Failed:
		return event.CancelResponseFailed
	}
	return event.CancelRecovery
}

// mostDescriptor bounds what a question says of a call, in characters. A
// longer command is shown from the call itself.
const mostDescriptor = 10_000

// mostText bounds any result, in characters, whatever its tool thought fit.
// It is above every bound of a tool's own.
const mostText = 100_000

// said makes a result fit for the log: the API refuses an empty one.
func said(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(no output)"
	}
	return Clip(event.Text(text), mostText).Text
}
