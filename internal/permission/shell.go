package permission

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of what is read; beyond them a command asks.
const (
	maxCommand = 64_000 // bytes
	maxNesting = 100    // open brackets
	maxUnits   = 1000
	maxTexts   = 5 // commands inside the text of commands (bash -c)
)

// unit is one simple command.
type unit struct {
	words []word
	dir   string // effective directory, "" = unknown
	// plain units are literal and stand in a simple list, so that allow rules
	// may cover them.
	plain bool
	// free units need no permission of their own: cd inside the project, and
	// wrappers whose inner command is a unit itself.
	free   bool
	writes []string // files that redirects write
	reads  []string // files that redirects read
}

// reading is what could be learned from a command's text.
type reading struct {
	units []unit
	// complex says why the text is more than a simple list; allow rules other
	// than a lone * do not hold for it.
	complex string
	// unread says why the text could not be checked against the floor.
	unread   string
	forkBomb bool
	// pipedDownload: what a network program prints is run unseen.
	pipedDownload bool
}

// shellReader walks one text. The directory follows cd as it goes.
type shellReader struct {
	home, root string
	dir        string
	depth      int
	assigned   map[string]bool // variables the text sets
	out        *reading
}

func readCommand(text, dir, root, home string) reading {
	r := shellReader{home: home, root: root, dir: dir, assigned: map[string]bool{}, out: &reading{}}
	r.text(text)
	return *r.out
}

func (r *shellReader) complex(why string) {
	if r.out.complex == "" {
		r.out.complex = why
	}
}

func (r *shellReader) unread(why string) {
	if r.out.unread == "" {
		r.out.unread = why
	}
}

// text reads a whole script. What stands before a mistake is read too.
func (r *shellReader) text(text string) {
	if why := unreadable(text); why != "" {
		r.unread(why)
	}
	if len(text) > maxCommand || nesting(text) > maxNesting || r.depth > maxTexts {
		r.unread("the command is too long or too deeply nested to be checked")
		return
	}
	var all []*syntax.Stmt
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash))
	for stmt, err := range parser.StmtsSeq(strings.NewReader(text)) {
		if err != nil {
			// No break: the parser's iterator does not take one after an error.
			r.unread("the command is not valid shell: " + err.Error())
			continue
		}
		all = append(all, stmt)
	}
	for _, s := range all {
		r.noteAssigned(s)
	}
	for _, s := range all {
		r.stmt(s, true)
	}
}

// noteAssigned records which variables are set anywhere, so that $HOME is only
// trusted where nothing changes it.
func (r *shellReader) noteAssigned(s *syntax.Stmt) {
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				r.assigned[n.Name.Value] = true
			}
		case *syntax.WordIter:
			r.assigned[n.Name.Value] = true
		}
		return true
	})
}

// unreadable finds characters that make text look other than it is.
func unreadable(text string) string {
	if !utf8.ValidString(text) {
		return "the command is not valid UTF-8"
	}
	if strings.ContainsFunc(text, hidden) {
		return "the command holds control or invisible characters"
	}
	return ""
}

func hidden(c rune) bool {
	return (unicode.IsControl(c) && c != '\n' && c != '\t') || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)
}

func nesting(text string) int {
	depth, most := 0, 0
	for _, c := range text {
		switch c {
		case '(', '{':
			depth++
		case ')', '}':
			depth = max(0, depth-1)
		}
		most = max(most, depth)
	}
	return most
}

func (r *shellReader) stmt(s *syntax.Stmt, plain bool) {
	if s.Background || s.Negated || s.Coprocess || s.Disown {
		plain = false
		r.complex("it runs something in the background or negated")
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		r.call(c, s.Redirs, plain)
		return
	case *syntax.BinaryCmd:
		r.binary(c, plain)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			r.stmt(c.Stmt, plain)
		}
	case *syntax.FuncDecl:
		r.complex("it defines a function")
		r.out.forkBomb = r.out.forkBomb || forkBomb(c)
		r.stmt(c.Body, false)
	case nil:
		r.complex("it is a redirect alone")
	default:
		r.compound(c)
	}
	if len(s.Redirs) > 0 {
		r.add(unit{dir: r.dir}, s.Redirs)
	}
}

func (r *shellReader) binary(c *syntax.BinaryCmd, plain bool) {
	before := len(r.out.units)
	r.stmt(c.X, plain)
	middle := len(r.out.units)
	r.stmt(c.Y, plain)
	if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
		from, to := r.out.units[before:middle], r.out.units[middle:]
		if slices.ContainsFunc(from, downloads) && slices.ContainsFunc(to, runsInput) {
			r.out.pipedDownload = true
		}
	}
}

// compound looks for the commands inside loops, conditions, subshells and
// whatever else there is.
func (r *shellReader) compound(c syntax.Command) {
	r.complex("it is more than a list of simple commands")
	dir := r.dir
	r.inside(c)
	if _, ok := c.(*syntax.Subshell); ok {
		r.dir = dir
	}
}

// inside reads the statements anywhere below a node.
func (r *shellReader) inside(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			r.complex("it substitutes commands")
			r.stmt(s, false)
			return false
		}
		return true
	})
}

// forkBomb recognises a function that starts itself twice, or once in the
// background.
func forkBomb(f *syntax.FuncDecl) bool {
	if f.Name == nil {
		return false
	}
	calls, background := 0, false
	syntax.Walk(f.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			background = background || n.Background
		case *syntax.CallExpr:
			if len(n.Args) > 0 && n.Args[0].Lit() == f.Name.Value {
				calls++
			}
		}
		return true
	})
	return calls > 1 || (calls > 0 && background)
}

// call reads a simple command.
func (r *shellReader) call(c *syntax.CallExpr, redirs []*syntax.Redirect, plain bool) {
	before := len(r.out.units)
	r.inside(c)
	fetched := slices.ContainsFunc(r.out.units[before:], downloads)
	u := unit{dir: r.dir, plain: plain && r.harmlessAssigns(c)}
	for _, arg := range c.Args {
		u.words = append(u.words, r.word(arg))
	}
	if len(u.words) > 0 && (!u.words[0].known || u.words[0].glob) {
		r.unread("which program runs is only known when it runs")
	}
	for _, w := range u.words {
		u.plain = u.plain && w.known && !w.expanded
		if !w.known {
			r.complex("its words are only known when it runs")
		}
	}
	if fetched && len(u.words) > 0 && runsText(u) {
		r.out.pipedDownload = true
	}
	r.add(u, redirs)
}

// harmlessVariables may be set before a command without changing what runs.
var harmlessVariables = wordSet("CI NO_COLOR FORCE_COLOR TERM TZ LANG DEBUG NODE_ENV GOOS GOARCH CGO_ENABLED RUST_BACKTRACE RUST_LOG")

func (r *shellReader) harmlessAssigns(c *syntax.CallExpr) bool {
	for _, a := range c.Assigns {
		name := a.Name.Value
		harmless := harmlessVariables[name] || strings.HasPrefix(name, "LC_")
		if !harmless || len(c.Args) == 0 || a.Append || a.Index != nil || a.Array != nil || (a.Value != nil && !r.word(a.Value).known) {
			r.complex("it sets " + name)
			return false
		}
	}
	return true
}

// add records a unit with its redirects, and the commands it starts in turn.
func (r *shellReader) add(u unit, redirs []*syntax.Redirect) {
	if len(r.out.units) >= maxUnits {
		r.unread("the command has too many parts to be checked")
		return
	}
	var input []string
	for _, redir := range redirs {
		input = append(input, r.redirect(&u, redir)...)
	}
	if len(u.words) == 0 && len(u.writes)+len(u.reads) == 0 {
		return
	}
	at := len(r.out.units)
	r.out.units = append(r.out.units, u)
	if len(u.words) == 0 {
		return
	}
	if name := programName(u.words[0].text); len(input) > 0 && (shells[name] || interpreters[name]) {
		r.complex("it runs its input as a program")
	}
	if r.changeDir(u) {
		r.out.units[at].free = u.plain && r.dir != "" && within(r.root, r.dir)
		return
	}
	r.out.units[at].free = r.expand(u, input) && u.plain
}

// redirect notes which files are read and written, and returns the text that
// is fed in.
func (r *shellReader) redirect(u *unit, redir *syntax.Redirect) (input []string) {
	r.inside(redir)
	w := r.word(redir.Word)
	switch redir.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		body := r.word(redir.Hdoc)
		if !body.known {
			r.complex("its input is only known when it runs")
		}
		return []string{body.text}
	case syntax.WordHdoc:
		if !w.known {
			r.complex("its input is only known when it runs")
		}
		return []string{w.text}
	case syntax.DplIn, syntax.DplOut:
		if strings.Trim(w.text, "0123456789-") == "" && w.known {
			return nil
		}
	}
	if !w.known || w.glob {
		r.unread("which file a redirect is about is only known when it runs")
		return nil
	}
	if w.text == "/dev/null" {
		return nil
	}
	r.complex("it redirects to or from a file")
	target := resolve(u.dir, w.text)
	if redir.Op == syntax.RdrIn {
		u.reads = append(u.reads, target)
	} else {
		u.writes = append(u.writes, target)
	}
	return nil
}

// changeDir follows cd and pushd.
func (r *shellReader) changeDir(u unit) bool {
	name := u.words[0].text
	if name != "cd" && name != "pushd" && name != "popd" {
		return false
	}
	target := ""
	switch operands := u.words[1:]; {
	case name == "cd" && len(operands) == 0:
		target = r.home
	case name != "popd" && len(operands) == 1 && operands[0].known && !operands[0].glob && !strings.HasPrefix(operands[0].text, "-"):
		target = resolve(r.dir, operands[0].text)
	}
	if target == "" {
		r.complex("it changes to a directory only known when it runs")
	}
	r.dir = target
	return true
}

// resolve is lexical: links are left to whoever opens the file. "" when the
// directory is unknown and matters.
func resolve(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	if dir == "" {
		return ""
	}
	return path.Join(dir, name)
}

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}
