package cli

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/khaelor/khaelor/internal/config"
	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/repo"
	"github.com/khaelor/khaelor/internal/tool/builtin"
	"github.com/khaelor/khaelor/internal/workspace"
)

// demoFiles are the scripted answers and, as NAME.txt, the scratch repository.
//
//go:embed demo
var demoFiles embed.FS

const (
	demoModel = "scripted-demo-model"
	demoCheck = "go test ./..."
	demoTitle = "demo (scripted model)"
)

// demoSettings are the whole configuration of the demo: nothing of the user's
// has a say in it. The price makes the simulated tokens a simulated cost.
func demoSettings(url string) []config.Flag {
	return []config.Flag{
		{Name: "demo", Key: "model", Value: demoModel},
		{Name: "demo", Key: "auxModel", Value: demoModel},
		{Name: "demo", Key: "models", Value: `{"` + demoModel + `": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite5m": 3.75}}`},
		{Name: "demo", Key: "permissionMode", Value: "accept-edits"},
		{Name: "demo", Key: "permissions.allow", Value: "process.execute(go test *)"},
		{Name: "demo", Key: "baseURL", Value: url},
		{Name: "demo", Key: "apiKey", Value: "scripted"},
	}
}

// demoOptions are the inputs of the demo.
type demoOptions struct {
	Keep bool
	JSON bool
}

func (a *App) demoCommand() *cobra.Command {
	var o demoOptions
	c := &cobra.Command{
		Use: "demo", Short: "Show the whole loop with a scripted model: no account, no network", Args: cobra.NoArgs,
		Long: "A scripted model, built into this program, drives the real engine, tools, permissions and checks over loopback\n" +
			"HTTP against a scratch repository with failing tests, until they pass. It takes go and git.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runDemo(cmd.Context(), o) },
	}
	c.Flags().BoolVar(&o.Keep, "keep", false, "keep the scratch repository")
	c.Flags().BoolVar(&o.JSON, "json", false, "print the result as JSON")
	return c
}

// demoResult is what the demo shows at its end, read from the session's log.
type demoResult struct {
	result
	ScriptedModel bool      `json:"scriptedModel"` // always: usage and cost are simulated
	Before        *checkRun `json:"before"`        // the check before the first change
	After         *checkRun `json:"after"`         // and after the last one
	Problems      []string  `json:"problems"`      // of the session with its script
	Scratch       string    `json:"scratch,omitempty"`
}

// checkRun is a run of the check, as the log has it.
type checkRun struct {
	Command  string `json:"command"`
	ExitCode int    `json:"exitCode"`
	Seq      int64  `json:"seq"` // of its result
}

func (a *App) runDemo(ctx context.Context, o demoOptions) error {
	a.CatchSignals()
	r, err := a.demo(ctx, o)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if o.JSON {
		err = writeJSON(a.Stdout, r)
	} else {
		a.showDemoResult(r)
	}
	if code := r.code(); err == nil && code != exitOK {
		return exitError(code)
	}
	return err
}

// demo plays the session in a scratch repository.
func (a *App) demo(ctx context.Context, o demoOptions) (r demoResult, err error) {
	data, err := demoFiles.ReadFile("demo/script.json")
	if err != nil {
		return r, err
	}
	script, err := fakeapi.ParseScript(data)
	if err != nil {
		return r, err
	}
	server, err := fakeapi.Start(fakeapi.Options{Script: script, Clock: a.Clock})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	p, err := a.openDemo(ctx, server.URL(), o.Keep)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if r, err = p.play(ctx, script.Prompt, o); err != nil {
		return r, err
	}
	r.Problems = append(r.Problems, server.Problems()...)
	if o.Keep {
		r.Scratch = p.ws.Cwd()
	}
	return r, nil
}

// openDemo makes the scratch repository a project. The session goes where all
// sessions go.
func (a *App) openDemo(ctx context.Context, url string, keep bool) (*project, error) {
	p := &project{app: a}
	err := p.openHome()
	if err == nil {
		p.config, p.warnings, err = config.Load(nil, noVariable, config.Sources{Flags: demoSettings(url)})
	}
	if err == nil {
		err = p.makeScratch(ctx, keep)
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.repo = repo.Open(p.ws)
	p.hash = config.ProjectHash(p.repo.Identity())
	return p, nil
}

// makeScratch writes the repository. It is removed on close, unless it is to
// be kept.
func (p *project) makeScratch(ctx context.Context, keep bool) error {
	temp := p.app.Getenv("TMPDIR")
	if temp == "" {
		temp = "/tmp"
	}
	name := path.Join(temp, "khaelor-demo-"+p.app.Clock.ID())
	dir, err := workspace.OpenDir(name)
	if err != nil {
		return fmt.Errorf("make the scratch repository: %w; set TMPDIR to a folder that can be written", err)
	}
	p.closers = append(p.closers, func() error {
		if keep {
			return dir.Close()
		}
		return removeScratch(dir)
	})
	if p.ws, err = workspace.NewLocal(name, workspace.WithEnviron(demoEnviron(p.app, name)), workspace.WithClock(p.app.Clock)); err != nil {
		return err
	}
	p.closers = append(p.closers, p.ws.Close)
	for _, program := range []string{"git", "go"} {
		if _, err := workspace.LookPath(p.ws, program); err != nil {
			return fmt.Errorf("it takes %s: %w; install it and try again", program, err)
		}
	}
	files, err := fs.Glob(demoFiles, "demo/*.txt")
	if err != nil {
		return err
	}
	for _, file := range files {
		data, err := demoFiles.ReadFile(file)
		if err == nil {
			err = dir.WriteFile(strings.TrimSuffix(path.Base(file), ".txt"), data)
		}
		if err != nil {
			return err
		}
	}
	return p.commitScratch(ctx)
}

// removeScratch empties the folder, then deletes it.
func removeScratch(dir *workspace.Dir) error {
	entries, err := dir.List("")
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	for _, e := range entries {
		if err := dir.Remove(e.Name); err != nil {
			return errors.Join(err, dir.Close())
		}
	}
	if err := dir.Close(); err != nil {
		return err
	}
	above, err := workspace.NewLocal(path.Dir(dir.Path()))
	if err != nil {
		return err
	}
	return errors.Join(above.Remove(dir.Path()), above.Close())
}

// demoEnviron keeps go from the network and from settings of its own, and
// gives it a cache where nothing says where one is.
func demoEnviron(a *App, scratch string) []string {
	env := append(a.Environ[:len(a.Environ):len(a.Environ)], "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "GOWORK=off")
	if a.Getenv("HOME") == "" && a.Getenv("GOCACHE") == "" && a.Getenv("XDG_CACHE_HOME") == "" {
		env = append(env, "GOCACHE="+path.Join(scratch, ".git", "go-cache"))
	}
	return env
}

// commitScratch makes one commit by somebody who is not the user, and reads
// none of the user's git settings.
func (p *project) commitScratch(ctx context.Context) error {
	env := append(p.ws.Environ(),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=KHAELOR demo", "GIT_AUTHOR_EMAIL=demo@example.org",
		"GIT_COMMITTER_NAME=KHAELOR demo", "GIT_COMMITTER_EMAIL=demo@example.org")
	for _, words := range [][]string{
		{"init", "--quiet", "--template="},
		{"symbolic-ref", "HEAD", "refs/heads/main"},
		{"add", "."},
		{"commit", "--quiet", "--message", "till: add up and give change"},
	} {
		r, err := p.ws.Exec(ctx, workspace.Command{Argv: append([]string{"git"}, words...), Env: env})
		if err == nil && r.ExitCode != 0 {
			err = fmt.Errorf("exit code %d: %s", r.ExitCode, oneLine(r.Stderr.String()))
		}
		if err != nil {
			return fmt.Errorf("git %s: %w", words[0], err)
		}
	}
	return nil
}

// play runs the one task and reads from the log what came of it.
func (p *project) play(ctx context.Context, prompt string, o demoOptions) (demoResult, error) {
	client, err := p.client()
	if err != nil {
		return demoResult{}, err
	}
	p.closers = append(p.closers, func() error { client.Close(); return nil })
	log, err := p.createLog(&runFlags{}, demoTitle+": "+title(prompt))
	if err != nil {
		return demoResult{}, err
	}
	options, err := p.engineOptions(log, builtin.All(), false)
	if err != nil {
		return demoResult{}, errors.Join(err, log.Close())
	}
	options.Client = client
	c := &conversation{project: p, log: log}
	if c.engine, err = engine.New(ctx, options); err != nil {
		return demoResult{}, errors.Join(err, log.Close())
	}
	if !o.JSON {
		p.announceDemo(prompt)
		defer newTranscript(p.app.Stdout, log).stop()
	}
	exit, err := c.begin(ctx, prompt, "")
	r := demoResult{result: c.resultOf(), ScriptedModel: true, Problems: []string{}}
	r.Before, r.After = proof(log.Fold())
	if exit != exitOK {
		r.Outcome, r.exit = outcomeInterrupted, exit
	}
	return r, errors.Join(err, c.close(context.WithoutCancel(ctx)))
}

// proof finds the check before the first change and the one after the last.
func proof(s fold.Session) (before, after *checkRun) {
	edits := s.Changes.Edits()
	if len(edits) == 0 {
		return nil, nil
	}
	for _, run := range s.Runs.Done() {
		seen := &checkRun{Command: run.Command, ExitCode: run.ExitCode, Seq: run.Seq}
		switch {
		case run.Command != demoCheck:
		case run.Seq < edits[0].Seq && before == nil:
			before = seen
		case run.Seq > edits[len(edits)-1].Seq:
			after = seen
		}
	}
	return before, after
}

// code is 0 only when the log shows that the check failed before and passes
// now, and everything went as the script has it.
func (r demoResult) code() int {
	switch {
	case r.exit != exitOK:
		return r.exit
	case r.Outcome != outcomeCompleted:
		return outcomeCodes[r.Outcome]
	case r.Before == nil || r.Before.ExitCode == 0, r.After == nil || r.After.ExitCode != 0, len(r.Problems) > 0:
		return exitFailed
	}
	return exitOK
}

func (p *project) announceDemo(prompt string) {
	fmt.Fprintf(p.app.Stdout, "KHAELOR %s · demo with a scripted model: what it says was written beforehand, all else is real\n", p.app.Version)
	fmt.Fprintf(p.app.Stdout, "scratch repository: %s\n\n› %s\n\n", p.ws.Cwd(), prompt)
}

// showDemoResult shows the proof and where to look further.
func (a *App) showDemoResult(r demoResult) {
	out := a.Stdout
	fmt.Fprintf(out, "\nProof, from the facts in the session's log\n")
	for _, row := range []struct {
		when string
		run  *checkRun
	}{{"before", r.Before}, {"after", r.After}} {
		if row.run == nil {
			fmt.Fprintf(out, "  %-8s %s did not run\n", row.when, demoCheck)
			continue
		}
		fmt.Fprintf(out, "  %-8s %s: exit %d (event %d)\n", row.when, row.run.Command, row.run.ExitCode, row.run.Seq)
	}
	if r.Evidence != nil {
		fmt.Fprint(out, visible(evidenceBlock(*r.Evidence)))
	}
	fmt.Fprintf(out, "\n%s · %d calls of the scripted model · %s\n", r.Outcome, r.Turns, simulated(r.Usage, r.Cost))
	if r.Error != "" {
		fmt.Fprintf(a.Stderr, "khaelor: %s\n", visible(string(r.Error)))
	}
	for _, problem := range r.Problems {
		fmt.Fprintf(a.Stderr, "khaelor: the session left its script: %s\n", visible(problem))
	}
	if r.Scratch != "" {
		fmt.Fprintf(out, "scratch repository kept: %s\n", r.Scratch)
	}
	fmt.Fprintf(out, "session %s\n  khaelor sessions check %s\n  khaelor sessions replay %s\n", r.SessionID, r.SessionID, r.SessionID)
}

// simulated says of figures that no provider counted them.
func simulated(u event.ModelUsage, cost *float64) string {
	text := fmt.Sprintf("simulated: %d in, %d to cache, %d from cache, %d out", u.InputTokens, u.CacheWriteTokens, u.CacheReadTokens, u.OutputTokens)
	if cost != nil {
		text += fmt.Sprintf(", $%.4f", *cost)
	}
	return text
}
