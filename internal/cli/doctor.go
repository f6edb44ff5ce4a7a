package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/khaelor/khaelor/internal/anthropic"
	"github.com/khaelor/khaelor/internal/config"
	"github.com/khaelor/khaelor/internal/repo"
	"github.com/khaelor/khaelor/internal/workspace"
)

func (a *App) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Say what is found, what is missing, and what to do about it", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			found := a.diagnose(c.Context())
			code := exitOK
			for _, f := range found {
				fmt.Fprintln(a.Stdout, f)
				if f.needed && !f.ok {
					code = exitFailed
				}
			}
			if code != exitOK {
				return exitError(code)
			}
			return nil
		},
	}
}

// finding is one line of the doctor.
type finding struct {
	what   string
	ok     bool
	needed bool // nothing works without it
	text   string
	remedy string // when it is not ok
}

func (f finding) String() string {
	mark, text := "ok", f.text
	if !f.ok {
		mark, text = "missing", strings.Trim(f.text+"; "+f.remedy, "; ")
	}
	return fmt.Sprintf("%-8s %-9s %s", mark, f.what, visible(text))
}

// diagnose looks at everything, whatever else is broken.
func (a *App) diagnose(ctx context.Context) []finding {
	found := []finding{{what: "khaelor", ok: true, text: a.Version}}
	ws, err := workspace.NewLocal(a.Cwd, workspace.WithEnviron(a.Environ))
	if err != nil {
		return append(found, finding{what: "folder", needed: true, text: err.Error(), remedy: "start in a folder that can be read"})
	}
	p := &project{app: a, ws: ws, repo: repo.Open(ws), closers: []func() error{ws.Close}}
	found = append(found,
		p.program(ctx, "git", true, "install git"),
		p.program(ctx, "bash", true, "install bash: commands of the model run in it"),
		p.program(ctx, "rg", false, "install ripgrep if commands are to use it; the search tools do not need it"),
		p.sandbox(), p.stateFolder(), p.settings())
	found = append(found, p.access()...)
	found = append(found, p.terminal(), p.repository())
	if err := p.close(); err != nil {
		found = append(found, finding{what: "files", text: err.Error(), remedy: "report this"})
	}
	return found
}

// programLimit is how long a program may take to say its version.
const programLimit = 5 * time.Second

func (p *project) program(ctx context.Context, name string, needed bool, remedy string) finding {
	f := finding{what: name, needed: needed, text: "not on the PATH", remedy: remedy}
	if _, err := workspace.LookPath(p.ws, name); err != nil {
		return f
	}
	r, err := p.ws.Exec(ctx, workspace.Command{Argv: []string{name, "--version"}, Timeout: programLimit})
	switch {
	case err != nil:
		f.text = err.Error()
	case r.ExitCode != 0:
		f.text = fmt.Sprintf("%s --version ends with exit code %d", name, r.ExitCode)
	default:
		f.ok, f.text = true, oneLine(strings.SplitN(r.Output.String(), "\n", 2)[0])
	}
	return f
}

// sandbox only informs: this version runs commands without one.
func (p *project) sandbox() finding {
	f := finding{what: "sandbox", ok: true, text: "bwrap found; this version asks before commands instead of containing them"}
	if _, err := workspace.LookPath(p.ws, "bwrap"); err != nil {
		f.text = "no bwrap; this version asks before commands instead of containing them"
	}
	return f
}

// stateFolder tries to write.
func (p *project) stateFolder() finding {
	f := finding{what: "state", needed: true, remedy: "set KHAELOR_HOME to a folder that can be written"}
	if err := p.openHome(); err != nil {
		f.text, f.remedy = err.Error(), "" // it says what to do
		return f
	}
	const probe = "doctor.probe"
	err := p.home.WriteFile(probe, []byte("ok\n"))
	if err == nil {
		err = p.home.Remove(probe)
	}
	if err != nil {
		f.text = err.Error()
		return f
	}
	f.ok, f.text = true, p.home.Path()
	return f
}

// settings reads them as a run would. What it read before an error serves the
// lines that follow.
func (p *project) settings() finding {
	f := finding{what: "settings", remedy: "`khaelor config check` says more"}
	if p.home == nil {
		f.text = "not read without a state folder"
		return f
	}
	err := p.load(p.ws, &runFlags{})
	if err == nil {
		_, err = p.policy()
	}
	switch {
	case err != nil:
		f.text = err.Error()
	case len(p.warnings) > 0:
		f.ok, f.text = true, fmt.Sprintf("%d warnings; %s", len(p.warnings), f.remedy)
	default:
		f.ok, f.text = true, "no complaints"
	}
	return f
}

// access is the key, which is never shown, and the address it goes to.
func (p *project) access() []finding {
	key := finding{what: "key", ok: true, text: "set, from " + originText(p.config.Origin("apiKey"))}
	switch c := p.config; {
	case c.APIKey != "":
	case c.AuthToken != "":
		key.text = "token set, from " + originText(c.Origin("authToken"))
	case c.BaseURL != "":
		key.text = "none; a server of your own may want none"
	default:
		key.ok, key.text, key.remedy = false, "no key", "set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN; `khaelor demo` works without"
	}
	address := finding{what: "address", ok: true, text: "the provider's own"}
	if base := p.config.BaseURL; base != "" {
		address.text = shownURL(base) + ", from " + originText(p.config.Origin("baseURL"))
	}
	client, err := anthropic.New(anthropic.Options{BaseURL: p.config.BaseURL, APIKey: p.config.APIKey.Reveal(), AuthToken: p.config.AuthToken.Reveal()})
	var wrong *anthropic.ConfigError
	switch {
	case errors.As(err, &wrong):
		address.ok, address.text, address.remedy = false, wrong.Error(), "correct it where it is set: "+originText(p.config.Origin("baseURL"))
	case err == nil:
		client.Close()
	}
	return []finding{key, address}
}

// shownURL is an address without the password it may hold.
func shownURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "not an address"
	}
	return u.Redacted()
}

func (p *project) terminal() finding {
	f := finding{what: "terminal", ok: p.app.StdinTTY && p.app.StdoutTTY, text: p.app.Getenv("TERM")}
	if !f.ok {
		f.text, f.remedy = "standard input or output is no terminal", "without one use khaelor -p"
	}
	return f
}

func (p *project) repository() finding {
	f := finding{what: "project", ok: true}
	switch head := p.repo.Head(); {
	case p.repo.Bare():
		f.ok, f.text, f.remedy = false, "a bare git repository has no files", "make a clone or a worktree of it and start there"
	case !head.IsRepo:
		f.text = p.ws.Cwd() + ", no git repository: changes cannot be told from yours by git"
	default:
		f.text = p.repo.Root() + ", " + head.String()
	}
	if p.home != nil && !p.trusted && p.hasProjectFiles() {
		f.text += ", not trusted: its " + config.ProjectFile + " and instruction files are left out"
	}
	return f
}
