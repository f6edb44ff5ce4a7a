package fakeapi

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"time"
)

// prompt is a request in the order in which it is cached: tools, system,
// messages.
type prompt []segment

// segment is one tool or block of a prompt.
type segment struct {
	label label
	own   [sha256.Size]byte // of this block alone, cache mark left out
	chain [sha256.Size]byte // of everything up to and including it, the model too
	upTo  int               // tokens up to and including it
	life  time.Duration     // of the entry a breakpoint here writes; 0 without one
}

// label names a segment the way the service's errors would.
type label struct {
	area        string
	index, part int
	kind        string
}

func (l label) String() string {
	if l.area == "messages" {
		return place(l.index, l.part) + " (" + l.kind + ")"
	}
	return fmt.Sprintf("%s.%d (%s)", l.area, l.index, l.kind)
}

func (p prompt) tokens() int {
	if len(p) == 0 {
		return 0
	}
	return p[len(p)-1].upTo
}

// tokensOf is the fake's only measure: a token is four bytes, counted up per block.
func tokensOf(bytes int) int { return (bytes + 3) / 4 }

// mediaBytes makes a picture or a document 1,600 tokens, about what the service
// counts for a picture of the largest size it does not scale down.
const mediaBytes = 6400

// size is what a block counts, in bytes.
func (p *Part) size() int {
	if p.Type == "image" || p.Type == "document" {
		return mediaBytes
	}
	if fieldsOf(p.Type) == nil {
		return len(p.Raw)
	}
	n := len(p.Text) + len(p.Thinking) + len(p.Data) + len(p.Name) + len(p.Input)
	for i := range p.Content {
		n += p.Content[i].size()
	}
	return n
}

// layOut puts a request in cache order.
func layOut(req *Request) prompt {
	var p prompt
	chain := sha256.Sum256([]byte(req.Model))
	add := func(at label, size int, life time.Duration, settings []byte, key ...[]byte) {
		own := digest(key...)
		chain = digest(chain[:], own[:], settings)
		p = append(p, segment{label: at, own: own, chain: chain, upTo: p.tokens() + tokensOf(size), life: life})
	}
	for i, t := range req.Tools {
		if !t.Deferred {
			add(label{area: "tools", index: i, kind: t.Name}, len(t.Name)+len(t.Description)+len(t.InputSchema), t.Mark, nil, t.key)
		}
	}
	for i := range req.System {
		part := &req.System[i]
		add(label{area: "system", index: i, kind: part.Type}, part.size(), part.Mark, nil, []byte("system"), part.key)
	}
	// What the thinking parameter and tool_choice say belongs to the messages: a
	// change keeps the entries of tools and system.
	settings := append(append([]byte(nil), req.Thinking.raw...), req.ToolChoice...)
	for i, m := range req.Messages {
		for j := range m.Parts {
			part := &m.Parts[j]
			add(label{"messages", i, j, part.Type}, part.size(), part.deepMark(), settings, []byte(m.Role), part.key)
			settings = nil
		}
	}
	if n := len(p); n > 0 && p[n-1].life == 0 {
		p[n-1].life = req.Mark
	}
	return p
}

func digest(pieces ...[]byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, piece := range pieces {
		h.Write(piece)
	}
	h.Sum(sum[:0])
	return sum
}

// deepMark is a mark on the block or on a part of a tool result.
func (p *Part) deepMark() time.Duration {
	life := p.Mark
	for i := range p.Content {
		if life == 0 {
			life = p.Content[i].Mark
		}
	}
	return life
}

// marks walks the breakpoints in cache order, with their places.
func (req *Request) marks() iter.Seq2[string, time.Duration] {
	return func(yield func(string, time.Duration) bool) {
		ok := true
		visit := func(life time.Duration, area string, at ...any) {
			if ok && life != 0 {
				ok = yield(fmt.Sprintf(area, at...), life)
			}
		}
		for i, t := range req.Tools {
			visit(t.Mark, "tools.%d", i)
		}
		for i, part := range req.System {
			visit(part.Mark, "system.%d", i)
		}
		for i, m := range req.Messages {
			for j, part := range m.Parts {
				visit(part.Mark, "messages.%d.content.%d", i, j)
				for k, inner := range part.Content {
					visit(inner.Mark, "messages.%d.content.%d.content.%d", i, j, k)
				}
			}
		}
		visit(req.Mark, "request")
	}
}

// settled is the part of a prompt a client must not change any more: up to the
// last breakpoint, all of it when there is none.
func (p prompt) settled() prompt {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].life > 0 {
			return p[:i+1]
		}
	}
	return p
}

// beginsWith tells whether next goes on from old; if not, broken names the block
// of old that is different or gone.
func (p prompt) beginsWith(old prompt) (broken string) {
	old = old.settled()
	if len(old) == 0 {
		return ""
	}
	if last := len(old) - 1; len(p) > last && p[last].chain == old[last].chain {
		return ""
	}
	for i, was := range old {
		switch {
		case i >= len(p):
			return was.label.String() + " is gone"
		case p[i].label.area != was.label.area:
			return fmt.Sprintf("%v became %v", was.label, p[i].label)
		case p[i].own != was.own:
			return was.label.String() + " differs"
		}
	}
	return "thinking or tool_choice differs"
}

// chains are the conversations seen so far, by model: the last prompt of each.
// Conversations may interleave; a request with a single message begins one.
type chains struct{ byModel map[string][]prompt }

// extend files a prompt with the conversation it continues. When it continues
// none it names what differs from the latest one of the model.
func (c *chains) extend(req *Request, p prompt, fresh bool) (broken string) {
	known := c.byModel[req.Model]
	for i := len(known) - 1; i >= 0; i-- {
		why := p.beginsWith(known[i])
		if why == "" {
			known = append(known[:i:i], known[i+1:]...)
			broken = ""
			break
		}
		if broken == "" {
			broken = why
		}
	}
	if c.byModel == nil {
		c.byModel = map[string][]prompt{}
	}
	c.byModel[req.Model] = append(known, p)
	if fresh || len(req.Messages) == 1 {
		return ""
	}
	return broken
}
