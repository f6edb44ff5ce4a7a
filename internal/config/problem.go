package config

import (
	"fmt"
	"strconv"
)

// Error is a setting that cannot be used. Nothing runs after one (exit code 2).
type Error struct {
	File string // path, variable or flag
	Line int    // 1-based; 0 when there is no line
	Col  int    // 1-based, in characters
	Msg  string
}

func (e *Error) Error() string {
	return "read configuration: " + place(e.File, e.Line, e.Col) + ": " + e.Msg
}

// Warning is something in a file that has no effect.
type Warning struct {
	File    string
	Line    int
	Col     int
	Key     string // dotted; "" when it is not about a key
	Nearest string // the known key that Key was probably meant to be, or ""
	Msg     string
}

func (w Warning) String() string {
	s := place(w.File, w.Line, w.Col) + ": " + w.Msg
	if w.Nearest != "" {
		s += fmt.Sprintf(" (did you mean %q?)", w.Nearest)
	}
	return s
}

func place(file string, line, col int) string {
	if line == 0 {
		return file
	}
	return file + ":" + strconv.Itoa(line) + ":" + strconv.Itoa(col)
}
