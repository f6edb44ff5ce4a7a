package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
	return errors.Join(err, s.close(context.WithoutCancel(ctx)), p.close())
}

// lines is the line-based conversation on a terminal.
type lines struct {
	app     *App
	project *project
	flags   *runFlags
	input   *workspace.LineReader
	chat    *conversation // nil until the first message
	screen  *transcript
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
			line, err := s.prompt("› ")
			if errors.Is(err, io.EOF) || errors.Is(err, errLeave) {
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

// errLeave is the second Ctrl-C in a row, or a signal that ends the program.
var errLeave = errors.New("leave")

// prompt reads a line. The first Ctrl-C clears it, the second one leaves.
func (s *lines) prompt(mark string) (string, error) {
	pressed := false
	for {
		fmt.Fprint(s.app.Stdout, mark)
		select {
		case line, ok := <-s.input.C:
			if !ok {
				fmt.Fprintln(s.app.Stdout)
				return "", io.EOF
			}
			return line, nil
		case sig := <-s.app.Signals:
			fmt.Fprintln(s.app.Stdout)
			if sig != os.Interrupt || pressed {
				return "", errLeave
			}
			pressed = true
			fmt.Fprintln(s.app.Stdout, "(Ctrl-C again leaves)")
		}
	}
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
	case strings.HasPrefix(text, "/"):
		return s.slash(ctx, text)
	}
	if s.chat == nil {
		if err := s.open(ctx, text); err != nil {
			return false, s.complain(err)
		}
	}
	if err := s.chat.engine.Dispatch(command.SubmitMessage{Text: text}); err != nil {
		return false, s.complain(err)
	}
	return s.watch(ctx)
}

// complain shows an error that does not end the conversation.
func (s *lines) complain(err error) error {
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

// watch shows the task until it ends. What is typed meanwhile steers it, or
// answers a question.
func (s *lines) watch(ctx context.Context) (leave bool, err error) {
	for {
		select {
		case <-s.chat.engine.Idle():
			s.screen.finish(s.chat)
			return false, s.chat.engine.Err()
		case <-ctx.Done():
			return true, nil
		case <-s.screen.asked:
			if err := s.answer(); err != nil {
				return false, err
			}
		case line, ok := <-s.input.C:
			if !ok {
				return true, nil
			}
			if text := strings.TrimSpace(line); text != "" {
				if err := s.chat.engine.Dispatch(command.Steer{Text: text}); err != nil {
					return false, s.complain(err)
				}
			}
		case sig := <-s.app.Signals:
			if sig != os.Interrupt {
				return true, nil
			}
			if err := s.chat.engine.Dispatch(command.Interrupt{}); err != nil && !errors.Is(err, engine.ErrNothingToDo) {
				return false, s.complain(err)
			}
		}
	}
}

// answer asks what the permission gate, or the engine, wants to know.
func (s *lines) answer() error {
	state := s.chat.log.Fold().State
	for _, p := range state.Permissions {
		if err := s.answerPermission(p.PermissionRequested); err != nil {
			return err
		}
	}
	for _, q := range state.Questions {
		fmt.Fprintf(s.app.Stdout, "\n%s [%s]\n", visible(q.Question), visible(strings.Join(q.Options, " / ")))
		line, err := s.prompt("? ")
		if err != nil {
			line = "stop"
		}
		if err := s.chat.engine.Dispatch(command.AnswerQuestion{QuestionID: q.QuestionID, Answer: []string{strings.TrimSpace(line)}}); err != nil {
			return s.complain(err)
		}
	}
	return nil
}

func (s *lines) answerPermission(p event.PermissionRequested) error {
	fmt.Fprintf(s.app.Stdout, "\nAllow this?\n  %s\n", strings.ReplaceAll(visible(p.Descriptor), "\n", "\n  "))
	for _, call := range s.chat.log.Fold().State.Calls {
		if call.ID == p.ToolUseID {
			fmt.Fprint(s.app.Stdout, visible(preview(call.Input)))
		}
	}
	choices := "[y] once  [n] no, or why not"
	if p.Suggestion != nil {
		choices = fmt.Sprintf("[y] once  [s] for this session  [a] always in this project: %s(%s)  [n] no, or why not",
			p.Suggestion.Capability, visible(p.Suggestion.Pattern))
	}
	fmt.Fprintln(s.app.Stdout, choices)
	line, err := s.prompt("? ")
	response := command.PermissionResponse{RequestID: p.PermissionRequestID, Decision: command.Refuse}
	switch word := strings.ToLower(strings.TrimSpace(line)); {
	case err != nil:
	case word == "y" || word == "yes":
		response.Decision = command.Once
	case word == "s" && p.Suggestion != nil:
		response.Decision = command.Session
	case word == "a" && p.Suggestion != nil:
		response.Decision = command.Always
	case word != "n" && word != "no":
		response.Feedback = strings.TrimSpace(line)
	}
	if dispatchErr := s.chat.engine.Dispatch(response); dispatchErr != nil {
		return s.complain(dispatchErr)
	}
	if errors.Is(err, errLeave) {
		return s.complain(s.chat.engine.Dispatch(command.Interrupt{}))
	}
	return nil
}

// askTrust asks once whether to use what the folder brings along.
func (s *lines) askTrust() error {
	p := s.project
	if p.trusted || !p.hasProjectFiles() {
		return nil
	}
	fmt.Fprintf(s.app.Stdout, "%s brings configuration or instruction files. Trust them? [y] yes  [n] open without them\n", visible(p.root(p.ws)))
	line, err := s.prompt("? ")
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
	fmt.Fprintf(s.app.Stdout, "session %s · continue with: khaelor -r %s\n", id, id)
	return err
}
