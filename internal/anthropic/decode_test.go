package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func FuzzBothDeltaDecodersAgree(f *testing.F) {
	for _, seed := range []string{
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}`,
		`{"type": "content_block_delta", "index": 12, "delta": {"type": "thinking_delta", "thinking": "a\"\\\u00e9\ud83d"} }  `,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\": \n"}    }`,
		`{"type":"content_block_delta","index":01,"delta":{"type":"text_delta","text":"x"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x","text":"y"}}`,
		"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\x01\xff\"}}",
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x\`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fast, ok := fastDelta(data)
		if !ok {
			return
		}
		slow, err := slowDelta(data)
		if err != nil || !reflect.DeepEqual(fast, slow) {
			t.Errorf("fast %+v, slow %+v %v", fast, slow, err)
		}
	})
}

func TestCommonDeltasTakeTheFastWay(t *testing.T) {
	for _, text := range []string{"plain", `a\nb\"c\\`, "é😀", "", `\\`} {
		for _, shape := range []string{`{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"` + text + `"}    }`} {
			d, ok := fastDelta([]byte(shape))
			slow, err := slowDelta([]byte(shape))
			if !ok || err != nil || !reflect.DeepEqual(d, slow) {
				t.Errorf("%s: fast %+v %v, slow %+v %v", shape, d, ok, slow, err)
			}
		}
	}
}

type event struct{ name, data string }

func readEvents(r io.Reader) ([]event, error) {
	events := newEventReader(r, func() {})
	var got []event
	for {
		name, data, err := events.next()
		if err != nil {
			return got, err
		}
		got = append(got, event{string(name), string(data)})
	}
}

// TestEventsSurviveAnyLineEndAndAnySplit writes events with a random line end
// for each line, and reads them in random pieces.
func TestEventsSurviveAnyLineEndAndAnySplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z :{}"é]{1,40}`)
		ends := rapid.SampledFrom([]string{"\n", "\r\n", "\r"})
		var want []event
		var wire strings.Builder
		write := func(line string) { wire.WriteString(line + ends.Draw(t, "end")) }
		for range rapid.IntRange(0, 8).Draw(t, "events") {
			e := event{text.Draw(t, "name"), text.Draw(t, "data")}
			write(rapid.SampledFrom([]string{":", ": note", "id: 1", "retry: 5"}).Draw(t, "noise"))
			write("event: " + e.name)
			write("data: " + e.data)
			// Two, because the first may be the second half of a CRLF.
			wire.WriteString("\n\n")
			want = append(want, e)
		}
		pieces := rapid.SampledFrom([]func(io.Reader) io.Reader{
			iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
		}).Draw(t, "pieces")
		got, err := readEvents(pieces(strings.NewReader(wire.String())))
		if err != io.EOF || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %q %v, want %q from %q", got, err, want, wire.String())
		}
	})
}

func TestAnEventCutByTheEndIsNotDispatched(t *testing.T) {
	got, err := readEvents(strings.NewReader("event: a\ndata: 1\n\nevent: b\ndata: 2\n"))
	if err != io.EOF || !reflect.DeepEqual(got, []event{{"a", "1"}}) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestALongLineIsReadWholeAndCountsAsProgress(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	grown := 0
	events := newEventReader(strings.NewReader("data: "+long+"\n\n"), func() { grown++ })
	_, data, err := events.next()
	if err != nil || string(data) != long || grown == 0 {
		t.Errorf("%d bytes, %v, grown %d times", len(data), err, grown)
	}
}

func TestAnEndlessLineIsAFault(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("data: "), iotestRepeat('x'))
	_, err := readEvents(endless)
	var f fault
	if !errors.As(err, &f) {
		t.Errorf("got %v", err)
	}
}

type iotestRepeat byte

func (r iotestRepeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

// FuzzAnyStreamEndsTheSameTwice holds the assembler to its invariants whatever
// comes: no panic, the same answer again, raw blocks valid and compact.
func FuzzAnyStreamEndsTheSameTwice(f *testing.F) {
	for _, name := range []string{"plain", "tool_cut_max_tokens", "duplicate_ids", "blank_text_then_tool", "comment_ping", "crlf", "overloaded_midstream"} {
		f.Add(sseFile(f, name+".sse"))
	}
	f.Add(sse(evStart, `content_block_start {"index":0,"content_block":{"type":"novel","c":[1],"t":"a"}}`,
		`content_block_delta {"index":0,"delta":{"type":"d","c":[2],"t":"b"}}`, evBlockStop, evEndTurn, evStop))
	f.Fuzz(func(t *testing.T, body []byte) {
		blocks, reply, err := assemble(body)
		again, replyAgain, errAgain := assemble(body)
		if !reflect.DeepEqual(blocks, again) || reply != replyAgain || (err == nil) != (errAgain == nil) {
			t.Fatal("the same bytes gave another answer")
		}
		for _, b := range blocks {
			if b.Raw != nil && !bytes.Equal(b.Raw, compacted(b.Raw)) || b.Type == BlockThinking && b.Signature == "" {
				t.Errorf("block %+v", b)
			}
			if b.Cut == (b.Input == "" || json.Valid([]byte(b.Input))) && b.Type == BlockToolUse {
				t.Errorf("cut is %v for %q", b.Cut, b.Input)
			}
		}
	})
}

func assemble(body []byte) ([]Block, Reply, error) {
	r := new(recorder)
	a := assembler{h: r}
	events := newEventReader(bytes.NewReader(body), func() {})
	for !a.stopped {
		name, data, err := events.next()
		if err == nil && len(data) > 0 {
			err = a.event(string(name), validText(data))
		}
		if err != nil {
			return r.blocks, a.reply, err
		}
	}
	return r.blocks, a.reply, nil
}
