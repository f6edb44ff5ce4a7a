package cli

import "github.com/spf13/cobra"

// resumeCommand is -r as a command: `khaelor resume [ID]`.
func (a *App) resumeCommand() *cobra.Command {
	f := &runFlags{}
	cmd := &cobra.Command{
		Use:   "resume [ID]",
		Short: "Continue a session: the one of that id, or the newest of this project",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, ids []string) error {
			f.Resume = resumeNewest
			if len(ids) > 0 {
				f.Resume = ids[0]
			}
			if err := f.check(); err != nil {
				return err
			}
			return a.runInteractive(cmd.Context(), f, nil)
		},
	}
	f.register(cmd.Flags())
	return cmd
}
