package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/workspace"
)

// runInteractive talks line by line until the user leaves. The session is
// made with the first message.
func (a *App) runInteractive(ctx context.Context, f *runFlags, words []string) error {
	if !a.StdinTTY {
		return usagef("standard input is not a terminal: use khaelor -p for scripts")
	}
	a.CatchSignals()
	p, err := a.openProject(f)
	if err != nil {
		return err
	}
	s := &lines{app: a, project: p, flags: f, input: workspace.Lines(a.Stdin)}
	err = s.run(ctx, strings.Join(words, " "))
	if failed := errors.Join(s.close(context.WithoutCancel(ctx)), p.close()); failed != nil {
		_ = s.complain(failed)
		err = cmp.Or[error](err, exitError(exitFailed))
	}
	return err
}

// lines is the line-based conversation on a terminal.
type lines struct {
	app     *App
	project *project
	flags   *runFlags
	input   *workspace.LineReader
	chat    *conversation // nil until the first message
	screen  *transcript
	busy    bool // a task is watched
}

func (s *lines) run(ctx context.Context, first string) error {
	if err := s.askTrust(); err != nil {
		return err
	}
	s.project.warn()
	s.project.warnings = nil
	s.greet()
	if s.flags.Continue || s.flags.Resume != "" {
		if err := s.open(ctx, ""); err != nil {
			return err
		}
		s.screen.replay(s.chat)
	}
	for text := first; ; text = "" {
		if strings.TrimSpace(text) == "" {
			line, err := s.prompt()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			text = line
		}
		leave, err := s.handle(ctx, strings.TrimSpace(text))
		if leave || err != nil {
			return err
		}
	}
}

// Why there is no line.
var (
	errCtrlC = errors.New("Ctrl-C was pressed")
	errMoot  = errors.New("nobody waits for the answer any more")
)

// line reads a line. The error is io.EOF, errCtrlC, errMoot when moot was
// closed first, or the exit code of a program that was told to end.
func (s *lines) line(mark string, moot <-chan struct{}) (string, error) {
	fmt.Fprint(s.app.Stdout, mark)
	select {
	case line, ok := <-s.input.C():
		if !ok {
			return "", s.inputEnded()
		}
		return line, nil
	case <-moot:
		fmt.Fprintln(s.app.Stdout)
		return "", errMoot
	case sig := <-s.app.Signals:
		fmt.Fprintln(s.app.Stdout)
		if sig != os.Interrupt {
			return "", exitError(exitTerminated)
		}
		return "", errCtrlC
	}
}

// inputEnded tells the user's end of input from a terminal that is gone, whose
// signal may still be on its way.
func (s *lines) inputEnded() error {
	if _, err := fmt.Fprintln(s.app.Stdout); err != nil || s.app.StdinTTY && s.app.StdinHungUp() {
		return exitError(exitTerminated)
	}
	return io.EOF
}

// prompt reads what to do next. The second Ctrl-C in a row is an end of input.
func (s *lines) prompt() (string, error) {
	const mark = "› "
	line, err := s.line(mark, nil)
	if !errors.Is(err, errCtrlC) {
		return line, err
	}
	fmt.Fprintln(s.app.Stdout, "(Ctrl-C again leaves)")
	if line, err = s.line(mark, nil); errors.Is(err, errCtrlC) {
		return "", io.EOF
	}
	return line, err
}

func (s *lines) greet() {
	fmt.Fprintf(s.app.Stdout, "KHAELOR %s · %s · %s\n", s.app.Version, s.project.config.Model, visible(s.project.ws.Cwd()))
	if !s.project.trusted && s.project.hasProjectFiles() {
		fmt.Fprintln(s.app.Stdout, "This folder is open without trust: its configuration and instruction files are left out.")
	}
	fmt.Fprintln(s.app.Stdout, "/help lists the commands; Ctrl-C interrupts; Ctrl-D leaves.")
}

// handle does what one line asks for.
func (s *lines) handle(ctx context.Context, text string) (leave bool, err error) {
	switch {
	case text == "":
		return false, nil
	case isCommand(text):
		return s.slash(ctx, text)
	}
	if s.chat == nil {
		if err := s.open(ctx, text); err != nil {
			return false, s.complain(err)
		}
	}
	message, err := s.chat.message(text, text)
	if err == nil {
		err = s.chat.engine.Dispatch(message)
	}
	if err != nil {
		return false, s.complain(err)
	}
	return s.watch(ctx)
}

// complain shows an error, if there is one, that does not end the conversation.
func (s *lines) complain(err error) error {
	if err == nil {
		return nil
	}
	fmt.Fprintf(s.app.Stderr, "khaelor: %v\n", err)
	return nil
}

func (s *lines) open(ctx context.Context, text string) error {
	chat, err := s.project.converse(ctx, s.flags, title(text), true)
	s.project.warn()
	s.project.warnings = nil
	if err != nil {
		return err
	}
	s.chat = chat
	s.screen = newTranscript(s.app.Stdout, chat.log)
	return nil
}

// watch shows the task until it ends. What is typed meanwhile steers it,
// answers a question or is a command.
func (s *lines) watch(ctx context.Context) (leave bool, err error) {
	s.busy = true
	defer func() { s.busy = false }()
	for {
		select {
		case <-s.chat.engine.Idle():
			s.screen.finish(s.chat)
			return s.chat.engine.Err() != nil, nil // which closing reports
		case <-ctx.Done():
			return true, exitError(exitTerminated)
		case <-s.screen.asked:
			err = s.answer(ctx)
		case line, ok := <-s.input.C():
			if !ok {
				err = s.inputEnded()
			} else {
				err = s.steer(ctx, strings.TrimSpace(line))
			}
		case sig := <-s.app.Signals:
			if sig != os.Interrupt {
				return true, exitError(exitTerminated)
			}
			err = errCtrlC
		}
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case errors.Is(err, errCtrlC):
			err = nil
			s.interrupt()
		case err != nil:
			return true, err
		}
	}
}

// steer does what a line asks for that was typed while a task runs. The error
// is io.EOF when the user leaves.
func (s *lines) steer(ctx context.Context, text string) error {
	switch {
	case text == "":
		return nil
	case isCommand(text):
		leave, err := s.slash(ctx, text)
		if leave && err == nil {
			err = io.EOF
		}
		return err
	}
	word, err := s.chat.steering(text)
	if err == nil {
		err = s.chat.engine.Dispatch(word)
	}
	return s.complain(err)
}

// interrupt stops the task. A call that waits for a permission does not run.
func (s *lines) interrupt() {
	if err := s.chat.engine.Dispatch(command.Interrupt{}); !errors.Is(err, engine.ErrNothingToDo) {
		_ = s.complain(err)
	}
}

// answer asks what the permission gate, or the engine, wants to know. What
// nobody waits for any more, as after a crash, is passed over: the newest
// question is the one that is asked.
func (s *lines) answer(ctx context.Context) error {
	state := s.chat.log.Fold().State
	for _, p := range state.Permissions {
		if err := s.answerPermission(ctx, p.PermissionRequested); err != nil {
			return unlessMoot(err)
		}
	}
	for _, q := range slices.Backward(state.Questions) {
		if waited, err := s.answerQuestion(ctx, q); waited || err != nil {
			return unlessMoot(err)
		}
	}
	return nil
}

func unlessMoot(err error) error {
	if errors.Is(err, errMoot) {
		return nil
	}
	return err
}

// ask puts a question until a line answers it that was typed after it. An empty
// line answers nothing, nor does a command, which is run.
func (s *lines) ask(ctx context.Context, question string) (string, error) {
	for {
		s.input.Drop()
		fmt.Fprintf(s.app.Stdout, "\n%s\n", question)
		line, err := s.line("? ", s.chat.engine.Idle())
		if err != nil {
			return "", err
		}
		line = strings.TrimSpace(line)
		if line != "" && !isCommand(line) {
			return line, nil
		}
		if err := s.steer(ctx, line); err != nil {
			return "", err
		}
	}
}

func (s *lines) answerPermission(ctx context.Context, p event.PermissionRequested) error {
	question := s.permissionQuestion(p)
	for {
		line, err := s.ask(ctx, question)
		if err != nil {
			return err
		}
		response := command.PermissionResponse{RequestID: p.PermissionRequestID, Decision: command.Refuse}
		switch word := strings.ToLower(line); word {
		case "?":
			fmt.Fprint(s.app.Stdout, permissionHelp)
			continue
		case "y", "yes":
			response.Decision = command.Once
		case "s", "session", "a", "always":
			if p.Suggestion == nil {
				fmt.Fprintln(s.app.Stdout, "This can be allowed once only.")
				continue
			}
			response.Decision = command.Session
			if word[0] == 'a' {
				response.Decision = command.Always
			}
		case "n", "no":
		default:
			response.Feedback = line
		}
		return s.complain(s.chat.engine.Dispatch(response))
	}
}

const permissionHelp = `  y, yes      run it this once
  s, session  run it, and whatever the rule shown covers, until the session ends
  a, always   the same, and keep the rule for this project
  n, no       do not run it
  Other words refuse too, and the model reads them. /commands work here; Ctrl-C stops the task.
`

func (s *lines) permissionQuestion(p event.PermissionRequested) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Allow this?\n  %s\n", strings.ReplaceAll(visible(p.Descriptor), "\n", "\n  "))
	for _, call := range s.chat.log.Fold().State.Calls {
		if call.ID == p.ToolUseID {
			b.WriteString(visible(preview(call.Input)))
		}
	}
	if p.Suggestion == nil {
		b.WriteString("[y] once  [n] no, or why not  [?] help")
	} else {
		fmt.Fprintf(&b, "[y] once  [s] for this session  [a] always in this project: %s(%s)  [n] no, or why not  [?] help",
			p.Suggestion.Capability, visible(p.Suggestion.Pattern))
	}
	return b.String()
}

// askTrust asks once whether to use what the folder brings along.
func (s *lines) askTrust() error {
	p := s.project
	if p.trusted || !p.hasProjectFiles() {
		return nil
	}
	fmt.Fprintf(s.app.Stdout, "%s brings configuration or instruction files. Trust them? [y] yes  [n] open without them\n", visible(p.root(p.ws)))
	line, err := s.line("? ", nil)
	if code := exitError(0); errors.As(err, &code) {
		return err
	}
	if err != nil || !strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "y") {
		return nil
	}
	return p.trust(s.flags)
}

// close ends the conversation and says how to go on with it.
func (s *lines) close(ctx context.Context) error {
	s.input.Close()
	if s.chat == nil {
		return nil
	}
	id := s.chat.log.ID()
	err := s.chat.close(ctx)
	s.screen.stop()
	fmt.Fprintf(s.app.Stdout, "session %s · continue with: khaelor -r %s\n", id, id)
	return err
}
