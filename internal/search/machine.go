package search

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"
)

// machine is an expression as a deterministic automaton that reads lines, one
// step a character. Its states are made when they are first met (automaton).
type machine struct {
	prog *syntax.Prog
	// Characters that no instruction tells apart are one class.
	bounds  []rune // where another class begins, ascending, the first being 0
	classes []uint8
	ascii   [utf8.RuneSelf]uint8
	count   int  // of classes
	words   bool // the expression asks for word boundaries
}

// Bounds of a machine. Beyond them Go's own engine is used, which does not
// grow.
const (
	maxInstructions = 1000
	maxIntervals    = 20_000
	maxClasses      = 200
)

// newMachine compiles an expression; nil when it is too large.
func newMachine(tree *syntax.Regexp) *machine {
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil || len(prog.Inst) > maxInstructions {
		return nil
	}
	m := &machine{prog: prog}
	bounds := []rune{0, '\n', '\n' + 1}
	for _, inst := range prog.Inst {
		if inst.Op == syntax.InstEmptyWidth {
			empty := syntax.EmptyOp(inst.Arg)
			m.words = m.words || empty&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
		}
		bounds = append(bounds, edges(inst)...)
	}
	if m.words {
		bounds = append(bounds, '0', '9'+1, 'A', 'Z'+1, '_', '_'+1, 'a', 'z'+1)
	}
	slices.Sort(bounds)
	m.bounds = slices.Compact(bounds)
	if len(m.bounds) > maxIntervals || !m.classify() {
		return nil
	}
	return m
}

// edges are the characters at which the answer of an instruction may change.
func edges(inst syntax.Inst) []rune {
	switch inst.Op {
	case syntax.InstRune1, syntax.InstRune:
		var list []rune
		if len(inst.Rune) == 1 { // one character, perhaps in all its cases
			r := inst.Rune[0]
			list = append(list, r, r+1)
			if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
				for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
					list = append(list, f, f+1)
				}
			}
			return list
		}
		for i := 0; i+1 < len(inst.Rune); i += 2 {
			list = append(list, inst.Rune[i], inst.Rune[i+1]+1)
		}
		return list
	}
	return nil
}

// classify gives intervals of the same meaning the same class.
func (m *machine) classify() bool {
	known := map[string]uint8{}
	m.classes = make([]uint8, len(m.bounds))
	for i, r := range m.bounds {
		key := make([]byte, 0, len(m.prog.Inst)/8+2)
		var bits byte
		for pc := range m.prog.Inst {
			bits <<= 1
			if consumes(&m.prog.Inst[pc], r) {
				bits |= 1
			}
			if pc%8 == 7 {
				key, bits = append(key, bits), 0
			}
		}
		key = append(key, bits, byte(kindOf(r)))
		class, ok := known[string(key)]
		if !ok {
			if len(known) == maxClasses {
				return false
			}
			class = uint8(len(known))
			known[string(key)] = class
		}
		m.classes[i] = class
	}
	m.count = len(known)
	for r := range m.ascii {
		m.ascii[r] = m.classOf(rune(r))
	}
	return true
}

func (m *machine) classOf(r rune) uint8 {
	return m.classes[sort.Search(len(m.bounds), func(i int) bool { return m.bounds[i] > r })-1]
}

// consumes reports that an instruction takes a character.
func consumes(inst *syntax.Inst, r rune) bool {
	switch inst.Op {
	case syntax.InstRune, syntax.InstRune1:
		return inst.MatchRune(r)
	case syntax.InstRuneAny:
		return true
	case syntax.InstRuneAnyNotNL:
		return r != '\n'
	}
	return false
}

// kind is what boundaries ask of a character.
type kind uint8

const (
	other kind = iota
	word
	lineEnd // also what stands before a line
)

func kindOf(r rune) kind {
	switch {
	case r == '\n':
		return lineEnd
	case syntax.IsWordChar(r):
		return word
	}
	return other
}

// States of an automaton that are none, as entries of its table.
const (
	unknown = -1 // not made yet; also what a byte beyond ASCII leads to
	fits    = -2 // the line fits
)

// maxStates bounds the table of an automaton. When it is full it is made anew;
// when that comes too soon again the expression is left to Go's engine.
const (
	maxStates   = 4000
	statePeriod = 10 * maxStates // bytes
)

// automaton runs a machine. It grows while it runs, and belongs to one
// goroutine.
type automaton struct {
	*machine
	stride int
	bytes  [256]uint8 // class of a byte; beyond ASCII the one that is always unknown
	table  []int32    // by state, then class: the offset of the next state
	keys   map[string]int32
	states []string // key by number of the state: the kind before it, its instructions
	start  int32    // of a line

	sinceFull int // bytes
	hopeless  bool

	// Room for one step.
	seen  []uint32
	round uint32
	stack []uint32
	next  []uint32
	key   []byte
}

func (m *machine) automaton() *automaton {
	a := &automaton{machine: m, stride: m.count + 1, seen: make([]uint32, len(m.prog.Inst))}
	for b := range a.bytes {
		a.bytes[b] = uint8(m.count)
		if b < utf8.RuneSelf {
			a.bytes[b] = m.ascii[b]
		}
	}
	a.clear()
	return a
}

func (a *automaton) clear() {
	a.table, a.states, a.keys = a.table[:0], a.states[:0], map[string]int32{}
	a.start = a.intern(lineEnd, nil)
	a.sinceFull = 0
}

// find is an offset in the first line that fits, in lines that are whole: the
// last ends with the text if not with a line feed. -1 when none does; false
// when it cannot say.
func (a *automaton) find(text []byte) (int, bool) {
	if a.hopeless {
		return 0, false
	}
	s, table := a.start, a.table
	for i := 0; i < len(text); {
		next := table[int(s)+int(a.bytes[text[i]])]
		if next >= 0 {
			s = next
			i++
			continue
		}
		if next == fits {
			return i, true
		}
		r, size := utf8.DecodeRune(text[i:])
		if next = a.step(s, r, i); next == fits {
			return i, true
		}
		if next == unknown {
			a.hopeless = true
			return 0, false
		}
		s, table = next, a.table
		i += size
	}
	a.sinceFull += len(text)
	if len(text) > 0 && text[len(text)-1] != '\n' && a.step(s, '\n', 0) == fits {
		return len(text) - 1, true
	}
	return -1, true
}

// step takes one character; unknown when there is no use in going on.
func (a *automaton) step(s int32, r rune, at int) int32 {
	class := a.classOf(r)
	cell := int(s) + int(class)
	if known := a.table[cell]; known != unknown {
		return known
	}
	full := len(a.states) >= maxStates
	next := a.derive(a.states[int(s)/a.stride], r)
	switch {
	case next == fits:
		a.table[cell] = fits
		return fits
	case full && a.sinceFull+at < statePeriod:
		return unknown
	case full:
		a.clear()
		a.sinceFull = -at
		return a.intern(kind(a.key[0]), a.next)
	}
	// The table may have moved to make room.
	n := a.intern(kind(a.key[0]), a.next)
	a.table[cell] = n
	return n
}

// derive computes the state behind a character into next and key.
func (a *automaton) derive(state string, r rune) int32 {
	before, now := kind(state[0]), kindOf(r)
	a.round++
	a.next = a.next[:0]
	a.stack = append(a.stack[:0], uint32(a.prog.Start)) // a match can begin anywhere
	for i := 1; i < len(state); i += 2 {
		a.stack = append(a.stack, uint32(binary.LittleEndian.Uint16([]byte(state[i:i+2]))))
	}
	allowed := emptyBetween(before, now)
	for len(a.stack) > 0 {
		pc := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		if a.seen[pc] == a.round {
			continue
		}
		a.seen[pc] = a.round
		switch inst := &a.prog.Inst[pc]; inst.Op {
		case syntax.InstMatch:
			return fits
		case syntax.InstAlt, syntax.InstAltMatch:
			a.stack = append(a.stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			a.stack = append(a.stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^allowed == 0 {
				a.stack = append(a.stack, inst.Out)
			}
		default:
			if consumes(inst, r) {
				a.next = append(a.next, inst.Out)
			}
		}
	}
	if !a.words && now != lineEnd {
		now = other
	}
	a.key = append(a.key[:0], byte(now))
	if now == lineEnd {
		a.next = a.next[:0] // nothing goes on behind the line
	}
	slices.Sort(a.next)
	a.next = slices.Compact(a.next)
	return 0
}

// emptyBetween is what holds between two characters.
func emptyBetween(before, after kind) syntax.EmptyOp {
	var ops syntax.EmptyOp
	if before == lineEnd {
		ops |= syntax.EmptyBeginLine
	}
	if after == lineEnd {
		ops |= syntax.EmptyEndLine
	}
	if (before == word) != (after == word) {
		return ops | syntax.EmptyWordBoundary
	}
	return ops | syntax.EmptyNoWordBoundary
}

// intern is the state of a set of instructions.
func (a *automaton) intern(before kind, pcs []uint32) int32 {
	a.key = append(a.key[:0], byte(before))
	for _, pc := range pcs {
		a.key = binary.LittleEndian.AppendUint16(a.key, uint16(pc))
	}
	if s, ok := a.keys[string(a.key)]; ok {
		return s
	}
	s := int32(len(a.table))
	key := string(a.key)
	a.keys[key] = s
	a.states = append(a.states, key)
	for range a.stride {
		a.table = append(a.table, unknown)
	}
	return s
}
