package builtin

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/khaelor/khaelor/internal/workspace"
)

// mostParsed bounds the command lines that are looked through, in bytes.
const mostParsed = 64 << 10

// parseLine is a command line as bash reads it, nil when it cannot be told.
func parseLine(line string) *syntax.File {
	if len(line) > mostParsed {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil // bash says what is wrong with it
	}
	return file
}

// unkept says what of a command line's effects on its shell the next call will
// miss: "" for nothing, or for nothing that was meant to last.
func unkept(ws workspace.Workspace, file *syntax.File, cwd string) string {
	if file == nil {
		return ""
	}
	s := shellState{ws: ws, dirs: []string{cwd}, onlySets: true}
	s.run(file.Stmts)
	var what []string
	if s.moved(cwd) {
		what = []string{"cd"}
	}
	if s.sets != "" && s.onlySets {
		what = append(what, s.sets)
	}
	switch {
	case len(what) == 0:
		return ""
	case len(what) == 1 && what[0] == "cd":
		return "cd lasts for this call only"
	}
	return strings.Join(what, " and ") + " last for this call only"
}

// shellState is what the main shell of a command line has become, as far as
// the text tells. Subshells, pipes, functions, branches and loops are not
// looked into.
type shellState struct {
	ws       workspace.Workspace
	dirs     []string // the stack of folders, the present one last; "" is unknown
	previous string
	sets     string // variables, or settings, which are any
	onlySets bool   // nothing else is done
}

// What a line may set, as a note names it.
const (
	variables = "variables"
	settings  = "shell settings"
)

func (s *shellState) run(stmts []*syntax.Stmt) {
	for _, stmt := range stmts {
		s.statement(stmt)
	}
}

func (s *shellState) statement(stmt *syntax.Stmt) {
	if stmt.Background || stmt.Coprocess {
		s.onlySets = false
		return
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.BinaryCmd:
		switch cmd.Op {
		case syntax.AndStmt:
			s.statement(cmd.X)
			s.statement(cmd.Y)
			return
		case syntax.OrStmt:
			s.statement(cmd.X)
			return
		}
	case *syntax.Block:
		s.run(cmd.Stmts)
		return
	case *syntax.DeclClause:
		s.setVariable()
		return
	case *syntax.CallExpr:
		s.call(cmd)
		return
	}
	s.onlySets = false
}

func (s *shellState) call(cmd *syntax.CallExpr) {
	if len(cmd.Args) == 0 {
		s.setVariable()
		return
	}
	var words []string
	for _, arg := range cmd.Args {
		words = append(words, literal(arg))
	}
	switch words[0] {
	case "cd":
		s.cd(words[1:])
	case "pushd":
		s.dirs = append(s.dirs, s.here())
		if !s.cd(words[1:]) {
			s.dirs = s.dirs[:len(s.dirs)-1]
		}
	case "popd":
		if len(s.dirs) > 1 {
			s.dirs = s.dirs[:len(s.dirs)-1]
		}
	case "unset":
		s.setVariable()
	case "source", ".", "set", "shopt", "alias", "umask", "ulimit":
		s.sets = settings
	default:
		s.onlySets = false
	}
}

func (s *shellState) setVariable() {
	if s.sets == "" {
		s.sets = variables
	}
}

func (s *shellState) here() string { return s.dirs[len(s.dirs)-1] }

// cd reports whether the shell went: to where there is no folder it does not.
func (s *shellState) cd(args []string) bool {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		args = args[1:]
	}
	to := ""
	switch {
	case len(args) == 0 || args[0] == "":
	case args[0] == "-":
		to = s.previous
	case path.IsAbs(args[0]):
		to = args[0]
	case s.here() != "" && args[0][0] != '~':
		to = s.here() + "/" + args[0] // not cleaned: in link/.. the link counts
	}
	if _, folder := s.folder(to); to != "" && !folder {
		return false
	}
	s.previous, s.dirs[len(s.dirs)-1] = s.here(), to
	return true
}

// folder is the canonical path of a folder that is there.
func (s *shellState) folder(name string) (string, bool) {
	place, err := workspace.Resolve(s.ws, name)
	if err != nil {
		return "", false
	}
	info, err := workspace.Stat(s.ws, place.Path)
	return place.Path, err == nil && info.IsDir
}

// moved says that the shell ended in another folder than it began in.
func (s *shellState) moved(cwd string) bool {
	here := s.here()
	if here == cwd {
		return false
	}
	canonical, _ := s.folder(here)
	return canonical != cwd
}

// literal is a word that means itself, "" when something is put into it.
func literal(word *syntax.Word) string {
	var b strings.Builder
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return ""
				}
				b.WriteString(lit.Value)
			}
		default:
			return ""
		}
	}
	return b.String()
}
