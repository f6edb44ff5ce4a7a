package builtin

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/tool"
)

// screenEditor refuses the one kind of program that waits for ever without a
// terminal: vi reads its standard error then, which never ends.
func screenEditor(file *syntax.File) error {
	if file == nil {
		return nil
	}
	var found string
	own := declared(file)
	syntax.Walk(file, func(n syntax.Node) bool {
		if stmt, ok := n.(*syntax.Stmt); ok && found == "" {
			found = waiting(stmt, own)
		}
		return found == ""
	})
	if found == "" {
		return nil
	}
	return tool.Errorf(event.ToolInvalidInput, "%s needs a terminal, and there is none. Use edit, or give it its commands (%s -es -c …). Nothing was run.", found, found)
}

// declared are the functions and aliases of a line.
func declared(file *syntax.File) []string {
	var names []string
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if n.Name != nil {
				names = append(names, n.Name.Value)
			}
		case *syntax.CallExpr:
			if words := literals(n.Args); len(words) > 0 && words[0] == "alias" {
				for _, word := range words[1:] {
					name, _, _ := strings.Cut(word, "=")
					names = append(names, name)
				}
			}
		}
		return true
	})
	return names
}

func literals(args []*syntax.Word) []string {
	var words []string
	for _, arg := range args {
		words = append(words, literal(arg))
	}
	return words
}

// waiting is the vi that a statement runs without anything that it could do by
// itself, "" when it runs none.
func waiting(stmt *syntax.Stmt, own []string) string {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok {
		return ""
	}
	words, fed := literals(call.Args), hasInput(stmt.Redirs)
	for len(words) > 0 {
		name := known(words[0], own)
		switch name {
		case "vi", "vim", "nvim", "view", "vimdiff":
			if fed || slices.ContainsFunc(words[1:], busies) {
				return ""
			}
			return words[0]
		case "xargs":
			fed = false // what there is, xargs reads
		}
		words = wrapped(name, words[1:])
	}
	return ""
}

// known is the name of a program of the system, "" when it may be another.
func known(word string, own []string) string {
	switch dir, name := path.Split(word); {
	case slices.Contains(own, word):
		return ""
	case slices.Contains([]string{"", "/usr/bin/", "/bin/", "/usr/local/bin/"}, dir):
		return name
	}
	return ""
}

func hasInput(redirects []*syntax.Redirect) bool {
	return slices.ContainsFunc(redirects, func(r *syntax.Redirect) bool {
		return slices.Contains([]syntax.RedirOperator{syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc}, r.Op)
	})
}

// busies says that a word gives vi something to do.
func busies(word string) bool {
	return strings.HasPrefix(word, "+") || strings.HasPrefix(word, "--") || len(word) > 1 && word[0] == '-' && strings.ContainsAny(word, "esSEcTh")
}

// wrapped is the command that another program is given to run, nil for none.
func wrapped(program string, words []string) []string {
	var valued, shows string // options that take a value, and with which nothing runs
	switch program {
	case "nohup":
	case "env":
		valued = "uCS"
	case "command":
		shows = "vV"
	case "exec":
		valued = "a"
	case "nice":
		valued = "n"
	case "sudo":
		valued, shows = "ugpChDRrtTU", "elvKV"
	case "xargs":
		valued = "nIdLPsEa"
	case "timeout":
		valued = "ks"
	default:
		return nil
	}
	words = operands(words, valued, shows)
	for len(words) > 0 && (program == "env" || program == "sudo") && strings.Contains(words[0], "=") {
		words = words[1:]
	}
	if program == "timeout" && len(words) > 0 {
		words = words[1:] // how long
	}
	return words
}

// operands are the words after the options, nil when one of shows is among
// these.
func operands(words []string, valued, shows string) []string {
	for len(words) > 0 && len(words[0]) > 1 && words[0][0] == '-' {
		option := words[0]
		words = words[1:]
		if option == "--" {
			break
		}
		if option[1] == '-' {
			continue
		}
		for i, letter := range option[1:] {
			if strings.ContainsRune(shows, letter) {
				return nil
			}
			if strings.ContainsRune(valued, letter) {
				if i+2 == len(option) && len(words) > 0 {
					words = words[1:]
				}
				break
			}
		}
	}
	return words
}
