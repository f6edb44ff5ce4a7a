package cli

import (
	"encoding/json"
	"strings"

	"github.com/khaelor/khaelor/internal/diff"
)

// preview shows what a call would write, as a diff: the user decides about
// that, not about a file's name. Other calls are shown whole by their
// descriptor.
func preview(input json.RawMessage) string {
	var in struct {
		Old     *string `json:"old_string"`
		New     *string `json:"new_string"`
		Content *string `json:"content"`
	}
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	var text string
	switch {
	case in.Old != nil && in.New != nil:
		text, _ = diff.Unified([]byte(*in.Old+"\n"), []byte(*in.New+"\n"))
	case in.Content != nil:
		text, _ = diff.Unified(nil, []byte(*in.Content))
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "@@") {
			b.WriteString("  " + line)
		}
	}
	return b.String()
}
