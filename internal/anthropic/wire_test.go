package anthropic

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/khaelor/khaelor/internal/clock"
)

// TestTheRequestGoesOutAsItIs covers the bytes, the path for each form of base
// URL, and the headers.
func TestTheRequestGoesOutAsItIs(t *testing.T) {
	for base, path := range map[string]string{
		"": "/v1/messages", "/": "/v1/messages", "/gw": "/gw/v1/messages", "/gw/": "/gw/v1/messages", "/v1x": "/v1x/v1/messages",
	} {
		t.Run("base "+base, func(t *testing.T) {
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if !bytes.Equal(body, request) || r.URL.Path != path || r.Method != http.MethodPost || r.ProtoMajor != 1 {
					t.Errorf("got %s %s %s", r.Method, r.URL.Path, body)
				}
				h := r.Header
				if h.Get("Authorization") != "Bearer "+canary || h.Get("x-api-key") != canary || h.Get("User-Agent") != "khaelor/test" {
					t.Errorf("headers are %v", h)
				}
				if got := strings.Join(h.Values("anthropic-beta"), "|"); got != "one|two" {
					t.Errorf("betas are %s", got)
				}
				replay(sseFile(t, "plain.sse"), 3)(w, r)
			})
			c := newClient(t, Options{
				BaseURL: server.URL + base, APIKey: " " + canary + "\n", AuthToken: "unused-token",
				UserAgent: "khaelor/test", Betas: []string{"one", "two"},
			})
			if _, err := c.Stream(t.Context(), request, new(recorder)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-from-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token-from-environment")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "x-custom: yes")
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("x-api-key") != "" || r.Header.Get("x-custom") != "" {
			t.Errorf("headers are %v", r.Header)
		}
		replay(sseFile(t, "plain.sse"), 3)(w, r)
	})
	c, err := New(Options{BaseURL: server.URL, Clock: clock.System()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Stream(t.Context(), request, new(recorder)); err != nil {
		t.Error(err)
	}
}

func TestAnAuthTokenTravelsAsABearerOnly(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer tok-123" || r.Header.Get("x-api-key") != "" {
			t.Errorf("headers are %v", r.Header)
		}
		replay(sseFile(t, "plain.sse"), 3)(w, r)
	})
	c, err := New(Options{BaseURL: server.URL, AuthToken: "tok-123\n"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Stream(t.Context(), request, new(recorder)); err != nil {
		t.Error(err)
	}
}

func TestBadOptionsAreRefusedWithTheirReason(t *testing.T) {
	cases := map[string]Options{
		"v1":          {BaseURL: "http://h/v1"},
		"/v1":         {BaseURL: "http://h/gw/v1/"},
		"leave out":   {BaseURL: "http://h/v1/messages"},
		"http://":     {BaseURL: "h:8080"},
		"no host":     {BaseURL: "http:///x"},
		"without ?":   {BaseURL: "http://h/?key=1"},
		"not a URL":   {BaseURL: "http://u:" + canary + "@h:bad"},
		"API key":     {APIKey: canary + " " + canary},
		"auth token":  {AuthToken: canary + "\n" + canary},
		"copied whol": {APIKey: canary + "\u2026"},
	}
	for says, o := range cases {
		c, err := New(o)
		var config *ConfigError
		if c != nil || !errors.As(err, &config) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), canary) {
			t.Errorf("%+v: got %v, want a ConfigError that says %q", o, err, says)
		}
	}
}

func TestWithoutAKeyTheServiceIsNotAsked(t *testing.T) {
	c, err := New(Options{APIKey: " \n"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Stream(t.Context(), request, new(recorder))
	if e := mustError(t, err); e.Kind != KindAuth || !strings.Contains(e.Error(), "ANTHROPIC_API_KEY") {
		t.Errorf("got %v", e)
	}
}

// TestNoErrorTextHoldsAKey has servers that say the key back in every place an
// error text is made from.
func TestNoErrorTextHoldsAKey(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"message": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(401)
			_, _ = io.WriteString(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid key `+canary+` \u001b[31m"}}`)
		},
		"plain text": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(502)
			_, _ = io.WriteString(w, "Bearer "+canary)
		},
		"type and id": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("request-id", canary)
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"error":{"type":"`+canary+`","message":"x"}}`)
		},
		"error event": replay(sse(`error {"error":{"type":"api_error","message":"`+canary+`"}}`), 1),
		"broken JSON": replay(sse(`message_start {"message":`+canary+`}`), 1),
		"content type": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/"+canary)
		},
		"redirect": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://other.test/"+canary)
			w.WriteHeader(307)
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			server := serve(t, answer)
			_, err := newClient(t, Options{BaseURL: server.URL}).Stream(t.Context(), request, new(recorder))
			if e := mustError(t, err); strings.ContainsAny(e.Error(), "\x1b\n") {
				t.Errorf("control characters in %q", e.Error())
			}
		})
	}
}

func TestStatusesMapToKindsAndHints(t *testing.T) {
	cases := []struct {
		status int
		header string // x-should-retry
		kind   Kind
		retry  bool
		says   string
	}{
		{400, "", KindInvalidRequest, false, "400"},
		{401, "", KindAuth, false, "ANTHROPIC_API_KEY"},
		{403, "", KindAuth, false, "permissions"},
		{404, "", KindInvalidRequest, false, "base URL"},
		{408, "", KindRetryable, true, "408"},
		{413, "", KindContextOverflow, false, "too large"},
		{429, "", KindRetryable, true, "429"},
		{500, "", KindRetryable, true, "500"},
		{502, "", KindRetryable, true, "502"},
		{529, "", KindRetryable, true, "529"},
		{529, "false", KindRetryable, false, "529"},
		{422, "true", KindRetryable, true, "422"},
	}
	for _, c := range cases {
		server := serve(t, func(w http.ResponseWriter, r *http.Request) {
			discard(r)
			if c.header != "" {
				w.Header().Set("x-should-retry", c.header)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, "<html>an error page</html>")
		})
		_, err := newClient(t, Options{BaseURL: server.URL}).Stream(t.Context(), request, new(recorder))
		e := mustError(t, err)
		if e.Kind != c.kind || e.Retryable() != c.retry || e.Status != c.status || !strings.Contains(e.Error(), c.says) || strings.Contains(e.Error(), "<") {
			t.Errorf("%d: got %v (%s), want %s that says %q", c.status, e, e.Kind, c.kind, c.says)
		}
	}
}

func TestARedirectToAnotherHostGetsNoKey(t *testing.T) {
	other := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the other host was asked") })
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		discard(r)
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	c := newClient(t, Options{BaseURL: server.URL})
	_, err := c.Stream(t.Context(), request, new(recorder))
	if e := mustError(t, err); e.Kind != KindInvalidRequest || !strings.Contains(e.Message, "redirects to another host") {
		t.Errorf("stream: got %v", e)
	}
	_, err = c.Models(t.Context())
	if e := mustError(t, err); e.Kind != KindInvalidRequest {
		t.Errorf("models: got %v", e)
	}
}

func TestARedirectOnTheSameHostIsFollowed(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/messages" {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			return
		}
		replay(sseFile(t, "plain.sse"), 2)(w, r)
	})
	if _, err := newClient(t, Options{BaseURL: server.URL}).Stream(t.Context(), request, new(recorder)); err != nil {
		t.Error(err)
	}
}

func TestProxiesComeFromTheEnvironment(t *testing.T) {
	asked := ""
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		replay(sseFile(t, "plain.sse"), 2)(w, r)
	})
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "KHAELOR_PROXY_PROBE=1", "HTTP_PROXY="+proxy.URL, "NO_PROXY=")
	if out, err := cmd.CombinedOutput(); err != nil || asked != "http://gateway.test/api/v1/messages" {
		t.Errorf("proxy was asked for %q: %v %s", asked, err, out)
	}
}

func TestAServerThatIsNotThereIsANetworkFault(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	_, err := newClient(t, Options{BaseURL: server.URL}).Stream(t.Context(), request, new(recorder))
	if e := mustError(t, err); !e.Retryable() || e.Type != TypeNetwork || e.Status != 0 || e.Partial || !e.Unreached {
		t.Errorf("got %+v", e)
	}
}

func TestACutConnectionIsANetworkFault(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write(sse(evStart, evText, evTextDelta))
	})
	_, err := newClient(t, Options{BaseURL: server.URL}).Stream(t.Context(), request, new(recorder))
	if e := mustError(t, err); !e.Retryable() || e.Type != TypeNetwork || !e.Partial || e.Unreached {
		t.Errorf("got %+v", e)
	}
}

func TestAnUntrustedCertificateIsNotRetried(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	_, err := newClient(t, Options{BaseURL: server.URL}).Stream(t.Context(), request, new(recorder))
	if e := mustError(t, err); e.Retryable() || !strings.Contains(e.Message, "certificate") {
		t.Errorf("got %v", e)
	}
}

// TestASilentServerEndsAtTheStallLimit has no bound of its own on the time: a
// client without a stall limit would hang until the test's.
func TestASilentServerEndsAtTheStallLimit(t *testing.T) {
	hold := func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	servers := map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) {
			discard(r)
			<-r.Context().Done()
		},
		"headers only": hold,
		"start, then nothing": func(w http.ResponseWriter, r *http.Request) {
			discard(r)
			_, _ = w.Write(sse(evStart, evText))
			hold(w, r)
		},
		"half an error": func(w http.ResponseWriter, r *http.Request) {
			discard(r)
			w.WriteHeader(500)
			hold(w, r)
		},
		"pings only": func(w http.ResponseWriter, r *http.Request) {
			discard(r)
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for range 1000 {
				_, _ = io.WriteString(w, ": comment\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n")
				w.(http.Flusher).Flush()
				<-tick.C
			}
			// Too late: whoever takes a ping for progress gets an answer.
			_, _ = w.Write(sseFile(t, "plain.sse"))
		},
	}
	for name, handler := range servers {
		t.Run(name, func(t *testing.T) {
			server := serve(t, handler)
			c := newClient(t, Options{BaseURL: server.URL, StallLimit: 100 * time.Millisecond})
			_, err := c.Stream(t.Context(), request, new(recorder))
			if e := mustError(t, err); !e.Retryable() || e.Type != TypeStall || !strings.Contains(e.Message, "waited 100ms") {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestASlowStreamIsNoStall(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		discard(r)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		events := []string{evStart, evText}
		for range 40 {
			events = append(events, evTextDelta)
		}
		for _, event := range append(events, evBlockStop, evEndTurn, evStop) {
			_, _ = w.Write(sse(event))
			w.(http.Flusher).Flush()
			<-tick.C
		}
	})
	c := newClient(t, Options{BaseURL: server.URL, StallLimit: 300 * time.Millisecond})
	if _, err := c.Stream(t.Context(), request, new(recorder)); err != nil {
		t.Error(err)
	}
}

func TestACancelledContextEndsTheCall(t *testing.T) {
	cases := map[string]func(cancel func()) http.HandlerFunc{
		"before an answer": func(cancel func()) http.HandlerFunc {
			return func(_ http.ResponseWriter, r *http.Request) {
				discard(r)
				cancel()
				<-r.Context().Done()
			}
		},
		"in the stream": func(cancel func()) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				discard(r)
				_, _ = w.Write(sse(evStart, evText))
				w.(http.Flusher).Flush()
				cancel()
				<-r.Context().Done()
			}
		},
	}
	for name, handler := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			server := serve(t, handler(cancel))
			_, err := newClient(t, Options{BaseURL: server.URL}).Stream(ctx, request, new(recorder))
			if e := mustError(t, err); e.Kind != KindCancelled || e.Retryable() || !errors.Is(err, context.Canceled) {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestNothingIsHandedOutAfterACancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := serve(t, replay(sseFile(t, "plain.sse"), 1))
	r := &recorder{onText: cancel}
	_, err := newClient(t, Options{BaseURL: server.URL}).Stream(ctx, request, r)
	if e := mustError(t, err); e.Kind != KindCancelled || r.text.String() != "hello " || len(r.blocks) != 0 {
		t.Errorf("got %v after %q and %d blocks", e, r.text.String(), len(r.blocks))
	}
}

// connections counts how many a server saw for two calls, the second one a
// while after the first.
func connections(t *testing.T, between time.Duration) int {
	seen := map[string]bool{}
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen[r.RemoteAddr] = true
		replay(sseFile(t, "plain.sse"), 1)(w, r)
	})
	c := newClient(t, Options{BaseURL: server.URL})
	for range 2 {
		if _, err := c.Stream(t.Context(), request, new(recorder)); err != nil {
			t.Fatal(err)
		}
		c.lastUse.Add(-between.Nanoseconds())
	}
	return len(seen)
}

func TestAConnectionServesTheNextTurnUnlessItWasLeftAlone(t *testing.T) {
	if n := connections(t, 0); n != 1 {
		t.Errorf("%d connections for two turns in a row, want 1", n)
	}
	if n := connections(t, time.Hour); n != 2 {
		t.Errorf("%d connections across a sleep, want 2", n)
	}
}

func TestAServerThatLeavesAnAnsweredStreamOpenIsNotWaitedFor(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		discard(r)
		_, _ = w.Write(sseFile(t, "plain.sse"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	if _, err := newClient(t, Options{BaseURL: server.URL}).Stream(t.Context(), request, new(recorder)); err != nil {
		t.Error(err)
	}
}

func TestModelsAreListedPageByPage(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("after_id") == "" {
			_, _ = io.WriteString(w, `{"data":[{"type":"model","id":"a","display_name":"A","max_input_tokens":200000,"max_tokens":64000}],"has_more":true,"first_id":"a","last_id":"a"}`)
			return
		}
		_, _ = io.WriteString(w, `{"data":[{"id":"b"}],"has_more":false}`)
	})
	got, err := newClient(t, Options{BaseURL: server.URL}).Models(t.Context())
	want := []ModelInfo{{ID: "a", DisplayName: "A", MaxInputTokens: 200000, MaxOutputTokens: 64000}, {ID: "b"}}
	if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestModelsErrorsAreTyped(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("request-id", "req_1")
		w.WriteHeader(401)
		_, _ = io.WriteString(w, `{"error":{"type":"authentication_error","message":"no `+canary+`"}}`)
	})
	_, err := newClient(t, Options{BaseURL: server.URL}).Models(t.Context())
	if e := mustError(t, err); e.Kind != KindAuth || e.Status != 401 || e.RequestID != "req_1" {
		t.Errorf("got %+v", e)
	}
}
