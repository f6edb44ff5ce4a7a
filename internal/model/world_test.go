package model

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/khaelor/khaelor/internal/anthropic"
	"github.com/khaelor/khaelor/internal/clock"
	"github.com/khaelor/khaelor/internal/contextengine"
	"github.com/khaelor/khaelor/internal/disk/memdisk"
	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fakeapi"
	"github.com/khaelor/khaelor/internal/fold"
	"github.com/khaelor/khaelor/internal/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a runtime with a real log, a real client and a scripted server.
type rig struct {
	*Runtime
	t       *testing.T
	store   *session.Store
	log     *session.Log
	server  *fakeapi.Server
	client  *anthropic.Client
	model   string
	facts   []event.Record
	notices []event.Live
}

func newRig(t *testing.T, turns ...fakeapi.Turn) *rig {
	t.Helper()
	r := &rig{t: t, model: "test-model"}
	clk := clock.Fixed(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), 1)
	r.store = session.NewStore(memdisk.New(), clk, func(err error) { t.Errorf("report: %v", err) })
	server, err := fakeapi.Start(fakeapi.Options{Script: fakeapi.Script{Turns: turns}})
	if err != nil {
		t.Fatal(err)
	}
	r.server = server
	r.client, err = anthropic.New(anthropic.Options{BaseURL: server.URL(), APIKey: "key", Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	r.log, err = r.store.Create(event.SessionStarted{ProjectHash: "p", Model: "test-model"})
	if err != nil {
		t.Fatal(err)
	}
	r.Runtime = &Runtime{Clock: clk, Client: r.client, Params: func() contextengine.Params {
		return contextengine.Params{Model: r.model, MaxTokens: 1000, Thinking: []byte(`{"type":"adaptive"}`)}
	}}
	r.listen()
	r.publish(
		tier(event.TierTools, `[{"name":"bash","description":"runs","input_schema":{"type":"object"}}]`),
		tier(event.TierStatic, strings.Repeat("You are tested. ", 400)),
	)
	t.Cleanup(r.end)
	return r
}

func tier(t event.Tier, text string) event.Fact {
	sum := sha256.Sum256([]byte(text))
	return event.TierRecorded{Tier: t, Text: text, SHA256: hex.EncodeToString(sum[:])}
}

// listen makes the runtime work on the log that is open.
func (r *rig) listen() {
	r.Log, r.Context = r.log, contextengine.New(r.log.Blob)
	r.log.Bus().OnAny(func(f event.Record) { r.facts = append(r.facts, f) }, func(n event.Live) { r.notices = append(r.notices, n) })
}

// end looks at what every story must leave behind: a server that refused
// nothing and was asked for all it had, requests that the log rebuilds, and a
// log that is sound.
func (r *rig) end() {
	r.client.Close()
	if err := r.server.Close(); err != nil {
		r.t.Error(err)
	}
	if problems := r.server.Problems(); len(problems) > 0 {
		r.t.Errorf("the server says\n%s", strings.Join(problems, "\n"))
	}
	r.rebuilt()
	if err := r.log.Close(); err != nil {
		r.t.Error(err)
	}
	report, err := r.store.Check(r.log.ID())
	if err != nil || len(report.Problems) > 0 {
		r.t.Errorf("the log is not sound: %v %+v", err, report.Problems)
	}
}

// rebuilt holds the bytes of each request against those that the log gives.
func (r *rig) rebuilt() {
	view, err := r.store.View(r.log.ID())
	if err != nil {
		r.t.Fatal(err)
	}
	sent := r.server.Requests()
	var state fold.Session
	n := 0
	for record, err := range view.Records() {
		if err != nil {
			r.t.Fatal(err)
		}
		if p, ok := record.Fact.(event.ModelRequestStarted); ok && n < len(sent) {
			params := r.Params()
			params.Model = p.Model
			built := contextengine.New(r.log.Blob).Build(state, params)
			if !bytes.Equal(built.Body, sent[n].Body) {
				r.t.Errorf("request %d\nsent    %s\nrebuilt %s", n, sent[n].Body, built.Body)
			}
			n++
		}
		record.Line = bytes.Clone(record.Line)
		state = state.Apply(record)
	}
	if n != len(sent) {
		r.t.Errorf("%d requests in the log, %d on the wire", n, len(sent))
	}
}

func (r *rig) publish(facts ...event.Fact) {
	r.t.Helper()
	for _, f := range facts {
		if _, err := r.log.Publish(f); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *rig) say(text string) { r.publish(event.UserMessageCreated{Text: text}) }

func (r *rig) call() {
	r.t.Helper()
	r.callWith(context.Background())
}

func (r *rig) callWith(ctx context.Context) {
	r.t.Helper()
	if err := r.Call(ctx); err != nil {
		r.t.Fatal(err)
	}
}

// results completes every open call, as the tool runtime would.
func (r *rig) results() {
	for _, c := range r.log.Fold().State.Calls {
		r.publish(event.ToolStarted{ToolUseID: c.ID, ToolName: c.Name}, event.ToolCompleted{ToolUseID: c.ID, ModelText: "result of " + c.ID})
	}
}

// told is every fact of one type, in order.
func told[P event.Fact](r *rig) []P {
	var all []P
	for _, f := range r.facts {
		if p, ok := f.Fact.(P); ok {
			all = append(all, p)
		}
	}
	return all
}

func noticed[P event.Notice](r *rig) []P {
	var all []P
	for _, n := range r.notices {
		if p, ok := n.Notice.(P); ok {
			all = append(all, p)
		}
	}
	return all
}

// names are the names of the facts from the first request on.
func (r *rig) names() []string {
	var names []string
	for _, f := range r.facts {
		if len(names) > 0 || f.Name() == "model.request-started" {
			names = append(names, f.Name())
		}
	}
	return names
}

// conversation is the history, one short line for each block.
func (r *rig) conversation() []string {
	var lines []string
	for _, b := range r.log.Fold().History.Blocks() {
		line := string(b.Role) + ": " + b.Text
		switch b.Kind {
		case fold.ThinkingBlock:
			line = string(b.Role) + " thinks: " + b.Text
		case fold.OpaqueBlock:
			line = string(b.Role) + " sends: " + b.Name
		case fold.ToolUseBlock:
			line = fmt.Sprintf("%s calls %s: %s%s", b.Role, b.ID, b.Name, b.Raw)
		case fold.ToolResultBlock:
			line = fmt.Sprintf("%s answers %s: %s", b.Role, b.ID, b.Text)
		}
		lines = append(lines, line)
	}
	return lines
}

func (r *rig) converses(want ...string) {
	r.t.Helper()
	if got := r.conversation(); !slices.Equal(got, want) {
		r.t.Errorf("conversation\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func (r *rig) stopped() event.StopReason { return r.log.Fold().State.Request.Stop }

// recorded is a stream of the shared cases.
func recorded(t *testing.T, name string) fakeapi.Turn {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "cases", "files", "sse", name)
	data, err := os.ReadFile(path)
	if err != nil {
		if os.Getenv("KHAELOR_REQUIRE_SHARED") != "" {
			t.Fatalf("shared data is required: %v", err)
		}
		t.Skipf("shared data not here: %s", path)
	}
	return fakeapi.Turn{Raw: string(data)}
}

func answers(blocks ...fakeapi.Block) fakeapi.Turn { return fakeapi.Turn{Blocks: blocks} }

func fails(status int, message string) fakeapi.Turn {
	return fakeapi.Turn{Error: &fakeapi.Fault{Status: status, Message: message, RetryAfter: "0.01"}}
}
