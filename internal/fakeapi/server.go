// Package fakeapi is a SCRIPTED, STRICT Messages API on the loopback interface.
// No model is behind it: every answer was written down beforehand. It drives
// `khaelor demo` and the tests, and nothing it says may be shown as the work of
// a real model.
//
// It owns three things. The script: which answer or fault each request gets,
// down to the byte positions at which the stream is split. The rules: a request
// the service would refuse is refused here, in the service's kind of words. The
// prompt cache: a simulation with the service's documented breakpoints, look-back,
// minimum and life times, so that the usage it reports is a number that follows
// from the bytes that were sent.
//
// It promises that everything it saw is kept (Requests), that everything that
// should not have happened is named (Problems: refused requests, a prompt that
// does not begin with the one before, expectations not met, turns nobody asked
// for), that it listens on 127.0.0.1 only, and that no goroutine outlives Close.
//
// It leaves to others what a client makes of the answers. Token counts are bytes
// divided by four and not the service's; rate limits, server tools, batches and
// files are not simulated.
//
// Start reading at Script and Turn, then Server.messages.
package fakeapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/khaelor/khaelor/internal/clock"
)

// maxBody is the size from which a request body is refused, as the API
// documentation states it for the Messages API (32 MB).
const maxBody = 32 << 20

// Options say what a Server answers.
type Options struct {
	Script    Script
	Clock     *clock.Clock                     // ages cache entries; nil: the machine's clock
	Key       string                           // the accepted API key; empty: any that is not empty
	Vars      map[string]string                // values for {{name}} in the script
	Responder func(n int, req *Request) Turn   // answers the n-th message request (from 0) in place of Script.Turns
	OnRequest func(n int, method, path string) // called on the arrival of every request, before it is answered
	Prefix    string                           // path in front of /v1, such as "/gw", for a gateway's address
}

// Server is a running fake. Its methods may be called from any goroutine.
type Server struct {
	opts   Options
	clock  *clock.Clock
	url    string
	http   *http.Server
	stop   context.CancelFunc // ends every handler that waits
	served chan struct{}      // closed when Serve has returned
	conns  sync.WaitGroup     // one per open connection

	mu       sync.Mutex
	recorder recorder
	player   player
	cache    cache
	history  history
	chains   chains
}

// Start checks the script and listens on a free port of 127.0.0.1.
func Start(opts Options) (*Server, error) {
	if opts.Responder != nil && len(opts.Script.Turns) > 0 {
		return nil, errors.New("start fakeapi: a responder and scripted turns exclude each other")
	}
	if err := opts.Script.check(); err != nil {
		return nil, fmt.Errorf("start fakeapi: %w", err)
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start fakeapi: %w", err)
	}
	if opts.Clock == nil {
		opts.Clock = clock.System()
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{
		opts: opts, clock: opts.Clock, url: "http://" + ln.Addr().String() + opts.Prefix,
		stop: stop, served: make(chan struct{}),
		player: newPlayer(opts), cache: cache{}, history: newHistory(opts.Script),
	}
	s.http = &http.Server{
		Handler:     http.StripPrefix(opts.Prefix, s),
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnState:   s.countConn,
		ErrorLog:    log.New(io.Discard, "", 0),
	}
	go func() {
		defer close(s.served)
		// Serve only ends by Close; its error says nothing else.
		_ = s.http.Serve(ln)
	}()
	return s, nil
}

// URL is the address to give a client as its base URL: no "/v1", no final slash.
func (s *Server) URL() string { return s.url }

// Close stops listening, cuts what is still being answered, and waits until
// every connection's goroutine is done.
func (s *Server) Close() error {
	s.stop()
	err := s.http.Close()
	<-s.served
	s.conns.Wait()
	if err != nil {
		return fmt.Errorf("close fakeapi: %w", err)
	}
	return nil
}

// countConn lets Close wait for connections: http.Server.Close does not, and
// Shutdown waits seconds for those that never sent a byte.
func (s *Server) countConn(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.conns.Done()
	}
}

// ServeHTTP records one request and answers it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	x := s.arrive(r, body)
	if s.opts.OnRequest != nil {
		s.opts.OnRequest(x.N, r.Method, r.URL.Path)
	}
	w.Header().Set("Request-Id", x.requestID())
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		s.refuse(w, x, &Fault{Status: http.StatusRequestEntityTooLarge, Message: "Request exceeds the maximum size"})
	case err != nil:
		// The client went away while it was still sending: nobody to answer.
	default:
		s.route(w, r, x, body)
	}
}

func (s *Server) route(w http.ResponseWriter, r *http.Request, x *Exchange, body []byte) {
	want := http.MethodPost
	if strings.HasPrefix(r.URL.Path, "/v1/models") {
		want = http.MethodGet
	}
	id, isModel := strings.CutPrefix(r.URL.Path, "/v1/models/")
	var answer func(w http.ResponseWriter, r *http.Request, x *Exchange, body []byte)
	switch {
	case r.URL.Path == "/v1/messages":
		answer = s.messages
	case r.URL.Path == "/v1/messages/count_tokens":
		answer = s.countTokens
	case r.URL.Path == "/v1/models":
		answer = s.listModels
	case isModel:
		answer = func(w http.ResponseWriter, _ *http.Request, x *Exchange, _ []byte) { s.showModel(w, x, id) }
	default:
		s.refuse(w, x, &Fault{Status: http.StatusNotFound, Message: "Not found"})
		return
	}
	if f := s.checkHead(r, want); f != nil {
		s.refuse(w, x, f)
		return
	}
	answer(w, r, x, body)
}

// checkHead refuses what can be refused before the body is looked at.
func (s *Server) checkHead(r *http.Request, method string) *Fault {
	key := r.Header.Get("X-Api-Key")
	if key == "" {
		key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	switch {
	case r.Method != method:
		return &Fault{Status: http.StatusMethodNotAllowed, Message: "Method Not Allowed"}
	case key == "":
		return &Fault{Status: http.StatusUnauthorized, Message: "x-api-key header is required"}
	case s.opts.Key != "" && key != s.opts.Key:
		return &Fault{Status: http.StatusUnauthorized, Message: "invalid x-api-key"}
	case r.Header.Get("Anthropic-Version") == "":
		return invalid("anthropic-version: header is required")
	}
	return nil
}

// refuse answers a request that broke a rule, and keeps it as a problem.
func (s *Server) refuse(w http.ResponseWriter, x *Exchange, f *Fault) {
	s.mu.Lock()
	x.Error = f.Message
	s.recorder.problem("request %d: %d %s", x.N, f.Status, f.Message)
	s.mu.Unlock()
	s.answerFault(w, x, f)
}

func (s *Server) answerFault(w http.ResponseWriter, x *Exchange, f *Fault) {
	s.finish(x, f.Status, 0, nil)
	f.write(w, x.requestID())
}
