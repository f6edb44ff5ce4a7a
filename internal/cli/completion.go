package cli

import (
	"github.com/spf13/cobra"
)

func (a *App) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish", Short: "Print a completion script for a shell", Args: cobra.ExactArgs(1),
		Long: "Print a completion script for a shell. For this shell only:\n\n" +
			"  source <(khaelor completion bash)\n  source <(khaelor completion zsh)\n  khaelor completion fish | source",
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(c *cobra.Command, words []string) error {
			switch root := c.Root(); words[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(a.Stdout)
			case "fish":
				return root.GenFishCompletion(a.Stdout, true)
			}
			return usagef("there is no completion for %q: choose bash, zsh or fish", words[0])
		},
	}
}
