package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/khaelor/khaelor/internal/config"
)

// command is the command line before it is read.
type commandLine struct {
	app  *App
	root *cobra.Command
}

// root names every command of the program.
func (a *App) root() commandLine {
	f := &runFlags{}
	root := &cobra.Command{
		Use:   "khaelor [prompt]",
		Short: "A coding agent for the terminal",
		Long: "KHAELOR reads, searches, edits and runs things in your repository, asks before it\n" +
			"does what you have not allowed, and shows evidence instead of claims.\n\n" +
			"khaelor demo shows the whole loop without an account and without a network.",
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, words []string) error {
			if f.Version {
				_, err := fmt.Fprintf(a.Stdout, "khaelor %s\n", a.Version)
				return err
			}
			if err := f.check(); err != nil {
				return err
			}
			if f.Print {
				return a.runHeadless(cmd.Context(), f, words)
			}
			if cmd.ArgsLenAtDash() < 0 {
				if err := misspelt(cmd, words); err != nil {
					return err
				}
			}
			return a.runInteractive(cmd.Context(), f, words)
		},
	}
	root.Flags().BoolVarP(&f.Version, "version", "v", false, "print the version")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	f.register(root.Flags())
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	for _, add := range commands {
		root.AddCommand(add(a))
	}
	root.CompletionOptions.DisableDefaultCmd = true
	blameArgs(root)
	return commandLine{app: a, root: root}
}

// commands are the program's commands beside a run, one file each.
var commands = []func(*App) *cobra.Command{
	(*App).demoCommand,
	(*App).resumeCommand,
	(*App).sessionsCommand,
	(*App).toolCommand,
	(*App).configCommand,
	(*App).doctorCommand,
	(*App).completionCommand,
	(*App).versionCommand,
}

// planned are commands of later versions, and words that users of other agents
// type. None of them is a message.
var planned = []string{
	"acp", "agents", "approvals", "auth", "daemon", "goal", "import", "index", "login", "logout", "mcp", "memory", "models",
	"permissions", "refs", "serve", "skeleton", "stats", "subtasks", "symbols", "update", "upgrade", "verify",
}

// misspelt refuses what was meant as a command and would be sent to the model.
func misspelt(root *cobra.Command, words []string) error {
	if len(words) == 0 || len(words) > 3 || strings.Contains(words[0], " ") {
		return nil
	}
	hint := "; as a message: khaelor -- " + strings.Join(words, " ")
	if slices.Contains(planned, words[0]) {
		return usagef("this version has no command %s%s", words[0], hint)
	}
	for _, c := range root.Commands() {
		if name := c.Name(); len(name) > 4 && name != words[0] && oneEdit(name, words[0]) {
			return usagef("there is no command %s; did you mean khaelor %s%s", words[0], name, hint)
		}
	}
	return nil
}

// oneEdit says that one letter more, less or other makes b of a, or two that
// changed places.
func oneEdit(a, b string) bool {
	switch config.Distance(a, b) {
	case 1:
		return true
	case 2:
		return slices.Equal(slices.Sorted(slices.Values([]byte(a))), slices.Sorted(slices.Values([]byte(b))))
	}
	return false
}

// blameArgs makes a wrong number of words a usage error, in every command.
func blameArgs(c *cobra.Command) {
	if count := c.Args; count != nil {
		c.Args = func(c *cobra.Command, words []string) error {
			if err := count(c, words); err != nil {
				return usagef("%w; usage: %s", err, c.UseLine())
			}
			return nil
		}
	}
	for _, child := range c.Commands() {
		blameArgs(child)
	}
}

func (c commandLine) execute(ctx context.Context, args []string) error {
	c.root.SetArgs(normalize(c.root.Flags(), args))
	return c.root.ExecuteContext(ctx)
}

// normalize lets the prompt follow -p or -r directly, also when it looks like
// a flag or is empty: `khaelor -p "-v"`, and `-r ID` as well as `-r=ID`.
func normalize(flags *pflag.FlagSet, args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return append(out, args[i:]...)
		case (arg == "-p" || arg == "--print") && i+1 < len(args) && isPrompt(flags, args[i+1]):
			// The prompt goes behind everything else, where no flag is read.
			rest := normalize(flags, args[i+2:])
			return append(append(append(out, arg), rest...), "--", args[i+1])
		case (arg == "-r" || arg == "--resume") && i+1 < len(args) && sessionWord(args[i+1]):
			i++
			out = append(out, "--resume="+args[i])
		default:
			out = append(out, arg)
		}
	}
	return out
}

// isPrompt says that a word behind -p is the prompt, although it may begin
// with a dash: it is not the name of a flag of ours that could stand there.
func isPrompt(flags *pflag.FlagSet, word string) bool {
	if word == "--" {
		return false
	}
	if !strings.HasPrefix(word, "-") || strings.ContainsAny(word, " \n") {
		return true
	}
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	if strings.HasPrefix(word, "--") {
		return flags.Lookup(name) == nil
	}
	return name == "v" || name == "" || flags.ShorthandLookup(name[:1]) == nil
}

// sessionWord says that a word behind -r names a session. What has blanks in it
// is a prompt.
func sessionWord(word string) bool {
	return word != "" && !strings.HasPrefix(word, "-") && !strings.ContainsAny(word, " \n")
}
