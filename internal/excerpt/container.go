package excerpt

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// jpegHead finds in the segments of a JPEG how its picture is turned, and
// whether it is progressive.
func jpegHead(data []byte) (orientation int, progressive bool) {
	orientation = 1
	for at := 2; at+4 <= len(data) && data[at] == 0xff; {
		marker := data[at+1]
		if marker == 0xff { // a fill byte
			at++
			continue
		}
		size := int(binary.BigEndian.Uint16(data[at+2:]))
		if marker == 0xda || size < 2 || at+2+size > len(data) { // SOS: the picture begins
			break
		}
		switch segment := data[at+4 : at+2+size]; {
		case marker == 0xc2:
			progressive = true
		case marker == 0xe1 && bytes.HasPrefix(segment, []byte("Exif\x00\x00")):
			if o := exifOrientation(segment[6:]); o != 0 {
				orientation = o
			}
		}
		at += 2 + size
	}
	return orientation, progressive
}

// exifOrientation reads tag 274 of the first directory; 0 when it is not there.
func exifOrientation(tiff []byte) int {
	var order binary.ByteOrder = binary.BigEndian
	if bytes.HasPrefix(tiff, []byte("II")) {
		order = binary.LittleEndian
	}
	if len(tiff) < 8 {
		return 0
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 0
	}
	entries := tiff[at+2:]
	for n := order.Uint16(tiff[at:]); n > 0 && len(entries) >= 12; n-- {
		if value := order.Uint16(entries[8:]); order.Uint16(entries) == 274 && value >= 1 && value <= 8 {
			return int(value)
		}
		entries = entries[12:]
	}
	return 0
}

var errNoFrame = errors.New("it holds no picture")

// webpFrame is a WebP of the first frame alone, which is all that the decoder
// knows. Its size is that of the frame, not what the head of the file claims.
func webpFrame(data []byte) ([]byte, error) {
	return frameIn(data[min(12, len(data)):], true) // behind the head of the file
}

// frameIn finds the first frame in chunks, where those may hold animated ones.
func frameIn(body []byte, animated bool) ([]byte, error) {
	var alpha []byte
	for len(body) >= 8 {
		name, size := string(body[:4]), int64(binary.LittleEndian.Uint32(body[4:]))
		if 8+size > int64(len(body)) {
			return nil, errors.New("it is cut short")
		}
		chunk := body[:8+size]
		switch name {
		case "ANMF":
			if size < 16 || !animated {
				return nil, errNoFrame
			}
			return frameIn(chunk[8+16:], false) // behind the frame's place and time
		case "ALPH":
			alpha = chunk
		case "VP8L":
			return riff(chunk), nil
		case "VP8 ":
			return lossy(chunk, alpha)
		}
		body = body[min(8+size+size%2, int64(len(body))):]
	}
	return nil, errNoFrame
}

// lossy is a WebP of a lossy picture and its transparency, if it has any.
func lossy(picture, alpha []byte) ([]byte, error) {
	const head = 8 + 10 // of the chunk and the frame (RFC 6386 §9.1)
	if len(picture) < head {
		return nil, errNoFrame
	}
	if alpha == nil {
		return riff(picture), nil
	}
	extended := append([]byte("VP8X\x0a\x00\x00\x00\x10\x00\x00\x00"), 0, 0, 0, 0, 0, 0)
	for i := range 2 {
		edge := uint32(binary.LittleEndian.Uint16(picture[8+6+2*i:])&0x3fff) - 1
		extended[12+3*i], extended[13+3*i], extended[14+3*i] = byte(edge), byte(edge>>8), byte(edge>>16)
	}
	return riff(extended, alpha, picture), nil
}

// riff makes a WebP file of chunks.
func riff(chunks ...[]byte) []byte {
	body := []byte("WEBP")
	for _, c := range chunks {
		body = append(body, c...)
		if len(c)%2 == 1 {
			body = append(body, 0)
		}
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}
