package fakeapi

import (
	"fmt"
	"net/http"
	"slices"
)

// Exchange is one request and what became of it.
type Exchange struct {
	N            int // position in Requests
	Method, Path string
	Header       http.Header
	Body         []byte   // exactly as it came
	Request      *Request // nil when the body could not be read as one
	Turn         int      // of the script, or the Responder's n; -1: none was used
	Status       int      // 0 as long as there is no answer
	Usage        Usage    // as reported; zero for a raw stream
	PrefixBreak  string   // what differs from the prompt before, up to its last breakpoint; empty: nothing
	Error        string   // why the request was refused; empty for a scripted fault
	Events       int      // events of the stream that were written
	Whole        bool     // the answer was written to its end
}

func (x *Exchange) requestID() string { return fmt.Sprintf("req_fake_%06d", x.N) }

type recorder struct {
	exchanges []*Exchange
	problems  []string
}

func (r *recorder) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// Requests are the exchanges so far, in the order of arrival.
func (s *Server) Requests() []Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Exchange, 0, len(s.recorder.exchanges))
	for _, x := range s.recorder.exchanges {
		list = append(list, *x)
	}
	return list
}

// Problems are what should not have happened: refused requests, broken prefixes,
// expectations not met, faults the stream was too short for, and turns that
// nobody has asked for yet. Ask when the client is done.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(slices.Clone(s.recorder.problems), s.player.unused()...)
}

func (s *Server) arrive(r *http.Request, body []byte) *Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := &Exchange{
		N: len(s.recorder.exchanges), Method: r.Method, Path: r.URL.Path,
		Header: r.Header.Clone(), Body: body, Turn: -1,
	}
	s.recorder.exchanges = append(s.recorder.exchanges, x)
	return x
}

// finish is called before the last bytes go out, so that a client that has read
// its answer finds it recorded.
func (s *Server) finish(x *Exchange, status, events int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.Status, x.Events, x.Whole = status, events, err == nil
}
