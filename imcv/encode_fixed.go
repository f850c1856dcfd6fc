package imcv

import (
	"math"

	"github.com/weftdb/weft/vector"
)

// constant is one value for all rows that are not NULL, which may be none.
type constant struct{ value vector.Datum }

func (c *constant) encoding() Encoding { return Constant }
func (c *constant) sizeBytes() int     { return len(c.value.S) }

func (c *constant) read(v *vector.Vector, _, n int, valid vector.Bitmap, _ vector.Sel, _ *scratch) {
	if valid == nil || c.value.Null {
		v.SetConst(c.value)
		return
	}
	v.Reset(c.value.Kind, 0) // NULLs among the rows need a validity per row
	for range n {
		vector.AppendDatum(v, c.value)
	}
	v.Valid = valid
}

// integers is a column of whole numbers.
type integers struct {
	kind vector.Kind
	*ints
}

func (x *integers) encoding() Encoding { return x.form(x.kind) }

func (x *integers) read(v *vector.Vector, from, n int, valid vector.Bitmap, sel vector.Sel, _ *scratch) {
	switch x.encoding() {
	case Plain:
		v.SetFixed(x.kind, x.codes[from*x.width:(from+n)*x.width], n, valid)
		return
	case Constant:
		if valid == nil {
			v.SetConst(vector.IntDatum(x.kind, x.base))
			return
		}
	}
	v.Reset(x.kind, n)
	switch x.kind.Width() {
	case 1:
		readSome(vector.Of[int8](v), x.ints, from, sel)
	case 2:
		readSome(vector.Of[int16](v), x.ints, from, sel)
	case 4:
		readSome(vector.Of[int32](v), x.ints, from, sel)
	default:
		readSome(vector.Of[int64](v), x.ints, from, sel)
	}
	v.Valid = valid
}

// fixed is a column of fixed-width values as they are.
type fixed struct {
	kind vector.Kind
	data []byte // 8-byte aligned
}

func (x *fixed) encoding() Encoding { return Plain }
func (x *fixed) sizeBytes() int     { return len(x.data) }

func (x *fixed) read(v *vector.Vector, from, n int, valid vector.Bitmap, _ vector.Sel, _ *scratch) {
	w := x.kind.Width()
	v.SetFixed(x.kind, x.data[from*w:(from+n)*w], n, valid)
}

// narrow is a column of 128-bit integers that all fit in 64 bits.
type narrow struct{ *ints }

func (x *narrow) encoding() Encoding { return Narrow }

func (x *narrow) read(v *vector.Vector, from, n int, valid vector.Bitmap, sel vector.Sel, s *scratch) {
	values := s.ints(n)
	readSome(values, x.ints, from, sel)
	v.Reset(vector.I128, n)
	out := vector.Of[vector.Int128](v)
	if sparse(sel, n) {
		for _, i := range sel {
			out[i] = vector.Int128{Lo: uint64(values[i]), Hi: values[i] >> 63}
		}
	} else {
		for i, value := range values {
			out[i] = vector.Int128{Lo: uint64(value), Hi: value >> 63}
		}
	}
	v.Valid = valid
}

// scaled is a column of floats that are decimals of few digits: value = integer / divisor, exactly as
// division of floats rounds it.
type scaled struct {
	kind    vector.Kind
	divisor float64
	*ints
}

func (x *scaled) encoding() Encoding { return Scaled }

func (x *scaled) read(v *vector.Vector, from, n int, valid vector.Bitmap, sel vector.Sel, s *scratch) {
	values := s.ints(n)
	readSome(values, x.ints, from, sel)
	v.Reset(x.kind, n)
	if x.kind == vector.F32 {
		scaleDown(vector.Of[float32](v), values, x.divisor, sel)
	} else {
		scaleDown(vector.Of[float64](v), values, x.divisor, sel)
	}
	v.Valid = valid
}

func scaleDown[T float32 | float64](dst []T, values []int64, divisor float64, sel vector.Sel) {
	if sparse(sel, len(dst)) {
		for _, i := range sel {
			dst[i] = T(float64(values[i]) / divisor)
		}
		return
	}
	for i, value := range values {
		dst[i] = T(float64(value) / divisor)
	}
}

// maxScaled bounds the integers of scaled floats: all up to it are floats themselves.
const maxScaled = 1 << 53

// maxDivisor is the largest divisor tried.
const maxDivisor = 1e6

// scaleFloats finds the divisor with which all values are exact, and returns the integers; nil if there
// is none.
func scaleFloats(kind vector.Kind, n int, set vector.Bitmap, get func(i int) float64) ([]int64, float64) {
	out := make([]int64, n)
	divisor := 1.0
	for i := 0; i < n; {
		switch {
		case !set.Get(i), scales(kind, get(i), divisor, &out[i]):
			i++
		case divisor == maxDivisor:
			return nil, 0
		default:
			divisor *= 10
			i = 0 // those before must be exact with it too
		}
	}
	return out, divisor
}

// scales reports whether x is a multiple of 1/divisor, in all its bits.
func scales(kind vector.Kind, x, divisor float64, out *int64) bool {
	y := math.RoundToEven(x * divisor)
	if !(math.Abs(y) < maxScaled) {
		return false
	}
	*out = int64(y)
	back := float64(*out) / divisor
	if kind == vector.F32 {
		back = float64(float32(back))
	}
	return math.Float64bits(back) == math.Float64bits(x)
}
