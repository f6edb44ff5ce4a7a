package excerpt

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/webp"
)

// drawing is a picture of few colours with a red left upper corner.
func drawing(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{0, 0, 255, 255}
			if x < w/2 && y < h/2 {
				c = color.NRGBA{255, 0, 0, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

// noise is a picture that no encoder makes small.
func noise(w, h int, opaque bool) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.NewChaCha8([32]byte{})
	_, _ = r.Read(img.Pix)
	for i := 3; opaque && i < len(img.Pix); i += 4 {
		img.Pix[i] = 255
	}
	return img
}

func asPNG(img image.Image) string {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.String()
}

func asJPEG(img image.Image) string {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 95}); err != nil {
		panic(err)
	}
	return b.String()
}

func asGIF(frames ...*image.NRGBA) string {
	all := &gif.GIF{}
	for _, f := range frames {
		p := image.NewPaletted(f.Bounds(), palette.WebSafe)
		for y := range f.Rect.Dy() {
			for x := range f.Rect.Dx() {
				p.Set(x, y, f.At(x, y))
			}
		}
		all.Image, all.Delay = append(all.Image, p), append(all.Delay, 10)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, all); err != nil {
		panic(err)
	}
	return b.String()
}

// exif puts an orientation into a JPEG.
func exif(jpg string, order binary.AppendByteOrder, mark string, orientation uint16) string {
	tiff := []byte(mark)
	tiff = order.AppendUint16(tiff, 42)
	tiff = order.AppendUint32(tiff, 8)
	tiff = order.AppendUint16(tiff, 2)
	for _, tag := range []uint16{271, 274} {
		tiff = order.AppendUint16(order.AppendUint16(tiff, tag), 3)
		tiff = order.AppendUint32(tiff, 1)
		tiff = order.AppendUint16(order.AppendUint16(tiff, orientation), 0)
	}
	segment := append([]byte("Exif\x00\x00"), tiff...)
	head := binary.BigEndian.AppendUint16([]byte("\xff\xe1"), uint16(len(segment)+2))
	return jpg[:2] + string(head) + string(segment) + jpg[2:]
}

// chunk is a part of a RIFF file.
func chunk(name string, data ...string) string {
	body := strings.Join(data, "")
	size := string(binary.LittleEndian.AppendUint32(nil, uint32(len(body))))
	if len(body)%2 == 1 {
		body += "\x00"
	}
	return name + size + body
}

// plain is a lossless WebP of one colour: five codes of one symbol each, and no
// bits for the pixels.
func plain(w, h int) string {
	bits, n := uint64(0), 0
	var out []byte
	put := func(value uint64, count int) {
		bits |= value << n
		for n += count; n >= 8; n -= 8 {
			out = append(out, byte(bits))
			bits >>= 8
		}
	}
	put(0x2f, 8)
	put(uint64(w-1), 14)
	put(uint64(h-1), 14)
	put(0, 1+3+1+1+1) // no alpha, version 0, no transform, no cache, no groups
	for _, symbol := range []uint64{0x40, 0xff, 0x80, 0xff, 0} {
		put(1|0<<1|1<<2|symbol<<3, 11)
	}
	put(0, 7)
	return chunk("RIFF", "WEBP", chunk("VP8L", string(out)))
}

// animated is a WebP of two frames.
func animated(w, h int) string {
	frame := chunk("ANMF", strings.Repeat("\x00", 16), plain(w, h)[12:])
	vp8x := chunk("VP8X", "\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	return chunk("RIFF", "WEBP", vp8x, chunk("ANIM", "\x00\x00\x00\x00\x00\x00"), frame, frame)
}

// decoded reads what is sent as the service would.
func decoded(t testing.TB, m Media) image.Image {
	t.Helper()
	var img image.Image
	var err error
	switch m.Type {
	case typePNG:
		img, err = png.Decode(bytes.NewReader(m.Data))
	case typeJPEG:
		img, err = jpeg.Decode(bytes.NewReader(m.Data))
	case typeGIF:
		img, err = gif.Decode(bytes.NewReader(m.Data))
	default:
		frame, _ := webpFrame(m.Data)
		img, err = webp.Decode(bytes.NewReader(frame))
	}
	must(t, err)
	if n := base64.StdEncoding.EncodedLen(len(m.Data)); n > encodedLimit {
		t.Errorf("%d bytes in base64", n)
	}
	if max(img.Bounds().Dx(), img.Bounds().Dy()) > edgeLimit {
		t.Errorf("%v pixels", img.Bounds())
	}
	return img
}

func TestAPictureThatFitsGoesAsItIs(t *testing.T) { // Read 6: its type is that of its bytes
	files := map[string]string{
		"a.png": asPNG(drawing(20, 10)), "jpeg.png": asJPEG(drawing(20, 10)), "c.gif": asGIF(drawing(20, 10), drawing(20, 10)),
		"d.txt": plain(75, 100), "anim.webp": animated(75, 100), "edge": asPNG(drawing(2000, 1)),
	}
	f := newFolder(t, files)
	for name, want := range map[string]string{
		"a.png": "image/png, 20x10", "jpeg.png": "image/jpeg, 20x10", "c.gif": "image/gif, 20x10", "d.txt": "image/webp, 75x100",
		"anim.webp": "image/webp, 75x100", "edge": "image/png, 2000x1",
	} {
		e := f.read(name)
		equal(t, e.Text(), fmt.Sprintf("[%s: %s, %d bytes]", name, want, len(files[name])))
		if e.Media == nil || string(e.Media.Data) != files[name] || !strings.HasPrefix(want, e.Media.Type) {
			t.Errorf("%s: the picture was changed", name)
		}
		if fact := e.Fact(name); fact.SHA256 == "" || fact.Bytes != int64(len(files[name])) {
			t.Errorf("%s: got %+v", name, fact)
		}
	}
}

func TestADrawingAsTextIsText(t *testing.T) { // Read 6
	f := newFolder(t, map[string]string{"not_a_png.png": "<svg xmlns='x'/>\n"})
	e := f.read("not_a_png.png")
	equal(t, e.Text(), "<svg xmlns='x'/>\n")
	if e.Media != nil {
		t.Error("it went out as a picture")
	}
}

func TestAPictureTooLargeIsMadeToFit(t *testing.T) {
	clear := drawing(3000, 100)
	for i := 3; i < len(clear.Pix)/2; i += 4 {
		clear.Pix[i] = 0
	}
	padding := strings.Repeat("\x00", imageLimit) // which decoders pass over
	files := map[string]string{
		"wide.png": asPNG(drawing(4000, 200)), "tall.jpg": asJPEG(drawing(100, 9000)), "long.gif": asGIF(drawing(2500, 20), drawing(2500, 20)),
		"clear.png": asPNG(clear), "noise.png": asPNG(noise(700, 700, true)) + padding, "alpha.png": asPNG(noise(1000, 1000, false)) + padding,
		"plain.png": asPNG(drawing(10, 10)) + padding,
		"line.png":  asPNG(drawing(20_000, 1)), "big.webp": plain(8000, 400), "anim.webp": animated(4000, 20),
	}
	f := newFolder(t, files)
	for name, want := range map[string]string{
		"wide.png": "image/png, 2000x100", "tall.jpg": "image/jpeg, 22x2000", "long.gif": "image/png, 2000x16",
		"clear.png": "image/png, 2000x66", "noise.png": "image/jpeg, 700x700", "alpha.png": "image/jpeg, 1000x1000", "line.png": "image/png, 2000x1", "plain.png": "image/png, 10x10",
		"big.webp": "image/png, 2000x100", "anim.webp": "image/png, 2000x10",
	} {
		e := f.read(name)
		if !strings.HasSuffix(e.Head, "bytes; shown as "+want+"]") && name != "plain.png" || e.Body != "" {
			t.Errorf("got %q, want %s", e.Text(), want)
		}
		img := decoded(t, *e.Media)
		equal(t, fmt.Sprintf("%s, %dx%d", e.Media.Type, img.Bounds().Dx(), img.Bounds().Dy()), want)
		if e.Fact(name).Bytes != int64(len(files[name])) {
			t.Errorf("%s: the fact is not about the file", name)
		}
	}
	img := decoded(t, *f.read("wide.png").Media)
	if r, _, b, _ := img.At(0, 0).RGBA(); r>>8 != 255 || b != 0 {
		t.Errorf("the corner is %v", img.At(0, 0))
	}
	if _, _, _, a := decoded(t, *f.read("clear.png").Media).At(0, 0).RGBA(); a != 0 {
		t.Error("transparency was lost")
	}
}

func TestAPictureIsTurnedAsItsExifSays(t *testing.T) {
	// The red corner of a stored picture is where the orientation puts it.
	corners := map[uint16]string{1: "top left", 2: "top right", 3: "bottom right", 4: "bottom left", 5: "top left", 6: "top right", 7: "bottom right", 8: "bottom left"}
	jpg := asJPEG(drawing(2100, 210)) // too large, so that it is made anew
	for o, want := range corners {
		size := image.Pt(2000, 200)
		if o > 4 {
			size = image.Pt(200, 2000)
		}
		mark, order := "II", binary.AppendByteOrder(binary.LittleEndian)
		if o%2 == 0 {
			mark, order = "MM", binary.BigEndian
		}
		f := newFolder(t, map[string]string{"p.jpg": exif(jpg, order, mark, o)})
		img := decoded(t, *f.read("p.jpg").Media)
		if img.Bounds().Size() != size {
			t.Errorf("%d: got %v", o, img.Bounds())
		}
		for name, at := range map[string]image.Point{
			"top left": {10, 10}, "top right": {size.X - 10, 10}, "bottom left": {10, size.Y - 10}, "bottom right": size.Sub(image.Pt(10, 10)),
		} {
			if r, _, _, _ := img.At(at.X, at.Y).RGBA(); (r>>8 > 200) != (name == want) {
				t.Errorf("%d: the %s is %v", o, name, img.At(at.X, at.Y))
			}
		}
	}
	f := newFolder(t, map[string]string{"p.jpg": exif(asJPEG(drawing(20, 10)), binary.LittleEndian, "II", 6)})
	if e := f.read("p.jpg"); !strings.HasPrefix(e.Head, "[p.jpg: image/jpeg, 20x10,") || strings.Contains(e.Head, "shown") {
		t.Errorf("a picture that fits goes as it is: %s", e.Head)
	}
}

// bomb is a PNG whose head claims a size that its data do not have.
func bomb(w, h uint32) string {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), w), h)
	head = append(head, 8, 6, 0, 0, 0)
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(head))
	return "\x89PNG\r\n\x1a\n\x00\x00\x00\x0d" + string(head) + string(sum) + asPNG(drawing(1, 1))[33:]
}

func TestAPictureThatTheServiceWouldRefuseIsRefusedHere(t *testing.T) {
	whole, jpg := asPNG(drawing(100, 100)), asJPEG(drawing(100, 100))
	webP := plain(9, 9)
	liar := chunk("RIFF", "WEBP", chunk("VP8X", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), plain(16384, 16384)[12:])
	f := newFolder(t, map[string]string{
		"head.png": whole[:20], "half.png": whole[:len(whole)/2], "half.jpg": jpg[:len(jpg)/2], "half.gif": asGIF(drawing(100, 100))[:30],
		"half.webp": webP[:len(webP)-9], "no.webp": "RIFF\x04\x00\x00\x00WEBP", "magic.gif": "GIF89a", "bomb.png": bomb(60_000, 60_000),
		"liar.webp": liar, "zero.png": bomb(0, 0),
	})
	for _, name := range []string{"head.png", "half.png", "half.jpg", "half.gif", "half.webp", "no.webp", "magic.gif", "zero.png"} {
		f.refused(name, "cannot be decoded as image/")
	}
	f.refused("bomb.png", "60000x60000", "smaller")
	f.refused("liar.webp", "16384x16384", "smaller")
	must(t, os.Truncate(filepath.Join(f.dir, "half.png"), imageFileLimit+1))
	f.refused("half.png", "image/png", "smaller")
}

func TestADocumentIsHeldToTheLimitsOfTheService(t *testing.T) {
	pdf := func(tree string) string {
		return "%PDF-1.7\n1 0 obj\n" + tree + "\nendobj\ntrailer\n<< /Root 1 0 R >>\nstartxref\n9\n%%EOF\n"
	}
	f := newFolder(t, map[string]string{
		"ok.pdf":       pdf("<< /Type /Pages /Kids [2 0 R] /Count 3 >>"),
		"packed.pdf":   pdf("<< /Type /ObjStm >>"),
		"outline.pdf":  pdf("<< /Type /Outlines /Count 900 >> << /Count 2 /Type/Pages >>"),
		"long.pdf":     pdf("<< /Type /Pages /Count 101 /Kids [] >>"),
		"locked.pdf":   pdf("<< /Encrypt 5 0 R >>"),
		"cut.pdf":      "%PDF-1.7\n",
		"misnamed.png": pdf("<< /Type /Pages /Count 1 >>"),
	})
	for name, want := range map[string]string{
		"ok.pdf": "3 pages, ", "packed.pdf": "application/pdf, ", "outline.pdf": "2 pages, ", "misnamed.png": "1 page, ",
	} {
		if e := f.read(name); !strings.Contains(e.Head, want) || e.Media.Type != typePDF {
			t.Errorf("%s: got %q", name, e.Text())
		}
	}
	f.refused("long.pdf", "101 pages", "at most 100", "bash")
	f.refused("locked.pdf", "encrypted", "bash")
	f.refused("cut.pdf", "damaged")
	must(t, os.Truncate(filepath.Join(f.dir, "cut.pdf"), documentLimit+1))
	f.refused("cut.pdf", "at most 20971520", "bash")
}

func TestAPictureIsShrunkToItsMean(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {2, 3}, {7, 5}, {99, 1}, {50, 50}, {99, 100}} {
		img := shrink(noiseGray(100, 100), size)
		if img.Bounds().Size() != size {
			t.Fatalf("got %v", img.Bounds())
		}
		sum := 0.0
		for i := 0; i < len(img.Pix); i += 4 {
			sum += float64(img.Pix[i])
			if img.Pix[i+3] != 255 {
				t.Fatalf("%v: a pixel has alpha %d", size, img.Pix[i+3])
			}
		}
		if mean := sum / float64(size.X*size.Y); mean < 117 || mean > 122 {
			t.Errorf("%v: the mean is %f", size, mean)
		}
	}
}

// noiseGray has a mean of about 119.5.
func noiseGray(w, h int) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * 7 % 240)
	}
	return img
}

func FuzzPictures(f *testing.F) {
	for _, s := range []string{
		asPNG(drawing(5, 4)), asJPEG(drawing(9, 8)), asGIF(drawing(5, 4), drawing(5, 4)), plain(5, 4), animated(5, 4), bomb(9, 9),
		exif(asJPEG(drawing(8, 8)), binary.BigEndian, "MM", 6),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		kind := mediaType(data)
		if !strings.HasPrefix(kind, "image/") {
			return
		}
		p := picture{kind: kind, data: data}
		if p.measure() != nil || p.memory() > 4<<20 {
			return
		}
		media, size, err := p.fit()
		if err != nil {
			return
		}
		if img := decoded(t, media); size.X*size.Y != img.Bounds().Dx()*img.Bounds().Dy() {
			t.Errorf("said %v, sent %v", size, img.Bounds())
		}
	})
}

// What a document says of itself may be made to be searched for ever.
func TestTheLookForPagesIsBounded(t *testing.T) {
	hostile := "%PDF-1.4\n<<" + strings.Repeat("/Type /Pages ", 800_000) + "\nstartxref\n"
	if n := pagesOf([]byte(hostile)); n != 0 {
		t.Errorf("%d pages", n)
	}
	for text, want := range map[string]int{
		"<< /Type /Pages /Kids [1 0 R] /Count 7 >>":                                  7,
		"<< /Count 8 /Kids [1 0 R] /Type /Pages >>":                                  8,
		"<< /Count 3 >> << /Type /Pages >> << /Count 4 >>":                           0,
		"<< /Type /Pages /Count 2 >> << /Type /Pages /Count 120 >>":                  120,
		"<< /Type /Pages /Kids [" + strings.Repeat("1 0 R ", 900) + "] /Count 90 >>": 90,
	} {
		if got := pagesOf([]byte(text)); got != want {
			t.Errorf("%.60s: %d pages, want %d", text, got, want)
		}
	}
}
