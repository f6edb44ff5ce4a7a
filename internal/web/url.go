package web

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/khaelor/khaelor/internal/event"
)

// mostURL bounds an address, in bytes.
const mostURL = 4096

// Clean is an address in its one spelling, by which permission rules are
// matched: small letters, no default port, no dot segments, no fragment. The
// error is an *Error.
func Clean(address string) (string, error) {
	u, err := clean(address)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

func clean(address string) (*url.URL, error) {
	address = strings.TrimSpace(address)
	if len(address) > mostURL {
		return nil, errorf(Refused, "the address has %d bytes; at most %d are taken", len(address), mostURL)
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errorf(Refused, "%q is no address", event.Clip(event.Text(address), 200))
	}
	return cleaned(u)
}

func cleaned(u *url.URL) (*url.URL, error) {
	shown := event.Clip(event.Text(u.Redacted()), 200)
	switch u.Scheme = strings.ToLower(u.Scheme); {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errorf(Refused, "%q is no address of the web: it must begin with https:// or http://", shown)
	case u.User != nil:
		return nil, errorf(Refused, "%q holds a user name or password, which is not sent", shown)
	case u.Opaque != "":
		return nil, errorf(Refused, "%q names no host", shown)
	}
	host, err := cleanHost(u.Hostname())
	if err != nil {
		return nil, err
	}
	port, err := cleanPort(u.Scheme, u.Port())
	if err != nil {
		return nil, err
	}
	clean := &url.URL{Scheme: u.Scheme, Host: joined(host, port), RawQuery: plainQuery(u.RawQuery)}
	clean.RawPath = withoutDots(u.EscapedPath())
	if clean.Path, err = url.PathUnescape(clean.RawPath); err != nil {
		return nil, errorf(Refused, "%q is no address", shown)
	}
	return clean, nil
}

func joined(host, port string) string {
	if port != "" {
		return net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// cleanHost is a host as it is asked for. An address in any but its usual
// spelling is refused, because others may read it otherwise: octal, hexadecimal
// or with parts left out.
func cleanHost(host string) (string, error) {
	shown := event.Clip(event.Text(host), 200)
	if addr, err := netip.ParseAddr(host); err == nil && addr.Zone() == "" {
		return addr.Unmap().String(), nil
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r > '~' }) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", errorf(Refused, "%q is no name of a host", shown)
		}
		host = ascii
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	labels := strings.Split(host, ".")
	for _, l := range labels {
		odd := strings.ContainsFunc(l, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_') })
		if l == "" || len(l) > 63 || odd {
			return "", errorf(Refused, "%q is no name of a host", shown)
		}
	}
	if last := labels[len(labels)-1]; isNumber(last) {
		addr, err := netip.ParseAddr(host)
		if err != nil {
			return "", errorf(Refused, "%q is a number that may mean many addresses: write it as four decimal numbers", shown)
		}
		return addr.String(), nil
	}
	return host, nil
}

func isNumber(label string) bool {
	digits := "0123456789"
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		label, digits = hex, digits+"abcdef"
	}
	return strings.Trim(label, digits) == ""
}

// cleanPort is "" for the port that the scheme means anyway.
func cleanPort(scheme, port string) (string, error) {
	if port == "" {
		return "", nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || n == 0:
		return "", errorf(Refused, "%q is no port", event.Clip(port, 20))
	case scheme == "http" && n == 80, scheme == "https" && n == 443:
		return "", nil
	}
	return strconv.FormatUint(n, 10), nil
}

// withoutDots resolves "." and "..", also when they are escaped, because a
// server may do so after a rule has matched the path.
func withoutDots(escaped string) string {
	out := []string{""}
	segments := strings.Split(strings.TrimPrefix(escaped, "/"), "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch strings.ReplaceAll(strings.ToLower(s), "%2e", ".") {
		case ".":
		case "..":
			out = out[:max(1, len(out)-1)]
		default:
			out, last = append(out, s), false
		}
		if last {
			out = append(out, "")
		}
	}
	return strings.Join(out, "/")
}

// plainQuery escapes what may not stand in a request line.
func plainQuery(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`"<>\^{}|`+"`", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// listed is an entry of the user's list of hosts: host or host:port.
func listed(entry string) (string, error) {
	host, port := strings.TrimSpace(entry), ""
	if h, p, err := net.SplitHostPort(host); err == nil {
		host, port = h, p
	}
	host, err := cleanHost(strings.Trim(host, "[]"))
	if err == nil && port != "" {
		port, err = cleanPort("", port)
	}
	if err != nil {
		return "", fmt.Errorf("web.allowPrivate: %q is not host or host:port: %w", entry, err)
	}
	return joined(host, port), nil
}

// isListed says that the user allows the host of u a private address.
func (c *Client) isListed(u *url.URL) bool {
	return c.allowed[joined(u.Hostname(), "")] || c.allowed[joined(u.Hostname(), portOf(u))]
}

func portOf(u *url.URL) string {
	switch port := u.Port(); {
	case port != "":
		return port
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// redirected is the address that an answer sends to; nil when it does not.
func redirected(u *url.URL, resp *http.Response) (*url.URL, error) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	target, err := u.Parse(resp.Header.Get("Location"))
	if err != nil || resp.Header.Get("Location") == "" || len(resp.Header.Get("Location")) > mostURL {
		return nil, errorf(Failed, "%s redirects to nowhere", u.Host)
	}
	next, err := cleaned(target)
	if err != nil {
		return nil, errorf(Refused, "%s redirects to an address that is not fetched", u.Host).saying(err.Error())
	}
	if u.Scheme == "https" && next.Scheme == "http" {
		return nil, errorf(Refused, "%s redirects from https to http, which is not followed", u.Host).saying(next.String())
	}
	return next, nil
}

// sameSite says that a redirect stays where the user allowed it: the same host,
// but for "www." and the step from http to https.
func sameSite(from, to *url.URL) bool {
	bare := func(u *url.URL) string { return strings.TrimPrefix(u.Hostname(), "www.") }
	upgraded := from.Scheme == "http" && to.Scheme == "https" && from.Port() == "" && to.Port() == ""
	return bare(from) == bare(to) && (upgraded || portOf(from) == portOf(to))
}
