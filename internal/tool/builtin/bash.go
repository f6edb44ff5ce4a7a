package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/process"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/workspace"
)

// Times and sizes of the contract (§8), where the user sets none.
const (
	backgroundAfter = 120_000 // ms
	maxTimeout      = 600_000 // ms
	// captured is how many bytes of an output are held for the process manager,
	// which may take the command over: all it would keep itself.
	captured = 2 * process.BufferSize
)

//go:embed bash.md
var bashDoc string

type bashInput struct {
	Command   string `json:"command"`
	TimeoutMS int64  `json:"timeout_ms"`
	Cwd       string `json:"cwd"`
}

func bashTool() tool.Tool {
	return tool.Define(tool.Spec[bashInput]{
		Name: "bash", Doc: bashDoc, Kind: event.UIExec,
		Schema: `{"type":"object","properties":{"command":{"type":"string"},"timeout_ms":{"type":"integer"},"cwd":{"type":"string"}},"required":["command"]}`,
		Needs:  func(env *tool.Env, in bashInput) (tool.Need, error) { return commandNeed(env, in.Command, in.Cwd) },
		Run:    bash,
	})
}

// commandNeed is the need of a tool that runs a command line.
func commandNeed(env *tool.Env, line, cwd string) (tool.Need, error) {
	switch {
	case strings.TrimSpace(line) == "":
		return tool.Need{}, tool.Errorf(event.ToolInvalidInput, "command is missing.")
	case strings.ContainsRune(line, 0):
		return tool.Need{}, tool.Errorf(event.ToolInvalidInput, "command holds a NUL character, which no command line can.")
	}
	n := tool.Need{Capabilities: []string{tool.ProcessExecute}, Command: line, Cwd: env.Workspace.Cwd()}
	if cwd == "" {
		return n, nil
	}
	folder, err := locate(env, cwd, false)
	if err != nil {
		return tool.Need{}, err
	}
	n.Cwd = folder.Path.Path
	if !folder.Inside {
		n.Capabilities = append(n.Capabilities, tool.OutsideProject)
		n.Paths = []tool.Path{folder.Path}
	}
	return n, nil
}

func bash(ctx context.Context, env *tool.Env, in bashInput) (tool.Result, error) {
	need, err := commandNeed(env, in.Command, in.Cwd)
	if err != nil {
		return tool.Result{}, err
	}
	longest := limit(env.Limits.BashMaxTimeoutMS, maxTimeout)
	if in.TimeoutMS < 0 || in.TimeoutMS > longest {
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput,
			"timeout_ms is from 1 to %d. Without it a long command goes on in the background.", longest)
	}
	file := parseLine(in.Command)
	if err := screenEditor(file); err != nil {
		return tool.Result{}, err
	}
	out := newOutput(env)
	proc, err := workspace.Start(env.Workspace, workspace.Command{
		Line: in.Command, Cwd: need.Cwd, MaxOutput: captured,
		Timeout:  time.Duration(in.TimeoutMS) * time.Millisecond,
		OnOutput: func(_ workspace.Stream, chunk []byte) { out.take(chunk) },
	})
	if err != nil {
		return tool.Result{}, startFailure(err, need.Cwd)
	}
	patience := ctx
	if in.TimeoutMS == 0 {
		after := time.Duration(limit(env.Limits.BashTimeoutMS, backgroundAfter)) * time.Millisecond
		var stop context.CancelFunc
		patience, stop = context.WithTimeout(ctx, after)
		defer stop()
	}
	select {
	case <-proc.Exited():
		return finished(env, in, proc, out, unkept(env.Workspace, file, need.Cwd))
	case <-env.Background:
	case <-patience.Done():
	}
	if ctx.Err() != nil {
		proc.Kill()
		text, _ := out.close()
		return tool.Result{Text: text}, context.Cause(ctx)
	}
	return toBackground(env, in, proc, out)
}

// untilThen adds the output of a command that was stopped.
func untilThen(text string) string {
	if text == "" {
		return " There was no output."
	}
	return " Output until then:\n" + text
}

// limit is a setting or its default.
func limit(setting, standard int64) int64 {
	if setting > 0 {
		return setting
	}
	return standard
}

func startFailure(err error, cwd string) error {
	switch {
	case errors.Is(err, workspace.ErrTooLong):
		return tool.Errorf(event.ToolInvalidInput, "The command is longer than the system takes. Write it to a file and run that.")
	case errors.Is(err, fs.ErrNotExist):
		return tool.Errorf(event.ToolNotFound, "cwd: there is no folder %s. Nothing was run.", cwd)
	case errors.Is(err, workspace.ErrNotDir):
		return tool.Errorf(event.ToolInvalidInput, "cwd: %s is not a folder. Nothing was run.", cwd)
	}
	return tool.Errorf(event.ToolExecError, "The command could not be started: %v.", err)
}

// finished is the result of a command that ended in the foreground. Its exit
// code is the shell's: of a pipe that of the last member, as the line says
// itself when it sets pipefail.
func finished(env *tool.Env, in bashInput, proc *workspace.Proc, out *output, unkept string) (tool.Result, error) {
	run, err := proc.Wait(context.Background()) // it has ended
	if err != nil {
		return tool.Result{}, err
	}
	if run.TimedOut || len(run.Left) == 0 {
		<-proc.Gone() // some stranger may hold the output still, and add to it
	}
	if run.TimedOut {
		text, _ := out.close()
		return tool.Result{}, tool.Errorf(event.ToolTimeout,
			"Stopped with all its children after timeout_ms, %d.%s", in.TimeoutMS, untilThen(text))
	}
	notes := ending(run)
	if unkept != "" {
		notes = append(notes, unkept)
	}
	if len(run.Left) > 0 {
		info, err := env.Processes.Adopt(proc, "", env.ToolUseID)
		if err != nil { // at the end of the session; Adopt has ended it
			notes = append(notes, "the children it left running were stopped")
		} else {
			notes = append(notes, "a child still runs, in the background as process "+info.ID)
		}
	}
	text, spill := out.close() // nothing more comes: it has ended, or is the manager's
	return tool.Result{
		Text:  annotate(text, notes),
		Spill: spill,
		UI: event.ToolUI{
			Kind: event.UIExec, ExitCode: &run.ExitCode,
			Summary: fmt.Sprintf("$ %s · exit %d", firstLine(in.Command), run.ExitCode),
		},
	}, nil
}

// ending says what is not the normal end of a command.
func ending(run workspace.Result) []string {
	switch {
	case run.Signal != "":
		return []string{fmt.Sprintf("killed by %s, exit code %d", run.Signal, run.ExitCode)}
	case run.ExitCode != 0:
		return []string{fmt.Sprintf("exit code %d", run.ExitCode)}
	}
	return nil
}

// toBackground hands the command to the process manager.
func toBackground(env *tool.Env, in bashInput, proc *workspace.Proc, out *output) (tool.Result, error) {
	info, err := env.Processes.Adopt(proc, "", env.ToolUseID)
	text, spill := out.close()
	if err != nil {
		return tool.Result{}, tool.Errorf(event.ToolExecError,
			"The command could not go on in the background and was stopped: %v.%s", err, untilThen(text))
	}
	note := fmt.Sprintf("still running, now in the background as process %s", info.ID)
	return tool.Result{
		Text:  annotate(text, []string{note}),
		Spill: spill,
		UI:    event.ToolUI{Kind: event.UIExec, Summary: fmt.Sprintf("$ %s · background %s", firstLine(in.Command), info.ID)},
	}, nil
}

// annotate adds notes in a line of their own.
func annotate(text string, notes []string) string {
	if len(notes) == 0 {
		return text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + "[" + strings.Join(notes, "; ") + "]"
}

// summaryLength is how much of a command a summary shows, in characters.
const summaryLength = 80

func firstLine(command string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(command), "\n")
	if short := event.Clip(line, summaryLength); short != line {
		return short
	}
	if rest != "" {
		line += " …"
	}
	return line
}
