package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/anthropic"
	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/command"
	"github.com/khaelor/khaelor/internal/contextengine"
	"github.com/khaelor/khaelor/internal/engine"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/permission"
	"github.com/khaelor/khaelor/internal/repo"
	"github.com/khaelor/khaelor/internal/session"
	"github.com/khaelor/khaelor/internal/tool"
	"github.com/khaelor/khaelor/internal/workspace"
)

const turns = 150

// textTool returns n bytes at once: what is left of a turn is our own time.
func textTool() tool.Tool {
	type input struct {
		N int `json:"n"`
	}
	return tool.Define(tool.Spec[input]{
		Name: "text", Doc: "Returns text.", Kind: event.UIRead,
		Schema: `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`,
		Run: func(_ context.Context, _ *tool.Env, in input) (tool.Result, error) {
			return tool.Result{Text: strings.Repeat("a line of \"text\" <that> is read & kept\n", in.N/39), UI: event.ToolUI{Kind: event.UIRead}}, nil
		},
	})
}

// stopwatch times from the end of an answer to the arrival of the next request.
type stopwatch struct {
	client *anthropic.Client

	mu    sync.Mutex
	ended time.Time
	gaps  []time.Duration
}

func (s *stopwatch) Stream(ctx context.Context, body []byte, h anthropic.Handler) (anthropic.Reply, error) {
	reply, err := s.client.Stream(ctx, body, h)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = time.Now()
	return reply, err
}

func (s *stopwatch) arrived(int, string, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended.IsZero() {
		s.gaps = append(s.gaps, time.Since(s.ended))
	}
}

// turnOverhead plays 150 tool turns with results of 2 to 20 KB.
func turnOverhead(t *testing.T) []row {
	watch := &stopwatch{}
	server, err := fakeapi.Start(fakeapi.Options{
		Script: fakeapi.Script{Window: 10_000_000}, Clock: clock.System(), OnRequest: watch.arrived,
		Responder: func(n int, _ *fakeapi.Request) fakeapi.Turn {
			if n >= turns {
				return fakeapi.Turn{Blocks: []fakeapi.Block{fakeapi.Text("done")}}
			}
			return fakeapi.Turn{Blocks: []fakeapi.Block{fakeapi.Text("next"), fakeapi.Call("text", fmt.Sprintf(`{"n":%d}`, 2000+n*120))}}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := anthropic.New(anthropic.Options{BaseURL: server.URL(), APIKey: "key", Clock: clock.System()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	watch.client = client
	runTask(t, watch, tool.Registry{textTool()})
	slices.Sort(watch.gaps)
	breaks := 0
	for _, x := range server.Requests() {
		if x.PrefixBreak != "" || x.Status != 200 {
			breaks++
		}
	}
	requests := len(server.Requests())
	return []row{
		{"overhead per turn, median of 150 turns", ms(watch.gaps[len(watch.gaps)/2]), "≤ 5 ms"},
		{"overhead per turn, 95th percentile", ms(watch.gaps[len(watch.gaps)*95/100]), "≤ 20 ms"},
		{"prefix kept, of all requests", fmt.Sprintf("%d of %d", requests-breaks, requests), "100%"},
	}
}

// runTask runs one task of an engine on a real disk.
func runTask(t *testing.T, client interface {
	Stream(context.Context, []byte, anthropic.Handler) (anthropic.Reply, error)
}, tools tool.Registry,
) {
	t.Helper()
	ctx := context.Background()
	dir := t.TempDir()
	ws, err := workspace.NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	home, err := workspace.OpenDir(filepath.Join(dir, "home"))
	if err != nil {
		t.Fatal(err)
	}
	defer home.Close()
	clk := clock.System()
	log, err := session.NewStore(home, clk, func(err error) { t.Error(err) }).
		Create(event.SessionStarted{Title: "bench", ProjectHash: "p", Model: "test-model"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(ctx, engine.Options{
		Log: log, Client: client, Workspace: ws, Repo: repo.Open(ws), Tools: tools, Clock: clk,
		Policy: permission.New(permission.Options{Mode: permission.ModeBypass, Root: dir}),
		Params: func(model string) contextengine.Params { return contextengine.Params{Model: model, MaxTokens: 8000} },
		Price:  func(string) (fold.Price, bool) { return fold.Price{}, false },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Dispatch(command.SubmitMessage{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	<-e.Idle()
	result, _ := json.Marshal(log.Fold().State.Task.Result)
	if _, ok := log.Fold().State.Task.Result.(event.TaskCompleted); !ok {
		t.Fatalf("the task ended with %s", result)
	}
	if err := e.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }
