package anthropic

import (
	"context"
	"fmt"
	"os"
)

// probeProxy is run in a process of its own, because the proxy settings of a
// process are read once.
func probeProxy() int {
	c, err := New(Options{BaseURL: "http://gateway.test/api", APIKey: canary})
	if err == nil {
		_, err = c.Stream(context.Background(), request, new(recorder))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
