package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWhatIsTypedCarriesTheFilesItMentions(t *testing.T) {
	p := newPlace(t, `{"turns": [
		{"expect": ["See @a.txt", "<file path=\\\"a.txt\\\">\\nalpha\\n</file>"], "blocks": [{"type": "text", "text": "Alpha."}]},
		{"expect": ["and @b.txt:2", "<file path=\\\"b.txt\\\" lines=\\\"2-2\\\">\\ntwo\\n</file>"],
		 "blocks": [{"type": "tool_use", "name": "bash", "input": {"command": "until [ -e go ]; do sleep 0.05; done"}}]},
		{"expect": ["use @c.txt too\\n\\n<file path=\\\"c.txt\\\">\\ngamma\\n</file>"], "blocks": [{"type": "text", "text": "Gamma."}]}
	]}`)
	put := func(name, content string) {
		if err := os.WriteFile(filepath.Join(p.repo, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put("a.txt", "alpha\n")
	put("b.txt", "one\ntwo\n")
	put("c.txt", "gamma\n")
	put("d.png", "\x89PNG\r\n\x1a\n")
	w := p.start("--permission-mode", "bypass", "See @a.txt")
	w.expect(`Alpha\.`)
	w.send("and @b.txt:2, not @d.png\r")
	w.expect(`warning: @d.png is not attached: d.png cannot be decoded as image/png`)
	p.awaitFact("tool.started")
	w.send("use @c.txt too\r")
	w.expect(`\(queued; the model gets it at the next step\)`)
	put("go", "")
	w.expect(`Gamma\.`)
	w.send("/exit\r")
	w.ends(0)
	p.wantClosed()
}
