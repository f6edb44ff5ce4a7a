package model

import (
	"errors"
	"testing"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
)

// reopen resumes the session as another program would.
func (r *rig) reopen() {
	r.t.Helper()
	if err := r.log.Close(); err != nil {
		r.t.Fatal(err)
	}
	log, err := r.store.Open(r.log.ID())
	if err != nil {
		r.t.Fatal(err)
	}
	r.log = log
	r.listen()
	r.publish(event.SessionResumed{Model: r.model})
}

func (r *rig) steer(text string) {
	r.publish(event.SteeringQueued{Text: text})
	r.publish(event.SteeringInjected{QueuedEventID: r.facts[len(r.facts)-1].ID, Seam: event.PostToolBatch})
}

// TestTheLogRebuildsEveryRequest drives one session through all that changes
// its history (seed 003 §9.2). The rig holds each request on the wire against
// the log, the server each against the one before it.
func TestTheLogRebuildsEveryRequest(t *testing.T) {
	working := func() fakeapi.Turn {
		return answers(fakeapi.Think("Hm <&>\u2028."), fakeapi.Text("I look."), fakeapi.Call("bash", `{"command":"ls","n":1e3}`), fakeapi.Call("bash", `{"command":"pwd"}`))
	}
	anew := working()
	anew.NewPrefix = true
	other := working()
	other.NewPrefix = true
	broken := working()
	broken.CutAfterEvents = 12
	r := newRig(t, working(), working(), broken, working(), anew, working(), other, working(), anew, working(), answers(fakeapi.Text("Done.")))
	r.say("do it \U0001d11e <b>")
	r.call()
	r.results()
	r.steer("rather that")
	r.call()
	r.results()
	r.call() // with one failed attempt
	r.results()
	r.publish(event.ContextNoted{Text: "the branch is main"})

	var old event.List[string]
	for _, call := range told[event.ToolRequested](r)[:2] {
		old = append(old, call.ToolUseID)
	}
	r.publish(event.ContextPruned{ToolUseIDs: old, Placeholder: "[pruned]"})
	r.call()
	r.results()
	r.reopen()
	r.call()
	r.results()

	r.publish(event.ModelChanged{From: r.model, To: "other-model", Reason: event.ChangedByUser})
	r.model = "other-model"
	r.call()
	r.results()
	r.call()
	r.results()

	r.publish(event.ContextCompacted{CheckpointYAML: "objective: go on\n", Cut: event.Cut{FromSeq: 1, ToSeq: r.log.Fold().State.LastSeq}})
	r.call()
	r.results()
	r.reopen()
	r.call()
	r.results()
	sha, err := r.log.PutBlob([]byte("\x89PNG\r\n\x1a\n0000"))
	if err != nil {
		t.Fatal(err)
	}
	r.publish(event.UserMessageCreated{Text: "see", Images: []event.Media{{MediaType: "image/png", SHA256: sha}}})
	r.call()
	if got := len(r.server.Requests()); got != 11 {
		t.Errorf("%d requests", got)
	}
}

// TestASessionThatCrashedWhileAnAnswerArrivedGoesOn leaves an attempt without
// an end, as a kill would: no fact after its first text reaches the log.
func TestASessionThatCrashedWhileAnAnswerArrivedGoesOn(t *testing.T) {
	half := answers(fakeapi.Text("First."), fakeapi.Call("bash", `{}`))
	r := newRig(t, half, answers(fakeapi.Text("Second.")))
	r.say("count")
	killed := errors.New("killed")
	r.Log = brokenLog[event.ToolRequested]{r.log, killed}
	if err := r.Call(t.Context()); !errors.Is(err, killed) {
		t.Fatalf("call: %v", err)
	}
	r.reopen()
	r.call()
	r.converses("user: count", "assistant: First.", "user: Your answer was cut off here. Go on where it stopped.", "assistant: Second.")
}
