// Package web fetches one page of the web and makes text of it.
//
// It owns what KHAELOR sends to servers that a model names, and what it takes
// from them. It promises that
//
//   - only http and https are spoken, without cookies, credentials or referer;
//   - the address that is dialled is the one that was checked: what a name
//     resolves to is asked once, and private, local, metadata and reserved
//     addresses are refused whatever the spelling, unless the user listed the
//     host;
//   - a redirect is followed on the same site only; another host is reported;
//   - time, bytes, nodes and depth of a page are bounded.
//
// A proxy of the user's environment is used as everywhere. It looks names up
// itself, so there the check is of what the name means here, and names that
// have a meaning only inside a network are refused.
//
// Who may fetch what is decided by permission, and what the model is told of a
// page by tool/builtin. Start reading at Client.Fetch; what may be dialled is
// in address.go, what becomes of HTML in tree.go and markdown.go.
package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/khaelor/khaelor/internal/event"
)

// Bounds of one fetch.
const (
	mostTime      = 30 * time.Second
	mostRedirects = 5
	mostBytes     = 5 << 20 // of a page, unpacked
	mostHeaders   = 128 << 10
)

// Options are what a Client is made of.
type Options struct {
	UserAgent string
	// AllowPrivate are hosts, as host or host:port, that may have a private
	// address.
	AllowPrivate []string
	// Getenv gives the variables that name proxies; nil is no proxy.
	Getenv func(string) string

	lookup  func(ctx context.Context, host string) ([]netip.Addr, error)
	timeout time.Duration
}

// Client fetches pages. It keeps no connection and may be used by several
// goroutines.
type Client struct {
	userAgent string
	allowed   map[string]bool // host or host:port
	proxy     func(*url.URL) (*url.URL, error)
	lookup    func(ctx context.Context, host string) ([]netip.Addr, error)
	timeout   time.Duration
}

// New checks the options and makes a client. It does not touch the network.
func New(o Options) (*Client, error) {
	c := &Client{
		userAgent: o.UserAgent, allowed: map[string]bool{}, lookup: o.lookup, timeout: o.timeout,
		proxy: func(*url.URL) (*url.URL, error) { return nil, nil },
	}
	for _, entry := range o.AllowPrivate {
		host, err := listed(entry)
		if err != nil {
			return nil, err
		}
		c.allowed[host] = true
	}
	if o.Getenv != nil {
		c.proxy = proxies(o.Getenv)
	}
	if c.lookup == nil {
		c.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if c.timeout == 0 {
		c.timeout = mostTime
	}
	return c, nil
}

func proxies(getenv func(string) string) func(*url.URL) (*url.URL, error) {
	either := func(name string) string {
		if v := getenv(name); v != "" {
			return v
		}
		return getenv(strings.ToLower(name))
	}
	config := httpproxy.Config{HTTPProxy: either("HTTP_PROXY"), HTTPSProxy: either("HTTPS_PROXY"), NoProxy: either("NO_PROXY")}
	return config.ProxyFunc()
}

// Page is what an address holds.
type Page struct {
	URL   string // after redirects
	Title string
	Text  string // valid UTF-8; Markdown when the page was HTML
	// Cut says that the page is longer than what is read of one.
	Cut bool
	// Elsewhere is the address on another host that the page redirects to;
	// then there is no text.
	Elsewhere string
}

// Kind says why there is no page.
type Kind int

// The kinds of an Error.
const (
	Failed   Kind = iota // the network, the server or the page
	Refused              // the address is not one to fetch
	NotFound             // there is no such host or page
	TimedOut
)

// Error is why there is no page. Its text says what is wrong.
type Error struct {
	Kind Kind
	Text string
	// Body is what the server said with its refusal or else chose, shortened. It
	// is as little to be trusted as a page.
	Body string
}

func (e *Error) Error() string { return e.Text }

func errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// mostWords bounds what is repeated of a server's words in an error, in
// characters.
const mostWords = 200

// brief is what a server chose, on one line and shortened.
func brief(words string) string {
	return event.Clip(strings.Join(strings.Fields(tidy(words)), " "), mostWords)
}

// saying adds the words of a server to an error, apart from its text, which is
// ours.
func (e *Error) saying(words string) *Error {
	e.Body = brief(words)
	return e
}

// Fetch gets a page. The error is an *Error, or the context's.
func (c *Client) Fetch(ctx context.Context, address string) (Page, error) {
	u, err := clean(address)
	if err != nil {
		return Page{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	page, err := c.follow(bounded, u)
	var named *Error
	switch {
	case err == nil || errors.As(err, &named):
		return page, err
	case ctx.Err() != nil:
		return Page{}, ctx.Err()
	case bounded.Err() != nil:
		return Page{}, errorf(TimedOut, "%s did not answer in full within %s", u.Host, c.timeout)
	}
	return Page{}, err
}

// follow gets a page, over redirects within its site.
func (c *Client) follow(ctx context.Context, u *url.URL) (Page, error) {
	for range mostRedirects + 1 {
		page, next, err := c.get(ctx, u)
		if err != nil || next == nil {
			return page, err
		}
		if !sameSite(u, next) {
			return Page{URL: u.String(), Elsewhere: next.String()}, nil
		}
		u = next
	}
	return Page{}, errorf(Failed, "%s redirects more than %d times", u.Host, mostRedirects)
}

// get makes one request. The answer is a page or the address it redirects to.
func (c *Client) get(ctx context.Context, u *url.URL) (Page, *url.URL, error) {
	transport, err := c.transport(ctx, u)
	if err != nil {
		return Page{}, nil, err
	}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Page{}, nil, errorf(Refused, "%s is no address that can be asked", u)
	}
	req.Header.Set("User-Agent", c.userAgent)
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5")
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return Page{}, nil, unreached(ctx, u, err)
	}
	defer func() { _ = resp.Body.Close() }() // what was read counts
	if next, err := redirected(u, resp); next != nil || err != nil {
		return Page{}, next, err
	}
	page, err := read(ctx, u, resp)
	return page, nil, err
}
