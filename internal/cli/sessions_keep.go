package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/khaelor/khaelor/internal/session"
	"github.com/khaelor/khaelor/internal/spill"
)

// sessionsForkOptions are the inputs of sessions fork.
type sessionsForkOptions struct {
	At int64 // the last event to copy; 0 is all
}

func (a *App) sessionsForkCommand() *cobra.Command {
	var o sessionsForkOptions
	c := &cobra.Command{
		Use: "fork ID", Short: "Copy a session, or its beginning, and print the copy's id", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			if cmd.Flags().Changed("at") && o.At < 1 {
				return usagef("--at %d: events are numbered from 1; `khaelor sessions replay %s` shows them", o.At, words[0])
			}
			return a.withSessions(func(p *project, out io.Writer) error { return p.forkSession(out, words[0], o) })
		},
	}
	c.Flags().Int64Var(&o.At, "at", 0, "copy up to and with this event")
	return c
}

func (p *project) forkSession(out io.Writer, word string, o sessionsForkOptions) error {
	ref, err := p.find(word)
	if err != nil {
		return err
	}
	id, err := p.sessions.Fork(ref.ID, o.At)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, id)
	fmt.Fprintf(p.app.Stderr, "khaelor: continue with: khaelor -r %s\n", id)
	return nil
}

func (a *App) sessionsCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check ID", Short: "Hold a session's log to every invariant", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, words []string) error {
			return a.withSessions(func(p *project, out io.Writer) error { return p.checkSession(out, words[0]) })
		},
	}
}

// checkSession exits with 1 when an invariant is broken.
func (p *project) checkSession(out io.Writer, word string) error {
	ref, err := p.find(word)
	if err != nil {
		return err
	}
	report, err := p.sessions.Check(ref.ID)
	if err != nil {
		return err
	}
	for _, problem := range report.Problems {
		fmt.Fprintln(out, "problem: "+problemText(problem))
	}
	for _, note := range report.Notes {
		fmt.Fprintln(out, "note: "+problemText(note))
	}
	if report.Unfinished {
		fmt.Fprintln(out, "note: calls are open; the next resume closes them")
	}
	if len(report.Problems) > 0 {
		fmt.Fprintf(out, "session %s: %d events, %d problems\n", ref.ID, report.Events, len(report.Problems))
		return exitError(exitFailed)
	}
	fmt.Fprintf(out, "session %s: %d events, ok\n", ref.ID, report.Events)
	return nil
}

func problemText(p session.Problem) string {
	place := fmt.Sprintf("line %d", p.Line)
	if p.Seq > 0 && p.Seq != p.Line {
		place += fmt.Sprintf(" (seq %d)", p.Seq)
	}
	return place + ": " + visible(p.Text)
}

func (a *App) sessionsRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rm ID...", Aliases: []string{"remove"}, Short: "Delete sessions with all that belongs to them", Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, words []string) error {
			return a.withSessions(func(p *project, out io.Writer) error { return p.removeSessions(out, words) })
		},
	}
}

func (p *project) removeSessions(out io.Writer, words []string) error {
	var refs []session.Ref // all are looked up before one is gone
	for _, word := range words {
		ref, err := p.find(word)
		if err != nil {
			return err
		}
		refs = append(refs, ref)
	}
	for _, ref := range refs {
		if err := p.sessions.Remove(ref.ID); err != nil {
			return err
		}
		if err := spill.Forget(p.home, ref.ID); err != nil {
			return fmt.Errorf("remove what session %s spilled: %w", ref.ID, err)
		}
		fmt.Fprintf(out, "removed %s\n", ref.ID)
	}
	return nil
}
