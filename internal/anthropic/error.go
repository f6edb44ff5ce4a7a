package anthropic

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
)

// Kind says what a caller can do about a failed call.
type Kind string

// The five kinds of the original model runtime.
const (
	KindRetryable       Kind = "retryable"
	KindContextOverflow Kind = "context-overflow"
	KindAuth            Kind = "auth"
	KindInvalidRequest  Kind = "invalid-request"
	KindCancelled       Kind = "cancelled"
)

// Values of Error.Type for what no server said.
const (
	TypeNetwork   = "network"
	TypeStall     = "stall"
	TypeMalformed = "malformed-stream"
)

// Error is every failure of a call, except one a Handler returned.
// Invariant: no text of it holds a key.
type Error struct {
	Kind Kind
	// Status is the HTTP status; 200 for what went wrong inside a stream, 0
	// when there was no response.
	Status int
	// Type is the server's error type, or one of the Type constants.
	Type    string
	Message string
	// RequestID is the server's name for the request, from the header or else
	// from the body.
	RequestID string
	// RetryAfter is how long the server asked to wait; 0 when it did not.
	RetryAfter time.Duration
	// NoRetry is set when the server asked not to be asked again.
	NoRetry bool
	// Partial is set when the handler had been told of some of the answer.
	Partial bool
	// Unreached is set when this client never had a response from the server:
	// more likely a wrong address than a passing fault.
	Unreached bool

	op    string
	cause error
}

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool { return e.Kind == KindRetryable && !e.NoRetry }

// Unwrap gives the context's error of a cancelled call.
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) Error() string {
	parts := []string{e.op}
	if e.Status != 0 && e.Status != http.StatusOK {
		parts = append(parts, fmt.Sprintf("%d %s", e.Status, e.Type))
	} else if e.Type != "" {
		parts = append(parts, e.Type)
	}
	parts = append(parts, e.Message)
	text := strings.Join(parts, ": ")
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	if hint := e.hint(); hint != "" {
		text += "; " + hint
	}
	return text
}

func (e *Error) hint() string {
	switch {
	case e.Kind == KindAuth && e.Status == http.StatusForbidden:
		return "the key is known but may not do this: check its workspace and permissions"
	case e.Kind == KindAuth:
		return "set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) to a valid key"
	case e.Status == http.StatusRequestEntityTooLarge:
		return "the request is too large: compact the conversation or attach less"
	case e.Kind == KindContextOverflow:
		return "compact the conversation"
	case e.Unreached && e.Type == TypeNetwork:
		return "check the base URL and the network"
	case e.Status == http.StatusNotFound:
		return "check the model id and the base URL"
	}
	return ""
}

// kindOf looks at the type first: inside a stream the status is always 200.
func kindOf(errorType string, status int, message string) Kind {
	switch errorType {
	case "overloaded_error", "rate_limit_error", "api_error", "timeout_error":
		return KindRetryable
	case "authentication_error", "permission_error":
		return KindAuth
	case "request_too_large":
		return KindContextOverflow
	case "not_found_error", "billing_error":
		return KindInvalidRequest
	case "invalid_request_error":
		return overflowOr(KindInvalidRequest, message)
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return KindAuth
	case status == http.StatusRequestEntityTooLarge:
		return KindContextOverflow
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooManyRequests:
		return KindRetryable
	case status >= 500:
		return overflowOr(KindRetryable, message)
	case status >= 300:
		return overflowOr(KindInvalidRequest, message)
	}
	return overflowOr(KindRetryable, message)
}

// overflowOr knows a context overflow by its message, for which the API has no
// type. The wordings are those of the service and of common local servers.
func overflowOr(otherwise Kind, message string) Kind {
	message = strings.ToLower(message)
	for _, words := range []string{"prompt is too long", "context limit", "context window", "context length", "context size"} {
		if strings.Contains(message, words) {
			return KindContextOverflow
		}
	}
	return otherwise
}

// fromResponse reads an error status: its type, its message, and what its
// headers say about trying again.
func (c *Client) fromResponse(op string, api *sdk.Error, resp *http.Response) *Error {
	e := &Error{op: op, Status: resp.StatusCode, RequestID: resp.Header.Get("request-id")}
	if api != nil {
		e.Type, e.Message = string(api.Type()), api.Message
		if e.RequestID == "" {
			e.RequestID = requestIDOf(api.RawJSON())
		}
		if e.Message == "" {
			e.Message = plainText(api.RawJSON())
		}
	}
	if e.Message == "" {
		e.Message = strings.ToLower(http.StatusText(e.Status))
	}
	e.Type, e.Message, e.RequestID = c.secrets.clean(e.Type), c.secrets.clean(e.Message), c.secrets.clean(e.RequestID)
	e.Kind = kindOf(e.Type, e.Status, e.Message)
	e.RetryAfter = retryAfter(resp.Header, c.clock.Now())
	switch resp.Header.Get("x-should-retry") {
	case "false":
		e.NoRetry = true
	case "true":
		if e.Kind == KindInvalidRequest {
			e.Kind = KindRetryable
		}
	}
	return e
}

// plainText is a body that is no JSON, unless it is a page of HTML, which
// tells a reader nothing.
func plainText(body string) string {
	body = strings.TrimSpace(body)
	if strings.HasPrefix(body, "<") || strings.HasPrefix(body, "{") {
		return ""
	}
	return body
}
