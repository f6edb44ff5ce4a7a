package anthropic

import (
	"fmt"
	"net/url"
	"strings"
)

const serviceHost = "api.anthropic.com"

// ConfigError says which setting a client cannot be made with, and why.
type ConfigError struct {
	Setting string
	Reason  string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("configure the model client: %s: %s", e.Setting, e.Reason)
}

// baseURL is a checked base URL; without one it stands for the service.
type baseURL struct{ url *url.URL }

func parseBaseURL(text string) (baseURL, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return baseURL{}, nil
	}
	refuse := func(reason string) (baseURL, error) {
		return baseURL{}, &ConfigError{Setting: "base URL", Reason: reason}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		// The parser's own words repeat the URL, and with it a password.
		return refuse("it is not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return refuse("it must begin with http:// or https://")
	case u.Host == "":
		return refuse("it names no host")
	case u.RawQuery != "" || u.Fragment != "":
		return refuse("it must end with its path, without ? and #")
	}
	path := strings.TrimRight(u.Path, "/")
	if strings.HasSuffix(path, "/v1") || strings.HasSuffix(path, "/v1/messages") {
		return refuse("leave out /v1: the SDK adds /v1/messages itself")
	}
	return baseURL{url: u}, nil
}

func (b baseURL) isService() bool { return b.url == nil || b.url.Hostname() == serviceHost }

func (b baseURL) password() string {
	if b.url == nil {
		return ""
	}
	password, _ := b.url.User.Password()
	return password
}

// headerSafe reports whether s may be the value of a header: printable ASCII.
func headerSafe(s string) bool {
	for _, r := range s {
		if r <= ' ' || r > '~' {
			return false
		}
	}
	return true
}
