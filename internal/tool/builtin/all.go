// Package builtin holds the tools that every session has.
//
// Each tool is one file NAME.go with its input and its run, and one NAME.md
// with the text the model reads. Beside them stand what several share: paths
// and how they are called (paths.go), the part of a file that is shown
// (window.go), walking a tree by its ignore rules (walk.go). The place of an
// edit is found in the package match.
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
