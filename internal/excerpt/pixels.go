package excerpt

import (
	"image"
	"image/draw"
)

// shrink scales a picture down by the mean of what each pixel covers. It goes
// row by row, so that it takes little memory beside the picture itself.
func shrink(img image.Image, size image.Point) *image.RGBA {
	from := img.Bounds()
	out := image.NewRGBA(image.Rectangle{Max: size})
	if from.Size() == size {
		draw.Draw(out, out.Bounds(), img, from.Min, draw.Src)
		return out
	}
	row := image.NewRGBA(image.Rect(0, 0, from.Dx(), 1))
	narrow := make([]float32, 4*size.X) // a row of the source, as wide as the result
	sum := make([]float32, 4*size.X)    // of the rows that a row of the result covers
	across := spread(from.Dx(), size.X)
	down := spread(from.Dy(), size.Y)
	for y := range from.Dy() {
		draw.Draw(row, row.Bounds(), img, image.Pt(from.Min.X, from.Min.Y+y), draw.Src)
		clear(narrow)
		for x, s := range across {
			for c := range 4 {
				v := float32(row.Pix[4*x+c])
				narrow[4*s.at+c] += v * s.here
				if s.next > 0 {
					narrow[4*s.at+4+c] += v * s.next
				}
			}
		}
		s := down[y]
		add(sum, narrow, s.here)
		if y == from.Dy()-1 || down[y+1].at > s.at {
			put(out, s.at, sum)
			clear(sum)
			add(sum, narrow, s.next)
		}
	}
	return out
}

// share is how much of a pixel goes into a pixel of the result, and into the
// one behind it.
type share struct {
	at         int
	here, next float32
}

// spread shares n pixels out among m.
func spread(n, m int) []share {
	shares := make([]share, n)
	for i := range shares {
		// In units of 1/n of a pixel of the result, pixel i covers [i*m, i*m+m).
		at := i * m / n
		over := max(i*m+m-(at+1)*n, 0)
		shares[i] = share{at: at, here: float32(m-over) / float32(n), next: float32(over) / float32(n)}
	}
	return shares
}

func add(sum, row []float32, weight float32) {
	for i, v := range row {
		sum[i] += v * weight
	}
}

func put(out *image.RGBA, y int, row []float32) {
	pix := out.Pix[y*out.Stride:]
	for i, v := range row {
		pix[i] = uint8(min(v+0.5, 255))
	}
}

// turn brings a picture upright that its Exif data calls turned, by the numbers
// of the Exif standard (2.32, tag 274).
func turn(img *image.RGBA, orientation int) *image.RGBA {
	if orientation < 2 || orientation > 8 {
		return img
	}
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	size := image.Rect(0, 0, w, h)
	if orientation > 4 {
		size = image.Rect(0, 0, h, w)
	}
	out := image.NewRGBA(size)
	for y := range size.Dy() {
		for x := range size.Dx() {
			sx, sy := source(orientation, x, y, w, h)
			out.SetRGBA(x, y, img.RGBAAt(sx, sy))
		}
	}
	return out
}

// source is the pixel of a turned picture of w by h that is seen at x, y.
func source(orientation, x, y, w, h int) (int, int) {
	switch orientation {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return y, h - 1 - x
	case 7:
		return w - 1 - y, h - 1 - x
	}
	return w - 1 - y, x
}
