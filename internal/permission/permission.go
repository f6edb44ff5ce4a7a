// Package permission owns the answer to "may this call run?".
//
// A Request becomes units: one path access or one simple command each, with
// the capabilities it needs. The decision is the strictest answer over all
// units and capabilities:
//
//	floor > deny rule > ask rule > allow rule > mode and defaults
//
// so that the order of rules, their sources and the parts of a command never
// matter, and a further deny rule never loosens anything. The package is pure:
// it touches no file, starts nothing and asks nobody. Whoever calls it gathers
// canonical paths before, and puts the question to the user after.
//
// Commands are read with care for what cannot be proven: only literal simple
// commands joined by && || ; | and line ends are open to allow rules. Anything
// else asks, unless a rule allows every command; text that could not be
// checked against the floor asks whatever the rules and the mode say. Deny
// rules, ask rules and the floor look into everything that could be read.
//
// Start reading at Evaluate; the floor is the table in floor.go.
package permission

import (
	"sync"

	"github.com/khaelor/khaelor/internal/config"
)

// Capability is something a call can do.
type Capability string

// The capabilities of the contract.
const (
	FileRead       Capability = "file.read"
	FileWrite      Capability = "file.write.project"
	Execute        Capability = "process.execute"
	Network        Capability = "network.access"
	GitModify      Capability = "git.modify"
	OutsideProject Capability = "filesystem.outsideProject"
)

// Action is an answer.
type Action string

// The answers, from the loosest to the strictest.
const (
	Allow Action = "allow"
	Ask   Action = "ask"
	Deny  Action = "deny"
)

// Mode is what happens to calls that no rule decides.
type Mode string

// The modes of the contract.
const (
	ModeDefault     Mode = "default"
	ModeAcceptEdits Mode = "accept-edits" // file.write.project is allowed to the file tools
	ModePlan        Mode = "plan"         // nothing is written
	ModeBypass      Mode = "bypass"       // what would ask is allowed
)

// Request is one tool call.
type Request struct {
	Tool         string
	ToolUseID    string
	Command      string // of bash and process: what the shell, or a running program, is given
	Paths        []Path
	Cwd          string // directory of the call, canonical
	URL          string // of a web request, in its one spelling
	Capabilities []Capability
}

// Path is one file or folder the call touches.
type Path struct {
	Given     string // as the model wrote it
	Canonical string // absolute, links resolved
	Inside    bool   // Canonical is in the project
	Write     bool
}

// Decision is the answer to a Request.
type Decision struct {
	Action       Action
	By           string // what decided: "rule deny … from …", "floor F-ROOT", "mode bypass", "default file.read"
	Source       string // of a denial: hardline or policy
	Via          string // of an approval: policy-allow, rule, mode, user-session
	Capabilities []Capability
	Descriptor   string // the call in one line, for people
	Suggestion   *Rule  // lasting grant that may be offered, or nil
	Reason       string // for the model: why not, and what would be allowed
}

// Options is what an Evaluator decides by.
type Options struct {
	Rules             []Rule
	Defaults          map[Capability]Default
	Mode              Mode
	Root              string // canonical project root
	Home              string // the user's home directory
	State             string // the program's state folder
	ProtectedBranches []string
}

// Default is the action of a capability that no rule decides.
type Default struct {
	Action Action
	Origin config.Origin
}

// Evaluator decides requests. It may be used by several goroutines.
type Evaluator struct {
	opt               Options // but for Rules and Mode
	credentialsInside bool    // see fold

	mu    sync.RWMutex
	rules []Rule
	mode  Mode
}

// New makes an Evaluator.
func New(opt Options) *Evaluator {
	if opt.Mode == "" {
		opt.Mode = ModeDefault
	}
	rules := append([]Rule(nil), opt.Rules...)
	return &Evaluator{opt: opt, credentialsInside: mayHoldCredentials(&opt), rules: rules, mode: opt.Mode}
}

// AddSession adds a rule that holds until the program ends.
func (e *Evaluator) AddSession(r Rule) {
	r.session = true
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rules = append(e.rules[:len(e.rules):len(e.rules)], r)
}

// SetMode changes the mode.
func (e *Evaluator) SetMode(m Mode) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mode = m
}

// Evaluate decides one request.
func (e *Evaluator) Evaluate(req Request) Decision {
	e.mu.RLock()
	f := fold{opt: &e.opt, credentialsInside: e.credentialsInside, rules: e.rules, mode: e.mode, req: req}
	e.mu.RUnlock()
	return f.decide()
}
