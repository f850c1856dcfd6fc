package vector

import "math/bits"

// Integer is an element type with checked arithmetic.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64
}

// Float is a floating-point element type.
type Float interface{ ~float32 | ~float64 }

// AddChecked sets dst[i] = a[i] + b[i] for all i and reports whether no sum overflowed. Like all
// checked kernels it has no branch per row: overflow bits are collected and tested once.
func AddChecked[T Integer](dst, a, b []T) bool {
	b, dst = b[:len(a)], dst[:len(a)]
	var over T
	for i, x := range a {
		y := b[i]
		z := x + y
		dst[i] = z
		over |= (x ^ z) & (y ^ z)
	}
	return over >= 0
}

// SubChecked sets dst[i] = a[i] - b[i] for all i and reports whether no difference overflowed.
func SubChecked[T Integer](dst, a, b []T) bool {
	b, dst = b[:len(a)], dst[:len(a)]
	var over T
	for i, x := range a {
		y := b[i]
		z := x - y
		dst[i] = z
		over |= (x ^ y) & (x ^ z)
	}
	return over >= 0
}

// MulChecked sets dst[i] = a[i] · b[i] for all i and reports whether no product overflowed.
func MulChecked[T int16 | int32](dst, a, b []T) bool {
	b, dst = b[:len(a)], dst[:len(a)]
	over := int64(0)
	for i, x := range a {
		z := int64(x) * int64(b[i])
		dst[i] = T(z)
		over |= z ^ int64(T(z))
	}
	return over == 0
}

// MulChecked64 is MulChecked for 64 bits.
func MulChecked64(dst, a, b []int64) bool {
	b, dst = b[:len(a)], dst[:len(a)]
	over := int64(0)
	for i, x := range a {
		y := b[i]
		hi, lo := bits.Mul64(uint64(x), uint64(y))
		high := int64(hi) - x>>63&y - y>>63&x
		dst[i] = int64(lo)
		over |= high ^ int64(lo)>>63
	}
	return over == 0
}

// Add sets dst[i] = a[i] + b[i] without a check: for floats, and integers known not to overflow.
func Add[T Fixed](dst, a, b []T) {
	b, dst = b[:len(a)], dst[:len(a)]
	for i, x := range a {
		dst[i] = x + b[i]
	}
}

// Sub sets dst[i] = a[i] - b[i] without a check.
func Sub[T Fixed](dst, a, b []T) {
	b, dst = b[:len(a)], dst[:len(a)]
	for i, x := range a {
		dst[i] = x - b[i]
	}
}

// Mul sets dst[i] = a[i] · b[i] without a check.
func Mul[T Fixed](dst, a, b []T) {
	b, dst = b[:len(a)], dst[:len(a)]
	for i, x := range a {
		dst[i] = x * b[i]
	}
}

// AddConst sets dst[i] = a[i] + c without a check.
func AddConst[T Fixed](dst, a []T, c T) {
	dst = dst[:len(a)]
	for i, x := range a {
		dst[i] = x + c
	}
}

// SubFromConst sets dst[i] = c - a[i] without a check.
func SubFromConst[T Fixed](dst, a []T, c T) {
	dst = dst[:len(a)]
	for i, x := range a {
		dst[i] = c - x
	}
}

// MulConst sets dst[i] = a[i] · c without a check.
func MulConst[T Fixed](dst, a []T, c T) {
	dst = dst[:len(a)]
	for i, x := range a {
		dst[i] = x * c
	}
}

// MulWide sets dst[i] to the full product of a[i] and b[i].
func MulWide(dst []Int128, a, b []int64) {
	b, dst = b[:len(a)], dst[:len(a)]
	for i, x := range a {
		y := b[i]
		hi, lo := bits.Mul64(uint64(x), uint64(y))
		dst[i] = Int128{Lo: lo, Hi: int64(hi) - x>>63&y - y>>63&x}
	}
}

// Widen converts 64 to 128 bits.
func Widen(dst []Int128, a []int64) {
	dst = dst[:len(a)]
	for i, x := range a {
		dst[i] = Int128{Lo: uint64(x), Hi: x >> 63}
	}
}

// Add128 sets dst[i] = a[i] + b[i], wrapping around.
func Add128(dst, a, b []Int128) {
	b, dst = b[:len(a)], dst[:len(a)]
	for i, x := range a {
		dst[i] = x.Add(b[i])
	}
}

// Sub128 sets dst[i] = a[i] - b[i], wrapping around.
func Sub128(dst, a, b []Int128) {
	b, dst = b[:len(a)], dst[:len(a)]
	for i, x := range a {
		dst[i] = x.Sub(b[i])
	}
}

// Mul128 sets dst[i] = a[i] · b[i], wrapping around.
func Mul128(dst, a, b []Int128) {
	b, dst = b[:len(a)], dst[:len(a)]
	for i, x := range a {
		dst[i] = x.Mul(b[i])
	}
}

// MagnitudeBits returns a number of bits n with |x| < 2^n for every x of v (rows of sel; nil =
// all), cheaply: it is the bit length of all magnitudes ORed together.
func MagnitudeBits(v []int64, sel Sel) int {
	var m uint64
	if sel == nil {
		for _, x := range v {
			s := x >> 63
			m |= uint64((x ^ s) - s)
		}
	} else {
		for _, i := range sel {
			x := v[i]
			s := x >> 63
			m |= uint64((x ^ s) - s)
		}
	}
	return bits.Len64(m)
}

// MagnitudeBits128 is MagnitudeBits for 128-bit integers.
func MagnitudeBits128(v []Int128, sel Sel) int {
	var hi, lo uint64
	one := func(x Int128) {
		s := x.Hi >> 63
		hi |= uint64(x.Hi ^ s)
		lo |= x.Lo ^ uint64(s)
	}
	if sel == nil {
		for _, x := range v {
			one(x)
		}
	} else {
		for _, i := range sel {
			one(v[i])
		}
	}
	if hi != 0 {
		return 64 + bits.Len64(hi) + 1
	}
	return bits.Len64(lo) + 1
}
