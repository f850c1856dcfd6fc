package join

import (
	"math"
	"math/bits"

	"github.com/weftdb/weft/vector"
)

// packing maps the key columns of a table to one unsigned integer: integers by their distance
// from the column's least value, several side by side when their ranges take 64 bits together. It
// is exact: two build rows have equal packed keys iff their keys are equal, and a probe key that
// cannot be packed matches nothing.
type packing struct {
	cols  []packedColumn
	span  uint64 // number of packed values, 0 = 2^64
	exact bool   // a single column, not null-safe: every probe value packs, wrapping around
}

type packedColumn struct {
	low, high int64 // of the build rows; low > high when there are none
	shift     uint
	nullSafe  bool // code 0 is NULL, values count from 1
}

// width returns the number of distinct codes of the column, 0 = 2^64.
func (c *packedColumn) width() uint64 {
	if c.low > c.high {
		return 1
	}
	w := uint64(c.high-c.low) + 1
	if c.nullSafe && w != 0 {
		w++
	}
	return w
}

// integerKind reports whether values of a kind can be packed.
func integerKind(k vector.Kind) bool {
	switch k {
	case vector.Bool, vector.I8, vector.I16, vector.I32, vector.I64:
		return true
	}
	return false
}

// newPacking plans the packing of a store's first columns, nil when they do not fit 64 bits.
func newPacking(s *Store, keys []Key) *packing {
	p := &packing{cols: make([]packedColumn, len(keys))}
	shift := uint(0)
	for i, k := range keys {
		if !integerKind(k.Kind) {
			return nil
		}
		c := &p.cols[i]
		c.nullSafe = k.NullSafe
		c.low, c.high = columnRange(s.Column(i))
		w := c.width()
		if w == 0 && (len(keys) > 1 || c.nullSafe) {
			return nil
		}
		c.shift = shift
		if w != 1 {
			shift += uint(bits.Len64(w - 1))
		}
		if shift > 64 {
			return nil
		}
	}
	p.exact = len(keys) == 1 && !keys[0].NullSafe
	if len(keys) == 1 {
		p.span = p.cols[0].width()
	} else if shift < 64 {
		p.span = 1 << shift
	}
	return p
}

// columnRange returns the least and greatest value of the valid rows of an integer column.
func columnRange(v *vector.Vector) (low, high int64) {
	switch v.Kind {
	case vector.Bool:
		return rangeOf(vector.Of[uint8](v), v.Valid)
	case vector.I8:
		return rangeOf(vector.Of[int8](v), v.Valid)
	case vector.I16:
		return rangeOf(vector.Of[int16](v), v.Valid)
	case vector.I32:
		return rangeOf(vector.Of[int32](v), v.Valid)
	}
	return rangeOf(vector.Of[int64](v), v.Valid)
}

func rangeOf[T uint8 | int8 | int16 | int32 | int64](v []T, valid vector.Bitmap) (low, high int64) {
	low, high = math.MaxInt64, math.MinInt64
	if len(v) == 0 {
		return low, high
	}
	if valid == nil {
		l, h := v[0], v[0]
		for _, x := range v {
			l, h = min(l, x), max(h, x)
		}
		return int64(l), int64(h)
	}
	for i, x := range v {
		if valid.Get(i) {
			low, high = min(low, int64(x)), max(high, int64(x))
		}
	}
	return low, high
}

// rows packs the keys of a batch's rows sel (nil = n rows) into dst, by row position, and returns
// the rows that may match: those without NULL in a key that is not null-safe, and within range.
// out is memory for the result.
func (p *packing) rows(dst []uint64, keys []*vector.Vector, n int, sel, out vector.Sel) vector.Sel {
	for i := range p.cols {
		c, v := &p.cols[i], keys[i]
		if v.Valid != nil && !c.nullSafe {
			if v.Form == vector.Const {
				if v.IsNull(0) {
					return out[:0]
				}
			} else {
				sel = vector.SelectValid(v.Valid, n, sel, out)
			}
		}
		switch v.Kind {
		case vector.Bool:
			sel = packColumn(dst, vector.Of[uint8](v), v, c, p.exact, i == 0, n, sel, out)
		case vector.I8:
			sel = packColumn(dst, vector.Of[int8](v), v, c, p.exact, i == 0, n, sel, out)
		case vector.I16:
			sel = packColumn(dst, vector.Of[int16](v), v, c, p.exact, i == 0, n, sel, out)
		case vector.I32:
			sel = packColumn(dst, vector.Of[int32](v), v, c, p.exact, i == 0, n, sel, out)
		default:
			sel = packColumn(dst, vector.Of[int64](v), v, c, p.exact, i == 0, n, sel, out)
		}
	}
	return sel
}

// packColumn adds one column, flat or constant, to the packed keys. With exact it only moves the
// values; otherwise it drops rows out of range.
func packColumn[T uint8 | int8 | int16 | int32 | int64](dst []uint64, x []T, v *vector.Vector, c *packedColumn, exact, first bool, n int, sel, out vector.Sel) vector.Sel {
	low := c.low
	switch {
	case v.Form == vector.Const:
		return packConst(dst, v, c, exact, first, n, sel, out)
	case exact && sel == nil:
		x, dst = x[:n], dst[:n]
		for i := range x {
			dst[i] = uint64(int64(x[i]) - low)
		}
		return nil
	case exact:
		for _, i := range sel {
			dst[i] = uint64(int64(x[i]) - low)
		}
		return sel
	case c.nullSafe:
		return packNullSafe(dst, x, v.Valid, c, first, n, sel, out)
	}
	if c.low > c.high {
		return out[:0]
	}
	if sel == nil {
		sel = allRows[:n]
	}
	last, k := uint64(c.high-c.low), 0
	out = out[:len(sel)]
	for _, i := range sel {
		code := uint64(int64(x[i]) - low)
		if first {
			dst[i] = code
		} else {
			dst[i] |= code << c.shift
		}
		out[k] = i
		k += b2i(code <= last)
	}
	return out[:k]
}

func packNullSafe[T uint8 | int8 | int16 | int32 | int64](dst []uint64, x []T, valid vector.Bitmap, c *packedColumn, first bool, n int, sel, out vector.Sel) vector.Sel {
	if sel == nil {
		sel = allRows[:n]
	}
	k := 0
	out = out[:len(sel)]
	for _, i := range sel {
		code, ok := uint64(0), true
		if valid == nil || valid.Get(int(i)) {
			code = uint64(int64(x[i])-c.low) + 1
			ok = int64(x[i]) >= c.low && int64(x[i]) <= c.high
		}
		if first {
			dst[i] = 0
		}
		dst[i] |= code << c.shift
		out[k] = i
		k += b2i(ok)
	}
	return out[:k]
}

func packConst(dst []uint64, v *vector.Vector, c *packedColumn, exact, first bool, n int, sel, out vector.Sel) vector.Sel {
	code := uint64(0)
	if !v.IsNull(0) {
		x := vector.DatumAt(v, 0).I
		if !exact && (x < c.low || x > c.high) {
			return out[:0]
		}
		code = uint64(x - c.low)
		if c.nullSafe {
			code++
		}
	}
	if sel == nil {
		sel = allRows[:n]
	}
	for _, i := range sel {
		if first {
			dst[i] = code
		} else {
			dst[i] |= code << c.shift
		}
	}
	return sel
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
