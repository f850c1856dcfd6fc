package join

import (
	"math"

	"github.com/weftdb/weft/vector"
)

// A direct table of groups covers a window of integers. It is worth 4 bytes a value while the
// window is small, or while the groups fill a good part of it: keys that count rows of another
// table mostly do.
const (
	windowSmall  = 1 << 20
	windowPerRow = 16
)

// directGroups looks groups up in an array by a single integer key.
type directGroups struct {
	low   int64
	table []uint32 // group+1 of key low+i
	null  uint32   // group+1 of NULL
	flat  vector.Vector
}

// newDirectGroups returns the index for a single integer key, else nil.
func newDirectGroups(kinds []vector.Kind) *directGroups {
	if len(kinds) != 1 || !integerKind(kinds[0]) {
		return nil
	}
	return &directGroups{}
}

func (d *directGroups) name() string              { return "direct" }
func (d *directGroups) next(g *Groups) groupIndex { return firstPacked(g) }

func (d *directGroups) assign(g *Groups, dst []uint32, keys []*vector.Vector, n int, in vector.Sel) (bool, error) {
	v := keys[0]
	if v.Form != vector.Flat {
		v = vector.Flatten(&d.flat, v, n)
	}
	low, high := rangeAt(v, in)
	if ok, err := d.cover(g, low, high, len(in)); !ok || err != nil {
		return false, err
	}
	switch v.Kind {
	case vector.Bool:
		directAssign(d, g, dst, vector.Of[uint8](v), v.Valid, in)
	case vector.I8:
		directAssign(d, g, dst, vector.Of[int8](v), v.Valid, in)
	case vector.I16:
		directAssign(d, g, dst, vector.Of[int16](v), v.Valid, in)
	case vector.I32:
		directAssign(d, g, dst, vector.Of[int32](v), v.Valid, in)
	default:
		directAssign(d, g, dst, vector.Of[int64](v), v.Valid, in)
	}
	return true, nil
}

func directAssign[T uint8 | int8 | int16 | int32 | int64](d *directGroups, g *Groups, dst []uint32, x []T, valid vector.Bitmap, in vector.Sel) {
	table, low := d.table, d.low
	for _, i := range in {
		slot := &d.null
		if valid == nil || valid.Get(int(i)) {
			slot = &table[uint64(int64(x[i])-low)]
		}
		if *slot == 0 {
			*slot = g.begin(i) + 1
		}
		dst[i] = *slot - 1
	}
}

// insert is not needed: a direct table is the first index tried or none.
func (d *directGroups) insert(*Groups, []*vector.Vector, int, int) (bool, error) { return false, nil }

// rangeAt returns the least and greatest value of some rows; low > high when all are NULL.
func rangeAt(v *vector.Vector, in vector.Sel) (low, high int64) {
	switch v.Kind {
	case vector.Bool:
		return selRange(vector.Of[uint8](v), v.Valid, in)
	case vector.I8:
		return selRange(vector.Of[int8](v), v.Valid, in)
	case vector.I16:
		return selRange(vector.Of[int16](v), v.Valid, in)
	case vector.I32:
		return selRange(vector.Of[int32](v), v.Valid, in)
	}
	return selRange(vector.Of[int64](v), v.Valid, in)
}

func selRange[T uint8 | int8 | int16 | int32 | int64](x []T, valid vector.Bitmap, in vector.Sel) (low, high int64) {
	low, high = math.MaxInt64, math.MinInt64
	if valid == nil {
		for _, i := range in {
			low, high = min(low, int64(x[i])), max(high, int64(x[i]))
		}
		return low, high
	}
	for _, i := range in {
		if valid.Get(int(i)) {
			low, high = min(low, int64(x[i])), max(high, int64(x[i]))
		}
	}
	return low, high
}

// cover widens the window to the values from low to high; false = too wide for what is in it.
func (d *directGroups) cover(g *Groups, low, high int64, rows int) (bool, error) {
	if low > high {
		return true, nil
	}
	size := uint64(len(d.table))
	if size > 0 {
		last := d.low + int64(size-1)
		if low >= d.low && high <= last {
			return true, nil
		}
		low, high = min(low, d.low), max(high, last)
	}
	span := uint64(high) - uint64(low)
	if span >= windowSmall && span/windowPerRow >= uint64(g.Len()+rows) {
		return false, nil
	}
	// Keys come in some order: make room for as much again on the side where they grow.
	more := min(size, math.MaxInt64-span)
	switch {
	case size == 0 || low == d.low:
		high += int64(min(more, uint64(math.MaxInt64)-uint64(high)))
	case high == d.low+int64(size-1):
		low -= int64(min(more, uint64(low)-uint64(1<<63)))
	}
	table := uint64(high) - uint64(low) + 1
	if err := g.grow(int(table) * 4); err != nil {
		return false, err
	}
	wider := make([]uint32, table)
	if size > 0 {
		copy(wider[uint64(d.low)-uint64(low):], d.table)
	}
	d.low, d.table = low, wider
	return true, nil
}
