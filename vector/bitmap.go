package vector

import "math/bits"

// Bitmap is a bit per row, least significant bit first, as in Arrow.
type Bitmap []uint64

// NewBitmap returns a bitmap of n zero bits.
func NewBitmap(n int) Bitmap { return make(Bitmap, (n+63)/64) }

// Get reports bit i.
func (m Bitmap) Get(i int) bool { return m[i>>6]>>(uint(i)&63)&1 != 0 }

// Set sets bit i.
func (m Bitmap) Set(i int) { m[i>>6] |= 1 << (uint(i) & 63) }

// Clear clears bit i.
func (m Bitmap) Clear(i int) { m[i>>6] &^= 1 << (uint(i) & 63) }

// Count returns the number of set bits among the first n.
func (m Bitmap) Count(n int) int {
	count, full := 0, n>>6
	for _, w := range m[:full] {
		count += bits.OnesCount64(w)
	}
	if rest := uint(n) & 63; rest != 0 {
		count += bits.OnesCount64(m[full] & (1<<rest - 1))
	}
	return count
}

// Fill sets the first n bits and clears the rest of the last word.
func (m Bitmap) Fill(n int) {
	full := n >> 6
	for i := range m[:full] {
		m[i] = ^uint64(0)
	}
	if rest := uint(n) & 63; rest != 0 {
		m[full] = 1<<rest - 1
	}
}

// Zero clears all bits.
func (m Bitmap) Zero() { clear(m) }

// Grow returns m with room for n bits; new bits are zero. The old contents are kept.
func (m Bitmap) Grow(n int) Bitmap {
	words := (n + 63) / 64
	if words <= cap(m) {
		old := len(m)
		m = m[:words]
		if words > old {
			clear(m[old:])
		}
		return m
	}
	grown := make(Bitmap, words)
	copy(grown, m)
	return grown
}
