package web

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
)

func parsed(t testing.TB, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestAPageBecomesMarkdown(t *testing.T) {
	at := parsed(t, "https://example.com/docs/page.html?q=1")
	for _, tt := range []struct{ name, source, title, want string }{
		{"headings, emphasis and code", "<title> The  page </title><h1>One</h1><p>a <b>b</b> <i>c</i> <code>d_e*f</code>", "The page", "# One\n\na **b** *c* `d_e*f`"},
		{"text is not escaped", "<p>a_b *c* 1 &lt; 2 &amp;&amp; x[0] &amp;lt;", "", "a_b *c* 1 < 2 && x[0] &lt;"},
		{
			"code keeps its lines and its language", "<pre><code class=\"language-go\">if a &lt; b {\n\tx()\n}\n</code></pre>", "",
			"```go\nif a < b {\n\tx()\n}\n```",
		},
		{"lists within lists", "<ul><li>a<li>b<ol><li>c<li>d</ol></ul>", "", "- a\n- b\n  \n  1. c\n  2. d"},
		{
			"links are absolute, and those to nowhere are text",
			`<a href="../x">up</a> <a href="/y?z=1">root</a> <a href="//o.example/p">other</a> <a href="#s">here</a> <a href="javascript:alert(1)">js</a> ` +
				`<a href="data:text/html,x">data</a> <a href="https://u:p@h/">pw</a>`, "",
			"[up](https://example.com/x) [root](https://example.com/y?z=1) [other](https://o.example/p) here js data pw",
		},
		{"the page says what links are relative to", `<base href="/other/"><a href="x">a</a>`, "", "[a](https://example.com/other/x)"},
		{"the mark beside a heading is left out", `<h2>Title<a class=headerlink href="#title">¶</a></h2>`, "", "## Title"},
		{"pictures have a name or are left out", `<img src="a.png" alt="A"> <img src="b.png"> <img src="data:image/png;base64,AAAA" alt="C">`, "", "![A](https://example.com/docs/a.png) C"},
		{
			"tables", "<table><tr><th>a<th>b<tr><td>1<td>2 | 3</table>", "",
			"| a | b |\n|---|---|\n| 1 | 2 \\| 3 |",
		},
		{
			"cells as wide as the table, by any number", "<table><tr><th>a<th>b<tr><td colspan=2>all<tr><td colspan=100000000000000000000>all<tr><td colspan=100>all<tr><td colspan=x>all</table>", "",
			"| a | b |\n|---|---|\n| all |  |\n| all |  |\n| all |  |\n| all |  |",
		},
		{
			"noise is left out",
			`<script>x("</p>")</script><style>p{}</style><nav>menu</nav><p>text<noscript>no</noscript><!-- c --><div hidden>h</div><span aria-hidden=true>i</span>` +
				`<div aria-hidden=false role=navigation>n</div><svg><text>s</text></svg><template>t</template><button>b</button><footer>f</footer>`, "", "text",
		},
		{"the main part is the page when it says which", "<div>around</div><main><p>" + strings.Repeat("word ", 50) + "</main><div>below</div>", "", strings.TrimSpace(strings.Repeat("word ", 50))},
		{"but not a small one", "<div>around</div><main>x</main>", "", "around\n\nx"},
		{"tags that were not closed", "<p>one<p><b>two<p>three<div>four", "", "one\n\n**two**\n\nthree\n\nfour"},
		{"tags that close nothing, or something around the cell", "<table><tr><td>a</div></b>b</tr></table></p>c", "", "| ab |\n|---|\n\nc"},
	} {
		title, text, whole := markdown(tt.source, at)
		if title != tt.title || text != tt.want || !whole {
			t.Errorf("%s: title %q, whole %v\ngot  %q\nwant %q", tt.name, title, whole, text, tt.want)
		}
	}
}

func TestAPageThatIsNestedDeepKeepsItsText(t *testing.T) {
	for _, tag := range []string{"div", "b", "blockquote", "span", "ul><li", "table><tr><td", "a href=x", "font"} {
		source := strings.Repeat("<"+tag+">", 5000) + "the text" + strings.Repeat("</"+strings.Fields(tag)[0]+">", 5000) + "after"
		_, text, _ := markdown(source, parsed(t, "https://example.com/"))
		if !strings.Contains(text, "the text") || !strings.Contains(text, "after") {
			t.Errorf("%s: %.200q", tag, text)
		}
		root, _ := tree(source)
		if n := depth(root); n > mostDepth+1 {
			t.Errorf("%s: the tree is %d deep", tag, n)
		}
	}
}

func depth(n *html.Node) int {
	most := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		most = max(most, depth(c))
	}
	return most + 1
}

// bombs are pages whose text or tree might be much larger than they are.
func bombs(size int) map[string]string {
	rep := func(s string) string { return strings.Repeat(s, max(1, size/len(s))) }
	fonts := ""
	for i := range 60 {
		fonts += "<font x=" + string(rune('A'+i)) + ">"
	}
	return map[string]string{
		"elements": rep("<div>"), "breaks": rep("<br>"), "lists in lists": rep("<ul><li>"), "items": "<ol>" + rep("<li>a"),
		"formatting that is opened again": "<p>" + fonts + rep("<p>x"), "ends of nothing": rep("a</x>"), "scripts": rep("a<script></script>"),
		"links": rep("<a href=x>y</a>"), "links in links": rep("<a href=x>a<b>"), "pictures": rep("<img src=x alt=a>"), "nameless pictures": rep("<img src=x>"),
		"quoted lines": strings.Repeat("<blockquote>", 60) + rep("a<br>"), "indented lines": strings.Repeat("<ul><li>", 40) + rep("a<br>"),
		"indented code": strings.Repeat("<ul><li>", 40) + "<pre>" + rep("x\n"), "a row": "<table><tr>" + rep("<td>a"), "a column": "<table>" + rep("<tr><td>a"),
		"spans": "<table>" + rep("<tr><td colspan=100000000 rowspan=99999999>a"), "a square": "<table><tr>" + rep("<td>a") + rep("<tr><td>a"),
		"tables in tables": rep("<table><tr><td>"), "one wide cell": "<table><tr><td>" + rep("wide") + rep("<tr><td>a"), "entities": rep("&lt;"), "code": rep("<code>`</code>"),
		"stars": rep("*"), "brackets": rep("<"), "attributes": "<a " + rep("a "), "comments": rep("<!---->"), "headings": rep("<h1>a"), "a long base": "<base href=/" + strings.Repeat("d", 4000) + "/>" + rep("<a href=x>y</a>"),
	}
}

func TestNoPageGrows(t *testing.T) {
	const size = 48 << 10
	at := parsed(t, "https://example.com/"+strings.Repeat("d", 3000)+"/x")
	for name, page := range bombs(size) {
		_, text, _ := markdown(page, at)
		if most := 16*len(page) + mostAdded; len(text) > most {
			t.Errorf("%s: %d bytes of page became %d of text", name, len(page), len(text))
		}
	}
}

func TestAPageOfTooManyTagsIsCut(t *testing.T) {
	_, text, whole := markdown(strings.Repeat("<p>a", mostNodes), parsed(t, "https://example.com/"))
	if whole || len(text) == 0 {
		t.Errorf("whole %v, %d bytes", whole, len(text))
	}
}

func FuzzMarkdownOfAnything(f *testing.F) {
	for _, page := range bombs(200) {
		f.Add(page, "https://example.com/a/b")
	}
	f.Add("<title>t</title><base href='http://[::1'><a href='http://[::1'>x</a><table><th>a<td colspan=3>b</table>", "http://x/")
	f.Add("<pre><code class='language-`'>x</code></pre>\ufdd0\ufdd1\x00\xff<ol start=99999999999999999999><li>a", "http://x/?q#f")
	f.Add("<table><tr><td><table><tr><td>a</table><caption>c</table><dl><dt>a<dd><ul><li><p>b", "http://x/")
	f.Fuzz(func(t *testing.T, source, address string) {
		at, err := clean(address)
		if err != nil {
			at = parsed(t, "https://example.com/")
		}
		root, _ := tree(source)
		prune(root, at)
		if _, ok := converted(body(root)); !ok {
			t.Log("the converter fails on it; the text is taken") // a panic of theirs is no failure of ours
		}
		title, text, _ := markdown(source, at)
		if title, text := tidy(title), tidy(text); !utf8.ValidString(title) || !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\x1b\r") {
			t.Errorf("not tidy: %q %q", title, text)
		}
	})
}
