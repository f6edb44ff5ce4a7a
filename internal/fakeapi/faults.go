package fakeapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Fault is an error answer, scripted or given by the rules.
type Fault struct {
	Status     int               `json:"status"`
	Type       string            `json:"type"`        // empty: the one the service uses for Status
	Message    string            `json:"message"`     // empty: the status in words
	RetryAfter string            `json:"retry_after"` // seconds or an HTTP date, sent as it is; empty: no header
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"` // sent as it is in place of the JSON error: HTML of a gateway, say
}

// check reports what a script may not ask for. inStream is true for an error
// event, whose status has gone out already.
func (f Fault) check(inStream bool) error {
	switch {
	case inStream && (f.Status != 0 || f.RetryAfter != "" || f.Body != "" || len(f.Headers) > 0):
		return errors.New("only type and message can be set for an error inside the stream")
	case inStream && f.Type == "":
		return errors.New("type: required")
	case !inStream && (f.Status < 200 || f.Status > 599):
		return fmt.Errorf("status: %d is not between 200 and 599", f.Status)
	}
	return nil
}

func invalid(format string, args ...any) *Fault {
	return &Fault{Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...)}
}

// errorBody is the JSON of the service's errors.
type errorBody struct {
	Type  string `json:"type"`
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	RequestID string `json:"request_id,omitempty"`
}

func (f Fault) json(requestID string) []byte {
	body := errorBody{Type: "error", RequestID: requestID}
	body.Error.Type, body.Error.Message = f.Type, f.Message
	if f.Type == "" {
		body.Error.Type = typeOf(f.Status)
	}
	if f.Message == "" {
		body.Error.Message = wordsFor(f.Status)
	}
	data, err := json.Marshal(body)
	if err != nil {
		panic("fakeapi: strings do not marshal: " + err.Error())
	}
	return data
}

func (f Fault) write(w http.ResponseWriter, requestID string) {
	body := []byte(f.Body)
	w.Header().Set("Content-Type", "application/json")
	if f.Body == "" {
		body = f.json(requestID)
	}
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	for name, value := range f.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(f.Status)
	_, _ = w.Write(body) // a client that left needs no answer
}

// statusOverloaded is the service's own status for an overload.
const statusOverloaded = 529

func typeOf(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusPaymentRequired:
		return "billing_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	case statusOverloaded:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

func wordsFor(status int) string {
	if status == statusOverloaded {
		return "Overloaded"
	}
	return http.StatusText(status)
}

// before is the place in a scripted event number that means: before the answer
// has begun at all.
const before = -1

// Ends of a stream that the script asked for.
var (
	errCut   = errors.New("connection cut by the script")
	errEnded = errors.New("stream ended early by the script")
)

// breakStream does what the script wants once n events are out; nil lets the
// stream go on.
func (t Turn) breakStream(ctx context.Context, out *eventWriter, n int) error {
	switch {
	case t.MidError != nil && n == t.ErrorAfterEvents:
		out.append("error", t.MidError.json(""))
		return errEnded
	case t.CutAfterEvents > 0 && n == t.CutAfterEvents && t.CutClean:
		return errEnded
	case t.CutAfterEvents > 0 && n == t.CutAfterEvents:
		return errCut
	case t.StallAfterEvents > 0 && n == t.StallAfterEvents:
		return stall(ctx, out)
	case t.PingsOnly && n > 0:
		return pingForEver(ctx, out, t.delay())
	}
	return nil
}

// stall is silent until the client goes or the server closes.
func stall(ctx context.Context, out *eventWriter) error {
	if err := out.flush(); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
}

// pingEvery is the pause between pings when the script names none.
const pingEvery = 20 * time.Millisecond

func pingForEver(ctx context.Context, out *eventWriter, every time.Duration) error {
	if every == 0 {
		every = pingEvery
	}
	for {
		out.append("ping", []byte(pingData))
		if err := out.flush(); err != nil {
			return err
		}
		if err := pause(ctx, every); err != nil {
			return err
		}
	}
}

// pause waits for d, or less when ctx ends; only then is there an error.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timed, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-timed.Done()
	return ctx.Err()
}
