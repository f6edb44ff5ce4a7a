package permission

import (
	"slices"
	"strings"
)

// wrapper is a program that runs another one named in its words.
type wrapper struct {
	valued   string // its options that take the next word as a value
	operands int    // its own operands before the program
	assigns  bool   // VAR=value may stand before the program
	// transparent wrappers change nothing about what the program may do, so
	// that allow rules look through them.
	transparent bool
}

// wrappers are looked through by deny rules, ask rules and the floor.
var wrappers = map[string]wrapper{
	"timeout": {valued: "-s --signal -k --kill-after", operands: 1, transparent: true},
	"nice":    {valued: "-n --adjustment", transparent: true},
	"stdbuf":  {valued: "-i -o -e --input --output --error", transparent: true},
	"time":    {valued: "-f -o --format --output"},
	"env":     {valued: "-u --unset -C --chdir -S --split-string", assigns: true},
	"nohup":   {}, "command": {}, "builtin": {}, "exec": {valued: "-a"}, "setsid": {},
	"sudo":     {valued: "-u -g -h -p -C -D -R -T -U -r -t --user --group --host --prompt --chdir", assigns: true},
	"doas":     {valued: "-u -C"},
	"pkexec":   {valued: "--user"},
	"run0":     {valued: "-u -g -D --user --group --chdir"},
	"xargs":    {valued: "-I -n -P -d -L -a -E -s --max-args --max-procs --delimiter --arg-file --replace"},
	"parallel": {valued: "-j --jobs -a --arg-file -S"},
	"watch":    {valued: "-n --interval"},
	"flock":    {valued: "-w --timeout -E --conflict-exit-code", operands: 1},
	"ionice":   {valued: "-c -n -p"},
	"chrt":     {operands: 1}, "taskset": {operands: 1}, "chroot": {operands: 1},
	"strace": {valued: "-e -o -p -s -u -E"}, "ltrace": {valued: "-e -o -p"},
	"unshare": {}, "nsenter": {valued: "-t"}, "systemd-run": {valued: "-p -u --unit --property"},
	"busybox": {}, "toybox": {}, "caffeinate": {valued: "-t -w"}, "unbuffer": {}, "setarch": {},
	"gdb": {}, "entr": {}, "noglob": {}, "nocorrect": {}, "rlwrap": {}, "firejail": {}, "proxychains": {},
}

// shells run text: of -c, of standard input.
var shells = wordSet("sh bash dash zsh ksh mksh ash fish rbash csh tcsh")

// interpreters run programs of other languages, given in words or as input.
var interpreters = wordSet("python python2 python3 node nodejs deno bun ruby perl php lua luajit tclsh osascript Rscript julia groovy " +
	"awk gawk mawk nawk pwsh powershell ghci scala irb ed ex vi vim nvim emacs gdb lldb sqlite3 psql mysql")

// expand reads the commands that a unit starts. It reports whether the unit is
// a transparent wrapper, so that what it wraps is what needs permission.
func (r *shellReader) expand(u unit, input []string) bool {
	name := programName(u.words[0].text)
	switch {
	case shells[name]:
		r.shell(u, input)
	case name == "eval":
		r.nested(joinWords(u.words[1:]))
	case name == "alias":
		for _, w := range u.words[1:] {
			_, text, _ := strings.Cut(w.text, "=")
			r.nested(text)
		}
	case name == "trap" && len(u.words) > 1:
		r.nested(u.words[1].text)
	case name == "find" || name == "fd" || name == "fdfind":
		r.findExec(u)
	case name == "script" || name == "su" || name == "flock" || name == "watch":
		r.optionText(u)
	}
	w, ok := wrappers[name]
	if !ok {
		return false
	}
	return r.unwrap(u, w)
}

// nested reads a text that the command hands to a shell.
func (r *shellReader) nested(text string) {
	inner := *r
	inner.depth++
	inner.complex("it runs text as a command")
	inner.text(text)
}

func (r *shellReader) shell(u unit, input []string) {
	if text, ok := commandText(u.words); ok {
		if !text.known {
			r.unread("the text it runs is only known when it runs")
		}
		r.nested(text.text)
		return
	}
	for _, text := range input {
		r.nested(text)
	}
}

// commandText is the word that a shell's -c runs: the first operand, wherever
// the other options stand.
func commandText(words []word) (word, bool) {
	found := false
	for i := 1; i < len(words); i++ {
		text := words[i].text
		switch {
		case strings.HasSuffix(text, "o") && (text[0] == '-' || text[0] == '+') && !strings.HasPrefix(text, "--"):
			found = found || strings.Contains(text, "c")
			i++
		case strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+"):
			found = found || (!strings.HasPrefix(text, "--") && strings.Contains(text, "c"))
		default:
			return words[i], found
		}
	}
	return word{}, false
}

// optionText reads the value of -c, as script, su and flock have it, bundled
// or not, and the words of watch.
func (r *shellReader) optionText(u unit) {
	if programName(u.words[0].text) == "watch" {
		r.nested(joinWords(operandsOf(u.words)))
		return
	}
	for i, w := range u.words[1:] {
		option := strings.HasPrefix(w.text, "-") && strings.HasSuffix(w.text, "c") || w.text == "--command"
		if option && i+2 < len(u.words) {
			r.nested(u.words[i+2].text)
		}
	}
}

func operandsOf(words []word) []word {
	i := 1
	for i < len(words) && strings.HasPrefix(words[i].text, "-") {
		i++
	}
	return words[i:]
}

func joinWords(words []word) string { return strings.Join(texts(words), " ") }

func texts(words []word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.text
	}
	return list
}

// findExec reads the program behind -exec and its kin.
func (r *shellReader) findExec(u unit) {
	for i, w := range u.words {
		if !execOptions[w.text] || i+1 == len(u.words) {
			continue
		}
		rest := u.words[i+1:]
		if end := slices.IndexFunc(rest, func(w word) bool { return w.text == ";" || w.text == "+" }); end >= 0 {
			rest = rest[:end]
		}
		r.inner(u, rest, false)
	}
}

// unwrap reads the wrapped program. Where an unknown option might take a value
// both readings count.
func (r *shellReader) unwrap(u unit, w wrapper) bool {
	valued := wordSet(w.valued)
	i, sure := 1, true
	afterUnknown := false
	for i < len(u.words) {
		text := u.words[i].text
		switch {
		case text == "--":
			i, afterUnknown = i+1, false
		case valued[text]:
			i, afterUnknown = i+2, false
			continue
		case strings.HasPrefix(text, "-") && text != "-":
			attached := strings.Contains(text, "=") || slices.ContainsFunc(strings.Fields(w.valued), func(o string) bool { return strings.HasPrefix(text, o) })
			i, afterUnknown, sure = i+1, !attached, sure && attached
			continue
		case w.assigns && strings.Contains(text, "="):
			i, afterUnknown, sure = i+1, false, false
			continue
		}
		break
	}
	i += w.operands
	if i >= len(u.words) {
		return false
	}
	transparent := w.transparent && sure
	r.inner(u, u.words[i:], transparent)
	if afterUnknown && i+1 < len(u.words) {
		r.inner(u, u.words[i+1:], false)
	}
	return transparent
}

// inner records a wrapped command.
func (r *shellReader) inner(outer unit, words []word, transparent bool) {
	if len(words) == 0 {
		return
	}
	if !transparent {
		r.complex("it runs a command through " + outer.words[0].text)
	}
	if !words[0].known || words[0].glob {
		r.unread("which program runs is only known when it runs")
	}
	if name := programName(outer.words[0].text); (name == "xargs" || name == "parallel") && irrevocable[programName(words[0].text)] {
		r.unread("what " + words[0].text + " works on is only known when it runs")
	}
	r.add(unit{words: words, dir: outer.dir, plain: outer.plain && transparent}, nil)
}

func programName(word string) string { return word[strings.LastIndexByte(word, '/')+1:] }

func dropGlobalOptions(words []string) []string {
	if programName(words[0]) != "git" {
		return words
	}
	i := gitSubcommand(words)
	return append([]string{words[0]}, words[i:]...)
}

// gitGlobals are git's options before the subcommand that take a value.
var gitGlobals = wordSet("-c -C --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source")

// gitSubcommand is the index of git's subcommand; len(words) if there is none.
func gitSubcommand(words []string) int {
	i := 1
	for i < len(words) && strings.HasPrefix(words[i], "-") {
		if gitGlobals[words[i]] {
			i++
		}
		i++
	}
	return min(i, len(words))
}

// downloads reports whether a unit prints what it got from the network.
func downloads(u unit) bool {
	return len(u.words) > 0 && downloaders[programName(u.words[0].text)]
}

var (
	downloaders  = wordSet("curl wget fetch aria2c http https xh lynx w3m nc ncat")
	inputRunners = wordSet("python python2 python3 node nodejs ruby perl php")
	execOptions  = wordSet("-exec -execdir -ok -okdir -x -X --exec --exec-batch")
)

// runsText: a unit that runs what is substituted into its words.
func runsText(u unit) bool {
	name := programName(u.words[0].text)
	return shells[name] || interpreters[name] || name == "eval" || name == "source" || name == "."
}

// runsInput: a unit that runs its standard input as a program.
func runsInput(u unit) bool {
	if len(u.words) == 0 {
		return false
	}
	name := programName(u.words[0].text)
	if !shells[name] && !inputRunners[name] {
		return false
	}
	operands := operandsOf(u.words)
	inline := slices.ContainsFunc(u.words[1:], func(w word) bool { return w.text == "-c" || w.text == "-e" || w.text == "-r" })
	fromInput := slices.ContainsFunc(u.words[1:], func(w word) bool { return w.text == "-s" || w.text == "-" })
	return fromInput || (len(operands) == 0 && !inline)
}
