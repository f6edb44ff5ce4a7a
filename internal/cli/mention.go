package cli

import (
	"fmt"

	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/mention"
	"github.com/khaelor/khaelor/internal/permission"
	"github.com/khaelor/khaelor/internal/workspace"
)

// message is a prompt with the files that the user mentions in the words typed,
// which are all of it or its beginning. The files count as read. What cannot be
// attached is a warning.
func (c *conversation) message(prompt, typed string) (command.SubmitMessage, error) {
	a, err := c.attach(typed, false)
	if err != nil {
		return command.SubmitMessage{}, err
	}
	for _, read := range a.Reads {
		if _, err := c.log.Publish(read); err != nil {
			return command.SubmitMessage{}, err
		}
	}
	return command.SubmitMessage{Text: prompt, Mentions: a.Mentions, Images: a.Images}, nil
}

// steering is a word for the running task. It is text only, so the files that
// it mentions stand behind it.
func (c *conversation) steering(text string) (command.Steer, error) {
	a, err := c.attach(text, true)
	return command.Steer{Text: text + a.Text()}, err
}

func (c *conversation) attach(typed string, textOnly bool) (mention.Attached, error) {
	p := c.project
	policy, err := p.policy()
	if err != nil {
		return mention.Attached{}, err
	}
	denied := func(given string, place workspace.Place) string {
		path := permission.Path{Given: given, Canonical: place.Path, Inside: place.Inside}
		d := policy.Evaluate(permission.Request{Tool: "read", Cwd: p.ws.Cwd(), Paths: []permission.Path{path}})
		if d.Action != permission.Deny {
			return "" // the user named it: nobody needs to be asked
		}
		return "denied by " + d.By
	}
	a, err := mention.Attach(typed, mention.World{
		Workspace: p.ws, Home: p.app.Getenv("HOME"), Denied: denied, PutBlob: c.log.PutBlob, TextOnly: textOnly,
	})
	for _, w := range a.Warnings {
		fmt.Fprintf(p.app.Stderr, "khaelor: warning: %s\n", visible(w))
	}
	return a, err
}
