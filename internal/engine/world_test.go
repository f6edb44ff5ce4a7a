package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/anthropic"
	"github.com/khaelor/khaelor/internal/bus"
	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/contextengine"
	"github.com/khaelor/khaelor/internal/disk/memdisk"
	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/permission"
	"github.com/khaelor/khaelor/internal/repo"
	"github.com/khaelor/khaelor/internal/session"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/tool/builtin"
	"github.com/khaelor/khaelor/internal/workspace"
)

// world is a whole engine on a log in memory, with a scripted service behind
// the real client and a real folder to work in. When the test ends the log is
// held to every invariant, and its replay to what was folded live.
type world struct {
	*testing.T
	dir    string // where the work is done
	disk   *memdisk.Dir
	store  *session.Store
	log    *session.Log
	server *fakeapi.Server
	client *anthropic.Client
	o      engine.Options
	*engine.Engine

	errands sync.WaitGroup // commands that handlers sent
}

// newWorld starts an engine that may do everything and has nobody to ask,
// unless change says otherwise.
func newWorld(t *testing.T, serve fakeapi.Options, change ...func(*engine.Options)) *world {
	t.Helper()
	w := &world{T: t, disk: memdisk.New(), dir: t.TempDir()}
	w.serve(serve)
	t.Cleanup(w.end)
	clk := clock.System()
	w.store = session.NewStore(w.disk, clk, func(err error) { t.Log("report:", err) })
	log, err := w.store.Create(event.SessionStarted{ProjectHash: "p", Model: "test-model", WorkingDirectory: w.dir})
	if err != nil {
		t.Fatal(err)
	}
	w.log = log
	ws, err := workspace.NewLocal(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	w.o = engine.Options{
		Client: w.client, Workspace: ws, Tools: builtin.All(), Clock: clk,
		Policy: permission.New(permission.Options{Mode: permission.ModeBypass, Root: ws.Cwd()}),
		Params: func(model string) contextengine.Params {
			return contextengine.Params{Model: model, MaxTokens: 4000, Thinking: []byte(`{"type":"enabled","budget_tokens":1024}`)}
		},
		Price:    func(string) (fold.Price, bool) { return fold.Price{}, false },
		Remember: func(permission.Rule) error { return nil },
	}
	for _, c := range change {
		c(&w.o)
	}
	w.start()
	return w
}

// start makes an engine on the log as it is.
func (w *world) start() {
	w.Helper()
	w.o.Log, w.o.Repo = w.log, repo.Open(w.o.Workspace)
	e, err := engine.New(context.Background(), w.o)
	if err != nil {
		w.Fatal(err)
	}
	w.Engine = e
}

func (w *world) serve(o fakeapi.Options) {
	w.Helper()
	server, err := fakeapi.Start(o)
	if err != nil {
		w.Fatal(err)
	}
	client, err := anthropic.New(anthropic.Options{BaseURL: server.URL(), APIKey: "key"})
	if err != nil {
		w.Fatal(err)
	}
	w.server, w.client = server, client
}

// end closes what is open and looks the log over.
func (w *world) end() {
	if w.Engine != nil {
		w.stop()
	}
	w.serveNoMore()
}

func (w *world) serveNoMore() {
	w.client.Close()
	if err := w.server.Close(); err != nil {
		w.Error(err)
	}
	for _, p := range w.server.Problems() {
		w.Errorf("service: %s", p)
	}
}

// stop closes engine and log and checks the log.
func (w *world) stop() {
	w.Helper()
	w.errands.Wait()
	if err := w.Close(context.Background()); err != nil && w.Err() == nil {
		w.Error(err)
	}
	live := w.log.Fold()
	if err := w.log.Close(); err != nil {
		w.Error(err)
	}
	w.Engine = nil
	w.audit(live)
}

func (w *world) audit(live fold.Session) {
	w.Helper()
	report, err := w.store.Check(w.log.ID())
	if err != nil {
		w.Fatal(err)
	}
	for _, p := range report.Problems {
		w.Errorf("log, line %d: %s", p.Line, p.Text)
	}
	var replay fold.Session
	var timeline fold.Timeline
	for _, r := range w.records() {
		replay, timeline = replay.Apply(r), timeline.Apply(r)
	}
	if !reflect.DeepEqual(replay.History.Blocks(), live.History.Blocks()) {
		w.Error("the history differs between the live session and its replay")
	}
	if !reflect.DeepEqual(replay.State, live.State) || !reflect.DeepEqual(replay.Usage, live.Usage) {
		w.Errorf("the state differs between the live session and its replay:\n%+v\n%+v", live.State, replay.State)
	}
	if live.State.Task.Seq > 0 && len(timeline.Items()) < 2 {
		w.Errorf("the timeline has %d items", len(timeline.Items()))
	}
}

// resume ends the engine and goes on with another on the reopened log.
func (w *world) resume(change ...func(*engine.Options)) {
	w.Helper()
	w.stop()
	log, err := w.store.Open(w.log.ID())
	if err != nil {
		w.Fatal(err)
	}
	w.log = log
	for _, c := range change {
		c(&w.o)
	}
	w.start()
}

// records are the facts in the file.
func (w *world) records() []event.Record {
	w.Helper()
	view, err := w.store.View(w.log.ID())
	if err != nil {
		w.Fatal(err)
	}
	var all []event.Record
	for r, err := range view.Records() {
		if err != nil {
			w.Fatal(err)
		}
		r.Line = nil
		all = append(all, r)
	}
	return all
}

// facts are those of one type.
func facts[P event.Fact](w *world) []P {
	w.Helper()
	var found []P
	for _, r := range w.records() {
		if p, ok := r.Fact.(P); ok {
			found = append(found, p)
		}
	}
	return found
}

// only is the one fact of a type.
func only[P event.Fact](w *world) P {
	w.Helper()
	found := facts[P](w)
	if len(found) != 1 {
		w.Fatalf("%d facts of type %T, want one", len(found), *new(P))
	}
	return found[0]
}

// do dispatches what must succeed.
func (w *world) do(c command.Command) {
	w.Helper()
	if err := w.Dispatch(c); err != nil {
		w.Fatalf("dispatch %T: %v", c, err)
	}
}

// send dispatches from a handler, which may not do it itself.
func (w *world) send(c command.Command) {
	w.errands.Go(func() {
		if err := w.Dispatch(c); err != nil {
			w.Errorf("dispatch %T: %v", c, err)
		}
	})
}

// say submits a message and waits for the end of what it began.
func (w *world) say(text string) {
	w.Helper()
	w.do(command.SubmitMessage{Text: text})
	w.rest()
}

// patience is how long a test waits for what must come. It is no measure of
// anything: a test that reaches it has failed.
const patience = time.Minute

func (w *world) rest() {
	w.Helper()
	select {
	case <-w.Idle():
	case <-time.After(patience):
		w.Fatalf("the engine does not come to rest: %+v", w.log.Fold().State)
	}
}

// await waits for a channel.
func await[T any](w *world, what string, c <-chan T) T {
	w.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		w.Fatalf("%s never came", what)
	}
	panic("unreachable")
}

// heard gives what comes of one type of fact from now on.
func heard[P event.Fact](w *world) <-chan P {
	c := make(chan P, 1000)
	bus.On(w.log.Bus(), func(_ event.Record, p P) { c <- p })
	return c
}

// noticed is heard for notices.
func noticed[P event.Notice](w *world) <-chan P {
	c := make(chan P, 10_000)
	bus.OnNotice(w.log.Bus(), func(_ event.Live, p P) { c <- p })
	return c
}

// outcome is how the last task ended.
func (w *world) outcome() event.Fact {
	w.Helper()
	s := w.log.Fold().State
	if s.Task.Open {
		w.Fatalf("the task is open: %+v", s.Request)
	}
	return s.Task.Result
}

func (w *world) completed() {
	w.Helper()
	if _, ok := w.outcome().(event.TaskCompleted); !ok {
		w.Fatalf("the task ended as %+v", w.outcome())
	}
}

func (w *world) failed(reason event.FailureReason) string {
	w.Helper()
	f, ok := w.outcome().(event.TaskFailed)
	if !ok || f.Reason != reason || f.Detail == "" {
		w.Fatalf("the task ended as %+v, want it failed for %s", w.outcome(), reason)
	}
	return f.Detail
}

// asked are the message requests so far.
func (w *world) asked() []*fakeapi.Request {
	var list []*fakeapi.Request
	for _, x := range w.server.Requests() {
		if strings.HasSuffix(x.Path, "/v1/messages") && x.Request != nil {
			list = append(list, x.Request)
		}
	}
	return list
}

// last is the newest message of the newest request, in short: one word for
// each block.
func (w *world) last() string {
	w.Helper()
	all := w.asked()
	if len(all) == 0 {
		w.Fatal("nothing was asked")
	}
	messages := all[len(all)-1].Messages
	return brief(messages[len(messages)-1])
}

func brief(m fakeapi.Message) string {
	words := []string{m.Role + ":"}
	for _, p := range m.Parts {
		switch {
		case strings.HasPrefix(p.Text, "<environment>"):
			words = append(words, "environment")
		case p.Type == "text":
			words = append(words, fmt.Sprintf("%q", p.Text))
		case p.Type == "tool_result":
			words = append(words, fmt.Sprintf("%s=%.40q", p.ToolUseID, p.Content[0].Text))
		default:
			words = append(words, p.Type)
		}
	}
	return strings.Join(words, " ")
}

func (w *world) wantLast(want string) {
	w.Helper()
	if got := w.last(); got != want {
		w.Errorf("the last message is\n%s\nwant\n%s", got, want)
	}
}

// file writes a file of the project.
func (w *world) file(name, text string) {
	w.Helper()
	write(w.T, filepath.Join(w.dir, name), text)
}

func (w *world) content(name string) string {
	w.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

// script is a service that plays turns.
func script(turns ...fakeapi.Turn) fakeapi.Options {
	return fakeapi.Options{Script: fakeapi.Script{Turns: turns}}
}

func turn(blocks ...fakeapi.Block) fakeapi.Turn { return fakeapi.Turn{Blocks: blocks} }

// call is a call with an id that a test can name.
func call(id, name, input string) fakeapi.Block {
	b := fakeapi.Call(name, input)
	b.ID = id
	return b
}

func bash(id, line string) fakeapi.Block {
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		panic(err)
	}
	return call(id, "bash", string(input))
}

// attended says that somebody answers questions.
func attended(o *engine.Options) { o.Attended = true }

// asking lets the permission evaluator ask by its defaults.
func asking(rules ...string) func(*engine.Options) {
	return func(o *engine.Options) {
		var list []permission.Rule
		for _, text := range rules {
			action, text, _ := strings.Cut(text, " ")
			rule, err := permission.ParseRule(text)
			if err != nil {
				panic(err)
			}
			rule.Action = permission.Action(action)
			list = append(list, rule)
		}
		o.Policy = permission.New(permission.Options{Root: o.Workspace.Cwd(), Rules: list})
	}
}

// own adds a tool to the registry.
func own(name string, run func(ctx context.Context, env *tool.Env, in map[string]any) (tool.Result, error)) func(*engine.Options) {
	return func(o *engine.Options) {
		o.Tools = append(o.Tools, tool.Define(tool.Spec[map[string]any]{
			Name: name, Doc: "A tool of the test.", Schema: `{"type":"object"}`, Kind: event.UIRead, Run: run,
		}))
	}
}

// answering lets a user answer every question about a permission.
func (w *world) answering(answer func(event.PermissionRequested) command.PermissionResponse) {
	bus.On(w.log.Bus(), func(_ event.Record, p event.PermissionRequested) {
		response := answer(p)
		response.RequestID = p.PermissionRequestID
		w.send(response)
	})
}

// shared is a path in the data that is shared between projects.
func shared(t *testing.T, elem ...string) string {
	t.Helper()
	name := filepath.Join(append([]string{"..", "..", "..", "shared"}, elem...)...)
	if _, err := os.Stat(name); err != nil {
		if os.Getenv("KHAELOR_REQUIRE_SHARED") != "" {
			t.Fatal(err)
		}
		t.Skip("shared data not here: " + name)
	}
	return name
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sameJSON compares values, not spelling.
func sameJSON(a, b []byte) bool {
	var x, y any
	dx, dy := json.NewDecoder(bytes.NewReader(a)), json.NewDecoder(bytes.NewReader(b))
	dx.UseNumber()
	dy.UseNumber()
	return dx.Decode(&x) == nil && dy.Decode(&y) == nil && reflect.DeepEqual(x, y)
}
