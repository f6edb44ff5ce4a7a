package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/khaelor/khaelor/internal/config"
)

func (a *App) configCommand() *cobra.Command {
	return group("config", "Show and check the settings, each with its origin",
		a.configShowCommand(), a.configPathCommand(), a.configCheckCommand(), a.configSchemaCommand())
}

// configOptions are the inputs of the config commands: the flags of a run,
// since those are settings too.
type configOptions struct {
	runFlags
	JSON bool
}

// configRun makes a command that looks at the settings of a project.
func (a *App) configRun(name, short string, o *configOptions, run func(p *project) error) *cobra.Command {
	c := &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := o.check(); err != nil {
				return err
			}
			p, err := a.openProject(&o.runFlags)
			if err != nil {
				return err
			}
			return errors.Join(run(p), p.close())
		},
	}
	o.register(c.Flags())
	return c
}

func (a *App) configShowCommand() *cobra.Command {
	o := &configOptions{}
	c := a.configRun("show", "Show every setting and where its value came from", o, func(p *project) error {
		p.warn()
		if o.JSON {
			return p.configJSON()
		}
		for _, s := range p.config.Show() {
			fmt.Fprintf(a.Stdout, "%-34s %s  (%s)\n", s.Key, visible(s.Value), originText(s.Origin))
		}
		return nil
	})
	c.Flags().BoolVar(&o.JSON, "json", false, "one JSON array")
	return c
}

// shownSetting is one setting of the JSON list.
type shownSetting struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	Layer config.Layer    `json:"layer"`
	File  string          `json:"file,omitempty"`
	Line  int             `json:"line,omitempty"`
}

func (p *project) configJSON() error {
	list := []shownSetting{}
	for _, s := range p.config.Show() {
		list = append(list, shownSetting{
			Key: s.Key, Value: json.RawMessage(s.Value), Layer: s.Origin.Layer, File: s.Origin.File, Line: s.Origin.Line,
		})
	}
	return writeJSON(p.app.Stdout, list)
}

func originText(o config.Origin) string {
	switch {
	case o.File == "":
		return string(o.Layer)
	case o.Line == 0:
		return fmt.Sprintf("%s, %s", o.Layer, visible(o.File))
	}
	return fmt.Sprintf("%s, %s:%d", o.Layer, visible(o.File), o.Line)
}

func (a *App) configPathCommand() *cobra.Command {
	o := &configOptions{}
	return a.configRun("path", "Show the files that settings come from", o, func(p *project) error {
		for _, s := range p.configSources(&o.runFlags) {
			fmt.Fprintf(a.Stdout, "%s  %s (%s)\n", s.layer, visible(s.file), s.state)
		}
		return nil
	})
}

// configSource is one file of settings.
type configSource struct {
	layer config.Layer
	file  string
	state string // read, missing, untrusted
}

// configSources are the files in the order in which they are read.
func (p *project) configSources(f *runFlags) []configSource {
	root := p.root(p.ws)
	sources := []configSource{
		{layer: config.User, file: p.home.Path() + "/config.json"},
		{layer: config.Project, file: root + "/" + config.ProjectFile},
		{layer: config.Local, file: root + "/" + config.LocalFile},
	}
	if f.ConfigFile != "" {
		sources = append(sources, configSource{layer: config.Explicit, file: p.absolute(f.ConfigFile)})
	}
	for i := range sources {
		s := &sources[i]
		_, err := configFiles{p.ws}.Canonical(s.file)
		switch {
		case err != nil:
			s.state = "missing"
		case !p.trusted && (s.layer == config.Project || s.layer == config.Local):
			s.state = "not trusted"
		default:
			s.state = "read"
		}
	}
	return sources
}

func (a *App) configCheckCommand() *cobra.Command {
	o := &configOptions{}
	return a.configRun("check", "Read all settings and say what is wrong with them", o, func(p *project) error {
		if _, err := p.policy(); err != nil {
			return err
		}
		for _, w := range p.warnings {
			fmt.Fprintf(a.Stdout, "warning: %s\n", visible(w.String()))
		}
		var read []string
		for _, s := range p.configSources(&o.runFlags) {
			if s.state == "read" {
				read = append(read, visible(s.file))
			}
		}
		if len(read) == 0 {
			read = []string{"no file"}
		}
		fmt.Fprintf(a.Stdout, "ok: %s read, %d warnings\n", strings.Join(read, ", "), len(p.warnings))
		return nil
	})
}

func (a *App) configSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of a configuration file", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.Stdout.Write(config.Schema())
			return err
		},
	}
}
