// Package tool runs what the model asks for.
//
// A Tool is a value: a name, the text and schema the model reads, what it
// needs to be allowed, and a function. Registry holds them in the order in
// which the model sees them. Runtime takes a batch of calls and sees to it
// that each gets exactly one result: policy and permission first, then the
// run, then the facts in block order, whatever happens — a refusal, a panic
// of the tool, an interrupt.
//
// The package promises that nothing runs before its tool.started is in the
// log, and that a result's text is bounded, valid UTF-8 and not empty. The
// tools themselves are in tool/builtin; who may do what is decided by the
// Policy handed in. Start reading at Define, then Runtime.Run.
package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/process"
	"github.com/khaelor/khaelor/internal/spill"
	"github.com/khaelor/khaelor/internal/web"
	"github.com/khaelor/khaelor/internal/workspace"
)

// The capabilities a call can need (seed 000, PermissionEvaluator).
const (
	FileRead       = "file.read"
	FileWrite      = "file.write.project"
	ProcessExecute = "process.execute"
	NetworkAccess  = "network.access"
	GitModify      = "git.modify"
	OutsideProject = "filesystem.outsideProject"
)

// Tool is one thing the model can do. Make one with Define.
type Tool struct {
	Name   string
	Doc    string          // what the model reads
	Schema json.RawMessage // of the input, compact
	Kind   event.UIKind
	// needs says what the call wants to touch.
	needs func(env *Env, input json.RawMessage) (Need, error)
	run   func(ctx context.Context, env *Env, input json.RawMessage) (Result, error)
}

// Spec is a tool with a typed input.
type Spec[In any] struct {
	Name   string
	Doc    string
	Schema string
	Kind   event.UIKind
	// Needs says what the call wants to touch; nil is nothing outside.
	Needs func(env *Env, in In) (Need, error)
	Run   func(ctx context.Context, env *Env, in In) (Result, error)
}

// Define makes a tool of a spec: its functions see the input decoded and
// checked against the struct's fields.
func Define[In any](s Spec[In]) Tool {
	t := Tool{Name: s.Name, Doc: strings.TrimSpace(s.Doc), Kind: s.Kind, Schema: compact(s.Schema)}
	t.needs = func(env *Env, raw json.RawMessage) (Need, error) {
		in, err := decode[In](s.Name, raw)
		if err != nil || s.Needs == nil {
			return Need{}, err
		}
		return s.Needs(env, in)
	}
	t.run = func(ctx context.Context, env *Env, raw json.RawMessage) (Result, error) {
		in, err := decode[In](s.Name, raw)
		if err != nil {
			return Result{}, err
		}
		return s.Run(ctx, env, in)
	}
	return t
}

func compact(schema string) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(schema)); err != nil {
		panic("tool: schema is not JSON: " + err.Error())
	}
	return b.Bytes()
}

func decode[In any](name string, raw json.RawMessage) (In, error) {
	var in In
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil && !errors.Is(err, io.EOF) {
		return in, Errorf(event.ToolInvalidInput, "The input of %s does not fit its schema: %s. Input was: %s",
			name, misfit(err), Clip(string(raw), 400).Text)
	}
	return in, nil
}

// misfit says what is wrong with an input in the words of JSON, not of Go.
func misfit(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return strings.TrimPrefix(err.Error(), "json: ")
	}
	field := "the input"
	if wrong.Field != "" {
		field = fmt.Sprintf("%q", wrong.Field)
	}
	wanted := "an object"
	switch kind := wrong.Type.Kind().String(); {
	case strings.HasPrefix(kind, "int"):
		wanted = "a whole number"
	case strings.HasPrefix(kind, "float"):
		wanted = "a number"
	case kind == "bool":
		wanted = "true or false"
	case kind == "string":
		wanted = "a string"
	case kind == "slice":
		wanted = "an array"
	}
	return fmt.Sprintf("%s must be %s, not %s", field, wanted, wrong.Value)
}

// Need is what a call wants to touch.
type Need struct {
	Capabilities []string
	Paths        []Path
	Command      string // a shell command, whole
	Cwd          string // where the command runs, canonical
	URL          string // of a page, canonical
}

// Path is a file a call wants to touch.
type Path struct {
	Given string
	workspace.Place
	Write bool
}

// Result is what a call that ran to its end has to say.
type Result struct {
	Text  string
	Spill string // file with the whole output, when Text is a part of it
	UI    event.ToolUI
	// Facts are logged before the result: file.read and file.modified, whose
	// ToolUseID is filled in, and todo.updated.
	Facts []event.Fact
	Media []event.Media
}

// Error is a call that could not be done. Text is what the model reads: it
// says what is wrong and what to do next.
type Error struct {
	Kind event.ToolErrorKind
	Text string
}

func (e *Error) Error() string { return e.Text }

// Errorf makes an Error.
func Errorf(kind event.ToolErrorKind, format string, args ...any) *Error {
	return &Error{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// Env is what a running tool may use. It belongs to one call.
type Env struct {
	ToolUseID string
	Workspace workspace.Workspace
	Processes *process.Manager
	// Withheld reports a file that may not be read with the folder it is in; nil
	// is none. It gets canonical paths, from several goroutines.
	Withheld func(path string) bool
	// Seen is what the model last saw of a file, by its logged path (LogPath).
	Seen func(path string) (fold.Sighting, bool)
	// Output shows a piece of output as it comes.
	Output func(chunk string)
	// Spill keeps text that is too long for a result; nil keeps nothing.
	Spill *spill.Store
	// SpillDir is the folder of those files: the model may read there as it may
	// read what the result showed of them. Canonical, or "".
	SpillDir string
	// PutBlob keeps content with the session and returns its SHA-256.
	PutBlob func(data []byte) (sha256 string, err error)
	// Background ends when the user wants the running command to go on in the
	// background.
	Background <-chan struct{}
	// Ask waits for the user's answer, as many texts as were chosen. The error
	// is ErrNobody, the context's or the log's.
	Ask func(ctx context.Context, q Question) (answer []string, err error)
	// Fetch gets a page of the web.
	Fetch func(ctx context.Context, url string) (web.Page, error)
	// Limits are the user's settings.
	Limits Limits
}

// Limits are settings of tools. Zero is the built-in default.
type Limits struct {
	BashTimeoutMS    int64 // after which a command without a timeout of its own goes to the background
	BashMaxTimeoutMS int64
	ProcessTTY       bool // background processes run on a terminal of ours
}

// Registry is the list of tools, in the order of the prompt.
type Registry []Tool

// Get finds a tool by name.
func (r Registry) Get(name string) (Tool, bool) {
	for _, t := range r {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Names are the names in order.
func (r Registry) Names() []string {
	names := make([]string, len(r))
	for i, t := range r {
		names[i] = t.Name
	}
	return names
}

// Wire is the tools array of a request, byte for byte.
func (r Registry) Wire() string {
	type wire struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		InputSchema json.RawMessage `json:"input_schema"`
	}
	list := make([]wire, len(r))
	for i, t := range r {
		list[i] = wire{Name: t.Name, Description: t.Doc, InputSchema: t.Schema}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(list); err != nil {
		panic("tool: registry does not encode: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}
