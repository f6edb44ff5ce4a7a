package fold

import (
	"fmt"
	"slices"

	"github.com/khaelor/khaelor/internal/event"
)

// ItemKind is what a person sees at one place of the timeline.
type ItemKind string

const (
	ItemSession   ItemKind = "session"
	ItemUser      ItemKind = "user"
	ItemSteering  ItemKind = "steering"
	ItemAssistant ItemKind = "assistant"
	ItemThinking  ItemKind = "thinking"
	ItemTool      ItemKind = "tool"
	ItemProcess   ItemKind = "process"
	ItemNote      ItemKind = "note"
	ItemFailure   ItemKind = "failure"
	ItemResult    ItemKind = "result"
	ItemUnknown   ItemKind = "unknown"
)

// ItemStatus is how far something has come.
type ItemStatus string

const (
	Waiting   ItemStatus = "waiting"
	Running   ItemStatus = "running"
	Succeeded ItemStatus = "done"
	Unsettled ItemStatus = "failed"
	Cancelled ItemStatus = "cancelled"
)

// Item is one entry of the timeline: data for showing, not a way of showing.
type Item struct {
	Seq    int64 // the fact that made it
	TS     int64 // milliseconds since the Unix epoch
	Kind   ItemKind
	Status ItemStatus
	// ID is the tool use, the process or the queued event it belongs to.
	ID       string
	Title    string // tool name and subject, process command
	Text     string
	Summary  string
	Ask      *event.PermissionRequested // a permission that is waited for
	Files    []event.FileModified
	Evidence *event.CompletionEvidence
	request  string
}

// Timeline is the conversation as a person sees it (seed 003 §6.1). Items
// before the first one that can still change are settled and only grow; what
// waits in a queue stands at the end until it enters the conversation.
type Timeline struct {
	settled list[Item]
	open    []Item
	queued  []Item
	request string // the call whose answer arrives: it may yet fail
}

// Items are all items in order.
func (t Timeline) Items() []Item { return slices.Concat(t.settled.items, t.open, t.queued) }

// Apply folds one fact.
func (t Timeline) Apply(r event.Record) Timeline {
	item := Item{Seq: r.Seq, TS: r.TS}
	switch p := r.Fact.(type) {
	case event.SessionStarted:
		item.Kind, item.Title, item.Summary = ItemSession, p.Title, p.Model+" in "+p.WorkingDirectory
	case event.SessionResumed:
		item.Kind, item.Title, item.Summary = ItemSession, "resumed", p.Model
	case event.SessionForked:
		item.Kind, item.Title, item.Summary = ItemSession, "forked", fmt.Sprintf("from %s at %d", p.FromSessionID, p.AtSeq)
	case event.UserMessageCreated:
		item.Kind, item.Text = ItemUser, p.Text
	case event.MessageQueued:
		item.Kind, item.Status, item.ID, item.Text = ItemUser, Waiting, r.ID, p.Text
		t.queued = with(t.queued, item)
		return t
	case event.SteeringQueued:
		item.Kind, item.Status, item.ID, item.Text = ItemSteering, Waiting, r.ID, p.Text
		t.queued = with(t.queued, item)
		return t
	case event.SteeringInjected:
		return t.fromQueue(p.QueuedEventID, r, Succeeded)
	case event.SteeringWithdrawn:
		return t.fromQueue(p.QueuedEventID, r, Cancelled)
	case event.MessageDequeued:
		if p.By == event.TakenByEngine {
			return t.fromQueue(p.QueuedEventID, r, Succeeded)
		}
		return t.fromQueue(p.QueuedEventID, r, Cancelled)
	case event.ModelRequestStarted:
		t.request = p.RequestID
		return t.settle()
	case event.ModelResponseCompleted:
		t.request = ""
		return t.settle()
	case event.ModelTextBlockCompleted:
		item.Kind, item.Text, item.request = ItemAssistant, p.Text, p.RequestID
	case event.ModelThinkingBlockCompleted:
		item.Kind, item.Text, item.request = ItemThinking, p.Thinking, p.RequestID
	case event.ToolRequested:
		item.Kind, item.Status, item.ID, item.request = ItemTool, Waiting, p.ToolUseID, p.RequestID
		item.Title, item.Text = p.ToolName, string(p.Input)
	case event.PermissionRequested:
		return t.update(p.ToolUseID, func(i *Item) { i.Ask = &p })
	case event.PermissionGranted:
		return t.answered(p.PermissionRequestID)
	case event.PermissionDenied:
		return t.answered(p.PermissionRequestID)
	case event.ToolStarted:
		return t.update(p.ToolUseID, func(i *Item) { i.Status = Running })
	case event.FileModified:
		return t.update(p.ToolUseID, func(i *Item) { i.Files = with(i.Files, p) })
	case event.ToolCompleted:
		return t.update(p.ToolUseID, func(i *Item) { i.Status, i.Summary = Succeeded, p.UI.Summary })
	case event.ToolFailed:
		return t.update(p.ToolUseID, func(i *Item) { i.Status, i.Summary = Unsettled, string(p.ErrorKind) })
	case event.ToolCancelled:
		return t.update(p.ToolUseID, func(i *Item) { i.Status, i.Summary = Cancelled, string(p.Reason) })
	case event.ProcessStarted:
		item.Kind, item.Status, item.ID, item.Title = ItemProcess, Running, p.ProcessID, p.Command
	case event.ProcessExited:
		item.Kind, item.Status, item.ID, item.Summary = ItemProcess, Succeeded, p.ProcessID, string(p.Cause)
	case event.ModelRequestFailed:
		return t.failed(item, p)
	case event.ModelChanged:
		item.Kind, item.Text = ItemNote, "model changed from "+p.From+" to "+p.To
	case event.ContextNoted:
		item.Kind, item.Text = ItemNote, p.Text
	case event.ContextPruned:
		item.Kind, item.Text = ItemNote, fmt.Sprintf("%d old results pruned", len(p.ToolUseIDs))
	case event.ContextCompacted:
		item.Kind, item.Text = ItemNote, "context compacted"
	case event.ShellRun:
		item.Kind, item.Title, item.Text = ItemNote, "! "+p.Command, p.Output
		item.Summary = fmt.Sprintf("exit %d", p.ExitCode)
	case event.Interrupted:
		item.Kind, item.Text = ItemNote, "interrupted"
	case event.TaskCompleted:
		item.Kind, item.Status, item.Evidence = ItemResult, Succeeded, &p.Evidence
	case event.TaskFailed:
		item.Kind, item.Status, item.Title, item.Text = ItemResult, Unsettled, string(p.Reason), p.Detail
	case event.Unknown:
		item.Kind, item.Title, item.Text = ItemUnknown, p.Type, string(p.Raw)
	default:
		return t
	}
	return t.add(item)
}

func (t Timeline) add(item Item) Timeline {
	t.open = with(t.open, item)
	return t.settle()
}

// settle moves what can no longer change to the settled part.
func (t Timeline) settle() Timeline {
	n := 0
	for n < len(t.open) && !t.unsettled(t.open[n]) {
		t.settled = t.settled.add(t.open[n])
		n++
	}
	t.open = t.open[n:]
	return t
}

// unsettled says that a later fact may still change the item. A process goes
// on in the background and gets an item of its own when it ends.
func (t Timeline) unsettled(i Item) bool {
	arrives := i.request != "" && i.request == t.request
	return arrives || i.Kind != ItemProcess && (i.Status == Waiting || i.Status == Running)
}

// update changes the open item of that id. An empty id belongs to no item.
func (t Timeline) update(id string, change func(*Item)) Timeline {
	if id == "" {
		return t
	}
	t.open = slices.Clone(t.open)
	for i := range t.open {
		if t.open[i].ID == id {
			change(&t.open[i])
		}
	}
	return t.settle()
}

// fromQueue puts a queued text where it entered the conversation, or where it
// was taken back.
func (t Timeline) fromQueue(id string, r event.Record, status ItemStatus) Timeline {
	for _, item := range t.queued {
		if item.ID == id {
			t.queued = without(t.queued, func(i Item) bool { return i.ID == id })
			item.Seq, item.TS, item.Status = r.Seq, r.TS, status
			return t.add(item)
		}
	}
	return t
}

func (t Timeline) answered(permission string) Timeline {
	t.open = slices.Clone(t.open)
	for i := range t.open {
		if ask := t.open[i].Ask; ask != nil && ask.PermissionRequestID == permission {
			t.open[i].Ask = nil
		}
	}
	return t
}

// failed shows that an attempt has no answer; its calls will not run.
func (t Timeline) failed(item Item, p event.ModelRequestFailed) Timeline {
	t.request = ""
	if p.Kind != event.ErrorCancelled {
		t.open = slices.Clone(t.open)
		for i := range t.open {
			if t.open[i].request == p.RequestID {
				t.open[i].Status, t.open[i].Summary = Cancelled, string(event.CancelResponseFailed)
			}
		}
	}
	item.Kind, item.Status, item.Title, item.Text = ItemFailure, Unsettled, string(p.Kind), p.Message
	return t.add(item)
}
