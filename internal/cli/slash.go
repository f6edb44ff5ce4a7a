package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/config"
)

// slashCommand is one command of the line-based conversation.
type slashCommand struct {
	names []string // the first one is ours
	help  string
	run   func(ctx context.Context, s *lines, arg string) (leave bool, err error)
}

// slashCommands are few: they serve until the screen has its own.
func slashCommands() []slashCommand {
	return []slashCommand{
		{[]string{"/help", "/h", "/?"}, "this list", slashHelp},
		{[]string{"/model"}, "show the model, or change it: /model ID", slashModel},
		{[]string{"/mode", "/permissions"}, "change the permission mode: /mode default|accept-edits|plan|bypass", slashMode},
		{[]string{"/cost", "/usage"}, "tokens and money so far", slashCost},
		{[]string{"/continue"}, "go on with an unfinished task", slashContinue},
		{[]string{"/rename"}, "give the session another title", slashRename},
		{[]string{"/exit", "/quit", "/q"}, "leave", func(context.Context, *lines, string) (bool, error) { return true, nil }},
	}
}

func (s *lines) slash(ctx context.Context, text string) (leave bool, err error) {
	word, arg, _ := strings.Cut(text, " ")
	for _, c := range slashCommands() {
		for _, name := range c.names {
			if name == word {
				return c.run(ctx, s, strings.TrimSpace(arg))
			}
		}
	}
	var names []string
	for _, c := range slashCommands() {
		names = append(names, c.names[0])
	}
	fmt.Fprintf(s.app.Stdout, "There is no %s. The commands are %s.\n", visible(word), strings.Join(names, ", "))
	return false, nil
}

func slashHelp(_ context.Context, s *lines, _ string) (bool, error) {
	for _, c := range slashCommands() {
		fmt.Fprintf(s.app.Stdout, "  %-24s %s\n", strings.Join(c.names, " "), c.help)
	}
	fmt.Fprintln(s.app.Stdout, "  Anything else is a message. While a task runs, a line steers it and Ctrl-C interrupts it.")
	return false, nil
}

// dispatch sends a command to the session, which there may not be yet.
func (s *lines) dispatch(c command.Command) error {
	if s.chat == nil {
		fmt.Fprintln(s.app.Stdout, "There is no session yet; it begins with your first message.")
		return nil
	}
	if err := s.chat.engine.Dispatch(c); err != nil {
		return s.complain(err)
	}
	return nil
}

func slashModel(_ context.Context, s *lines, arg string) (bool, error) {
	switch {
	case arg != "" && s.chat == nil:
		s.project.config.Model = arg
		fallthrough
	case arg == "" && s.chat == nil:
		fmt.Fprintln(s.app.Stdout, visible(s.project.config.Model))
		return false, nil
	case arg == "":
		fmt.Fprintln(s.app.Stdout, visible(s.chat.log.Fold().State.Session.Model))
		return false, nil
	}
	return false, s.dispatch(command.SetModel{Model: arg})
}

func slashMode(_ context.Context, s *lines, arg string) (bool, error) {
	if ours, ok := modeAliases[arg]; ok {
		arg = ours
	}
	if s.chat != nil {
		return false, s.dispatch(command.SetMode{Mode: arg})
	}
	checked, _, err := config.Load(nil, noVariable, config.Sources{
		Flags: []config.Flag{{Name: "/mode", Key: "permissionMode", Value: arg}},
	})
	if err != nil {
		return false, s.complain(err)
	}
	s.project.config.PermissionMode = checked.PermissionMode
	return false, nil
}

func slashCost(_ context.Context, s *lines, _ string) (bool, error) {
	if s.chat == nil {
		fmt.Fprintln(s.app.Stdout, "nothing spent yet")
		return false, nil
	}
	usage := s.chat.log.Fold().Usage
	for _, m := range usage.Models {
		fmt.Fprintf(s.app.Stdout, "%s: %d calls, %d in, %d to cache, %d from cache, %d out\n", visible(m.Model), m.Responses,
			m.Tokens.InputTokens, m.Tokens.CacheWriteTokens, m.Tokens.CacheReadTokens, m.Tokens.OutputTokens)
	}
	if usd, known := usage.Cost(s.project.price); known {
		fmt.Fprintf(s.app.Stdout, "cost $%.4f\n", usd)
	} else {
		fmt.Fprintln(s.app.Stdout, "cost unknown: a model has no price in the configuration")
	}
	return false, nil
}

func slashContinue(ctx context.Context, s *lines, _ string) (bool, error) {
	if s.chat == nil {
		return false, s.dispatch(command.Continue{})
	}
	if err := s.chat.engine.Dispatch(command.Continue{}); err != nil {
		return false, s.complain(err)
	}
	return s.watch(ctx)
}

func slashRename(_ context.Context, s *lines, arg string) (bool, error) {
	return false, s.dispatch(command.Rename{Title: arg})
}
