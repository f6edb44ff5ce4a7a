package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/khaelor/khaelor/internal/config"
	"github.com/khaelor/khaelor/internal/repo"
	"github.com/khaelor/khaelor/internal/session"
	"github.com/khaelor/khaelor/internal/workspace"
)

func (a *App) sessionsCommand() *cobra.Command {
	return group("sessions", "List, show, export, copy, check and remove sessions",
		a.sessionsListCommand(), a.sessionsShowCommand(), a.sessionsReplayCommand(), a.sessionsExportCommand(),
		a.sessionsForkCommand(), a.sessionsCheckCommand(), a.sessionsRemoveCommand())
}

// group is a command that does nothing without one of its own commands.
func group(name, short string, commands ...*cobra.Command) *cobra.Command {
	var names []string
	for _, c := range commands {
		names = append(names, c.Name())
	}
	choices := strings.Join(names, ", ")
	g := &cobra.Command{
		Use: name, Short: short,
		RunE: func(_ *cobra.Command, words []string) error {
			if len(words) == 0 {
				return usagef("khaelor %s: choose one of %s", name, choices)
			}
			return usagef("khaelor %s has no command %q: choose one of %s", name, words[0], choices)
		},
	}
	g.AddCommand(commands...)
	return g
}

// openSessions opens what the commands about sessions need. Settings only say
// what models cost, so broken ones are a warning here.
func (a *App) openSessions() (*project, error) {
	p := &project{app: a}
	if err := p.openHome(); err != nil {
		return nil, err
	}
	ws, err := workspace.NewLocal(a.Cwd, workspace.WithEnviron(a.Environ))
	if err != nil {
		return nil, errors.Join(usagef("work in %s: %w", a.Cwd, err), p.close())
	}
	p.ws = ws
	p.closers = append(p.closers, ws.Close)
	p.repo = repo.Open(ws)
	p.hash = config.ProjectHash(p.repo.Identity())
	if err := p.load(ws, &runFlags{}); err != nil {
		p.warnings = append(p.warnings, config.Warning{File: "settings", Msg: err.Error()})
	}
	return p, nil
}

// withSessions opens the sessions for one command, with its output buffered.
func (a *App) withSessions(run func(p *project, out io.Writer) error) error {
	p, err := a.openSessions()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(a.Stdout, 64<<10)
	err = run(p, out)
	return errors.Join(err, out.Flush(), p.close())
}

// find names the session that a word means: an id, its beginning, or newest.
func (p *project) find(word string) (session.Ref, error) {
	if word == resumeNewest {
		metas, err := p.sessions.List(p.hash)
		if err != nil {
			return session.Ref{}, err
		}
		if len(metas) == 0 {
			return session.Ref{}, usagef("there is no session of this project; `khaelor sessions list --all` shows those of other projects")
		}
		return session.Ref{ID: metas[0].ID, Project: metas[0].Project}, nil
	}
	ref, err := p.sessions.Find(word)
	if errors.As(err, new(*session.NotFoundError)) || errors.As(err, new(*session.AmbiguousError)) {
		return ref, usageError{err}
	}
	return ref, err
}

// view opens the session that a word means for reading.
func (p *project) view(word string) (*session.View, error) {
	ref, err := p.find(word)
	if err != nil {
		return nil, err
	}
	return p.sessions.View(ref.ID)
}

// sessionsListOptions are the inputs of sessions list.
type sessionsListOptions struct {
	All  bool
	JSON bool
}

func (a *App) sessionsListCommand() *cobra.Command {
	var o sessionsListOptions
	c := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the sessions of this project, the newest first", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.withSessions(func(p *project, out io.Writer) error { return p.listSessions(out, o) })
		},
	}
	c.Flags().BoolVar(&o.All, "all", false, "those of every project")
	c.Flags().BoolVar(&o.JSON, "json", false, "one JSON array")
	return c
}

// listedSession is one session of the JSON list.
type listedSession struct {
	session.Meta
	Cost    *float64 `json:"cost"` // US dollars; null when a price is not known
	Problem string   `json:"problem,omitempty"`
}

func (p *project) listSessions(out io.Writer, o sessionsListOptions) error {
	hash := p.hash
	if o.All {
		hash = ""
	}
	metas, err := p.sessions.List(hash)
	if err != nil {
		return err
	}
	if o.JSON {
		return p.listJSON(out, metas)
	}
	p.warn()
	if len(metas) == 0 {
		return p.noSessions(o.All)
	}
	now := p.app.Clock.Now()
	fmt.Fprintf(out, "%-26s  %-16s  %-11s  %7s  %9s  %s\n", "ID", "WHEN", "OUTCOME", "EVENTS", "COST", "TITLE")
	for _, m := range metas {
		fmt.Fprintln(out, p.sessionLine(m, now, o.All))
	}
	return nil
}

func (p *project) sessionLine(m session.Meta, now time.Time, place bool) string {
	when := time.UnixMilli(m.UpdatedAt).In(now.Location()).Format("2006-01-02 15:04")
	if m.Problem != "" {
		return fmt.Sprintf("%-26s  %-16s  %-11s  %7s  %9s  %s", visible(m.ID), when, "unreadable", "", "", oneLine(m.Problem))
	}
	subject := cut(oneLine(titleOf(m)), 60)
	if place {
		subject += "  (" + oneLine(m.WorkingDirectory) + ")"
	}
	outcome := string(m.Outcome)
	if m.Outcome == session.OutcomeNone {
		outcome = "open"
	}
	return fmt.Sprintf("%-26s  %-16s  %-11s  %7d  %9s  %s", m.ID, when, outcome, m.Events, p.costText(m), subject)
}

func titleOf(m session.Meta) string {
	if strings.TrimSpace(m.Title) != "" {
		return m.Title
	}
	if m.FirstMessage != "" {
		return m.FirstMessage
	}
	return "(untitled)"
}

func (p *project) costText(m session.Meta) string {
	switch usd, known := m.Usage().Cost(p.price); {
	case len(m.TokenUsage) == 0:
		return "-"
	case !known:
		return "unknown"
	default:
		return fmt.Sprintf("$%.4f", usd)
	}
}

// noSessions says where sessions are when there are none here.
func (p *project) noSessions(all bool) error {
	if all {
		fmt.Fprintln(p.app.Stderr, "khaelor: there is no session yet")
		return nil
	}
	others, err := p.sessions.List("")
	if err != nil {
		return err
	}
	fmt.Fprintf(p.app.Stderr, "khaelor: there is no session of this project; `khaelor sessions list --all` shows %d of other folders (a folder that was moved counts as another)\n", len(others))
	return nil
}

func (p *project) listJSON(out io.Writer, metas []session.Meta) error {
	list := make([]listedSession, len(metas))
	for i, m := range metas {
		list[i] = listedSession{Meta: m, Problem: m.Problem}
		if usd, known := m.Usage().Cost(p.price); known {
			list[i].Cost = &usd
		}
	}
	return writeJSON(out, list)
}

// writeJSON writes one indented value, for people as well as for programs.
func writeJSON(out io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := out.Write(safeJSON(b.Bytes()))
	return err
}

// cut shortens text to so many characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	n := 0
	for i := range text {
		if n == most {
			return text[:i] + "…"
		}
		n++
	}
	return text
}
