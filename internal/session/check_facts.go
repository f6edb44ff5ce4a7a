package session

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/khaelor/khaelor/internal/event"
)

// fact holds a fact to those before it.
func (c *checker) fact() {
	switch p := c.record.Fact.(type) {
	case event.ModelRequestStarted:
		c.opens(c.requests, "request", p.RequestID)
		c.settled("the next request")
	case event.ModelTextBlockCompleted:
		c.block(p.RequestID)
	case event.ModelThinkingBlockCompleted:
		c.block(p.RequestID)
		if p.Signature == "" {
			c.problem("thinking without a signature: the API will refuse it")
		}
	case event.ModelOpaqueBlockCompleted:
		c.block(p.RequestID)
	case event.ModelResponseCompleted:
		c.ends(c.requests, "request", p.RequestID)
	case event.ModelRequestFailed:
		c.ends(c.requests, "request", p.RequestID)

	case event.ToolRequested:
		c.block(p.RequestID)
		c.opens(c.calls, "call", p.ToolUseID)
	case event.ToolApproved:
		c.refers(c.calls, "call", p.ToolUseID)
	case event.ToolStarted:
		c.refers(c.calls, "call", p.ToolUseID)
	case event.PermissionRequested:
		c.opens(c.permissions, "permission request", p.PermissionRequestID)
		c.refers(c.calls, "call", p.ToolUseID)
	case event.PermissionGranted:
		c.ends(c.permissions, "permission request", p.PermissionRequestID)
	case event.PermissionDenied:
		c.ends(c.permissions, "permission request", p.PermissionRequestID)
	case event.QuestionAsked:
		c.opens(c.questions, "question", p.QuestionID)
		c.refers(c.calls, "call", p.ToolUseID)
	case event.QuestionAnswered:
		c.ends(c.questions, "question", p.QuestionID)

	case event.SteeringQueued:
		c.steering[c.record.ID] = false
	case event.SteeringInjected:
		c.ends(c.steering, "queued steering", p.QueuedEventID)
	case event.SteeringWithdrawn:
		c.ends(c.steering, "queued steering", p.QueuedEventID)
	case event.MessageQueued:
		c.messages[c.record.ID] = false
	case event.MessageDequeued:
		c.ends(c.messages, "queued message", p.QueuedEventID)

	case event.TierRecorded:
		if sum := sha256.Sum256([]byte(p.Text)); hex.EncodeToString(sum[:]) != p.SHA256 {
			c.problem("the %s tier is not the text that its hash was made of", p.Tier)
		}
	case event.ContextCompacted:
		if reason := badCut(c.history, c.record.Seq-1, p.Cut); reason != "" {
			c.problem("%s", reason)
		}
	case event.TaskCompleted:
		c.settled("the end of the task")
	}
	if id, ok := closes(c.record.Fact); ok {
		c.ends(c.calls, "call", id)
	}
	c.blobs()
}

// opens begins what exactly one later fact ends.
func (c *checker) opens(open map[string]bool, what, id string) {
	if _, known := open[id]; known || id == "" {
		c.problem("%s id %q is empty or used twice", what, id)
	}
	open[id] = false
}

func (c *checker) ends(open map[string]bool, what, id string) {
	ended, known := open[id]
	switch {
	case !known:
		c.problem("%s ends %s %q, which is not in the log", c.record.Name(), what, id)
	case ended:
		c.problem("%s ends %s %q a second time", c.record.Name(), what, id)
	}
	open[id] = true
}

// refers allows an empty id: what the user or the engine did belongs to no
// call.
func (c *checker) refers(open map[string]bool, what, id string) {
	if _, known := open[id]; !known && id != "" {
		c.problem("%s names %s %q, which is not in the log", c.record.Name(), what, id)
	}
}

func (c *checker) block(request string) {
	if ended, known := c.requests[request]; !known || ended {
		c.problem("%s belongs to request %q, which is not open", c.record.Name(), request)
	}
}

// settled demands that every call has its result before the model or the
// user goes on.
func (c *checker) settled(before string) {
	for _, call := range c.open {
		c.problem("call %q has no result before %s", call.id, before)
	}
}

func (c *checker) blobs() {
	for _, sha := range mediaOf(c.record.Fact) {
		if !c.store.hasBlob(c.ref, sha) {
			c.problem("%s names the blob %q, which is missing", c.record.Name(), sha)
		}
	}
	for _, sha := range contentsOf(c.record.Fact) {
		if !c.store.hasBlob(c.ref, sha) {
			c.note("the recorded content of a changed file is missing: that change cannot be taken back")
		}
	}
}
