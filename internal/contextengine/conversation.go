package contextengine

import (
	"github.com/khaelor/khaelor/internal/fold"
)

// conversation is the rendered history: the messages array without its
// brackets and without breakpoints, as far as it is settled.
//
// Invariant: within an epoch of the history, buf only grows.
type conversation struct {
	buf   []byte
	ends  []int // offset of each block's closing brace
	roles []fold.Role
	bare  []bool // the block may not carry a breakpoint
	epoch int
}

// update renders what is new. A history that was changed in its earlier parts
// is rendered anew.
func (c *conversation) update(h fold.History, blob Blob) {
	blocks := h.Blocks()
	if h.Epoch != c.epoch || len(blocks) < len(c.ends) {
		*c = conversation{epoch: h.Epoch}
	}
	for _, b := range blocks[len(c.ends):] {
		c.add(b, blob)
	}
}

func (c *conversation) add(b fold.Block, blob Blob) {
	switch n := len(c.roles); {
	case n > 0 && c.roles[n-1] == b.Role:
		c.buf = append(c.buf, ',')
	case n > 0:
		c.buf = append(c.buf, `]},`...)
		fallthrough
	default:
		c.buf = append(append(append(c.buf, `{"role":"`...), b.Role...), `","content":[`...)
	}
	c.buf = appendBlock(c.buf, b, blob)
	c.ends = append(c.ends, len(c.buf)-1)
	c.roles = append(c.roles, b.Role)
	c.bare = append(c.bare, b.Kind == fold.ThinkingBlock || b.Kind == fold.OpaqueBlock)
}

func (c *conversation) size() int { return len(c.buf) }

// appendMarked copies the conversation with its two breakpoints: at the
// newest block, and at the newest block of the request before this one.
func (c *conversation) appendMarked(dst []byte) []byte {
	from := 0
	for _, i := range c.marks() {
		dst = append(append(dst, c.buf[from:c.ends[i]]...), mark...)
		from = c.ends[i]
	}
	dst = append(dst, c.buf[from:]...)
	if len(c.buf) > 0 {
		dst = append(dst, `]}`...)
	}
	return dst
}

// marks are the blocks with a breakpoint, in order. The earlier one is where
// the last request ended, which is before the newest words of the assistant:
// the provider finds its entry there however many blocks came since, although
// it looks back over 20 blocks only.
func (c *conversation) marks() []int {
	newest := c.markable(len(c.ends) - 1)
	if newest < 0 {
		return nil
	}
	i := len(c.ends) - 1
	for i >= 0 && c.roles[i] == fold.User {
		i--
	}
	for i >= 0 && c.roles[i] == fold.Assistant {
		i--
	}
	if earlier := c.markable(i); earlier >= 0 && earlier < newest {
		return []int{earlier, newest}
	}
	return []int{newest}
}

// markable is the last block up to i that may carry a breakpoint, or -1.
func (c *conversation) markable(i int) int {
	for i >= 0 && c.bare[i] {
		i--
	}
	return i
}
