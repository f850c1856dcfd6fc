package decimal

import (
	"math"
	"strconv"
)

// FromFloat64 converts with 15 significant digits, as PostgreSQL does.
func FromFloat64(f float64) Decimal { return fromFloat(f, 15) }

// FromFloat32 converts with 6 significant digits, as PostgreSQL does.
func FromFloat32(f float32) Decimal { return fromFloat(float64(f), 6) }

func fromFloat(f float64, digits int) Decimal {
	switch {
	case f != f:
		return NaN
	case math.IsInf(f, 1):
		return Inf
	case math.IsInf(f, -1):
		return NegInf
	}
	d, _ := Parse(strconv.FormatFloat(f, 'e', digits-1, 64))
	return d.TrimScale()
}

// Float64 returns the nearest float64; values beyond its range become infinities.
func (d Decimal) Float64() float64 {
	switch d.kind {
	case nan:
		return math.NaN()
	case posInf:
		return math.Inf(1)
	case negInf:
		return math.Inf(-1)
	}
	if d.big == nil && d.hi == 0 && d.lo < 1<<53 && d.scale <= 22 {
		// Both are exact, so the quotient is correctly rounded.
		f := float64(d.lo) / floatPow10[d.scale]
		if d.neg {
			return -f
		}
		return f
	}
	var buf [64]byte
	f, _ := strconv.ParseFloat(string(d.Append(buf[:0])), 64)
	return f
}

var floatPow10 = [23]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
	1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// Int64 returns d rounded half away from zero, and whether it is a number in range.
func (d Decimal) Int64() (int64, bool) {
	x, ok := d.Int128(0)
	return int64(x.Lo), ok && x.IsInt64()
}

// IsInteger reports whether d is a number without a fraction.
func (d Decimal) IsInteger() bool { return d.kind == finite && d.Trunc(0).cmpMag(d) == 0 }
