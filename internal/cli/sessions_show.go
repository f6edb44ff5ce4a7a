package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// shownText is how many characters of one text a timeline shows.
const shownText = 4000

func (a *App) sessionsShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show what was said and done, the evidence and the usage", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, words []string) error {
			return a.withSessions(func(p *project, out io.Writer) error { return p.showSession(out, words[0]) })
		},
	}
}

// showSession shows what can be read, also of a damaged log.
func (p *project) showSession(out io.Writer, word string) error {
	v, err := p.view(word)
	if err != nil {
		return err
	}
	var line fold.Timeline
	var usage fold.Usage
	var broken error
	for r, err := range v.Records() {
		if err != nil {
			broken = err
			break
		}
		line, usage = line.Apply(r), usage.Apply(r)
	}
	fmt.Fprintf(out, "session %s\n", v.ID)
	for _, item := range line.Items() {
		fmt.Fprintln(out, cut(itemLine(item), shownText))
	}
	fmt.Fprint(out, p.usageText(usage))
	return broken
}

// usageText is what the models were asked and what that cost.
func (p *project) usageText(u fold.Usage) string {
	var b strings.Builder
	for _, m := range u.Models {
		fmt.Fprintf(&b, "%s: %d calls, %d in, %d to cache, %d from cache, %d out\n", visible(m.Model), m.Responses,
			m.Tokens.InputTokens, m.Tokens.CacheWriteTokens, m.Tokens.CacheReadTokens, m.Tokens.OutputTokens)
	}
	switch usd, known := u.Cost(p.price); {
	case len(u.Models) == 0:
	case known:
		fmt.Fprintf(&b, "cost $%.4f\n", usd)
	default:
		b.WriteString("cost unknown: a model has no price in the configuration\n")
	}
	return b.String()
}

// sessionsReplayOptions are the inputs of sessions replay.
type sessionsReplayOptions struct{ JSON bool }

func (a *App) sessionsReplayCommand() *cobra.Command {
	var o sessionsReplayOptions
	c := &cobra.Command{
		Use: "replay ID", Short: "Print a session event by event", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, words []string) error {
			return a.withSessions(func(p *project, out io.Writer) error { return p.replaySession(out, words[0], o) })
		},
	}
	c.Flags().BoolVar(&o.JSON, "json", false, "the lines of the log, byte for byte")
	return c
}

// replaySession prints one event at a time and holds no more than that, so
// that the same log gives the same bytes at any size.
func (p *project) replaySession(out io.Writer, word string, o sessionsReplayOptions) error {
	v, err := p.view(word)
	if err != nil {
		return err
	}
	for r, err := range v.Records() {
		if err != nil {
			return err
		}
		line := r.Line
		if !o.JSON {
			line = []byte(replayLine(r))
		}
		if _, err := out.Write(append(line[:len(line):len(line)], '\n')); err != nil {
			return err
		}
	}
	return nil
}

// replayLine is one event as text: its number, its time (UTC, so that it is
// the same everywhere), its type, and what it says.
func replayLine(r event.Record) string {
	at := time.UnixMilli(r.TS).UTC().Format("2006-01-02T15:04:05.000Z")
	said := strings.ReplaceAll(cut(eventText(r), shownText), "\n", "\n        ")
	return strings.TrimRight(fmt.Sprintf("%6d  %s  %-28s %s", r.Seq, at, visible(r.Name()), said), " ")
}

// eventText is what one event says by itself. What makes an entry of the
// timeline is shown as that entry.
func eventText(r event.Record) string {
	switch p := r.Fact.(type) {
	case event.ModelRequestStarted:
		return fmt.Sprintf("%s to %s, about %d tokens", p.Purpose, visible(p.Model), p.ContextStats.EstimatedInputTokens)
	case event.ModelResponseCompleted:
		u := p.Usage
		return fmt.Sprintf("%s · %d in, %d to cache, %d from cache, %d out · %d ms",
			oneLine(string(p.StopReason)), u.InputTokens, u.CacheWriteTokens, u.CacheReadTokens, u.OutputTokens, p.DurationMS)
	case event.ToolRequested:
		return fmt.Sprintf("%s %s %s", p.ToolUseID, oneLine(p.ToolName), oneLine(string(p.Input)))
	case event.ToolApproved:
		return fmt.Sprintf("%s by %s", p.ToolUseID, p.Via)
	case event.ToolStarted:
		return p.ToolUseID + " " + oneLine(p.ToolName)
	case event.ToolCompleted:
		return p.ToolUseID + " " + oneLine(p.UI.Summary)
	case event.ToolFailed:
		return fmt.Sprintf("%s %s: %s", p.ToolUseID, p.ErrorKind, oneLine(p.ModelText))
	case event.ToolCancelled:
		return fmt.Sprintf("%s %s", p.ToolUseID, p.Reason)
	case event.PermissionRequested:
		return fmt.Sprintf("%s %s: %s", p.ToolUseID, p.Capability, oneLine(p.Descriptor))
	case event.PermissionGranted:
		return string(p.Scope)
	case event.PermissionDenied:
		return fmt.Sprintf("by %s %s", p.Source, oneLine(p.Feedback))
	case event.FileRead:
		return fmt.Sprintf("%s, %d bytes", oneLine(p.Path), p.Bytes)
	case event.FileModified:
		return fmt.Sprintf("%s by %s +%d -%d", oneLine(p.Path), p.Operation, p.DiffStats.Added, p.DiffStats.Removed)
	case event.TierRecorded:
		return fmt.Sprintf("%s, %d bytes, %s", p.Tier, len(p.Text), p.SHA256)
	case event.BaselineRecorded:
		return fmt.Sprintf("%s on %q, %d changed, %d untracked", p.When, oneLine(p.Baseline.Branch), len(p.Baseline.DirtyFiles), len(p.Baseline.UntrackedFiles))
	case event.SessionRenamed:
		return oneLine(p.Title)
	}
	var entry []string
	for _, item := range (fold.Timeline{}).Apply(r).Items() {
		entry = append(entry, itemLine(item))
	}
	return strings.Join(entry, "\n")
}
