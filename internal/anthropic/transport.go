package anthropic

import (
	"errors"
	"net"
	"net/http"
	"time"
)

// idleLimit is how long an unused connection is trusted. A new one costs a
// handshake; one that died unnoticed costs the stall limit.
const idleLimit = 10 * time.Second

// dialLimit bounds each step of making a connection.
const dialLimit = 8 * time.Second

// errRedirect refuses to follow a redirect that leaves the host, because the
// key would go along.
var errRedirect = errors.New("the server redirects to another host, and the key is not sent there; set the base URL to where it points")

const redirectLimit = 3

func stayOnHost(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if req.URL.Scheme != first.Scheme || req.URL.Host != first.Host {
		return errRedirect
	}
	if len(via) > redirectLimit {
		return errors.New("the server keeps redirecting")
	}
	return nil
}

// newTransport speaks HTTP/1.1 only, since HTTP/2 takes three times the CPU on
// large request bodies, and asks for no compression, which would hold events
// back.
func newTransport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	dialer := &net.Dialer{
		Timeout: dialLimit,
		Control: limitAcks,
		// Finds an idle connection that died without a word in under 10 s.
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 2},
	}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		Protocols:           protocols,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: dialLimit,
		IdleConnTimeout:     idleLimit,
		MaxIdleConnsPerHost: 4,
		DisableCompression:  true,
	}
}
