package workspace

import "bytes"

// Rolling keeps the last Limit bytes of a stream and counts all of them, so
// that an offset means the same byte for ever. It holds no more memory than
// it keeps bytes, rounded up to a power of two, and never more than Limit. It
// is not safe for concurrent use.
type Rolling struct {
	Limit int // changed by Shrink only, once there are bytes

	ring  []byte // full, or its bytes begin at 0
	start int    // of the oldest byte in a full ring
	size  int    // bytes kept
	total int64
}

// smallest is the least memory a Rolling takes, in bytes.
const smallest = 512

// Append adds a chunk, forgetting the oldest bytes beyond Limit.
func (r *Rolling) Append(chunk []byte) {
	r.total += int64(len(chunk))
	if over := len(chunk) - r.Limit; over > 0 {
		chunk = chunk[over:]
	}
	r.grow(r.size + len(chunk))
	for len(chunk) > 0 {
		end := (r.start + r.size) % len(r.ring)
		n := copy(r.ring[end:], chunk)
		chunk = chunk[n:]
		r.size += n
		if over := r.size - len(r.ring); over > 0 {
			r.start, r.size = (r.start+over)%len(r.ring), len(r.ring)
		}
	}
}

// grow makes room for n bytes, as far as Limit allows.
func (r *Rolling) grow(n int) {
	if n <= len(r.ring) || len(r.ring) >= r.Limit {
		return
	}
	room := max(len(r.ring), smallest)
	for room < n {
		room *= 2
	}
	r.move(min(room, r.Limit))
}

// move keeps what fits in a ring of another size.
func (r *Rolling) move(room int) {
	ring := make([]byte, room)
	n := 0
	for _, part := range r.parts(min(r.size, room)) {
		n += copy(ring[n:], part)
	}
	r.ring, r.start, r.size = ring, 0, n
}

// parts are the last n bytes, in order.
func (r *Rolling) parts(n int) [][]byte {
	if n == 0 {
		return nil
	}
	first := (r.start + r.size - n) % len(r.ring)
	if first+n <= len(r.ring) {
		return [][]byte{r.ring[first : first+n]}
	}
	return [][]byte{r.ring[first:], r.ring[:first+n-len(r.ring)]}
}

// Shrink lowers Limit, and gives back the memory of what is beyond it.
func (r *Rolling) Shrink(limit int) {
	r.Limit = limit
	if len(r.ring) > limit {
		r.move(limit)
	}
}

// Skip counts n bytes that were never seen, before anything that follows.
func (r *Rolling) Skip(n int64) {
	r.total += n
	r.start, r.size = 0, 0
}

// Total counts the bytes the stream had so far.
func (r *Rolling) Total() int64 { return r.total }

// From copies what is kept from offset on, and says at which offset the copy
// begins: later than asked for when that part is gone, never past the end.
func (r *Rolling) From(offset int64) (data []byte, at int64) {
	at = min(max(offset, r.total-int64(r.size)), r.total)
	return bytes.Join(r.parts(int(r.total-at)), nil), at
}
