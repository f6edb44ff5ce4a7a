package web

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// mostDial is how long one of several addresses is tried.
const mostDial = 8 * time.Second

// transport makes the connection for one request: to the proxy, or to an
// address that was checked. The error is an *Error or the context's.
func (c *Client) transport(ctx context.Context, u *url.URL) (*http.Transport, error) {
	t := &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: mostHeaders, TLSHandshakeTimeout: mostDial}
	proxy, err := c.proxy(u)
	if err != nil {
		return nil, errorf(Failed, "the proxy that the environment names is no address")
	}
	if proxy != nil {
		t.Proxy = http.ProxyURL(proxy)
		return t, c.throughProxy(ctx, u)
	}
	addrs, err := c.addresses(ctx, u)
	if err != nil {
		return nil, err
	}
	t.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dial(ctx, network, addrs, portOf(u))
	}
	return t, nil
}

// addresses are what the host resolves to and may be dialled.
func (c *Client) addresses(ctx context.Context, u *url.URL) ([]netip.Addr, error) {
	host, listed := u.Hostname(), c.isListed(u)
	found, err := c.resolve(ctx, host)
	if err != nil {
		return nil, unreached(ctx, u, err)
	}
	var may []netip.Addr
	for _, a := range found {
		if mayDial(a, host, listed) {
			may = append(may, a.Unmap())
		}
	}
	switch {
	case len(found) == 0:
		return nil, errorf(NotFound, "the host %s has no address", host)
	case len(may) == 0:
		return nil, private(host, found[0])
	}
	return may, nil
}

func (c *Client) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	return c.lookup(ctx, host)
}

func private(host string, a netip.Addr) *Error {
	what := a.String()
	if what != host {
		what = host + " (" + what + ")"
	}
	return errorf(Refused, "%s is a local, private or reserved address; the user can allow it by web.allowPrivate in their own configuration", what)
}

// proxiedLookup is how long is waited for the address of a host that a proxy
// will look up itself.
const proxiedLookup = 2 * time.Second

// throughProxy checks a host that a proxy will look up: by what it is, and by
// what it is called. A name that only the proxy knows is the proxy's to judge.
func (c *Client) throughProxy(ctx context.Context, u *url.URL) error {
	host, listed := u.Hostname(), c.isListed(u)
	if !listed && insideName(host) {
		return errorf(Refused, "%s is a name of a local network; the user can allow it by web.allowPrivate in their own configuration", host)
	}
	// Where there is a proxy, names may not be looked up by anybody else.
	short, stop := context.WithTimeout(ctx, proxiedLookup)
	defer stop()
	found, err := c.resolve(short, host)
	if err != nil {
		return ctx.Err()
	}
	for _, a := range found {
		if !mayDial(a, host, listed) {
			return private(host, a)
		}
	}
	return nil
}

// dial tries the addresses in their order.
func dial(ctx context.Context, network string, addrs []netip.Addr, port string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: mostDial}
	var failure error
	for _, a := range addrs {
		conn, err := dialer.DialContext(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil {
			return conn, nil
		}
		if failure == nil {
			failure = err
		}
	}
	return nil, failure
}

// unreached says why there was no answer.
func unreached(ctx context.Context, u *url.URL, err error) error {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var local net.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &name) && name.IsNotFound:
		return errorf(NotFound, "there is no host %s (DNS)", u.Hostname())
	case errors.As(err, &name):
		return errorf(Failed, "the host %s could not be looked up (DNS): %s", u.Hostname(), brief(name.Err))
	case errors.As(err, &certificate):
		return errorf(Failed, "the certificate of %s does not hold", u.Hostname()).saying(certificate.Err.Error())
	case errors.As(err, &record):
		return errorf(Failed, "%s does not speak TLS", u.Host)
	case strings.Contains(err.Error(), "malformed HTTP"): // the rest of it would be the server's words
		return errorf(Failed, "%s does not answer in HTTP", u.Host)
	case errors.As(err, &local), errors.Is(err, io.EOF): // of this machine's network; any other may quote the answer
		return errorf(Failed, "%s could not be reached: %s", u.Host, brief(err.Error()))
	}
	return errorf(Failed, "%s could not be reached", u.Host).saying(err.Error())
}
