package fakeapi

import (
	"bytes"
	"encoding/base64"
)

// maxImage is the documented limit of one picture, in bytes of its base64 form.
const maxImage = 5 << 20

// checkMedia: what a picture or document says it is must be what its bytes are.
func checkMedia(at string, p Part) *Fault {
	at += "." + p.Type + ".source"
	switch p.Source.Type {
	case "":
		return invalid("%s: Field required", at)
	case "base64":
	default:
		return nil // text, url or file: nothing to look at
	}
	at += ".base64"
	data, err := base64.StdEncoding.DecodeString(p.Source.Data)
	switch {
	case err != nil || len(data) == 0:
		return invalid("%s.data: Input should be valid base64", at)
	case p.Type == "document" && p.Source.MediaType != "application/pdf":
		return invalid("%s.media_type: Input should be 'application/pdf'", at)
	case p.Type == "document" && !bytes.HasPrefix(data, []byte("%PDF-")):
		return invalid("%s.data: The PDF specified was not valid.", at)
	case p.Type == "document":
		return nil
	}
	return checkImage(at, p.Source.MediaType, data)
}

func checkImage(at, said string, data []byte) *Fault {
	switch said {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
	default:
		return invalid("%s.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'", at)
	}
	switch is := imageType(data); {
	case base64.StdEncoding.EncodedLen(len(data)) > maxImage:
		return invalid("%s: image exceeds 5 MB maximum: %d bytes > %d bytes", at, base64.StdEncoding.EncodedLen(len(data)), maxImage)
	case is == "":
		return invalid("%s: Could not process image", at)
	case is != said:
		return invalid("%s: The image was specified using the %s media type, but the image appears to be a %s image", at, said, is)
	}
	return nil
}

// imageType knows the four kinds the API takes by their first bytes.
func imageType(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return "image/gif"
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}
