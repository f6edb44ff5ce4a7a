// Package ansi makes text of what programs print for a terminal.
//
// Escape sequences and other control characters go; what a carriage return or
// a backspace overwrites goes, too; bytes that are no UTF-8 become U+FFFD. All
// of it works piece by piece, in little memory, and the pieces make the same
// text wherever the output was cut. The package is pure. Start reading at Text.
package ansi

// Text is the text of a whole output.
func Text(output []byte) string {
	var strip Stripper
	var settle Settler
	text := strip.Close(strip.Append(make([]byte, 0, len(output)), output))
	return string(settle.Close(settle.Append(make([]byte, 0, len(text)), text)))
}
