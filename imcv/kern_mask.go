package imcv

import (
	"math/bits"
	"unsafe"

	"github.com/weftdb/weft/vector"
)

// Filters work on masks: bit i of a mask says whether row i of a window may pass. Comparing without
// branches, 64 rows a word, costs the same whatever the share of hits, and conditions are joined by AND.

// maskWords is the number of words for the rows of a batch.
const maskWords = 1024 / 64

// maskCodes clears the bits of rows whose code is not within low … low+span, counted modulo the codes'
// width in bytes. mask has a bit for each of the n codes from the given one on.
func maskCodes(mask []uint64, data []byte, from, n, width int, low, span uint64) {
	switch width {
	case 1:
		codes := data[from : from+n]
		done := maskBlocks8(mask, codes, uint8(low), uint8(span))
		maskRange(mask[done:], codes[done*64:], uint8(low), uint8(span))
	case 2:
		codes := asSlice[uint16](data)[from : from+n]
		done := maskBlocks16(mask, codes, uint16(low), uint16(span))
		maskRange(mask[done:], codes[done*64:], uint16(low), uint16(span))
	case 4:
		codes := asSlice[uint32](data)[from : from+n]
		done := maskBlocks32(mask, codes, uint32(low), uint32(span))
		maskRange(mask[done:], codes[done*64:], uint32(low), uint32(span))
	case 8:
		codes := asSlice[uint64](data)[from : from+n]
		done := maskBlocks64(mask, codes, low, span)
		maskRange64(mask[done:], codes[done*64:], low, span)
	}
}

// maskRange clears the bits of rows whose code is not within low … low+span, counted modulo the codes'
// width. mask has a bit for each code.
func maskRange[C uint8 | uint16 | uint32](mask []uint64, codes []C, low, span C) {
	limit := uint64(span)
	for len(codes) >= 64 {
		block := (*[64]C)(codes)
		out := uint64(0)
		for i := 0; i < 64; i += 8 {
			c := (*[8]C)(block[i:])
			// The borrow of the subtraction is the answer.
			outside := (limit-uint64(c[0]-low))>>63 | (limit-uint64(c[1]-low))>>63<<1 |
				(limit-uint64(c[2]-low))>>63<<2 | (limit-uint64(c[3]-low))>>63<<3 |
				(limit-uint64(c[4]-low))>>63<<4 | (limit-uint64(c[5]-low))>>63<<5 |
				(limit-uint64(c[6]-low))>>63<<6 | (limit-uint64(c[7]-low))>>63<<7
			out |= outside << (i & 63)
		}
		mask[0] &^= out
		mask, codes = mask[1:], codes[64:]
	}
	for i, c := range codes {
		mask[0] &^= (limit - uint64(c-low)) >> 63 << (i & 63)
	}
}

// maskRange64 is maskRange for codes of 8 bytes.
func maskRange64(mask []uint64, codes []uint64, low, span uint64) {
	for len(codes) >= 64 {
		block := (*[64]uint64)(codes)
		out := uint64(0)
		for i := 0; i < 64; i += 4 {
			c := (*[4]uint64)(block[i:])
			_, a := bits.Sub64(span, c[0]-low, 0)
			_, b := bits.Sub64(span, c[1]-low, 0)
			_, d := bits.Sub64(span, c[2]-low, 0)
			_, e := bits.Sub64(span, c[3]-low, 0)
			out |= (a | b<<1 | d<<2 | e<<3) << (i & 63)
		}
		mask[0] &^= out
		mask, codes = mask[1:], codes[64:]
	}
	for i, c := range codes {
		_, outside := bits.Sub64(span, c-low, 0)
		mask[0] &^= outside << (i & 63)
	}
}

// maskFlags clears the bits of rows whose code has no flag; flags are 0 or 1.
func maskFlags[C uint8 | uint16 | uint32 | uint64](mask []uint64, codes []C, flags []uint8) {
	for w := 0; len(codes) > 0; w++ {
		n := min(64, len(codes))
		in := uint64(0)
		for i, c := range codes[:n] {
			in |= uint64(flags[c]) << (i & 63)
		}
		mask[w] &= in
		codes = codes[n:]
	}
}

// positionsOf lists, for each byte, the positions of its set bits, four to a word.
var positionsOf = func() (table [256][2]uint64) {
	for b := range 256 {
		k := 0
		for i := range 8 {
			if b>>i&1 != 0 {
				table[b][k/4] |= uint64(i) << (k % 4 * 16)
				k++
			}
		}
	}
	return table
}()

// sparseWord is the number of set bits of a word up to which they are looked for one by one.
const sparseWord = 10

// selection turns the mask of n rows into a selection: nil when all rows pass, else out's memory.
func selection(mask []uint64, n int, out vector.Sel) (sel vector.Sel, all bool) {
	count := 0
	for _, w := range mask {
		count += bits.OnesCount64(w)
	}
	if count == n {
		return nil, true
	}
	if cap(out) < n+8 { // bytes are written out as eight positions each
		out = make(vector.Sel, 0, max(n, vector.BatchCap)+8)
	}
	room := out[:n+8]
	k := 0
	for w, m := range mask {
		if bits.OnesCount64(m) <= sparseWord {
			for ; m != 0; m &= m - 1 {
				room[k] = uint16(w*64 + bits.TrailingZeros64(m))
				k++
			}
			continue
		}
		for i := 0; i < 64; i += 8 {
			b := uint8(m >> i)
			base := uint64(w*64+i) * 0x0001_0001_0001_0001
			to := (*[2]uint64)(unsafe.Pointer((*[8]uint16)(room[k:])))
			to[0], to[1] = positionsOf[b][0]+base, positionsOf[b][1]+base
			k += bits.OnesCount8(b)
		}
	}
	return room[:k], false
}
