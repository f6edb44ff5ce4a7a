package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/khaelor/khaelor/internal/anthropic"
	"github.com/khaelor/khaelor/internal/disk/memdisk"
	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/excerpt"
	"github.com/khaelor/khaelor/internal/session"
	"github.com/khaelor/khaelor/internal/tool/builtin"
	"github.com/khaelor/khaelor/internal/workspace"
)

func (a *App) toolCommand() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use: "tool NAME [JSON]", Short: "Run one tool through the permission gate and print its result as JSON", Args: cobra.RangeArgs(1, 2),
		Long: "Run one tool in this project as the model would, through the same permission gate, and print its result as\n" +
			"JSON. The input is the second argument, or standard input. Exit codes: 0, 1 for an error of the tool, 3 for a\n" +
			"missing permission.",
		RunE: func(cmd *cobra.Command, words []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return a.runTool(cmd.Context(), f, words)
		},
	}
	f.register(c.Flags())
	return c
}

// toolResult is what `khaelor tool` prints.
type toolResult struct {
	ModelText     string               `json:"modelText"`
	IsError       bool                 `json:"isError"`
	ErrorKind     *event.ToolErrorKind `json:"errorKind"`
	UI            *event.ToolUI        `json:"ui"`
	FilesModified []event.FileModified `json:"filesModified"`
	SpillFile     *string              `json:"spillFile"`
	exit          int
}

func (a *App) runTool(ctx context.Context, f *runFlags, words []string) error {
	call, err := a.toolCall(words)
	if err != nil {
		return err
	}
	a.CatchSignals()
	p, err := a.openProject(f)
	if err != nil {
		return err
	}
	p.warn()
	a.warnUntrusted(p)
	r, err := p.callTool(ctx, call)
	if err = errors.Join(err, p.close()); err != nil {
		return err
	}
	if err := writeJSON(a.Stdout, r); err != nil || r.exit == exitOK {
		return err
	}
	return exitError(r.exit)
}

// toolCall reads the command line, and standard input when the input is there.
func (a *App) toolCall(words []string) (*oneCall, error) {
	names := builtin.All().Names()
	if _, ok := builtin.All().Get(words[0]); !ok {
		return nil, usagef("there is no tool %q: choose one of %s", words[0], strings.Join(names, ", "))
	}
	call := &oneCall{name: words[0]}
	if len(words) == 2 {
		call.input = words[1]
	} else {
		data, err := io.ReadAll(io.LimitReader(a.Stdin, stdinLimit))
		if err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
		call.input = string(data)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(call.input), &fields); err != nil || fields == nil {
		return nil, usagef("the input of %s is not a JSON object: give one as the second argument or on standard input", call.name)
	}
	_ = json.Unmarshal(fields["path"], &call.path) // a wrong path is the tool's to complain about
	return call, nil
}

// oneCall is a model that makes one call and has nothing else to say. So the
// call takes the way of every call: log, gate, tool, result.
type oneCall struct {
	name, input string
	path        string // of the file that the input names, "" for none
	made        bool
}

// Stream implements model.Streamer.
func (c *oneCall) Stream(_ context.Context, _ []byte, h anthropic.Handler) (anthropic.Reply, error) {
	reply := anthropic.Reply{StopReason: string(event.StopEndTurn), CutBlock: -1}
	if c.made {
		return reply, nil
	}
	c.made = true
	reply.StopReason = string(event.StopToolUse)
	return reply, h.BlockCompleted(anthropic.Block{
		Type: anthropic.BlockToolUse, ToolUseID: "toolu_1", ToolName: c.name, Input: c.input,
	})
}

// callTool runs the call in a session that nobody keeps.
func (p *project) callTool(ctx context.Context, call *oneCall) (toolResult, error) {
	log, err := session.NewStore(memdisk.New(), p.app.Clock, p.log).Create(event.SessionStarted{
		Title: "tool " + call.name, ProjectHash: p.hash, WorkingDirectory: event.Text(p.ws.Cwd()),
		Model: p.config.Model, KhaelorVersion: p.app.Version,
	})
	if err != nil {
		return toolResult{}, err
	}
	if call.name == "write" { // the others need nothing to have been read, however large the file
		if err := p.countAsRead(log, call.path); err != nil {
			return toolResult{}, err
		}
	}
	options, err := p.engineOptions(log, builtin.All(), false)
	if err != nil {
		return toolResult{}, err
	}
	options.Client, options.MaxTurns, options.MaxCost = call, 0, 0
	c := &conversation{project: p, log: log}
	if c.engine, err = engine.New(ctx, options); err != nil {
		return toolResult{}, err
	}
	r := toolResult{FilesModified: []event.FileModified{}}
	defer log.Bus().OnAny(func(rec event.Record) { r.take(rec.Fact) }, nil)()
	exit, err := c.begin(ctx, "run one tool", "")
	err = errors.Join(err, c.close(context.WithoutCancel(ctx)))
	if exit != exitOK {
		r.exit = exit
	}
	return r, err
}

// countAsRead tells the session of the file, which it would else refuse to
// overwrite. What is no file is the tool's to complain about.
func (p *project) countAsRead(log *session.Log, name string) error {
	place, err := workspace.Resolve(p.ws, name)
	if err != nil || name == "" || !place.Exists {
		return nil
	}
	f, err := workspace.Open(p.ws, place.Path)
	if err != nil {
		return nil
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return nil
	}
	_, err = log.Publish(event.FileRead{
		Path: excerpt.LogPath(p.ws.Cwd(), place.Path), Bytes: size, SHA256: hex.EncodeToString(sum.Sum(nil)),
	})
	return err
}

// take reads the result from the facts of the call.
func (r *toolResult) take(f event.Fact) {
	switch p := f.(type) {
	case event.FileModified:
		r.FilesModified = append(r.FilesModified, p)
	case event.ToolCompleted:
		r.ModelText, r.UI = p.ModelText, &p.UI
		if p.SpillFile != "" {
			r.SpillFile = &p.SpillFile
		}
	case event.ToolFailed:
		r.ModelText, r.IsError, r.ErrorKind, r.exit = p.ModelText, true, &p.ErrorKind, exitFailed
		if p.ErrorKind == event.ToolPermissionDenied {
			r.exit = exitPermission
		}
	case event.ToolCancelled:
		r.ModelText, r.IsError, r.exit = p.ModelText, true, exitInterrupted
	}
}
