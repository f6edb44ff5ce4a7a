package contextengine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"github.com/khaelor/khaelor/internal/event"
	"github.com/khaelor/khaelor/internal/fold"
)

// appendBlock renders a content block of the Messages API, field order fixed,
// the closing brace last.
func appendBlock(dst []byte, b fold.Block, blob Blob) []byte {
	switch b.Kind {
	case fold.ThinkingBlock:
		dst = appendString(append(dst, `{"type":"thinking","thinking":`...), b.Text)
		dst = appendString(append(dst, `,"signature":`...), b.Signature)
	case fold.OpaqueBlock:
		return append(dst, b.Raw...)
	case fold.ToolUseBlock:
		dst = appendString(append(dst, `{"type":"tool_use","id":`...), b.ID)
		dst = appendString(append(dst, `,"name":`...), b.Name)
		dst = append(append(dst, `,"input":`...), b.Raw...)
	case fold.ToolResultBlock:
		dst = appendString(append(dst, `{"type":"tool_result","tool_use_id":`...), b.ID)
		dst = appendResult(append(dst, `,"content":`...), b, blob)
		if b.IsError {
			dst = append(dst, `,"is_error":true`...)
		}
	case fold.ImageBlock:
		return appendMedia(dst, b.Media[0], blob)
	default:
		dst = appendString(append(dst, `{"type":"text","text":`...), b.Text)
	}
	return append(dst, '}')
}

// appendResult renders a result's content: a string where that is enough.
func appendResult(dst []byte, b fold.Block, blob Blob) []byte {
	if len(b.Media) == 0 {
		return appendString(dst, b.Text)
	}
	dst = append(appendString(append(dst, `[{"type":"text","text":`...), b.Text), '}')
	for _, m := range b.Media {
		dst = appendMedia(append(dst, ','), m, blob)
	}
	return append(dst, ']')
}

func appendMedia(dst []byte, m event.Media, blob Blob) []byte {
	data, err := blob(m.SHA256)
	if err != nil {
		return append(appendString(append(dst, `{"type":"text","text":`...), "["+m.MediaType+" is no longer there]"), '}')
	}
	kind := "image"
	if m.MediaType == "application/pdf" {
		kind = "document"
	}
	dst = append(append(dst, `{"type":"`+kind+`","source":{"type":"base64","media_type":"`...), m.MediaType...)
	dst = base64.StdEncoding.AppendEncode(append(dst, `","data":"`...), data)
	return append(dst, `"}}`...)
}

// appendString appends s as a JSON string, spelled as the log spells it.
func appendString(dst []byte, s string) []byte {
	buf := bytes.NewBuffer(dst)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("contextengine: a string does not encode: " + err.Error())
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
