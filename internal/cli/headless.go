package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/khaelor/khaelor/internal/bus"
	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/config"
	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/event"
)

// stdinPatience is how long a run that has its prompt waits for the first byte
// on a pipe.
const stdinPatience = time.Second

// stdinLimit bounds what is taken from standard input, in bytes.
const stdinLimit = 10 << 20

// runHeadless runs one task to its end. In the JSON formats every exit, also
// one before the task began, ends with a result object.
func (a *App) runHeadless(ctx context.Context, f *runFlags, words []string) error {
	r, err := a.headless(ctx, f, words)
	if f.Output != "text" {
		if err != nil {
			r.Type, r.Outcome, r.Error = "result", outcomeOfError(err), reason(err.Error())
		}
		if _, writeErr := a.Stdout.Write(r.line()); writeErr != nil {
			return writeErr
		}
	}
	if err != nil {
		return err
	}
	if r.Error != "" {
		fmt.Fprintf(a.Stderr, "khaelor: %s: %s\n", r.Outcome, visible(string(r.Error)))
	}
	if f.Output == "text" {
		if err := a.printAnswer(r); err != nil {
			return err
		}
	}
	if r.exit == exitOK {
		r.exit = outcomeCodes[r.Outcome]
	}
	if r.exit != exitOK {
		return exitError(r.exit)
	}
	return nil
}

func (a *App) headless(ctx context.Context, f *runFlags, words []string) (result, error) {
	prompt, err := a.prompt(words)
	if err != nil {
		return result{}, err
	}
	if strings.TrimSpace(prompt) == "" && !f.Continue && f.Resume == "" {
		return result{}, usagef("the prompt is empty: give it as an argument (khaelor -p \"…\") or on standard input")
	}
	a.CatchSignals() // not before: Ctrl-C ends a wait for standard input
	p, err := a.openProject(f)
	if err != nil {
		return result{}, err
	}
	c, err := p.converse(ctx, f, title(prompt), false)
	p.warn()
	if err != nil {
		return result{}, errors.Join(err, p.close())
	}
	a.warnUntrusted(p)
	r, err := c.runTask(ctx, f, prompt, strings.Join(words, " "))
	return r, errors.Join(err, p.close())
}

// warnUntrusted says once what a folder that nobody trusted yet does not get.
func (a *App) warnUntrusted(p *project) {
	if !p.trusted && p.hasProjectFiles() {
		fmt.Fprintln(a.Stderr, "khaelor: warning: this folder is not trusted, so its configuration, rules and instruction files are left out; --trust uses them for this run")
	}
}

// hasProjectFiles says whether trust would change anything.
func (p *project) hasProjectFiles() bool {
	files, root := configFiles{p.ws}, p.root(p.ws)
	for _, name := range []string{config.ProjectFile, config.LocalFile} {
		if _, err := files.Canonical(root + "/" + name); err == nil {
			return true
		}
	}
	found, _ := config.Instructions(files, p.home.Path(), root, p.ws.Cwd())
	return len(found) > 0
}

// prompt joins the arguments and what is piped in.
func (a *App) prompt(words []string) (string, error) {
	prompt := strings.Join(words, " ")
	if a.StdinTTY || a.Stdin == nil {
		return prompt, nil
	}
	if prompt != "" && !a.StdinReady(stdinPatience) {
		fmt.Fprintln(a.Stderr, "khaelor: standard input is silent; going on without it")
		return prompt, nil
	}
	data, err := io.ReadAll(io.LimitReader(a.Stdin, stdinLimit+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read standard input: %w", err)
	case len(data) > stdinLimit:
		return "", usagef("standard input is larger than %d MB: put it into a file and name the file", stdinLimit>>20)
	case len(strings.TrimSpace(string(data))) == 0:
		return prompt, nil
	case prompt == "":
		return event.Text(string(data)), nil
	}
	return prompt + "\n\n" + fenced(event.Text(string(data))), nil
}

// fenced puts text between fences longer than any in it.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}

// title is the first line of a prompt, cut to what fits in a list.
func title(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	return event.Clip(line, 60)
}

// runTask runs one task and closes the session. Who listens hears of all that
// is written until then.
func (c *conversation) runTask(ctx context.Context, f *runFlags, prompt, typed string) (result, error) {
	stop, err := c.attachOutput(f)
	defer stop()
	exit := exitOK
	if err == nil {
		exit, err = c.begin(ctx, prompt, typed)
	}
	err = errors.Join(err, c.close(context.WithoutCancel(ctx)))
	r := c.resultOf()
	if err != nil {
		r.Text, r.Evidence = "", nil // they may be those of the task before
	}
	if exit != exitOK {
		r.Outcome, r.Error, r.exit = outcomeInterrupted, "ended by a signal", exit
	}
	if exit != exitOK && c.log.Fold().State.Task.Open {
		r.Error += reason("; khaelor -p -r " + c.log.ID() + " goes on")
	}
	return r, err
}

// begin dispatches the prompt, with the files mentioned in what was typed of it,
// or continues without one, and waits.
func (c *conversation) begin(ctx context.Context, prompt, typed string) (exit int, err error) {
	var first command.Command = command.Continue{}
	if strings.TrimSpace(prompt) != "" {
		if first, err = c.message(prompt, typed); err != nil {
			return exitOK, err
		}
	}
	err = c.engine.Dispatch(first)
	if errors.Is(err, engine.ErrNothingToDo) || errors.Is(err, engine.ErrEmptyMessage) {
		err = usageError{err}
	}
	if err != nil {
		return exitOK, err
	}
	return c.wait(ctx)
}

// wait returns when the task has ended or, with the exit code of that, when
// the program was told to end: by a signal, or by a second Ctrl-C while the
// first one is being carried out. Closing the engine reports why it failed.
func (c *conversation) wait(ctx context.Context) (exit int, err error) {
	interrupted := false
	for {
		select {
		case <-c.engine.Idle():
			return exitOK, nil
		case <-ctx.Done():
			return exitTerminated, nil
		case s := <-c.project.app.Signals:
			switch {
			case s != os.Interrupt:
				return exitTerminated, nil
			case interrupted:
				return exitInterrupted, nil
			}
			interrupted = true
			if err := c.engine.Dispatch(command.Interrupt{}); err != nil && !errors.Is(err, engine.ErrNothingToDo) {
				return exitOK, err
			}
		}
	}
}

// attachOutput shows what happens in the way the flags ask for.
func (c *conversation) attachOutput(f *runFlags) (stop func(), err error) {
	app, b := c.project.app, c.log.Bus()
	why := ""
	failures := bus.On(b, func(_ event.Record, p event.ModelRequestFailed) { why = p.Message })
	notices := bus.OnNotice(b, func(_ event.Live, n event.ModelRetryScheduled) {
		fmt.Fprintf(app.Stderr, "khaelor: %s\n", retryText(why, n))
	})
	retries := func() { failures(); notices() }
	switch {
	case f.Output == "stream-json":
		streaming, err := c.streamEvents(f.IncludeDeltas)
		return func() { streaming(); retries() }, err
	case app.StderrTTY || f.Verbose:
		progress := c.showProgress()
		return func() { progress(); retries() }, nil
	}
	return retries, nil
}

// retryText says why a request is repeated, and when.
func retryText(why string, n event.ModelRetryScheduled) string {
	delay := time.Duration(n.DelayMS) * time.Millisecond
	return fmt.Sprintf("%s; attempt %d in %s", oneLine(why), n.Attempt, delay.Round(100*time.Millisecond))
}

// streamEvents writes every fact as its line in the log, those from before the
// subscription first.
func (c *conversation) streamEvents(deltas bool) (stop func(), err error) {
	out := c.project.app.Stdout
	view, err := c.project.sessions.View(c.log.ID())
	if err != nil {
		return func() {}, err
	}
	for r, err := range view.Records() {
		if err != nil {
			return func() {}, err
		}
		if r.Seq > c.since() {
			if _, err := out.Write(append(r.Line, '\n')); err != nil {
				return func() {}, err
			}
		}
	}
	live := func(l event.Live) {
		if line, err := event.AppendNotice(nil, l); err == nil {
			_, _ = out.Write(line) // a reader that went away ends us by its signal
		}
	}
	if !deltas {
		live = nil
	}
	return c.log.Bus().OnAny(func(r event.Record) {
		_, _ = out.Write(append(append([]byte(nil), r.Line...), '\n'))
	}, live), nil
}

// showProgress says on stderr what is being done.
func (c *conversation) showProgress() (stop func()) {
	out := c.project.app.Stderr
	b := c.log.Bus()
	done := bus.On(b, func(_ event.Record, p event.ToolCompleted) { fmt.Fprintf(out, "• %s\n", oneLine(p.UI.Summary)) })
	failed := bus.On(b, func(_ event.Record, p event.ToolFailed) { fmt.Fprintf(out, "✗ %s\n", oneLine(p.ModelText)) })
	return func() { done(); failed() }
}

// printAnswer shows the final answer, then the evidence.
func (a *App) printAnswer(r result) error {
	text := strings.TrimRight(r.Text, "\n")
	if text == "" && (r.Outcome == outcomeCompleted || r.Outcome == outcomeUnverified) {
		fmt.Fprintln(a.Stderr, "khaelor: the model ended without an answer")
	}
	if text != "" {
		text += "\n"
	}
	if r.Evidence != nil {
		text += evidenceBlock(*r.Evidence)
	}
	if a.StdoutTTY {
		text = visible(text) // a terminal does what a model's escape sequences say
	}
	_, err := io.WriteString(a.Stdout, text)
	return err
}

// evidenceBlock is what a task can show, as text; "" when there is nothing.
func evidenceBlock(e event.CompletionEvidence) string {
	if len(e.ChangedFiles)+len(e.Checks)+len(e.UnresolvedIssues) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nEvidence\n")
	for _, f := range e.ChangedFiles {
		fmt.Fprintf(&b, "  changed  %s\n", f)
	}
	for _, check := range e.Checks {
		fmt.Fprintf(&b, "  check    %s → exit %d  %s\n", oneLine(check.Command), check.ExitCode, check.Summary)
	}
	for _, issue := range e.UnresolvedIssues {
		fmt.Fprintf(&b, "  open     %s\n", issue)
	}
	return b.String()
}

// oneLine is text made fit for one line of a terminal: what would move the
// cursor is shown, not sent.
func oneLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = visible(line)
	if rest != "" {
		line += " …"
	}
	return line
}
