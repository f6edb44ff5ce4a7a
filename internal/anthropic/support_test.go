package anthropic

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/khaelor/khaelor/internal/clock"
)

const canary = "sk-canary-0123456789-secret"

func TestMain(m *testing.M) {
	if os.Getenv("KHAELOR_PROXY_PROBE") != "" {
		os.Exit(probeProxy())
	}
	goleak.VerifyTestMain(m)
}

// sharedPath is a file or folder of the shared data, relative to its root.
func sharedPath(t testing.TB, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "..", "shared"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("KHAELOR_REQUIRE_SHARED") != "" {
			t.Fatalf("shared data is required: %v", err)
		}
		t.Skipf("shared data not here: %s", path)
	}
	return path
}

func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server
}

func newClient(t testing.TB, o Options) *Client {
	t.Helper()
	if o.APIKey == "" {
		o.APIKey = canary
	}
	if o.Clock == nil {
		o.Clock = clock.System()
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// replay serves a body as an event stream in pieces of random size.
func replay(body []byte, seed uint64) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("request-id", "req_header")
		dice := rand.New(rand.NewPCG(seed, 1))
		for rest := body; len(rest) > 0; {
			n := min(len(rest), 1+dice.IntN(700))
			_, _ = w.Write(rest[:n])
			w.(http.Flusher).Flush()
			rest = rest[n:]
		}
	}
}

// recorder keeps all a handler is told.
type recorder struct {
	blocks         []Block
	text, thinking strings.Builder
	inputs         map[string]string
	started        []string
	refuse         error
	onText         func()
}

func (r *recorder) TextDelta(_ int, text string) {
	r.text.WriteString(text)
	if r.onText != nil {
		r.onText()
	}
}
func (r *recorder) ThinkingDelta(_ int, text string) { r.thinking.WriteString(text) }
func (r *recorder) ToolCallStarted(_ int, id, name string) {
	r.started = append(r.started, id+" "+name)
}

func (r *recorder) ToolInputDelta(_ int, id, partial string) {
	if r.inputs == nil {
		r.inputs = map[string]string{}
	}
	r.inputs[id] += partial
}

func (r *recorder) BlockCompleted(b Block) error {
	r.blocks = append(r.blocks, b)
	return r.refuse
}

var request = []byte(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hi <&>"}],"stream":true}`)

// streamBytes runs one call against a server that answers with body.
func streamBytes(t *testing.T, body []byte) (*recorder, Reply, error) {
	t.Helper()
	server := serve(t, replay(body, uint64(len(body))))
	r := new(recorder)
	reply, err := newClient(t, Options{BaseURL: server.URL}).Stream(context.Background(), request, r)
	return r, reply, err
}

func mustError(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("want an *Error, got %T %v", err, err)
	}
	if strings.Contains(e.Error(), canary) || strings.Contains(e.Message, canary) {
		t.Fatalf("the key is in the error: %v", e)
	}
	return e
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func discard(r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }
