package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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
		{[]string{"/mode", "/permissions"}, "show the permission mode, or change it: /mode default|accept-edits|plan|bypass", slashMode},
		{[]string{"/cost", "/usage"}, "tokens and money so far", slashCost},
		{[]string{"/continue"}, "go on with an unfinished task", slashContinue},
		{[]string{"/rename"}, "give the session another title", slashRename},
		{[]string{"/exit", "/quit", "/q"}, "leave", func(context.Context, *lines, string) (bool, error) { return true, nil }},
	}
}

// isCommand tells a command from a message, which may begin with a path.
func isCommand(text string) bool {
	word, _, _ := strings.Cut(text, " ")
	return strings.HasPrefix(word, "/") && strings.Count(word, "/") == 1
}

func (s *lines) slash(ctx context.Context, text string) (leave bool, err error) {
	word, arg, _ := strings.Cut(text, " ")
	word = strings.ToLower(word)
	for _, c := range slashCommands() {
		if slices.Contains(c.names, word) {
			return c.run(ctx, s, strings.TrimSpace(arg))
		}
	}
	fmt.Fprintf(s.app.Stdout, "There is no %s; nothing was done. The nearest commands are %s; /help lists them all.\n",
		visible(word), strings.Join(nearestCommands(word)[:3], ", "))
	return false, nil
}

// nearestCommands are all names, the likeliest to be meant first.
func nearestCommands(word string) []string {
	var names []string
	for _, c := range slashCommands() {
		names = append(names, c.names...)
	}
	far := func(name string) int {
		if len(word) > 1 && strings.HasPrefix(name, word) {
			return 0
		}
		return config.Distance(word, name)
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(far(a), far(b)) })
	return names
}

func slashHelp(_ context.Context, s *lines, _ string) (bool, error) {
	for _, c := range slashCommands() {
		fmt.Fprintf(s.app.Stdout, "  %-24s %s\n", strings.Join(c.names, " "), c.help)
	}
	fmt.Fprintln(s.app.Stdout, "  Anything else is a message. While a task runs, a line steers it, commands work at once and Ctrl-C interrupts it.")
	return false, nil
}

// dispatch sends a command to the session, which there may not be yet, and says
// whether it was done.
func (s *lines) dispatch(c command.Command) bool {
	if s.chat == nil {
		fmt.Fprintln(s.app.Stdout, "There is no session yet; it begins with your first message.")
		return false
	}
	err := s.chat.engine.Dispatch(c)
	_ = s.complain(err)
	return err == nil
}

func slashModel(_ context.Context, s *lines, arg string) (bool, error) {
	switch {
	case arg == "":
	case s.chat == nil:
		s.project.config.Model = arg
	case !s.dispatch(command.SetModel{Model: arg}):
		return false, nil
	}
	model := s.project.config.Model
	if s.chat != nil {
		model = s.chat.log.Fold().State.Session.Model
	}
	fmt.Fprintf(s.app.Stdout, "model: %s\n", visible(model))
	return false, nil
}

func slashMode(_ context.Context, s *lines, arg string) (bool, error) {
	if arg != "" {
		checked, _, err := config.Load(nil, noVariable, config.Sources{
			Flags: []config.Flag{{Name: "/mode", Key: "permissionMode", Value: cmp.Or(modeAliases[arg], arg)}},
		})
		if err != nil {
			return false, s.complain(err)
		}
		if s.chat != nil && !s.dispatch(command.SetMode{Mode: checked.PermissionMode}) {
			return false, nil
		}
		s.project.config.PermissionMode = checked.PermissionMode
	}
	fmt.Fprintf(s.app.Stdout, "mode: %s\n", s.project.config.PermissionMode)
	return false, nil
}

func slashCost(_ context.Context, s *lines, _ string) (bool, error) {
	if s.chat == nil {
		fmt.Fprintln(s.app.Stdout, "nothing spent yet")
		return false, nil
	}
	usage := s.chat.log.Fold().Usage
	for _, m := range usage.Models {
		fmt.Fprintf(s.app.Stdout, "%s: %s, %d in, %d to cache, %d from cache, %d out\n", visible(m.Model), calls(m.Responses),
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
	if s.busy {
		fmt.Fprintln(s.app.Stdout, "The task is being worked on.")
		return false, nil
	}
	if !s.dispatch(command.Continue{}) {
		return false, nil
	}
	return s.watch(ctx)
}

func slashRename(_ context.Context, s *lines, arg string) (bool, error) {
	if arg == "" {
		fmt.Fprintln(s.app.Stdout, "Which title? /rename TITLE")
		return false, nil
	}
	if s.dispatch(command.Rename{Title: arg}) {
		fmt.Fprintf(s.app.Stdout, "title: %s\n", visible(s.chat.log.Fold().State.Session.Title))
	}
	return false, nil
}
