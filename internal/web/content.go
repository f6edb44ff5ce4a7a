package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	htmlcharset "golang.org/x/net/html/charset"

	"github.com/khaelor/khaelor/internal/charset"
	"github.com/khaelor/khaelor/internal/event"
)

// mostRefusal bounds what is repeated of a server's words beside its refusal,
// in characters.
const mostRefusal = 600

// read makes a page of an answer.
func read(ctx context.Context, u *url.URL, resp *http.Response) (Page, error) {
	page := Page{URL: u.String()}
	if packed := resp.Header.Get("Content-Encoding"); packed != "" && !strings.EqualFold(packed, "identity") {
		return Page{}, errorf(Failed, "%s sent the page packed in a way that nobody asked for", u.Host).saying(packed)
	}
	declared := resp.Header.Get("Content-Type")
	refused := resp.StatusCode < 200 || resp.StatusCode > 299
	if !refused && !mayBeText(declared) {
		return Page{}, notText(u, declared, resp.ContentLength)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostBytes+1))
	if err != nil && !refused {
		return Page{}, broken(ctx, u, len(body), err)
	}
	if page.Cut = len(body) > mostBytes; page.Cut {
		body = body[:mostBytes]
	}
	kind := kindOf(declared, body)
	if kind == "" {
		if refused {
			body = nil
		} else {
			return Page{}, notText(u, declared, int64(len(body)))
		}
	}
	text := strings.TrimPrefix(decoded(body, declared), "\ufeff")
	if kind == "html" {
		whole := true
		page.Title, page.Text, whole = markdown(text, u)
		page.Cut = page.Cut || !whole
	} else {
		page.Text = text
	}
	page.Title, page.Text = tidy(page.Title), tidy(page.Text)
	if refused {
		return Page{}, refusal(u, resp.StatusCode, page.Text)
	}
	return page, nil
}

// broken says why a body did not come whole.
func broken(ctx context.Context, u *url.URL, got int, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errorf(Failed, "%s broke off after %d bytes of the page", u.Host, got)
	}
	return errorf(Failed, "the page of %s could not be read", u.Host).saying(err.Error())
}

func refusal(u *url.URL, code int, body string) *Error {
	kind := Failed
	if code == http.StatusNotFound || code == http.StatusGone {
		kind = NotFound
	}
	status := strings.TrimSpace(fmt.Sprintf("%d %s", code, http.StatusText(code)))
	return &Error{Kind: kind, Text: fmt.Sprintf("%s answered %s", brief(u.String()), status), Body: event.Clip(body, mostRefusal)}
}

func notText(u *url.URL, declared string, size int64) *Error {
	what, _, err := mime.ParseMediaType(declared)
	if err != nil {
		what = "no known type"
	}
	what = event.Clip(event.Text(what), 80)
	if size >= 0 {
		what += fmt.Sprintf(", %d bytes", size)
	}
	kind := "no text"
	if strings.HasPrefix(what, "image/") {
		kind = "an image"
	}
	return errorf(Failed, "%s is %s (%s); only text can be fetched, get it with a command such as curl -o FILE", u, kind, what)
}

// textTypes are the types that are text though they do not say so.
var textTypes = []string{
	"/json", "+json", "/xml", "+xml", "/javascript", "/ecmascript", "/x-javascript", "/yaml", "/x-yaml", "/toml", "/sql",
	"/x-sh", "/graphql", "/x-ndjson", "/jsonlines", "/rtf", "/x-httpd-php", "/typescript", "/x-www-form-urlencoded",
}

// mayBeText says whether a page of a declared type is worth reading. Bytes of
// no particular type may turn out to be text.
func mayBeText(declared string) bool {
	what, _, err := mime.ParseMediaType(declared)
	if err != nil || what == "application/octet-stream" || strings.HasPrefix(what, "text/") {
		return true
	}
	for _, suffix := range textTypes {
		if strings.HasSuffix(what, suffix) {
			return true
		}
	}
	return false
}

// kindOf is "html", "text" or "" for a body that is neither.
func kindOf(declared string, body []byte) string {
	what, parameters, _ := mime.ParseMediaType(declared)
	if what == "" || what == "application/octet-stream" {
		what, _, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	if what == "text/html" || what == "application/xhtml+xml" {
		return "html"
	}
	if _, ok := charset.Detect(body[:min(len(body), charset.Sniff)]); ok || isEncoded(parameters["charset"], body) {
		return "text"
	}
	return ""
}

// isEncoded says that bytes may be text in a declared charset, of which one
// sees less than of UTF-8 whether they are.
func isEncoded(declared string, body []byte) bool {
	_, name := htmlcharset.Lookup(declared)
	switch name {
	case "", "utf-8":
		return false
	case "utf-16le", "utf-16be":
		return true
	}
	return bytes.IndexByte(body, 0) < 0
}

// decoded is a body as UTF-8, by its byte order mark, the declared charset or
// what an HTML page says of itself.
func decoded(body []byte, declared string) string {
	encoding, name, certain := htmlcharset.DetermineEncoding(body, declared)
	if !certain && name == "windows-1252" {
		if c, ok := charset.Detect(body[:min(len(body), charset.Sniff)]); ok && c.Name == "" {
			return string(body) // UTF-8 that begins with plain ASCII
		}
	}
	text, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		return string(body)
	}
	return string(text)
}

// tidy makes text fit to be shown and logged: valid, one kind of line end, and
// no control characters.
func tidy(text string) string {
	text = strings.ReplaceAll(event.Text(text), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r == '\n', r == '\t':
			return r
		case r < ' ', r >= 0x7f && r < 0xa0, r == '\ufeff':
			return -1
		}
		return r
	}, text)
}
