package anthropic

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

// drainLimit is how long the end of an answered stream is waited for, so that
// its connection can serve the next request.
const drainLimit = 50 * time.Millisecond

const callModel = "call the model"

// Handler is told of an answer while it arrives, on the caller's goroutine and
// in order. What it is told before BlockCompleted is only for showing.
type Handler interface {
	TextDelta(index int, text string)
	ThinkingDelta(index int, text string)
	ToolCallStarted(index int, id, name string)
	ToolInputDelta(index int, id, partialJSON string)
	// BlockCompleted takes the blocks in index order. Its error ends the
	// stream and is what Stream returns. A block is whole when it comes here,
	// but no answer is one before Stream has returned without an error.
	BlockCompleted(b Block) error
}

// Reply is what is known of an answer besides its blocks.
type Reply struct {
	MessageID, Model string
	// StopReason is as the server gave it; values may be new.
	StopReason, StopSequence string
	Usage                    Usage
	RequestID                string
	// CutBlock is the index of the last call when its input was cut by the
	// output limit, or may have been; -1 when there is none.
	CutBlock int
}

// Stream sends body, the bytes of a Messages request with "stream":true in
// it, as they are, and reads the answer. A nil error means that the whole
// answer came, from message_start to message_stop. Else the error is an
// *Error, or what the handler returned, and the reply holds what was known by
// then, usage included.
func (c *Client) Stream(ctx context.Context, body []byte, h Handler) (Reply, error) {
	a := assembler{h: h, reply: Reply{CutBlock: -1}}
	if err := c.ready(callModel); err != nil {
		return a.reply, err
	}
	run, dog, release := c.begin(ctx)
	defer release()
	var resp *http.Response
	stream := c.sdk.Messages.NewStreaming(run, sdk.MessageNewParams{},
		option.WithRequestBody("application/json", body), option.WithResponseInto(&resp))
	err := stream.Err()
	if err == nil {
		defer stream.Close()
		dog.progress()
		c.reached.Store(true)
		a.reply.RequestID = resp.Header.Get("request-id")
		err = read(run, resp, &a, dog)
	}
	switch {
	case err == nil:
		return a.reply, nil
	case a.refused != nil:
		return a.reply, a.refused
	}
	failure := c.failure(ctx, run, callModel, err, resp)
	failure.Partial = a.shown
	return a.reply, failure
}

// read takes the events of a response until its message has stopped. The SDK
// is left out here: its own reader takes the end of a broken stream for the
// end of the answer, and decodes each delta into a union of every event.
func read(ctx context.Context, resp *http.Response, a *assembler, dog *watchdog) error {
	events := newEventReader(resp.Body, dog.progress)
	for !a.stopped {
		name, data, err := events.next()
		if err == io.EOF {
			contentType, _, _ := mime.ParseMediaType(resp.Header.Get("content-type"))
			err = a.unfinished(contentType)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if len(data) == 0 || string(name) == "ping" {
			continue
		}
		if err := a.event(string(name), validText(data)); err != nil {
			return err
		}
		dog.progress()
	}
	dog.within(drainLimit)
	// Whatever follows message_stop, or fails there, cannot change the answer.
	_, _ = io.CopyN(io.Discard, resp.Body, readSize)
	return nil
}

// failure gives any error of a call its kind and a text fit to be shown. ctx is
// the caller's, run the call's own.
func (c *Client) failure(ctx, run context.Context, op string, err error, resp *http.Response) *Error {
	var api *sdk.Error
	if errors.As(err, &api) {
		resp = api.Response
	}
	if resp != nil {
		c.reached.Store(true)
	}
	e := &Error{op: op, Kind: KindRetryable, Unreached: !c.reached.Load()}
	if resp != nil {
		e.Status, e.RequestID = resp.StatusCode, c.secrets.clean(resp.Header.Get("request-id"))
	}
	var reported errorEvent
	var malformed fault
	switch {
	case ctx.Err() != nil:
		e.Kind, e.Message, e.cause = KindCancelled, ctx.Err().Error(), ctx.Err()
	case errors.Is(context.Cause(run), errStalled):
		e.Type, e.Message = TypeStall, fmt.Sprintf("waited %s and nothing came", c.stallLimit)
	case resp != nil && resp.StatusCode >= 400:
		return c.fromResponse(op, api, resp)
	case errors.As(err, &reported):
		e.Type, e.Message = c.secrets.clean(reported.kind), c.secrets.clean(reported.message)
		e.Kind = kindOf(e.Type, e.Status, e.Message)
		if e.RequestID == "" {
			e.RequestID = c.secrets.clean(reported.requestID)
		}
	case errors.As(err, &malformed):
		e.Type, e.Message = TypeMalformed, c.secrets.clean(err.Error())
	default:
		e.Kind, e.Type, e.Message = transportFailure(err, resp != nil)
		e.Message = c.secrets.clean(e.Message)
	}
	return e
}

// transportFailure tells what a further attempt may cure from what it cannot.
func transportFailure(err error, answered bool) (kind Kind, errorType, message string) {
	var sending *url.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errRedirect):
		return KindInvalidRequest, "redirect", errRedirect.Error()
	case errors.As(err, &certificate):
		return KindInvalidRequest, TypeNetwork, certificate.Error()
	case errors.As(err, &sending):
		return KindRetryable, TypeNetwork, sending.Err.Error()
	case answered:
		return KindRetryable, TypeNetwork, err.Error()
	}
	return KindInvalidRequest, "request", err.Error()
}
