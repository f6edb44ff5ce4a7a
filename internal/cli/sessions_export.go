package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/session"
	"github.com/khaelor/khaelor/internal/workspace"
)

// sessionsExportOptions are the inputs of sessions export.
type sessionsExportOptions struct {
	Format string
	File   string // "" is standard output
}

func (a *App) sessionsExportCommand() *cobra.Command {
	var o sessionsExportOptions
	c := &cobra.Command{
		Use: "export ID", Short: "Write a session as Markdown or JSON", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, words []string) error {
			if o.Format != "md" && o.Format != "json" {
				return usagef("--format %q: choose md or json", o.Format)
			}
			return a.withSessions(func(p *project, out io.Writer) error { return p.exportSession(out, words[0], o) })
		},
	}
	c.Flags().StringVar(&o.Format, "format", "md", "md or json")
	c.Flags().StringVarP(&o.File, "output", "o", "", "write to this file instead of standard output")
	return c
}

func (p *project) exportSession(out io.Writer, word string, o sessionsExportOptions) error {
	v, err := p.view(word)
	if err != nil {
		return err
	}
	write := exportMarkdown
	if o.Format == "json" {
		write = exportJSON
	}
	meta, err := p.metaOf(v.Ref)
	if err != nil {
		return err
	}
	if o.File == "" {
		return write(out, v, meta)
	}
	var whole bytes.Buffer
	if err := write(&whole, v, meta); err != nil {
		return err
	}
	return p.writeFile(o.File, whole.Bytes())
}

// metaOf is what the list says of one session.
func (p *project) metaOf(ref session.Ref) (session.Meta, error) {
	metas, err := p.sessions.List(ref.Project)
	if err != nil {
		return session.Meta{}, err
	}
	for _, m := range metas {
		if m.ID == ref.ID {
			return m, nil
		}
	}
	return session.Meta{ID: ref.ID, Project: ref.Project}, nil
}

// writeFile writes a file that the user named.
func (p *project) writeFile(name string, data []byte) error {
	place, err := workspace.Resolve(p.ws, p.absolute(name))
	if err == nil {
		err = p.ws.WriteFile(place.Path, data)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// exportJSON writes the events as they stand in the log. Damage ends them, and
// what is wrong stands behind them, so that the whole is JSON in any case.
func exportJSON(out io.Writer, v *session.View, meta session.Meta) error {
	head, err := json.Marshal(meta)
	if err != nil {
		return fmt.Errorf("encode session: %w", err)
	}
	fmt.Fprintf(out, `{"session":%s,"events":[`, head)
	separator := "\n"
	var broken error
	for r, err := range v.Records() {
		if broken = err; err != nil {
			break
		}
		if _, err := fmt.Fprintf(out, "%s%s", separator, r.Line); err != nil {
			return err
		}
		separator = ",\n"
	}
	if broken == nil {
		_, err = io.WriteString(out, "\n]}\n")
		return err
	}
	problem, err := json.Marshal(broken.Error())
	if err != nil {
		return fmt.Errorf("encode problem: %w", err)
	}
	fmt.Fprintf(out, "\n],\"problem\":%s}\n", problem)
	return broken
}

// exportMarkdown writes a session for people.
func exportMarkdown(out io.Writer, v *session.View, meta session.Meta) error {
	fmt.Fprintf(out, "# %s\n\n- session: %s\n- directory: %s\n- model: %s\n", oneLine(titleOf(meta)), meta.ID, oneLine(meta.WorkingDirectory), oneLine(meta.Model))
	for _, t := range meta.TokenUsage {
		fmt.Fprintf(out, "- tokens of %s: %d in, %d to cache, %d from cache, %d out\n", oneLine(t.Model),
			t.InputTokens, t.CacheWriteTokens, t.CacheReadTokens, t.OutputTokens)
	}
	var line fold.Timeline
	var broken error
	for r, err := range v.Records() {
		if broken = err; err != nil {
			break
		}
		line = line.Apply(r)
	}
	for _, item := range line.Items() {
		if text := markdownItem(item); text != "" {
			if _, err := fmt.Fprintf(out, "\n%s\n", text); err != nil {
				return err
			}
		}
	}
	return broken
}

// markdownItem is one entry of the timeline, "" for what is no part of the
// conversation.
func markdownItem(i fold.Item) string {
	text := strings.TrimSpace(visible(i.Text))
	switch i.Kind {
	case fold.ItemSession, fold.ItemThinking:
		return ""
	case fold.ItemUser, fold.ItemSteering:
		return "## You" + waiting(i) + "\n\n" + text
	case fold.ItemAssistant:
		return text
	case fold.ItemTool:
		return "- " + strings.TrimSpace(toolLine(i)) + diffs(i)
	case fold.ItemResult:
		return "## Result\n\n" + fenced(resultLine(i))
	}
	return fenced(itemLine(i))
}

// diffs are the changes that a call made.
func diffs(i fold.Item) string {
	var b strings.Builder
	for _, f := range i.Files {
		if f.Diff != "" {
			fmt.Fprintf(&b, "\n\n%s %s\n\n%s", path.Base(visible(f.Path)), f.Operation, fenced(visible(f.Diff)))
		}
	}
	return b.String()
}
