package fakeapi

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// checkJSON is as strict as the service: UTF-8 throughout and no half of a
// surrogate pair, both of which encoding/json lets pass.
func checkJSON(body []byte) *Fault {
	if !utf8.Valid(body) {
		return invalid("The request body is not valid JSON: str is not valid UTF-8")
	}
	if !json.Valid(body) {
		var v any
		return invalid("The request body is not valid JSON: %v", json.Unmarshal(body, &v))
	}
	if at := loneSurrogate(body); at >= 0 {
		return invalid("The request body is not valid JSON: no low surrogate in string: line 1 column %d (char %d)", at+1, at)
	}
	return nil
}

// loneSurrogate finds an escape that is half of a pair in valid JSON; -1 when
// there is none.
func loneSurrogate(body []byte) int {
	for i := 0; ; {
		step := bytes.IndexByte(body[i:], '\\')
		if step < 0 {
			return -1
		}
		i += step
		r := escaped(body[i:])
		switch {
		case !utf16.IsSurrogate(r):
			i += 2
		case utf16.DecodeRune(r, escaped(body[i+6:])) == utf8.RuneError:
			return i
		default:
			i += 12
		}
	}
}

// escaped is the code unit of a \uXXXX at the beginning of b, 0 when there is none.
func escaped(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}

// The walkers below give out pieces of the body itself, so that what was sent is
// compared as bytes, key order included. They need JSON known to be valid.

// members walks an object in its own order.
func members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := next(object, 1); object[i] != '}'; {
			end := skip(object, i)
			key := unquote(object[i:end])
			i = next(object, next(object, end)+1) // over the colon
			end = skip(object, i)
			if !yield(key, object[i:end]) {
				return
			}
			i = afterComma(object, end)
		}
	}
}

// elements walks an array.
func elements(array []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		n := 0
		for i := next(array, 1); array[i] != ']'; n++ {
			end := skip(array, i)
			if !yield(n, array[i:end]) {
				return
			}
			i = afterComma(array, end)
		}
	}
}

func afterComma(b []byte, i int) int {
	i = next(b, i)
	if b[i] == ',' {
		i = next(b, i+1)
	}
	return i
}

// next is the first place from i on that is not white space.
func next(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r' {
		i++
	}
	return i
}

// skip is the end of the value that begins at i.
func skip(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	for i < len(b) && bytes.IndexByte([]byte(",]} \t\r\n"), b[i]) < 0 {
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(b[i:], '"')
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

func skipNested(b []byte, i int) int {
	for depth := 0; ; {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		i++
		if depth == 0 {
			return i
		}
	}
}

func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		panic("fakeapi: string of valid JSON does not decode: " + err.Error())
	}
	return s
}

// appendString writes s as a JSON string the way the service does: nothing is
// escaped that need not be. Invalid UTF-8 given by a test goes out as it is.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}
