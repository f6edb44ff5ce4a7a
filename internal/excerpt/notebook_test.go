package excerpt

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

const format4 = `{
 "cells": [
  {
   "cell_type": "markdown",
   "metadata": {},
   "source": ["# Title\n", "text"]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "metadata": {},
   "outputs": [
    {"name": "stdout", "output_type": "stream", "text": ["10%\r100%\n", "\u001b[31mred\u001b[0m\n"]},
    {"output_type": "execute_result", "execution_count": 7, "metadata": {},
     "data": {"text/plain": "<Figure>", "text/html": "<b>no</b>", "image/png": "QUJDREVG", "application/json": {"a": [1]}}},
    {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero", "traceback": ["\u001b[0;31mTrace\u001b[0m", "line 2"]},
    {"output_type": "error", "ename": "E", "evalue": "v", "traceback": []},
    {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<b>no</b>"}}
   ],
   "source": "1/0\n"
  },
  {"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": []},
  {"cell_type": "raw", "metadata": {}, "source": "raw"}
 ],
 "metadata": {"kernelspec": {"language": "python", "name": "python3"}, "language_info": {"name": "python"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

const format3 = `{"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [
 {"cell_type": "heading", "level": 1, "source": "Head"},
 {"cell_type": "code", "collapsed": false, "input": ["print(1)\n", "x"], "language": "python", "prompt_number": 2, "outputs": [
  {"output_type": "stream", "stream": "stdout", "text": "1\n"},
  {"output_type": "pyout", "prompt_number": 2, "text": ["x is 1"], "png": "QUJD"},
  {"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["T"]}]}
]}]}`

func TestANotebookIsShownAsItsCells(t *testing.T) {
	f := newFolder(t, map[string]string{"a.ipynb": format4, "old.IPYNB": format3, "bom.ipynb": "\ufeff" + format3, "none.ipynb": `{"cells": []}`})
	equal(t, f.read("a.ipynb").Text(), `[notebook, python, 4 cells; offset 1 shows the raw JSON, which is what edit changes]
[cell 1: markdown]
# Title
text
[cell 2: code, run 7]
1/0
[output]
100%
red
[output]
<Figure>
[image/png output, 6 bytes]
[output]
Trace
line 2
[output]
E: v
[cell 3: code]
[cell 4: raw]
raw
`)
	old := `[notebook, 2 cells; offset 1 shows the raw JSON, which is what edit changes]
[cell 1: heading]
Head
[cell 2: code, run 2]
print(1)
x
[output]
1
[output]
x is 1
[image/png output, 3 bytes]
[output]
T
`
	equal(t, f.read("old.IPYNB").Text(), old)
	equal(t, f.read("bom.ipynb").Text(), old)
	equal(t, f.read("none.ipynb").Text(), "[notebook, 0 cells; offset 1 shows the raw JSON, which is what edit changes]\n")
	e := f.read("a.ipynb")
	if e.SHA256 != f.read("a.ipynb", 1, 0).SHA256 || e.Range != nil {
		t.Errorf("the fact is not about the whole file: %+v", e.Fact("a.ipynb"))
	}
	equal(t, f.read("a.ipynb", 1, 0).Text(), format4)
	equal(t, f.read("a.ipynb", 5, 1).Body, "   \"metadata\": {},\n")
}

func TestALongNotebookNamesTheOffsetToGoOnWith(t *testing.T) {
	var cells []string
	for i := range 100 {
		cells = append(cells, fmt.Sprintf("{\"cell_type\": \"code\",\n \"source\": %q}", strings.Repeat(fmt.Sprintf("line %d\n", i), 100)))
	}
	f := newFolder(t, map[string]string{"a.ipynb": "{\"cells\": [\n" + strings.Join(cells, ",\n") + "]}\n"})
	e := f.read("a.ipynb")
	equal(t, e.Head, "[notebook, 100 cells; cut in cell 20, whose raw JSON begins at offset 40; edit changes the raw JSON]\n")
	if !strings.HasSuffix(e.Body, "line 19\n") || strings.Count(e.Body, "\n") != Lines || !e.Cut {
		t.Errorf("the body has %d lines and ends in …%q", strings.Count(e.Body, "\n"), e.Body[len(e.Body)-40:])
	}
	equal(t, f.read("a.ipynb", 40, 1).Body, "{\"cell_type\": \"code\",\n")
}

func TestALongOutputIsShortened(t *testing.T) {
	long := strings.Repeat("é", 5000) + "END"
	f := newFolder(t, map[string]string{"a.ipynb": fmt.Sprintf(`{"cells": [{"cell_type": "code", "source": "x", "outputs": [{"text": %q}]}]}`, long)})
	want := strings.Repeat("é", 1000) + "\n[… 2003 characters left out …]\n" + strings.Repeat("é", 1997) + "END\n"
	if e := f.read("a.ipynb"); !strings.HasSuffix(e.Body, want) {
		t.Errorf("got %q", e.Body)
	}
}

func TestAMalformedNotebookIsShownAsText(t *testing.T) {
	files := map[string]string{
		"cut.ipynb": format4[:200], "text.ipynb": "hello\n", "list.ipynb": "[1]\n", "other.ipynb": "{\"a\": 1}\n", "cells.ipynb": "{\"cells\": [1]}\n",
		"source.ipynb": "{\"cells\": [{\"cell_type\": 4}]}\n",
	}
	f := newFolder(t, files)
	for name, content := range files {
		e := f.read(name)
		if !strings.HasPrefix(e.Head, "[the raw JSON of a notebook that is malformed: ") || e.Body != content || e.SHA256 == "" {
			t.Errorf("%s: got %q", name, e.Text())
		}
	}
	big := newFolder(t, map[string]string{"big.ipynb": "{\"cells\": [\n" + strings.Repeat(" \n", hashLimit/2) + "]}\n"})
	if e := big.read("big.ipynb"); !strings.HasPrefix(e.Head, "[the raw JSON of a notebook that is larger than 10 MB]\n[lines 1-2000;") {
		t.Errorf("got %q", e.Head)
	}
}

func FuzzNotebook(f *testing.F) {
	for _, s := range []string{format4, format3, `{"cells":[]}`, `{"cells":[{"source":{"a":1}}]}`, `{"worksheets":[{}]}`, `{"cells":[null]}`, "{\"cells\":[{\"source\":\"\xff\"}]}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		book, err := parseNotebook(text)
		if err != nil {
			return
		}
		e := book.excerpt(Request{Name: "x"})
		if len(e.Body) > Bytes || strings.Count(e.Body, "\n") > Lines || !utf8.ValidString(e.Head+e.Body) || strings.Count(e.Head, "\n") != 1 {
			t.Errorf("got %q", e.Text())
		}
		last := 1
		for _, c := range book.cells {
			if c.line < last || c.line > strings.Count(string(text), "\n")+1 {
				t.Errorf("cell at line %d after %d", c.line, last)
			}
			last = c.line
		}
	})
}
