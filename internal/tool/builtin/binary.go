package builtin

import (
	"bytes"
	"fmt"
	"strings"
)

// stray is how many bytes that are no text make no output binary, whatever
// their share.
const stray = 64

// census counts what of an output is no text. Texts have some of each: NULs
// end names, other charsets are no UTF-8, terminals are told to beep. Only
// together, and many, they are a program, a picture or an archive.
type census struct{ total, nul, control, invalid int64 }

// add takes a chunk, and the text that was made of it, where no character is
// cut.
func (c *census) add(chunk, text []byte) {
	c.total += int64(len(chunk))
	nul, invalid := bytes.Count(chunk, []byte{0}), bytes.Count(text, []byte("\uFFFD"))
	c.nul, c.invalid = c.nul+int64(nul), c.invalid+int64(invalid)
	if nul+invalid == 0 { // text, as nearly always
		return
	}
	for _, b := range chunk {
		if b < ' ' && b != 0 && (b < '\a' || b > '\r') && b != 0x1b {
			c.control++
		}
	}
}

func (c *census) binary() bool {
	mixed := c.nul > 0 && c.control > 0 && (c.control+c.invalid-stray)*10 > c.total
	return mixed || (c.nul-stray)*2 > c.total
}

// withoutBinary is what is shown of a binary output: the lines before and
// after what is no text, and how much there was. file has it as text, if any.
func withoutBinary(shown string, printed int64, file string) string {
	const marks = "\uFFFD␀"
	first, last := strings.IndexAny(shown, marks), strings.LastIndexAny(shown, marks)
	if first < 0 { // it was in the middle, which is not shown
		return shown
	}
	before := shown[:strings.LastIndexByte(shown[:first], '\n')+1]
	_, after, _ := strings.Cut(shown[last:], "\n")
	note := fmt.Sprintf("binary output, %d bytes", printed)
	if file != "" {
		note += "; as text in " + file
	}
	return before + "[" + note + "]\n" + after
}
