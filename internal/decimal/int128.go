package decimal

import (
	"math"
	"math/bits"
	"strconv"
)

// Int128 is a signed 128-bit integer in two's complement, laid out as Arrow's decimal128.
type Int128 struct {
	Lo uint64
	Hi int64
}

// Limits of Int128.
var (
	MaxInt128 = Int128{math.MaxUint64, math.MaxInt64}
	MinInt128 = Int128{0, math.MinInt64}
)

// Int128From widens an int64.
func Int128From(i int64) Int128 { return Int128{uint64(i), i >> 63} }

// Sign returns -1, 0 or 1.
func (x Int128) Sign() int {
	switch {
	case x.Hi < 0:
		return -1
	case x.Hi == 0 && x.Lo == 0:
		return 0
	}
	return 1
}

// Cmp returns -1, 0 or 1 as x is less than, equal to or greater than y.
func (x Int128) Cmp(y Int128) int {
	switch {
	case x.Hi < y.Hi:
		return -1
	case x.Hi > y.Hi:
		return 1
	case x.Lo < y.Lo:
		return -1
	case x.Lo > y.Lo:
		return 1
	}
	return 0
}

// Less reports x < y.
func (x Int128) Less(y Int128) bool { return x.Hi < y.Hi || x.Hi == y.Hi && x.Lo < y.Lo }

// Add returns x + y, wrapping around.
func (x Int128) Add(y Int128) Int128 {
	lo, carry := bits.Add64(x.Lo, y.Lo, 0)
	return Int128{lo, x.Hi + y.Hi + int64(carry)}
}

// Sub returns x - y, wrapping around.
func (x Int128) Sub(y Int128) Int128 {
	lo, borrow := bits.Sub64(x.Lo, y.Lo, 0)
	return Int128{lo, x.Hi - y.Hi - int64(borrow)}
}

// Neg returns -x, wrapping around.
func (x Int128) Neg() Int128 { return Int128{}.Sub(x) }

// AddChecked returns x + y and whether it fits.
func (x Int128) AddChecked(y Int128) (Int128, bool) {
	z := x.Add(y)
	return z, (x.Hi^z.Hi)&(y.Hi^z.Hi) >= 0
}

// SubChecked returns x - y and whether it fits.
func (x Int128) SubChecked(y Int128) (Int128, bool) {
	z := x.Sub(y)
	return z, (x.Hi^y.Hi)&(x.Hi^z.Hi) >= 0
}

// Mul64 returns the full product of two int64s.
func Mul64(a, b int64) Int128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// Two's complement correction of the unsigned high half.
	return Int128{lo, int64(hi) - a>>63&b - b>>63&a}
}

// Mul returns x · y, wrapping around.
func (x Int128) Mul(y Int128) Int128 {
	hi, lo := bits.Mul64(x.Lo, y.Lo)
	return Int128{lo, int64(hi) + x.Hi*int64(y.Lo) + int64(x.Lo)*y.Hi}
}

// MulChecked returns x · y and whether it fits.
func (x Int128) MulChecked(y Int128) (Int128, bool) {
	if x.IsInt64() && y.IsInt64() {
		return Mul64(int64(x.Lo), int64(y.Lo)), true
	}
	ahi, alo := x.abs()
	bhi, blo := y.abs()
	hi, lo, ok := umul128(ahi, alo, bhi, blo)
	if !ok {
		return Int128{}, false
	}
	return fromMagnitude(hi, lo, x.Hi^y.Hi < 0)
}

// IsInt64 reports whether x fits an int64.
func (x Int128) IsInt64() bool { return x.Hi == int64(x.Lo)>>63 }

// Float64 returns the nearest float64, up to double rounding.
func (x Int128) Float64() float64 {
	if x.IsInt64() {
		return float64(int64(x.Lo))
	}
	hi, lo := x.abs()
	f := float64(hi)*(1<<64) + float64(lo)
	if x.Hi < 0 {
		return -f
	}
	return f
}

// abs returns the magnitude; that of the smallest value is 2^127.
func (x Int128) abs() (hi, lo uint64) {
	if x.Hi >= 0 {
		return uint64(x.Hi), x.Lo
	}
	lo, borrow := bits.Sub64(0, x.Lo, 0)
	hi, _ = bits.Sub64(0, uint64(x.Hi), borrow)
	return hi, lo
}

// fromMagnitude applies a sign to a magnitude and reports whether the value fits.
func fromMagnitude(hi, lo uint64, neg bool) (Int128, bool) {
	x := Int128{lo, int64(hi)}
	if neg {
		x = x.Neg()
		return x, x.Hi < 0 || hi|lo == 0
	}
	return x, x.Hi >= 0
}

// umul128 multiplies two unsigned 128-bit integers.
func umul128(ahi, alo, bhi, blo uint64) (hi, lo uint64, ok bool) {
	if ahi != 0 && bhi != 0 {
		return 0, 0, false
	}
	hi, lo = bits.Mul64(alo, blo)
	c1, cross1 := bits.Mul64(ahi, blo)
	c2, cross2 := bits.Mul64(alo, bhi)
	hi, carry1 := bits.Add64(hi, cross1, 0)
	hi, carry2 := bits.Add64(hi, cross2, 0)
	return hi, lo, c1|c2|carry1|carry2 == 0
}

// udiv128 divides unsigned 128-bit integers; the divisor is not 0.
func udiv128(ahi, alo, bhi, blo uint64) (qhi, qlo, rhi, rlo uint64) {
	if bhi == 0 {
		if ahi < blo {
			qlo, rlo = bits.Div64(ahi, alo, blo)
			return 0, qlo, 0, rlo
		}
		qhi, r := ahi/blo, ahi%blo
		qlo, rlo = bits.Div64(r, alo, blo)
		return qhi, qlo, 0, rlo
	}
	// The quotient fits 64 bits: estimate it from the top bits, then correct (Hacker's Delight).
	n := uint(bits.LeadingZeros64(bhi))
	q, _ := bits.Div64(ahi>>1, ahi<<63|alo>>1, bhi<<n|blo>>(64-n))
	q >>= 63 - n
	if q != 0 {
		q--
	}
	phi, plo := bits.Mul64(q, blo)
	phi += q * bhi
	rlo, borrow := bits.Sub64(alo, plo, 0)
	rhi, _ = bits.Sub64(ahi, phi, borrow)
	if rhi > bhi || rhi == bhi && rlo >= blo {
		q++
		rlo, borrow = bits.Sub64(rlo, blo, 0)
		rhi, _ = bits.Sub64(rhi, bhi, borrow)
	}
	return 0, q, rhi, rlo
}

// QuoRem returns the quotient truncated towards zero and the remainder, which has x's sign. y is
// not 0. The one overflow, MinInt128 / -1, wraps around.
func (x Int128) QuoRem(y Int128) (quo, rem Int128) {
	ahi, alo := x.abs()
	bhi, blo := y.abs()
	qhi, qlo, rhi, rlo := udiv128(ahi, alo, bhi, blo)
	quo, _ = fromMagnitude(qhi, qlo, x.Hi^y.Hi < 0)
	rem, _ = fromMagnitude(rhi, rlo, x.Hi < 0)
	return quo, rem
}

// DivRound returns x / y rounded half away from zero. y is not 0.
func (x Int128) DivRound(y Int128) Int128 {
	ahi, alo := x.abs()
	bhi, blo := y.abs()
	qhi, qlo := udivRound(ahi, alo, bhi, blo)
	z, _ := fromMagnitude(qhi, qlo, x.Hi^y.Hi < 0)
	return z
}

// udivRound divides unsigned 128-bit integers, rounding half up.
func udivRound(ahi, alo, bhi, blo uint64) (hi, lo uint64) {
	qhi, qlo, rhi, rlo := udiv128(ahi, alo, bhi, blo)
	// Round up when r >= b - r.
	dlo, borrow := bits.Sub64(blo, rlo, 0)
	dhi, _ := bits.Sub64(bhi, rhi, borrow)
	if rhi > dhi || rhi == dhi && rlo >= dlo {
		var carry uint64
		qlo, carry = bits.Add64(qlo, 1, 0)
		qhi += carry
	}
	return qhi, qlo
}

// MaxPow10 is the largest power of ten that an Int128 holds.
const MaxPow10 = 38

var pow10 = func() (p [MaxPow10 + 1]Int128) {
	p[0] = Int128{Lo: 1}
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1].Mul(Int128{Lo: 10})
	}
	return p
}()

// Pow10 returns 10^n for n from 0 to MaxPow10.
func Pow10(n int) Int128 { return pow10[n] }

// Pow10Int64 returns 10^n for n from 0 to 18.
func Pow10Int64(n int) int64 { return int64(pow10[n].Lo) }

// Rescale converts a scaled integer from one number of fraction digits to another, rounding half
// away from zero, and reports whether the result fits.
func (x Int128) Rescale(from, to int) (Int128, bool) {
	switch d := to - from; {
	case d == 0:
		return x, true
	case d > MaxPow10:
		return Int128{}, x.Sign() == 0
	case d > 0:
		return x.MulChecked(pow10[d])
	case d < -MaxPow10:
		return Int128{}, true // |x| < 10^39/2
	default:
		return x.DivRound(pow10[-d]), true
	}
}

// FitsDigits reports |x| < 10^digits.
func (x Int128) FitsDigits(digits int) bool {
	if digits > MaxPow10 {
		return true
	}
	limit := pow10[digits]
	return x.Less(limit) && limit.Neg().Less(x)
}

// AppendText appends x read as an integer with scale fraction digits.
func (x Int128) AppendText(dst []byte, scale int) []byte {
	if x.Hi < 0 {
		dst = append(dst, '-')
	}
	hi, lo := x.abs()
	return appendScaled(dst, hi, lo, scale)
}

// String returns x in decimal.
func (x Int128) String() string { return string(x.AppendText(nil, 0)) }

// AppendScaledInt64 appends x read as an integer with scale fraction digits.
func AppendScaledInt64(dst []byte, x int64, scale int) []byte {
	if scale == 0 {
		return strconv.AppendInt(dst, x, 10)
	}
	u := uint64(x)
	if x < 0 {
		dst = append(dst, '-')
		u = -u
	}
	return appendScaled(dst, 0, u, scale)
}

// appendScaled appends an unsigned magnitude with a decimal point before its last scale digits.
func appendScaled(dst []byte, hi, lo uint64, scale int) []byte {
	var buf [40]byte
	i := len(buf)
	for hi != 0 {
		// 19 digits at a time.
		qhi, r := hi/1e19, hi%1e19
		qlo, rem := bits.Div64(r, lo, 1e19)
		hi, lo = qhi, qlo
		for range 19 {
			i--
			buf[i] = byte('0' + rem%10)
			rem /= 10
		}
	}
	for lo != 0 {
		i--
		buf[i] = byte('0' + lo%10)
		lo /= 10
	}
	// The first chunk may have left zeros in front of the number.
	digits := buf[i:]
	for len(digits) > 0 && digits[0] == '0' {
		digits = digits[1:]
	}
	return appendPoint(dst, digits, scale)
}

// appendPoint appends digits with a decimal point before the last scale of them.
func appendPoint(dst, digits []byte, scale int) []byte {
	whole := len(digits) - scale
	if whole <= 0 {
		dst = append(dst, '0')
	} else {
		dst = append(dst, digits[:whole]...)
		digits = digits[whole:]
	}
	if scale == 0 {
		return dst
	}
	dst = append(dst, '.')
	for ; whole < 0; whole++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}
