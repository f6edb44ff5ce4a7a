package fakeapi

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// player gives out the script's turns and keeps count of their uses.
type player struct {
	script    Script
	vars      map[string]string
	responder func(n int, req *Request) Turn
	used      []int
	calls     int // message requests that got as far as an answer
}

func newPlayer(opts Options) player {
	return player{script: opts.Script, vars: opts.Vars, responder: opts.Responder, used: make([]int, len(opts.Script.Turns))}
}

// take gives the next turn for a body with its placeholders filled, its index,
// or false when nothing in the script is for it.
func (p *player) take(body []byte) (Turn, int, bool) {
	for i, turn := range p.script.Turns {
		if turn.Repeat != -1 && p.used[i] >= orDefault(turn.Repeat, 1) {
			continue
		}
		turn = turn.fill(p.vars, p.used[i]+1)
		if len(missing(turn.When, body)) > 0 {
			continue
		}
		p.used[i]++
		return turn, i, true
	}
	return Turn{}, 0, false
}

func missing(want []string, body []byte) []string {
	var list []string
	for _, s := range want {
		if !bytes.Contains(body, []byte(s)) {
			list = append(list, s)
		}
	}
	return list
}

func (p *player) unused() []string {
	var list []string
	for i, turn := range p.script.Turns {
		if want := orDefault(turn.Repeat, 1); !turn.Optional && p.used[i] < want {
			list = append(list, fmt.Sprintf("turns[%d]: asked for %d of %d times", i, p.used[i], want))
		}
	}
	return list
}

// fill replaces the placeholders of a turn that is used for the n-th time.
func (t Turn) fill(vars map[string]string, n int) Turn {
	plain, inJSON := []string{"{{n}}", strconv.Itoa(n)}, []string{"{{n}}", strconv.Itoa(n)}
	for name, value := range vars {
		quoted := appendString(nil, value)
		plain = append(plain, "{{"+name+"}}", value)
		inJSON = append(inJSON, "{{"+name+"}}", string(quoted[1:len(quoted)-1]))
	}
	asText, asJSON := strings.NewReplacer(plain...), strings.NewReplacer(inJSON...)
	t.When, t.Expect = fillAll(asText, t.When), fillAll(asText, t.Expect)
	t.Blocks = slices.Clone(t.Blocks)
	for i := range t.Blocks {
		b := &t.Blocks[i]
		b.Text, b.Thinking = asText.Replace(b.Text), asText.Replace(b.Thinking)
		b.Input = []byte(asJSON.Replace(string(b.Input)))
		b.PartialInput = asJSON.Replace(b.PartialInput)
	}
	return t
}

func fillAll(r *strings.Replacer, list []string) []string {
	var filled []string
	for _, s := range list {
		filled = append(filled, r.Replace(s))
	}
	return filled
}
