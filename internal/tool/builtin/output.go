package builtin

import (
	"github.com/khaelor/khaelor/internal/ansi"
	"github.com/khaelor/khaelor/internal/spill"
	"github.com/khaelor/khaelor/internal/tool"
)

// output makes the text of a result of what a program prints, as it comes, and
// shows it meanwhile. One goroutine at a time uses it.
type output struct {
	live   func(chunk string) // nil shows nothing
	strip  ansi.Stripper
	settle ansi.Settler
	text   *spill.Text
	census census

	stripped, settled []byte // buffers
}

// newOutput is the output of a command that is under way.
func newOutput(env *tool.Env) *output {
	return &output{live: env.Output, text: spill.NewText(tool.ResultLimit, env.Spill)}
}

func (o *output) take(chunk []byte) {
	o.stripped = o.strip.Append(o.stripped[:0], chunk)
	o.census.add(chunk, o.stripped)
	if o.live != nil && len(o.stripped) > 0 {
		o.live(string(o.stripped))
	}
	o.settled = o.settle.Append(o.settled[:0], o.stripped)
	o.text.Append(o.settled)
}

// close is what a result shows of the output, and the file with all of it.
func (o *output) close() (text, spill string) {
	o.text.Append(o.settle.Append(nil, o.strip.Close(nil)))
	o.text.Append(o.settle.Close(nil))
	text, spill = o.text.Close(o.census.total)
	if o.census.binary() {
		text = withoutBinary(text, o.census.total, spill)
	}
	return text, spill
}
