// Package builtin holds the tools that every session has.
//
// Each tool is one file NAME.go with its input and its run, and one NAME.md
// with the text the model reads. Beside them stands what several share: paths
// and the ways to spell them (paths.go, spelling.go), the output of commands
// (output.go, binary.go), what a command line does to its shell (shell.go).
// What the tools are about is elsewhere: the place of an edit in match, what is
// shown of a file in excerpt, finding in search, pages in web.
//
// It promises that every result is bounded and says what was left out, that a
// failure says what to do next, and that nothing is changed on a failure. What
// may be touched is decided before a tool runs (tool.Runtime); it says in its
// Needs what that is. Start reading at All, then at any tool.
package builtin

import "github.com/khaelor/khaelor/internal/tool"

// All are the tools in the order of the prompt, whose bytes depend on it.
func All() tool.Registry {
	return tool.Registry{
		readTool(),
		writeTool(),
		editTool(),
		grepTool(),
		globTool(),
		bashTool(),
		processTool(),
		todoTool(),
		askUserTool(),
		webFetchTool(),
	}
}
