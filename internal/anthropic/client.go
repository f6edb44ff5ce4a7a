// Package anthropic is the wall around the official Go SDK of the Messages
// API: nothing of the SDK's types is seen outside.
//
// It owns the connection (one HTTP/1.1 transport, proxies from the
// environment, no redirect to another host), the reading of event streams, the
// kinds of error and the arithmetic of retries. It promises that a reply is
// reported only after a well-formed message_start … message_stop, that blocks
// arrive whole, in order and without a byte of them changed, that a silent
// server or a cancelled context ends a call at once with a typed error, and
// that no error text holds a key.
//
// It leaves to others: what a request says (its bytes are sent as they are),
// when to retry (Backoff only answers; nothing here repeats a request), which
// calls run, and what any of it costs. Start reading at Client.Stream.
package anthropic

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/khaelor/khaelor/internal/clock"
)

// defaultStallLimit is how long a stream may bring nothing but pings
// (contract: model runtime).
const defaultStallLimit = 90 * time.Second

// Options is everything a Client is made of; the zero value of a field means
// its default.
type Options struct {
	// BaseURL is a server of one's own, path and trailing slash allowed; empty
	// means the service.
	BaseURL string
	// APIKey wins over AuthToken when both are given, as in the SDK. White
	// space around either is dropped.
	APIKey, AuthToken string
	UserAgent         string
	// StallLimit ends a call that made no progress for so long; default 90 s.
	// Pings and comments are not progress.
	StallLimit time.Duration
	// Betas are values of the anthropic-beta header, sent with every request.
	Betas []string
	Clock *clock.Clock
}

// Client talks to one server. It is safe for concurrent use.
type Client struct {
	sdk        sdk.Client
	transport  *http.Transport
	clock      *clock.Clock
	stallLimit time.Duration
	secrets    redactor
	keyless    bool // the service itself, and nothing to show it
	lastUse    atomic.Int64
	reached    atomic.Bool // the server has answered, in whatever way
}

// New checks the options and makes a client; it does not touch the network.
// What is wrong with the options is a *ConfigError.
func New(o Options) (*Client, error) {
	base, err := parseBaseURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	o.APIKey, o.AuthToken = strings.TrimSpace(o.APIKey), strings.TrimSpace(o.AuthToken)
	for setting, secret := range map[string]string{"API key": o.APIKey, "auth token": o.AuthToken} {
		if !headerSafe(secret) {
			return nil, &ConfigError{Setting: setting, Reason: "it holds a character that cannot stand in a header; was it copied whole?"}
		}
	}
	c := &Client{
		transport:  newTransport(),
		clock:      o.Clock,
		stallLimit: o.StallLimit,
		secrets:    newRedactor(o.APIKey, o.AuthToken, base.password()),
		keyless:    base.isService() && o.APIKey == "" && o.AuthToken == "",
	}
	if c.clock == nil {
		c.clock = clock.System()
	}
	if c.stallLimit <= 0 {
		c.stallLimit = defaultStallLimit
	}
	c.sdk = sdk.NewClient(sdkOptions(o, base, c.transport)...)
	return c, nil
}

func sdkOptions(o Options, base baseURL, transport *http.Transport) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(),
		option.WithMaxRetries(0),
		option.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: stayOnHost}),
	}
	if base.url != nil {
		opts = append(opts, option.WithBaseURL(base.url.String()))
	}
	switch {
	case o.APIKey != "":
		opts = append(opts, option.WithAPIKey(o.APIKey))
	case o.AuthToken != "":
		opts = append(opts, option.WithAuthToken(o.AuthToken))
	}
	if o.APIKey != "" && !base.isService() {
		// Many gateways know the key by this name only.
		opts = append(opts, option.WithHeader("x-api-key", o.APIKey))
	}
	if o.UserAgent != "" {
		opts = append(opts, option.WithHeader("User-Agent", o.UserAgent))
	}
	for _, beta := range o.Betas {
		opts = append(opts, option.WithHeaderAdd("anthropic-beta", beta))
	}
	return opts
}

// Close gives up idle connections. A call under way goes on.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// ready answers for what makes a request pointless, and makes sure that none
// goes out on a connection that was left alone too long.
func (c *Client) ready(op string) error {
	if c.keyless {
		return &Error{op: op, Kind: KindAuth, Type: string(sdk.ErrorTypeAuthenticationError), Message: "no API key"}
	}
	// The wall clock, because the transport's own timer stands still while the
	// machine sleeps, and what it kept is dead when it wakes.
	idle := time.Duration(c.clock.Now().UnixNano() - c.lastUse.Load())
	if idle > idleLimit || idle < 0 {
		c.transport.CloseIdleConnections()
	}
	return nil
}

// begin makes the context of one call, and the watchdog that ends it when
// nothing arrives. release must be called.
func (c *Client) begin(ctx context.Context) (run context.Context, dog *watchdog, release func()) {
	run, cancel := context.WithCancelCause(ctx)
	dog = watch(c.stallLimit, cancel)
	return run, dog, func() {
		dog.stop()
		cancel(nil)
		c.lastUse.Store(c.clock.Now().UnixNano())
	}
}
