package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// BenchmarkResume decodes the log that contract §14 sets a bar for: one
// operation is a line, a line is about 1 KB, so the bar of 100,000 lines in
// 0.7 s is 7,000 ns/op and 143 MB/s.
func BenchmarkResume(b *testing.B) {
	lines := typicalLog(b, 10_000)
	size := 0
	for _, line := range lines {
		size += len(line) + 1
	}
	b.SetBytes(int64(size / len(lines)))
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := DecodeLine(lines[i%len(lines)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkDecode shows what each kind of line costs.
func BenchmarkDecode(b *testing.B) {
	seen := map[string]bool{}
	for _, line := range typicalLog(b, 200) {
		r, err := DecodeLine(line)
		if err != nil {
			b.Fatal(err)
		}
		if seen[r.Name()] {
			continue
		}
		seen[r.Name()] = true
		b.Run(r.Name(), func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeLine(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPublish is what one small fact costs on its way into the log: it is
// encoded, and the line is decoded again.
func BenchmarkPublish(b *testing.B) {
	r := Record{
		V: Version, ID: "01JD00000000000000000000AA", SessionID: "01JD00000000000000000000SS", Seq: 17, TS: 1732000000000,
		Fact: ToolStarted{ToolUseID: "toolu_01A09q90qw90lq917835lq9", ToolName: "bash"},
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		line, err := AppendLine(buf[:0], r)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := DecodeLine(line[:len(line)-1]); err != nil {
			b.Fatal(err)
		}
		buf = line
	}
}

// typicalLog is the log of a long session: turns of a model that thinks, talks
// and calls one tool, a third of them with a large result.
func typicalLog(tb testing.TB, n int) [][]byte {
	tb.Helper()
	p := newProse()
	var lines [][]byte
	for turn := 0; len(lines) < n; turn++ {
		for _, f := range p.turn(turn) {
			seq := int64(len(lines) + 1)
			line, err := AppendLine(nil, Record{
				V: Version, ID: fmt.Sprintf("01JD0000000000000000%06d", seq), SessionID: "01JD00000000000000000000SS",
				Seq: seq, TS: 1732000000000 + seq*40, Fact: f,
			})
			if err != nil {
				tb.Fatal(err)
			}
			lines = append(lines, bytes.TrimSuffix(line, []byte("\n")))
		}
	}
	return lines[:n]
}

func typicalTurn() []Fact { return newProse().turn(1) }

type prose struct{ *rand.Rand }

func newProse() prose { return prose{rand.New(rand.NewPCG(7, 11))} }

func (p prose) turn(n int) []Fact {
	request, call := fmt.Sprintf("req_%06d", n), fmt.Sprintf("toolu_01A09q90qw90lq9%06d", n)
	path := fmt.Sprintf("internal/engine/part%03d.go", n%300)
	size := 200 + p.IntN(2_000)
	if n%3 == 0 {
		size = 2_000 + p.IntN(18_000)
	}
	exit := p.IntN(2)
	return []Fact{
		ModelRequestStarted{
			RequestID: request, Model: "claude-sonnet-4-5", Purpose: PurposeMain,
			ContextStats: ContextStats{EstimatedInputTokens: 48_211, Sections: List[Section]{
				{Name: "tools", EstimatedTokens: 1100},
				{Name: "system", EstimatedTokens: 320},
				{Name: "session", EstimatedTokens: 900},
				{Name: "history", EstimatedTokens: 45_000},
			}},
		},
		ModelThinkingBlockCompleted{RequestID: request, Thinking: p.text(300 + p.IntN(1500)), Signature: p.base64(400)},
		ModelTextBlockCompleted{RequestID: request, BlockIndex: 1, Text: p.text(80 + p.IntN(500))},
		ToolRequested{RequestID: request, BlockIndex: 2, ToolUseID: call, ToolName: "edit", Input: p.input(path)},
		ModelResponseCompleted{
			RequestID: request, StopReason: StopToolUse, DurationMS: 2140,
			Usage: ModelUsage{InputTokens: 12, OutputTokens: 431, CacheReadTokens: 48_000, CacheWriteTokens: 611},
		},
		ToolApproved{ToolUseID: call, Via: ViaRule},
		ToolStarted{ToolUseID: call, ToolName: "edit"},
		FileRead{
			Path: path, Bytes: int64(size), MtimeMS: 1732000000123, ToolUseID: call, Range: &Span{Start: 1, End: 200},
			SHA256: strings.Repeat("0123456789abcdef", 4),
		},
		ToolCompleted{
			ToolUseID: call, ModelText: p.code(size), DurationMS: 18,
			UI: ToolUI{Kind: UIExec, Summary: "Run `go test ./...` · 1 failed", ExitCode: &exit},
		},
	}
}

func (p prose) input(path string) json.RawMessage {
	old, replacement := p.code(100+p.IntN(500)), p.code(100+p.IntN(900))
	raw, err := marshal(struct {
		Path string `json:"path"`
		Old  string `json:"old_string"`
		New  string `json:"new_string"`
		All  bool   `json:"replace_all"`
	}{path, old, replacement, true})
	if err != nil {
		panic(err)
	}
	return raw
}

func (p prose) text(n int) string {
	return p.words(n, []string{"the ", "test ", "fails because ", "`decode` ", "never ", "sees the ", "last line; ", "so\n\n", "— I’ll ", "fix \"that\" "})
}

func (p prose) code(n int) string {
	return p.words(n, []string{
		"\tif err != nil {\n", "\t\treturn fmt.Errorf(\"read %s: %w\", name, err)\n", "\t}\n", "func (s *Store) Load(ctx context.Context) error {\n",
		"}\n\n", "\tfor i := range items {\n", "ok  \tgithub.com/khaelor/khaelor/internal/event\t0.412s\n", "\t// résumé: keep the order\n", "\tx := a<b && c>d\n",
	})
}

func (p prose) base64(n int) string {
	return p.words(n, []string{"EqQB", "CkYI", "CxgC", "Kk/a", "9Xw+", "Zm9v", "YmFy"})
}

func (p prose) words(n int, from []string) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(from[p.IntN(len(from))])
	}
	return b.String()
}
