package imcv

import (
	"math"
	"sort"
	"unsafe"

	"github.com/weftdb/weft/vector"
)

// ints is a sequence of integers, the ground that most encodings stand on: the values of integer
// columns, the codes of dictionaries, the digits of floats.
//
// The value at position i is base + step·code + slope·i, where code is the i-th one, or the one of the
// run that holds i. Codes have whole bytes: codes of an odd number of bits save up to half of the
// memory but take four times as long to unpack (BenchmarkBits), and most of what they would save is
// had from steps, runs and dictionaries.
type ints struct {
	base, step, slope int64
	width             int      // bytes of a code: 0 (all are zero), 1, 2, 4, 8
	codes             []byte   // 8-byte aligned, with room to read a word behind the last code
	starts            []uint16 // first positions of runs, nil = a code for each position
	count             int      // codes
}

// asSlice views bytes as a slice of wider integers. b must come from alignedBytes.
func asSlice[T uint16 | uint32 | uint64 | int32 | int64](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// alignedBytes returns n bytes at an 8-byte boundary.
func alignedBytes(n int) []byte {
	words := make([]uint64, (n+7)/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)[:n]
}

// widthOf returns the bytes that hold a number.
func widthOf(x uint64) int {
	switch {
	case x == 0:
		return 0
	case x <= math.MaxUint8:
		return 1
	case x <= math.MaxUint16:
		return 2
	case x <= math.MaxUint32:
		return 4
	}
	return 8
}

// intFacts is what the choice of an encoding needs to know of integers.
type intFacts struct {
	min, max int64
	step     uint64 // divides all differences
	runs     int
	first    int // position of the first value, −1 = there is none
	last     int
}

// survey looks at the values whose bits are set, and gives all others the value before them, so that
// holes and NULLs neither widen nor end anything.
func survey(x []int64, set vector.Bitmap) intFacts {
	f := intFacts{first: -1, last: -1}
	prev := int64(0)
	for i := range x {
		if !set.Get(i) {
			x[i] = prev
			continue
		}
		v := x[i]
		if f.first < 0 {
			f = intFacts{min: v, max: v, runs: 1, first: i}
			for j := range i {
				x[j] = v
			}
		} else if v != prev {
			f.runs++
			f.min, f.max = min(f.min, v), max(f.max, v)
			if f.step != 1 {
				f.step = gcd(f.step, uint64(max(v, prev))-uint64(min(v, prev)))
			}
		}
		prev, f.last = v, i
	}
	f.step = max(f.step, 1)
	return f
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// span is the largest code of packed values.
func (f *intFacts) span() uint64 { return (uint64(f.max) - uint64(f.min)) / f.step }

// packInts stores values in the smallest of the forms. raw is the width of the kind: values that do not
// become narrower stay as they are, so that vectors may share them.
func packInts(x []int64, set vector.Bitmap, f intFacts, raw int) *ints {
	s := &ints{base: f.min, step: int64(f.step), width: widthOf(f.span()), count: len(x)}
	if f.step > math.MaxInt64 { // two values that far apart
		s.step, s.width = 1, 8
	}
	if s.width >= raw {
		s.base, s.step, s.width = 0, 1, raw
	}
	size := s.width * len(x)
	if line := s.line(x, set, f); line != nil && line.width*len(x) < size {
		s, size = line, line.width*len(x)
	}
	// Runs are found by search, so they have to save something.
	if runs := f.runs * (2 + widthOf(f.span())); f.runs > 1 && 2*runs <= size {
		return packRuns(x, f)
	}
	s.pack(x)
	return s
}

// line tries offsets from a straight line: numbers that were given out in order hardly leave it.
func (s *ints) line(x []int64, set vector.Bitmap, f intFacts) *ints {
	if s.width == 0 || f.first == f.last {
		return nil
	}
	// Where this overflows, the slope is useless, yet offsets from it are right modulo 2^64.
	slope := (x[f.last] - x[f.first]) / int64(f.last-f.first)
	if slope == 0 || slope > 1<<40 || slope < -1<<40 {
		return nil
	}
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for i, v := range x {
		if set.Get(i) {
			d := v - slope*int64(i)
			low, high = min(low, d), max(high, d)
		}
	}
	l := &ints{base: low, step: 1, slope: slope, width: widthOf(uint64(high) - uint64(low)), count: len(x)}
	if l.width == 8 {
		return nil
	}
	return l
}

func packRuns(x []int64, f intFacts) *ints {
	s := &ints{base: f.min, step: int64(f.step), width: widthOf(f.span()), starts: make([]uint16, 0, f.runs)}
	if s.width == 8 {
		s.base, s.step = 0, 1
	}
	firsts := make([]int64, 0, f.runs)
	for i, v := range x {
		if i == 0 || v != x[i-1] {
			s.starts = append(s.starts, uint16(i))
			firsts = append(firsts, v)
		}
	}
	s.count = len(firsts)
	s.pack(firsts)
	return s
}

// pack makes the codes; values at positions without a row may give any.
func (s *ints) pack(x []int64) {
	s.codes = alignedBytes(s.width * s.count)
	switch s.width {
	case 1:
		packCodes(s.codes, x, s)
	case 2:
		packCodes(asSlice[uint16](s.codes), x, s)
	case 4:
		packCodes(asSlice[uint32](s.codes), x, s)
	case 8:
		packCodes(asSlice[uint64](s.codes), x, s)
	}
}

func packCodes[C uint8 | uint16 | uint32 | uint64](codes []C, x []int64, s *ints) {
	codes = codes[:len(x)]
	step := uint64(s.step)
	for i, v := range x {
		d := uint64(v) - uint64(s.base) - uint64(s.slope)*uint64(i)
		if step != 1 {
			d /= step
		}
		codes[i] = C(d)
	}
}

func (s *ints) sizeBytes() int { return len(s.codes) + 2*len(s.starts) }

// run returns the number of the run that holds a position.
func (s *ints) run(at int) int {
	return sort.Search(len(s.starts), func(k int) bool { return int(s.starts[k]) > at }) - 1
}

type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint32
}

// readInts unpacks the values of positions from … from+len(dst)−1.
func readInts[T integer](dst []T, s *ints, from int) {
	switch {
	case s.starts != nil:
		readRuns(dst, s, from)
		return
	case s.width == 0:
		for i := range dst {
			dst[i] = T(s.base)
		}
	case s.width == 1:
		widen(dst, s.codes[from:], s)
	case s.width == 2:
		widen(dst, asSlice[uint16](s.codes)[from:], s)
	case s.width == 4:
		widen(dst, asSlice[uint32](s.codes)[from:], s)
	default:
		widen(dst, asSlice[uint64](s.codes)[from:], s)
	}
	if s.slope != 0 {
		at := T(s.slope * int64(from))
		for i := range dst {
			dst[i] += at
			at += T(s.slope)
		}
	}
}

// sparseShare is how many rows of a vector there are for each one looked at from where on values are unpacked one by
// one.
const sparseShare = 8

// sparse reports whether so few of n rows are looked at that the others are not to be unpacked.
func sparse(sel vector.Sel, n int) bool { return sel != nil && len(sel) <= n/sparseShare }

// readSome is readInts for the rows of sel; where they are few, the others keep what dst holds.
func readSome[T integer](dst []T, s *ints, from int, sel vector.Sel) {
	if !sparse(sel, len(dst)) {
		readInts(dst, s, from)
		return
	}
	if s.starts == nil || len(sel) == 0 {
		for _, i := range sel {
			at := from + int(i)
			dst[i] = T(s.base + s.step*int64(s.code(at)) + s.slope*int64(at))
		}
		return
	}
	run := s.run(from + int(sel[0]))
	for _, i := range sel {
		for run+1 < len(s.starts) && int(s.starts[run+1]) <= from+int(i) {
			run++
		}
		dst[i] = T(s.base + s.step*int64(s.code(run)))
	}
}

func widen[T integer, C uint8 | uint16 | uint32 | uint64](dst []T, codes []C, s *ints) {
	codes = codes[:len(dst)]
	base, step := T(s.base), T(s.step)
	if step == 1 {
		for i := range dst {
			dst[i] = base + T(codes[i])
		}
		return
	}
	for i := range dst {
		dst[i] = base + step*T(codes[i])
	}
}

func readRuns[T integer](dst []T, s *ints, from int) {
	run := s.run(from)
	for at := from; at < from+len(dst); run++ {
		end := from + len(dst)
		if run+1 < len(s.starts) {
			end = min(end, int(s.starts[run+1]))
		}
		value := T(s.base + s.step*int64(s.code(run)))
		for ; at < end; at++ {
			dst[at-from] = value
		}
	}
}

// code returns a code by its number.
func (s *ints) code(i int) uint64 {
	switch s.width {
	case 1:
		return uint64(s.codes[i])
	case 2:
		return uint64(asSlice[uint16](s.codes)[i])
	case 4:
		return uint64(asSlice[uint32](s.codes)[i])
	case 8:
		return asSlice[uint64](s.codes)[i]
	}
	return 0
}

// form is the encoding of a column that holds the integers themselves.
func (s *ints) form(kind vector.Kind) Encoding {
	switch {
	case s.starts != nil:
		return Runs
	case s.slope != 0:
		return Sequence
	case s.width == 0:
		return Constant
	case s.width == kind.Width():
		return Plain
	}
	return Packed
}
