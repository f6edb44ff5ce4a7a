package workspace_test

import (
	"testing"

	"github.com/creack/pty"

	"github.com/khaelor/khaelor/internal/workspace"
)

// The end of input that a user types is none of a terminal.
func TestATerminalIsHungUpWhenItsWindowIsClosed(t *testing.T) {
	window, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	if _, err := window.Write([]byte{4}); err != nil { // Ctrl-D
		t.Fatal(err)
	}
	if n, err := terminal.Read(make([]byte, 1)); n != 0 {
		t.Fatalf("Ctrl-D reads as %d bytes, %v", n, err)
	}
	if workspace.HungUp(terminal) {
		t.Error("a terminal whose user typed Ctrl-D is hung up")
	}
	if err := window.Close(); err != nil {
		t.Fatal(err)
	}
	if !workspace.HungUp(terminal) {
		t.Error("a terminal without a window is not hung up")
	}
}
