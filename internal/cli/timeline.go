package cli

import (
	"fmt"
	"strings"

	"github.com/khaelor/khaelor/internal/fold"
)

// itemLine is one entry of a timeline as text, safe to show.
func itemLine(i fold.Item) string {
	text := visible(strings.TrimSpace(i.Text))
	switch i.Kind {
	case fold.ItemSession:
		return fmt.Sprintf("# %s · %s", oneLine(i.Title), oneLine(i.Summary))
	case fold.ItemUser, fold.ItemSteering:
		return "› " + text + waiting(i)
	case fold.ItemAssistant:
		return text
	case fold.ItemThinking:
		return "(thought)"
	case fold.ItemTool:
		return toolLine(i)
	case fold.ItemProcess:
		return fmt.Sprintf("◦ process %s %s %s", i.ID, oneLine(i.Title), oneLine(i.Summary))
	case fold.ItemFailure:
		return fmt.Sprintf("! %s: %s", i.Title, oneLine(i.Text))
	case fold.ItemResult:
		return resultLine(i)
	case fold.ItemUnknown:
		return fmt.Sprintf("? %s %s", oneLine(i.Title), oneLine(i.Text))
	}
	line := "—"
	for _, part := range []string{oneLine(i.Title), text, oneLine(i.Summary)} {
		if part != "" {
			line += " " + part
		}
	}
	return line
}

func waiting(i fold.Item) string {
	switch i.Status {
	case fold.Waiting:
		return " (queued)"
	case fold.Cancelled:
		return " (taken back)"
	}
	return ""
}

var toolMarks = map[fold.ItemStatus]string{
	fold.Waiting: "▸", fold.Running: "▸", fold.Succeeded: "•", fold.Unsettled: "✗", fold.Cancelled: "✗",
}

func toolLine(i fold.Item) string {
	subject := i.Summary
	if i.Status != fold.Succeeded {
		subject = fmt.Sprintf("%s %s (%s)", i.Title, i.Text, strings.TrimSpace(string(i.Status)+" "+i.Summary))
	}
	line := toolMarks[i.Status] + " " + oneLine(subject)
	for _, f := range i.Files {
		line += fmt.Sprintf(" [%s +%d -%d]", visible(f.Path), f.DiffStats.Added, f.DiffStats.Removed)
	}
	if i.Ask != nil {
		line += " — waits for permission: " + oneLine(i.Ask.Descriptor)
	}
	return line
}

func resultLine(i fold.Item) string {
	if i.Evidence != nil {
		return "✓ completed" + strings.TrimRight(visible(evidenceBlock(*i.Evidence)), "\n")
	}
	return fmt.Sprintf("✗ %s: %s", i.Title, visible(i.Text))
}
