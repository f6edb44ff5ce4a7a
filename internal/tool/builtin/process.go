package builtin

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/process"
	"github.com/khaelor/khaelor/internal/spill"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/workspace"
)

//go:embed process.md
var processDoc string

type processInput struct {
	Action  string `json:"action"`
	ID      string `json:"id"`
	Command string `json:"command"`
	Input   string `json:"input"`
	Offset  *int64 `json:"offset"`
}

func processTool() tool.Tool {
	return tool.Define(tool.Spec[processInput]{
		Name: "process", Doc: processDoc, Kind: event.UIProcess,
		Schema: `{"type":"object","properties":{"action":{"enum":["start","list","read","write","stop"]},"id":{"type":"string"},"command":{"type":"string"},"input":{"type":"string"},"offset":{"type":"integer"}},"required":["action"]}`,
		Needs:  processNeed,
		Run:    runProcess,
	})
}

// processNeed asks about input as about a command: to a shell it is one.
func processNeed(env *tool.Env, in processInput) (tool.Need, error) {
	switch in.Action {
	case "start":
		return commandNeed(env, in.Command, "")
	case "write":
		return tool.Need{Capabilities: []string{tool.ProcessExecute}, Command: in.Input, Cwd: env.Workspace.Cwd()}, nil
	}
	return tool.Need{}, nil
}

func runProcess(ctx context.Context, env *tool.Env, in processInput) (tool.Result, error) {
	switch in.Action {
	case "start":
		return startProcess(env, in)
	case "list":
		return listProcesses(env), nil
	case "read":
		return readProcess(env, in)
	case "write":
		return writeProcess(ctx, env, in)
	case "stop":
		info, err := env.Processes.Stop(in.ID)
		if err != nil {
			return tool.Result{}, processFailure(env, err)
		}
		return about(in, in.ID+" "+condition(info)), nil
	}
	return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "action is start, list, read, write or stop, not %q.", in.Action)
}

// about is a result with its summary.
func about(in processInput, text string) tool.Result {
	subject := in.ID
	if in.Action == "start" {
		subject = firstLine(in.Command)
	}
	summary := strings.TrimSpace("Process " + in.Action + " " + subject)
	return tool.Result{Text: text, UI: event.ToolUI{Kind: event.UIProcess, Summary: summary}}
}

func startProcess(env *tool.Env, in processInput) (tool.Result, error) {
	if _, err := commandNeed(env, in.Command, ""); err != nil {
		return tool.Result{}, err
	}
	info, err := env.Processes.Start(workspace.Command{Line: in.Command, TTY: env.Limits.ProcessTTY}, "", env.ToolUseID)
	if err != nil {
		return tool.Result{}, startFailure(err, env.Workspace.Cwd())
	}
	return about(in, fmt.Sprintf("started %s (pid %d)", info.ID, info.PID)), nil
}

// mostOrphans bounds how many processes of dead sessions are listed.
const mostOrphans = 20

func listProcesses(env *tool.Env) tool.Result {
	in := processInput{Action: "list"}
	infos, orphans := env.Processes.List(), workspace.Orphans(env.Workspace)
	if len(infos)+len(orphans) == 0 {
		return about(in, "no processes")
	}
	var b strings.Builder
	for _, o := range orphans[:min(len(orphans), mostOrphans)] {
		fmt.Fprintf(&b, "orphaned (session %s is gone): %s; stop it with: kill -- -%d\n", sessionID(o.Session), firstLine(event.Text(o.Command)), o.Group)
	}
	if more := len(orphans) - mostOrphans; more > 0 {
		fmt.Fprintf(&b, "%d more are orphaned\n", more)
	}
	for _, info := range infos {
		fmt.Fprintf(&b, "%s %s, %d bytes printed: %s\n", info.ID, condition(info), info.Output, firstLine(info.Command))
	}
	shown := spill.NewText(tool.ResultLimit, env.Spill)
	shown.Append([]byte(event.Text(b.String())))
	text, file := shown.Close(int64(b.Len()))
	r := about(in, text)
	r.Spill = file
	return r
}

// sessionID is the id of a session in an environment, where anybody may have
// put anything.
func sessionID(id string) string {
	const most = 64 // ours have 26
	strange := func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	if id == "" || len(id) > most || strings.ContainsFunc(id, strange) {
		return "?"
	}
	return id
}

// condition says whether a process runs, and how it ended.
func condition(info process.Info) string {
	switch e := info.Exited; {
	case e == nil:
		return "running"
	case e.Cause == event.StoppedByTool:
		return "stopped"
	case e.ExitCode == nil:
		return "killed by a signal"
	default:
		return fmt.Sprintf("exited with code %d", *e.ExitCode)
	}
}

func readProcess(env *tool.Env, in processInput) (tool.Result, error) {
	from := int64(process.Next)
	if in.Offset != nil {
		from = *in.Offset
		if from < 0 {
			return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "offset counts bytes from 0; leave it out for what is new.")
		}
	}
	chunk, err := env.Processes.Read(in.ID, from, 0)
	if err != nil {
		return tool.Result{}, processFailure(env, err)
	}
	out := newOutput(env)
	out.live = nil
	out.take(chunk.Data)
	text, spill := out.close()
	if chunk.Dropped > 0 {
		text = fmt.Sprintf("[%d bytes before this are no longer kept]\n", chunk.Dropped) + text
	}
	if len(chunk.Data) == 0 {
		text = "(nothing new)"
	}
	result := about(in, annotate(text, []string{fmt.Sprintf("%s %s; next offset %d", chunk.ID, condition(chunk.Info), chunk.End())}))
	result.Spill = spill
	return result, nil
}

func writeProcess(ctx context.Context, env *tool.Env, in processInput) (tool.Result, error) {
	if in.Input == "" {
		return tool.Result{}, tool.Errorf(event.ToolInvalidInput, "input is missing. A line ends with \\n.")
	}
	if err := env.Processes.Write(ctx, in.ID, in.Input); err != nil {
		if info, gone := env.Processes.Get(in.ID); gone == nil && info.Exited != nil {
			return tool.Result{}, tool.Errorf(event.ToolExecError, "%s takes no input any more: %s.", in.ID, condition(info))
		}
		return tool.Result{}, processFailure(env, err)
	}
	return about(in, fmt.Sprintf("wrote %d bytes to %s", len(in.Input), in.ID)), nil
}

func processFailure(env *tool.Env, err error) error {
	if !errors.Is(err, process.ErrUnknown) {
		return tool.Errorf(event.ToolExecError, "%v.", err)
	}
	var ids []string
	for _, info := range env.Processes.List() {
		ids = append(ids, info.ID)
	}
	if len(ids) == 0 {
		return tool.Errorf(event.ToolNotFound, "%v: there are no processes.", err)
	}
	return tool.Errorf(event.ToolNotFound, "%v. There are: %s.", err, strings.Join(ids, ", "))
}
