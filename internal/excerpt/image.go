package excerpt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/webp"

	"github.com/khaelor/khaelor/internal/wording"
	"github.com/khaelor/khaelor/internal/workspace"
)

// What the Messages API takes of a picture.
const (
	// encodedLimit is its bytes in base64, and imageLimit the same unencoded.
	encodedLimit = 5 << 20
	imageLimit   = encodedLimit / 4 * 3
	// edgeLimit is the longest edge, in pixels, that a request with more than 20
	// pictures may have; one with fewer may have 8000. A long session comes to
	// hold more, and the models see no finer than this.
	edgeLimit = 2000
)

// What may be decoded to be made smaller.
const (
	imageFileLimit = 64 << 20
	decodedLimit   = 256 << 20 // bytes of memory
)

// readImage shows a picture, made to fit when it is too large.
func readImage(f workspace.File, kind string, q Request) (Excerpt, error) {
	data, ok, err := whole(f, imageFileLimit)
	if err != nil {
		return Excerpt{}, err
	}
	const remedy = "Make it smaller with bash (magick, ffmpeg)."
	if !ok {
		return Excerpt{}, refusef("%s (%s) has %d bytes; at most %d can be shown. %s", q.Name, kind, f.Info().Size, imageFileLimit, remedy)
	}
	p := picture{kind: kind, data: data}
	if err := p.measure(); err != nil {
		return Excerpt{}, refusef("%s cannot be decoded as %s, so it is not shown: %v.", q.Name, kind, err)
	}
	if p.memory() > decodedLimit {
		return Excerpt{}, refusef("%s (%s) has %dx%d pixels, more than can be shown. %s", q.Name, kind, p.config.Width, p.config.Height, remedy)
	}
	media, sent, err := p.fit()
	if err != nil {
		return Excerpt{}, refusef("%s cannot be decoded as %s, so it is not shown: %v.", q.Name, kind, err)
	}
	said := fmt.Sprintf("%s, %dx%d, %d bytes", kind, p.config.Width, p.config.Height, len(data))
	if sent != p.size() || media.Type != kind {
		said += fmt.Sprintf("; shown as %s, %dx%d", media.Type, sent.X, sent.Y)
	}
	sum := sha256.Sum256(data)
	return Excerpt{
		Head:   "[" + wording.Name(q.Name) + ": " + said + "]",
		Extent: fmt.Sprintf("%s, %dx%d", kind, p.config.Width, p.config.Height),
		SHA256: hex.EncodeToString(sum[:]), Media: &media,
	}, nil
}

// picture is the file of a picture. Its size is known before it is decoded.
type picture struct {
	kind   string
	data   []byte
	config image.Config
	turned int  // how it is to be turned, as Exif numbers it; 1 when not at all
	waves  bool // a JPEG that is decoded in several passes, which takes more memory
	frame  []byte
}

// measure reads the head of a picture.
func (p *picture) measure() (err error) {
	p.turned = 1
	switch p.kind {
	case typePNG:
		p.config, err = png.DecodeConfig(bytes.NewReader(p.data))
	case typeGIF:
		p.config, err = gif.DecodeConfig(bytes.NewReader(p.data))
	case typeJPEG:
		p.turned, p.waves = jpegHead(p.data)
		p.config, err = jpeg.DecodeConfig(bytes.NewReader(p.data))
	case typeWebP:
		if p.frame, err = webpFrame(p.data); err == nil {
			p.config, err = webp.DecodeConfig(bytes.NewReader(p.frame))
		}
	}
	if err == nil && (p.config.Width <= 0 || p.config.Height <= 0) {
		err = errors.New("it has no pixels")
	}
	return err
}

// size is that of the picture as it is seen.
func (p *picture) size() image.Point {
	if p.turned > 4 {
		return image.Pt(p.config.Height, p.config.Width)
	}
	return image.Pt(p.config.Width, p.config.Height)
}

// memory is how many bytes the decoder will take, at most.
func (p *picture) memory() int64 {
	each := int64(4)
	switch p.config.ColorModel {
	case color.RGBA64Model, color.NRGBA64Model:
		each = 8
	}
	if p.waves {
		each = 16 // the coefficients of all passes are kept
	}
	return each * int64(p.config.Width) * int64(p.config.Height)
}

func (p *picture) decode() (image.Image, error) {
	switch p.kind {
	case typePNG:
		return png.Decode(bytes.NewReader(p.data))
	case typeGIF:
		return gif.Decode(bytes.NewReader(p.data)) // its first frame
	case typeJPEG:
		return jpeg.Decode(bytes.NewReader(p.data))
	}
	return webp.Decode(bytes.NewReader(p.frame))
}

// fit is the picture as it is, when the API takes it, else one that it takes. It
// is decoded in any case: what is cut short the API refuses.
func (p *picture) fit() (Media, image.Point, error) {
	img, err := p.decode()
	if err != nil {
		return Media{}, image.Point{}, err
	}
	if len(p.data) <= imageLimit && max(p.config.Width, p.config.Height) <= edgeLimit {
		return Media{Type: p.kind, Data: p.data}, p.size(), nil
	}
	for edge := edgeLimit; ; edge = edge * 3 / 4 {
		small := turn(shrink(img, within(img.Bounds().Size(), edge)), p.turned)
		if media, ok := encode(small, p.kind == typeJPEG); ok {
			return media, small.Bounds().Size(), nil
		}
	}
}

// within is the largest size of the same shape whose edges have at most so many
// pixels.
func within(size image.Point, edge int) image.Point {
	long := max(size.X, size.Y)
	if long <= edge {
		return size
	}
	return image.Pt(max(size.X*edge/long, 1), max(size.Y*edge/long, 1))
}

// encode makes a file of a picture. What was no JPEG stays sharp, as long as
// that is not large; what is transparent stays so when there is room.
func encode(img *image.RGBA, photo bool) (Media, bool) {
	if !photo {
		var b bytes.Buffer
		limit := imageLimit
		if img.Opaque() {
			limit = 1 << 20
		}
		if err := png.Encode(&b, img); err == nil && b.Len() <= limit {
			return Media{Type: typePNG, Data: b.Bytes()}, true
		}
	}
	onWhite(img)
	for quality := 85; quality >= 40; quality -= 15 {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err == nil && b.Len() <= imageLimit {
			return Media{Type: typeJPEG, Data: b.Bytes()}, true
		}
	}
	return Media{}, false
}

// onWhite puts white behind what is transparent, in place.
func onWhite(img *image.RGBA) {
	for i := 0; i+3 < len(img.Pix); i += 4 {
		rest := 255 - img.Pix[i+3]
		for c := range 3 {
			img.Pix[i+c] += rest // the colours are multiplied by alpha already
		}
		img.Pix[i+3] = 255
	}
}
