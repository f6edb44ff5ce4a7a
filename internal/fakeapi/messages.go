package fakeapi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// answer is a turn made ready for one request.
type answer struct {
	turn   Turn
	model  Model
	id     string
	blocks []Block // with ids and signatures
	stop   string
	usage  Usage
}

// messages is the messages endpoint: check, choose a turn, play it.
func (s *Server) messages(w http.ResponseWriter, r *http.Request, x *Exchange, body []byte) {
	req, f := s.admit(x, body, false)
	if f != nil {
		s.refuse(w, x, f)
		return
	}
	turn, f := s.choose(x, req)
	if f != nil {
		s.refuse(w, x, f)
		return
	}
	if err := s.play(w, r, x, turn); err != nil {
		// The one way to break a connection under an answer.
		panic(http.ErrAbortHandler)
	}
}

// admit reads a body and holds it against the rules.
func (s *Server) admit(x *Exchange, body []byte, counting bool) (*Request, *Fault) {
	req, f := parseRequest(body)
	if f != nil {
		return nil, f
	}
	model, f := findModel(s.opts.Script, req.Model)
	if f != nil {
		return nil, f
	}
	req.prompt = layOut(req)
	s.mu.Lock()
	defer s.mu.Unlock()
	x.Request = req
	return req, checker{req: req, model: model, history: &s.history, counting: counting}.check()
}

// choose finds the turn for a request and holds the request against what the
// turn expects of it.
func (s *Server) choose(x *Exchange, req *Request) (Turn, *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.player.calls
	s.player.calls++
	turn, index, ok := s.player.take(req.Body)
	if s.opts.Responder != nil {
		turn, index, ok = s.ask(n, req), n, true
	}
	if !ok {
		return Turn{}, invalid("fakeapi: no turn of the script is left for this request")
	}
	x.Turn = index
	if err := turn.check(); err != nil {
		return Turn{}, invalid("fakeapi: turns[%d].%v", index, err)
	}
	x.PrefixBreak = s.chains.extend(req, req.prompt, turn.NewPrefix)
	if x.PrefixBreak != "" {
		s.recorder.problem("request %d: prefix broken: %s", x.N, x.PrefixBreak)
	}
	if lack := missing(turn.Expect, req.Body); len(lack) > 0 {
		return Turn{}, invalid("fakeapi: turns[%d].expect: the request does not have %q", index, lack)
	}
	return turn, nil
}

// ask runs the responder without the lock, so that it may look at Requests.
func (s *Server) ask(n int, req *Request) Turn {
	s.mu.Unlock()
	defer s.mu.Lock()
	return s.opts.Responder(n, req).fill(s.opts.Vars, n+1)
}

// play answers with a turn. An error means that the connection has to break.
func (s *Server) play(w http.ResponseWriter, r *http.Request, x *Exchange, turn Turn) error {
	if turn.StallAfterEvents == before {
		<-r.Context().Done()
		return r.Context().Err()
	}
	if err := pause(r.Context(), time.Duration(turn.FirstByteMS)*time.Millisecond); err != nil {
		return err
	}
	switch {
	case turn.CutAfterEvents == before:
		return errCut
	case turn.Error != nil:
		s.answerFault(w, x, turn.Error)
		return nil
	case turn.Raw != "":
		return s.playRaw(w, r, x, turn)
	}
	a := s.compose(x, turn)
	if !x.Request.Stream {
		s.answerJSON(w, x, a.message())
		return nil
	}
	return s.playEvents(w, r, x, a)
}

// compose gives a turn its ids, signatures and usage. From here on its cache
// entries can be read by others: the answer begins.
func (s *Server) compose(x *Exchange, turn Turn) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	req := x.Request
	model, _ := s.opts.Script.model(req.Model)
	a := answer{turn: turn, model: model, id: fmt.Sprintf("msg_fake_%06d", x.N), stop: turn.StopReason}
	size := 0
	for i, b := range turn.Blocks {
		b = b.complete(x, i)
		a.blocks = append(a.blocks, b)
		size += tokensOf(len(b.Text) + len(b.Thinking) + len(b.Data) + len(b.Name) + len(b.Input) + len(b.PartialInput) + len(b.Raw))
	}
	if a.stop == "" {
		a.stop = "end_turn"
		if slices.ContainsFunc(a.blocks, Block.isCall) {
			a.stop = "tool_use"
		}
	}
	a.usage = s.cache.use(req.prompt, model.MinCachePrefix, s.clock.Now())
	a.usage.OutputTokens = size
	if turn.Usage != nil {
		a.usage = *turn.Usage
	}
	x.Status, x.Usage = http.StatusOK, a.usage
	s.history.add(req.Model, a.blocks)
	return a
}

// complete fills in what a script leaves to the server.
func (b Block) complete(x *Exchange, index int) Block {
	switch {
	case b.Type == "thinking":
		b.Signature = cmp.Or(b.Signature, sign(x.Request.Model, b.Thinking))
	case b.Type == "tool_use" && b.ID == "":
		b.ID = newCallID(x, index)
	}
	if b.Type == "tool_use" && len(b.Input) == 0 {
		b.Input = json.RawMessage("{}")
	}
	return b
}

// newCallID is the same on every run with the same requests, and differs from
// those of another server: a session may be resumed there.
func newCallID(x *Exchange, index int) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d ", x.N, index)
	h.Write(x.Body)
	return "toolu_" + hex.EncodeToString(h.Sum(nil)[:12])
}

func (b Block) isCall() bool {
	return b.Type == "tool_use" || b.Type == "raw" && kindOf(b.Raw) == "tool_use"
}

func (s *Server) playEvents(w http.ResponseWriter, r *http.Request, x *Exchange, a answer) error {
	out := newEventWriter(w, a.turn)
	st := stream{ctx: r.Context(), out: out, turn: a.turn}
	err := st.play(a)
	if err == nil && a.turn.unreached() {
		s.mu.Lock()
		s.recorder.problem("request %d: turns[%d]: the stream ended after %d events, before its fault", x.N, x.Turn, st.events)
		s.mu.Unlock()
	}
	return s.endStream(r.Context(), x, out, st.events, err)
}

// unreached is asked when a stream ended well: was it to end otherwise?
func (t Turn) unreached() bool {
	return t.MidError != nil || t.CutAfterEvents > 0 || t.StallAfterEvents > 0 || t.PingsOnly
}

func (s *Server) playRaw(w http.ResponseWriter, r *http.Request, x *Exchange, turn Turn) error {
	s.mu.Lock()
	x.Status = http.StatusOK
	s.history.add(x.Request.Model, turn.content())
	s.mu.Unlock()
	out := newEventWriter(w, turn)
	rest := turn.Raw
	size := orDefault(turn.ChunkBytes, len(rest))
	for len(rest) > size && turn.DelayMS > 0 {
		out.buf = append(out.buf, rest[:size]...)
		rest = rest[size:]
		if err := errors.Join(out.flush(), pause(r.Context(), turn.delay())); err != nil {
			return s.endStream(r.Context(), x, out, 0, err)
		}
	}
	out.buf = append(out.buf, rest...)
	return s.endStream(r.Context(), x, out, strings.Count(turn.Raw, "data:"), nil)
}

// endStream records the end of a stream and then sends what is still buffered.
// It gives back an error when the connection has to break.
func (s *Server) endStream(ctx context.Context, x *Exchange, out *eventWriter, events int, err error) error {
	s.finish(x, http.StatusOK, events, err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if flushed := out.flush(); flushed != nil {
		return flushed
	}
	if errors.Is(err, errEnded) {
		return nil
	}
	return err
}
