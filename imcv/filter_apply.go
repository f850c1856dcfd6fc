package imcv

import (
	"math/bits"
	"slices"

	"github.com/weftdb/weft/vector"
)

// narrow clears the bits of rows of a window that do not pass.
func (b *boundTest) narrow(mask []uint64, from, n int, s *scratch) {
	switch b.outcome {
	case nullRows:
		b.eachValid(from, n, mask, func(m, valid uint64) uint64 { return m &^ valid })
		return
	case bySpelling:
		b.narrowSpelling(mask, from)
	case byMatch:
		b.match.narrow(mask, b.unit.values.(*symbols), from)
	case byRange:
		b.narrowCodes(mask, from, n, s)
	case byFlags:
		if !b.nulls {
			b.narrowCodes(mask, from, n, s)
			break
		}
		var before [maskWords]uint64
		copy(before[:], mask)
		b.narrowCodes(mask, from, n, s)
		i := 0
		b.eachValid(from, n, mask, func(m, valid uint64) uint64 {
			i++
			return m&valid | before[i-1]&^valid
		})
		return
	}
	if b.unit.valid != nil {
		b.eachValid(from, n, mask, func(m, valid uint64) uint64 { return m & valid })
	}
}

// eachValid replaces each word of the mask, seeing which of its rows are not NULL.
func (b *boundTest) eachValid(from, n int, mask []uint64, f func(m, valid uint64) uint64) {
	valid := b.unit.valid
	shift, word := uint(from&63), from>>6
	for i := range mask {
		w := valid[word+i] >> shift
		if shift > 0 && word+i+1 < len(valid) {
			w |= valid[word+i+1] << (64 - shift)
		}
		mask[i] = f(mask[i], w)
	}
}

func (b *boundTest) narrowCodes(mask []uint64, from, n int, s *scratch) {
	switch {
	case b.codes.starts != nil:
		b.narrowRuns(mask, from, n)
	case b.codes.slope != 0:
		switch b.onSlope(from, n) {
		case allRows:
			return
		case noRows:
			clear(mask)
			return
		}
		values := s.ints(n)
		readInts(values, b.codes, from)
		maskCodes(mask, vector.BytesOf(values), 0, n, 8, b.low, b.span)
	default:
		b.narrowRange(mask, from, n)
	}
}

// onSlope decides on a whole window by the part of the line that it lies on.
func (b *boundTest) onSlope(from, n int) outcome {
	s := b.codes
	if b.low+b.span < b.low || int64(b.low+b.span) < int64(b.low) {
		return someRows // all values but one
	}
	low, high := s.base+s.slope*int64(from), s.base+s.slope*int64(from+n-1)
	low, high = min(low, high), max(low, high)
	if s.width > 0 {
		high += 1<<(8*s.width) - 1
	}
	switch {
	case high < low: // too far out to say
		return someRows
	case low > int64(b.low+b.span) || high < int64(b.low):
		return noRows
	case low >= int64(b.low) && high <= int64(b.low+b.span):
		return allRows
	}
	return someRows
}

// narrowRange tests codes from one on.
func (b *boundTest) narrowRange(mask []uint64, from, n int) {
	data := b.codes.codes
	if b.outcome == byFlags {
		if b.codes.width == 1 {
			maskFlags(mask, data[from:from+n], b.flags)
		} else {
			maskFlags(mask, asSlice[uint16](data)[from:from+n], b.flags)
		}
		return
	}
	maskCodes(mask, data, from, n, b.codes.width, b.low, b.span)
}

// narrowRuns tests the code of each run that meets the window.
func (b *boundTest) narrowRuns(mask []uint64, from, n int) {
	starts := b.codes.starts
	first, last := b.codes.run(from), b.codes.run(from+n-1)
	var runs [maskWords]uint64
	for i := range runs {
		runs[i] = ^uint64(0)
	}
	b.narrowRange(runs[:(last-first+64)/64], first, last-first+1)
	for run := first; run <= last; run++ {
		if k := run - first; runs[k>>6]>>(k&63)&1 != 0 {
			continue
		}
		low, high := max(int(starts[run]), from), from+n
		if run < last {
			high = int(starts[run+1])
		}
		clearRange(mask, low-from, high-from)
	}
}

// clearRange clears bits low … high−1.
func clearRange(mask []uint64, low, high int) {
	for low < high {
		end := min(high, (low|63)+1)
		ones := ^uint64(0) >> (64 - (end - low))
		mask[low>>6] &^= ones << (low & 63)
		low = end
	}
}

// narrowSpelling looks at the spellings of the rows that are left.
func (b *boundTest) narrowSpelling(mask []uint64, from int) {
	x := b.unit.values.(*symbols)
	for w := range mask {
		for rest := mask[w]; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros64(rest)
			codes := x.at(from + w*64 + i)
			if !slices.ContainsFunc(b.spellings, func(s []uint16) bool { return slices.Equal(s, codes) }) {
				mask[w] &^= 1 << i
			}
		}
	}
}
