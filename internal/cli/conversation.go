package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/khaelor/khaelor/internal/anthropic"
	"github.com/khaelor/khaelor/internal/config"
	"github.com/khaelor/khaelor/internal/contextengine"
	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/permission"
	"github.com/khaelor/khaelor/internal/session"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/tool/builtin"
	"github.com/khaelor/khaelor/internal/web"
)

// conversation is a session with its engine.
type conversation struct {
	project *project
	log     *session.Log
	engine  *engine.Engine
	// replayed is the newest fact of an earlier program, 0 for a new session.
	replayed int64
	// forked says that a fact of this program stands right before that: the one
	// that names the original.
	forked bool
	budget budget
}

// client makes the connection that the settings describe.
func (p *project) client() (*anthropic.Client, error) {
	c := p.config
	if c.BaseURL == "" && !p.hasKey() {
		return nil, usagef("no API key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN (with a server of your own, set ANTHROPIC_BASE_URL too); `khaelor demo` shows the whole loop without a key")
	}
	return anthropic.New(anthropic.Options{
		BaseURL: c.BaseURL, APIKey: c.APIKey.Reveal(), AuthToken: c.AuthToken.Reveal(),
		UserAgent: "khaelor/" + p.app.Version, StallLimit: c.Stall, Clock: p.app.Clock,
	})
}

// hasKey says whether there is anything to show a server. One of the user's
// own may want nothing.
func (p *project) hasKey() bool { return p.config.APIKey != "" || p.config.AuthToken != "" }

// converse opens the session that the flags name, or a new one with a title,
// and starts its engine.
func (p *project) converse(ctx context.Context, f *runFlags, title string, attended bool) (*conversation, error) {
	client, err := p.client()
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, func() error { client.Close(); return nil })
	extra, err := p.systemAppend(f)
	if err != nil {
		return nil, err
	}
	day, err := p.leftOfDay()
	if err != nil {
		return nil, err
	}
	if _, err := p.policy(); err != nil {
		return nil, err // before there is a session that nobody used
	}
	c := &conversation{project: p}
	if err := c.openLog(f, title); err != nil {
		return nil, err
	}
	tools := builtin.All()
	if err := c.resumed(tools); err != nil {
		return nil, errors.Join(err, c.log.Close())
	}
	options, err := p.engineOptions(c.log, tools, attended)
	if err != nil {
		return nil, errors.Join(err, c.log.Close())
	}
	options.Client = client
	c.bound(&options, day)
	options.SessionTier = strings.TrimSpace(p.instructions() + "\n\n" + extra)
	if c.engine, err = engine.New(ctx, options); err != nil {
		return nil, errors.Join(err, c.log.Close())
	}
	return c, nil
}

func (p *project) engineOptions(log *session.Log, tools tool.Registry, attended bool) (engine.Options, error) {
	policy, err := p.policy()
	if err != nil {
		return engine.Options{}, err
	}
	spills, err := p.spills(log.ID())
	if err != nil {
		return engine.Options{}, err
	}
	p.ws.SetSession(log.ID())
	c := p.config
	pages, err := web.New(web.Options{
		UserAgent: "khaelor/" + p.app.Version, AllowPrivate: c.Web.AllowPrivate, Getenv: p.app.Getenv,
	})
	if err != nil {
		return engine.Options{}, usageError{err}
	}
	return engine.Options{
		Log: log, Workspace: p.ws, Repo: p.repo, Tools: tools, Policy: policy, Clock: p.app.Clock,
		Spill: spills, SpillDir: spills.Folder(),
		Params: p.params, Price: p.price, Attended: attended,
		MaxTurns: c.MaxTurns, MaxCost: c.MaxCost, Timeout: c.Timeout,
		Remember: p.remember, Fetch: pages.Fetch,
		Limits: tool.Limits{
			BashTimeoutMS: c.Bash.Timeout.Milliseconds(), BashMaxTimeoutMS: c.Bash.MaxTimeout.Milliseconds(), ProcessTTY: c.Process.PTY,
		},
	}, nil
}

// openLog opens the session that the flags name, or creates one.
func (c *conversation) openLog(f *runFlags, title string) error {
	p := c.project
	id, err := p.resumeID(f)
	if err != nil {
		return err
	}
	if id == "" {
		c.log, err = p.createLog(f, title)
		return err
	}
	if f.Fork {
		if id, err = p.sessions.Fork(id, 0); err != nil {
			return err
		}
	}
	if c.log, err = p.sessions.Open(id); err != nil {
		return err
	}
	state := c.log.Fold().State
	c.forked = f.Fork
	c.replayed = state.LastSeq - int64(len(c.log.Recovered().Cancelled))
	if made, here := state.Session.Directory, event.Text(p.ws.Cwd()); made != here {
		fmt.Fprintf(p.app.Stderr, "khaelor: the session was made in %s; it goes on in %s\n", visible(made), visible(here))
	}
	return nil
}

// since is the newest fact that is not of this run.
func (c *conversation) since() int64 {
	if c.forked {
		return c.replayed - 1
	}
	return c.replayed
}

// resumeID is the session to go on with, "" for none.
func (p *project) resumeID(f *runFlags) (string, error) {
	if f.Resume != "" && f.Resume != resumeNewest {
		ref, err := p.sessions.Find(f.Resume)
		if err != nil {
			return "", usageError{err}
		}
		return ref.ID, nil
	}
	if !f.Continue && f.Resume == "" {
		return "", nil
	}
	metas, err := p.sessions.List(p.hash)
	if err != nil {
		return "", err
	}
	for _, m := range metas {
		if m.Problem == "" {
			return m.ID, nil
		}
	}
	return "", usagef("there is no session of this project to continue; `khaelor sessions list --all` shows those of other projects")
}

func (p *project) createLog(f *runFlags, title string) (*session.Log, error) {
	if f.Name != "" {
		title = f.Name
	}
	started := event.SessionStarted{
		Title: event.Text(title), ProjectHash: p.hash, WorkingDirectory: event.Text(p.ws.Cwd()),
		Model: p.config.Model, AuxModel: p.config.AuxModel, KhaelorVersion: p.app.Version,
	}
	if head := p.repo.Head(); head.Branch != "" {
		branch := event.Text(head.Branch)
		started.GitBranch = &branch
	}
	return p.sessions.Create(started)
}

// resumed records that a log was opened again, and a model that the user chose
// for what follows.
func (c *conversation) resumed(tools tool.Registry) error {
	if c.replayed == 0 {
		return nil
	}
	s := c.log.Fold().State
	if _, err := c.log.Publish(event.SessionResumed{
		KhaelorVersion: c.project.app.Version, ReplayedSeq: c.replayed, Model: s.Session.Model, ToolNames: tools.Names(),
	}); err != nil {
		return err
	}
	wanted := c.project.config.Model
	if origin := c.project.config.Origin("model").Layer; origin != config.Flags || wanted == s.Session.Model {
		return nil // a session keeps its model until the user says otherwise
	}
	_, err := c.log.Publish(event.ModelChanged{From: s.Session.Model, To: wanted, Reason: event.ChangedByUser})
	return err
}

// close ends the engine, then the log.
func (c *conversation) close(ctx context.Context) error {
	return errors.Join(c.engine.Close(ctx), c.log.Close())
}

// params are what a request to a model says besides the conversation.
func (p *project) params(model string) contextengine.Params {
	data, _ := p.config.ModelData(model)
	most := p.config.OutputLimit(model)
	return contextengine.Params{
		Model: model, MaxTokens: most, StaticTTL: p.config.CacheTTL,
		Thinking: engine.Thinking(p.config.Thinking, data.Thinking, p.config.ThinkingBudget, most),
	}
}

func (p *project) price(model string) (fold.Price, bool) {
	data, known := p.config.ModelData(model)
	write := data.CacheWrite5m
	if p.config.CacheTTL == "1h" {
		write = data.CacheWrite1h
	}
	return fold.Price{Input: data.Input, Output: data.Output, CacheRead: data.CacheRead, CacheWrite: write}, known
}

// policy is the permission evaluator that the settings describe.
func (p *project) policy() (*permission.Evaluator, error) {
	opt, err := permission.FromConfig(p.config.Permissions)
	if err != nil {
		return nil, err
	}
	opt.Mode, opt.Root, opt.Home, opt.State = permission.Mode(p.config.PermissionMode), p.ws.Cwd(), p.app.Getenv("HOME"), p.home.Path()
	return permission.New(opt), nil
}

// instructions are the files that people wrote for the model. Those of an
// untrusted project are left out.
func (p *project) instructions() string {
	root := p.root(p.ws)
	cwd := p.ws.Cwd()
	if !p.trusted {
		root, cwd = p.home.Path(), p.home.Path()
	}
	found, warnings := config.Instructions(configFiles{p.ws}, p.home.Path(), root, cwd)
	p.warnings = append(p.warnings, warnings...)
	var b strings.Builder
	for _, i := range found {
		fmt.Fprintf(&b, "<instructions path=%q>\n%s\n</instructions>\n", i.Path, strings.TrimSpace(i.Text))
	}
	return b.String()
}

// systemAppend is the text of --system-append, or of the file it names.
func (p *project) systemAppend(f *runFlags) (string, error) {
	name, isFile := strings.CutPrefix(f.SystemAppend, "@")
	if !isFile {
		return f.SystemAppend, nil
	}
	data, err := configFiles{p.ws}.ReadFile(p.absolute(name))
	if err != nil {
		return "", usagef("--system-append: %w", err)
	}
	return string(data), nil
}

// result is the object that headless runs end with (contract §2).
type result struct {
	Type       string                    `json:"type"`
	SessionID  string                    `json:"sessionId"`
	Outcome    Outcome                   `json:"outcome"`
	Text       string                    `json:"text"`
	Evidence   *event.CompletionEvidence `json:"evidence"`
	Usage      event.ModelUsage          `json:"usage"`      // of the session
	Cost       *float64                  `json:"cost"`       // of the session, US dollars; null when a price is not known
	DurationMS int64                     `json:"durationMs"` // of the task
	Turns      int                       `json:"turns"`      // model calls of the task
	Error      reason                    `json:"error"`
	exit       int                       // when it does not follow from the outcome
}

// reason is why something did not end well: null in JSON when it did.
type reason string

func (r reason) MarshalJSON() ([]byte, error) {
	if r == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(r))
}

func (r result) line() []byte {
	raw, err := json.Marshal(r)
	if err != nil {
		panic("cli: a result does not encode: " + err.Error())
	}
	return append(safeJSON(raw), '\n')
}

// resultOf sums up the newest task, with what its session cost so far.
func (c *conversation) resultOf() result {
	s := c.log.Fold()
	r := result{Type: "result", SessionID: c.log.ID(), Text: s.State.Task.Answer, Turns: s.State.Task.Responses}
	r.Outcome, r.Error = outcomeOf(s.State.Task.Result)
	switch p := s.State.Task.Result.(type) {
	case event.TaskCompleted:
		r.Evidence = &p.Evidence
	case event.TaskFailed:
		if p.Reason == event.FailedCost && strings.HasPrefix(c.budget.setting, "budget.") {
			r.Error += reason("; the limit is that of " + c.budget.setting)
		}
	}
	r.Usage, _ = s.Usage.Total()
	if usd, known := s.Usage.Cost(c.project.price); known {
		r.Cost = &usd
	}
	if start := s.State.Task.StartTS; start > 0 {
		r.DurationMS = c.project.app.Clock.Now().UnixMilli() - start
	}
	return r
}
