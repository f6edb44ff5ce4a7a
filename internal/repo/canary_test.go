package repo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/fold"
)

// TestNoProgramThatARepositoryNamesIsRun sets every setting that names a
// program to one that leaves a trace. Each row is first shown to work: git,
// asked as usual, leaves the trace.
func TestNoProgramThatARepositoryNamesIsRun(t *testing.T) {
	attributes := func(p place, text string) { p.write(".git/info/attributes", text) }
	for _, c := range []struct {
		name  string
		arm   func(p place, canary string)
		asked []string // as a user of git would; nil: not shown
	}{
		{"fsmonitor", func(p place, run string) { p.git("config", "core.fsmonitor", run) }, []string{"status"}},
		{"external diff", func(p place, run string) { p.git("config", "diff.external", run) }, []string{"diff"}},
		{"a driver's diff", func(p place, run string) {
			p.git("config", "diff.x.command", run)
			attributes(p, "* diff=x\n")
		}, []string{"diff"}},
		{"textconv", func(p place, run string) {
			p.git("config", "diff.x.textconv", run)
			attributes(p, "* diff=x\n")
		}, []string{"diff"}},
		{"a clean filter", func(p place, run string) {
			p.git("config", "filter.x.clean", run)
			p.git("config", "filter.x.required", "true")
			attributes(p, "* filter=x\n")
		}, []string{"diff"}},
		{"a process filter", func(p place, run string) {
			p.git("config", "filter.X y.process", run)
			attributes(p, "* filter=X\n")
			p.git("config", "filter.X.process", run)
		}, []string{"diff"}},
		{"a filter with an equals sign", func(p place, run string) {
			p.git("config", "filter.a=b.clean", run)
			attributes(p, "* filter=a=b\n")
		}, []string{"diff"}},
		{"a filter of an included file", func(p place, run string) {
			p.write("evil", "[filter \"x\"]\n\tclean = "+run+"\n")
			p.git("config", "include.path", "../evil")
			attributes(p, "* filter=x\n")
		}, []string{"diff"}},
		{"a filter of the worktree's configuration", func(p place, run string) {
			p.git("config", "extensions.worktreeConfig", "true")
			p.git("config", "--worktree", "filter.x.clean", run)
			attributes(p, "* filter=x\n")
		}, []string{"diff"}},
		{"pagers", func(p place, run string) {
			p.git("config", "core.pager", run)
			p.git("config", "pager.diff", run)
			p.git("config", "pager.status", run)
		}, nil},
		{"hooks", func(p place, run string) {
			p.git("config", "core.hooksPath", p.path("hooks"))
			p.write("hooks/post-index-change", "#!/bin/sh\n"+run+"\n")
			_ = os.Chmod(p.path("hooks/post-index-change"), 0o755)
		}, []string{"add", "-u"}},
		{"an alias", func(p place, run string) { p.git("config", "alias.status", "!"+run) }, nil},
		{"ssh and a fetch of what is missing", func(p place, run string) {
			promisor(p, "remote.origin.url", "ssh://host/x", "core.sshCommand", run)
		}, []string{"cat-file", "blob", "HEAD:a.txt"}},
		{"an upload program and a fetch of what is missing", func(p place, run string) {
			promisor(p, "remote.origin.url", p.path("../origin"), "remote.origin.uploadpack", run)
		}, []string{"cat-file", "blob", "HEAD:a.txt"}},
		{"an ext transport and a fetch of what is missing", func(p place, run string) {
			promisor(p, "remote.origin.url", "ext::sh -c "+strings.ReplaceAll(run, " ", "% "), "protocol.ext.allow", "always")
		}, []string{"cat-file", "blob", "HEAD:a.txt"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := repository(t)
			canary := filepath.Join(t.TempDir(), "canary")
			c.arm(p, "touch "+canary)
			p.write("a.txt", "changed\n")
			if c.asked != nil {
				_, _ = p.try(c.asked...)
				if os.Remove(canary) != nil {
					t.Fatalf("git %v did not run it: the row shows nothing", c.asked)
				}
			}
			everything(t, p)
			if _, err := os.Stat(canary); err == nil {
				t.Error("the program was run")
			}
		})
	}
}

// promisor makes the repository one whose objects come from elsewhere, and
// loses one of them.
func promisor(p place, settings ...string) {
	p.git("config", "core.repositoryFormatVersion", "1")
	p.git("config", "extensions.partialClone", "origin")
	p.git("config", "remote.origin.promisor", "true")
	for i := 0; i < len(settings); i += 2 {
		p.git("config", settings[i], settings[i+1])
	}
	blob := p.git("rev-parse", "HEAD:a.txt")
	if err := os.Remove(p.path(".git/objects/" + blob[:2] + "/" + blob[2:])); err != nil {
		p.t.Fatal(err)
	}
}

// everything asks git all that the package ever asks.
func everything(t *testing.T, p place) {
	r := p.open()
	r.Baseline(t.Context())
	tracker := newTracker(r)
	tracker.Begin(t.Context())
	p.write("a.txt", "changed again\n")
	p.write("new.txt", "new\n")
	tracker.Changed(t.Context())
	tracker.most = 0 // from here on git is asked what changed
	tracker.Begin(t.Context())
	tracker.Changed(t.Context())
	tracker.Missed(t.Context(), time.Now().Add(-time.Hour), fold.Changes{}, "")
	r.committed(t.Context(), "HEAD", "a.txt")
	r.commit(t.Context())
	_, _ = r.between(t.Context(), "HEAD", "HEAD") // an answer is not what is looked for
}

// TestASubmoduleRunsNothingEither arms the configuration of a submodule.
func TestASubmoduleRunsNothingEither(t *testing.T) {
	p := withSubmodule(t)
	canary := filepath.Join(t.TempDir(), "canary")
	sub := p.in("sub")
	sub.git("config", "filter.x.clean", "touch "+canary)
	sub.git("config", "core.fsmonitor", "touch "+canary)
	p.write(".git/modules/sub/info/attributes", "* filter=x\n")
	p.git("config", "diff.submodule", "diff")
	p.git("config", "status.submoduleSummary", "true")
	sub.write("s.txt", "changed\n")
	p.write("a.txt", "changed\n")
	if _, _ = p.try("diff", "HEAD"); os.Remove(canary) != nil {
		t.Fatal("git diff did not run it: this shows nothing")
	}
	everything(t, p)
	everything(t, sub)
	if _, err := os.Stat(canary); err == nil {
		t.Error("the program was run")
	}
}

// TestTheUsersFiltersStay: what the user's own configuration names is theirs.
func TestTheUsersFiltersStay(t *testing.T) {
	p := repository(t)
	global := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(global, []byte("[filter \"up\"]\n\tclean = tr a-z A-Z\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", global)
	p.write(".gitattributes", "*.up filter=up\n")
	p.write("x.up", "loud\n")
	p.git("add", ".")
	p.git("commit", "-qm", "filtered")
	p.write("x.up", "Loud\n")
	if b, ok := p.open().Baseline(t.Context()); !ok || len(b.DirtyFiles) != 0 {
		t.Errorf("baseline %+v", b)
	}
}
