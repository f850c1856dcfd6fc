package decimal

import (
	"cmp"
	"math/big"
	"math/bits"
)

// Limits of PostgreSQL's numeric.
const (
	MaxScale        = 16383  // digits after the point
	MaxWhole        = 131072 // digits before the point
	maxDisplayScale = 1000   // most fraction digits that a function chooses by itself
	minSigDigits    = 16     // significant digits that division and functions aim at
)

// kind tells finite values from special ones; the order is the SQL order of the special values.
type kind uint8

const (
	finite kind = iota
	negInf
	posInf
	nan
)

// Decimal is a numeric value: ±magnitude · 10^-scale, or NaN or an infinity. The scale is the
// display scale: 1.50 and 1.5 are equal but print differently. The zero value is 0. Values are
// immutable.
type Decimal struct {
	lo, hi uint64   // magnitude, when big is nil
	big    *big.Int // magnitude of 2^128 or more; never changed once set
	scale  uint16
	kind   kind
	neg    bool // never set for zero
}

// The special values.
var (
	NaN    = Decimal{kind: nan}
	Inf    = Decimal{kind: posInf}
	NegInf = Decimal{kind: negInf}
)

// FromInt64 returns i with scale 0.
func FromInt64(i int64) Decimal { return FromScaledInt64(i, 0) }

// FromScaledInt64 returns i · 10^-scale.
func FromScaledInt64(i int64, scale int) Decimal {
	if i < 0 {
		return Decimal{lo: -uint64(i), neg: true, scale: uint16(scale)}
	}
	return Decimal{lo: uint64(i), scale: uint16(scale)}
}

// FromInt128 returns x · 10^-scale.
func FromInt128(x Int128, scale int) Decimal {
	hi, lo := x.abs()
	return Decimal{lo: lo, hi: hi, neg: x.Hi < 0, scale: uint16(scale)}
}

// FromBig returns x · 10^-scale. x is not kept.
func FromBig(x *big.Int, scale int) Decimal {
	neg := x.Sign() < 0
	if neg {
		return fromMag(new(big.Int).Neg(x), scale, true)
	}
	if x.BitLen() > 128 {
		x = new(big.Int).Set(x)
	}
	return fromMag(x, scale, false)
}

// fromMag takes over a non-negative magnitude.
func fromMag(m *big.Int, scale int, neg bool) Decimal {
	d := Decimal{scale: uint16(scale), neg: neg && m.Sign() != 0}
	if m.BitLen() > 128 {
		d.big = m
		return d
	}
	d.hi, d.lo = bigHalves(m)
	return d
}

func bigHalves(m *big.Int) (hi, lo uint64) {
	words := m.Bits()
	if bits.UintSize == 64 {
		switch len(words) {
		case 2:
			return uint64(words[1]), uint64(words[0])
		case 1:
			return 0, uint64(words[0])
		}
		return 0, 0
	}
	for i := len(words) - 1; i >= 0; i-- {
		hi, lo = hi<<32|lo>>32, lo<<32|uint64(words[i])
	}
	return hi, lo
}

// mag returns the magnitude as a big integer that the caller must not change.
func (d Decimal) mag() *big.Int {
	if d.big != nil {
		return d.big
	}
	return bigFromHalves(d.hi, d.lo)
}

func bigFromHalves(hi, lo uint64) *big.Int {
	m := new(big.Int).SetUint64(lo)
	if hi != 0 {
		h := new(big.Int).SetUint64(hi)
		m.Or(m, h.Lsh(h, 64))
	}
	return m
}

// IsNaN reports whether d is NaN.
func (d Decimal) IsNaN() bool { return d.kind == nan }

// IsInf reports whether d is an infinity.
func (d Decimal) IsInf() bool { return d.kind == negInf || d.kind == posInf }

// IsFinite reports whether d is a number.
func (d Decimal) IsFinite() bool { return d.kind == finite }

// IsZero reports whether d is 0.
func (d Decimal) IsZero() bool { return d.kind == finite && d.big == nil && d.hi|d.lo == 0 }

// Scale returns the number of digits after the point.
func (d Decimal) Scale() int { return int(d.scale) }

// Sign returns -1, 0 or 1; that of NaN is 1.
func (d Decimal) Sign() int {
	switch {
	case d.kind == negInf || d.neg:
		return -1
	case d.IsZero():
		return 0
	}
	return 1
}

// Neg returns -d.
func (d Decimal) Neg() Decimal {
	switch d.kind {
	case negInf:
		d.kind = posInf
	case posInf:
		d.kind = negInf
	case finite:
		d.neg = !d.neg && !d.IsZero()
	}
	return d
}

// Abs returns the absolute value.
func (d Decimal) Abs() Decimal {
	if d.kind == negInf {
		return Inf
	}
	d.neg = false
	return d
}

// Int128 returns d as an integer of the given scale, rounding half away from zero, and whether it
// is finite and fits.
func (d Decimal) Int128(scale int) (Int128, bool) {
	if d.kind != finite {
		return Int128{}, false
	}
	if d.big != nil {
		r := d.Round(scale)
		if r.big != nil {
			return Int128{}, false
		}
		d = r
	}
	hi, lo := d.hi, d.lo
	switch diff := scale - int(d.scale); {
	case diff > MaxPow10:
		if hi|lo != 0 {
			return Int128{}, false
		}
	case diff > 0:
		var ok bool
		if hi, lo, ok = umul128(hi, lo, uint64(pow10[diff].Hi), pow10[diff].Lo); !ok {
			return Int128{}, false
		}
	case diff < -MaxPow10:
		hi, lo = 0, 0
	case diff < 0:
		hi, lo = udivRound(hi, lo, uint64(pow10[-diff].Hi), pow10[-diff].Lo)
	}
	return fromMagnitude(hi, lo, d.neg)
}

// Cmp orders values as PostgreSQL does: -Infinity, numbers, Infinity, NaN, which equals itself.
// Scales do not matter.
func (d Decimal) Cmp(e Decimal) int {
	if d.kind != finite || e.kind != finite {
		return cmp.Compare(rank(d), rank(e))
	}
	if d.neg != e.neg {
		if d.neg {
			return -1
		}
		return 1
	}
	c := d.cmpMag(e)
	if d.neg {
		return -c
	}
	return c
}

func rank(d Decimal) int {
	switch d.kind {
	case negInf:
		return -1
	case posInf:
		return 1
	case nan:
		return 2
	}
	return 0
}

func (d Decimal) cmpMag(e Decimal) int {
	if d.big == nil && e.big == nil {
		dhi, dlo, ehi, elo, ok := alignMag(d, e)
		if ok {
			return cmpHalves(dhi, dlo, ehi, elo)
		}
	}
	a, b := alignBig(d, e)
	return a.Cmp(b)
}

func cmpHalves(ahi, alo, bhi, blo uint64) int {
	switch {
	case ahi < bhi || ahi == bhi && alo < blo:
		return -1
	case ahi == bhi && alo == blo:
		return 0
	}
	return 1
}

// alignMag scales two small magnitudes to their larger scale, if they fit 128 bits then.
func alignMag(d, e Decimal) (dhi, dlo, ehi, elo uint64, ok bool) {
	dhi, dlo, ehi, elo, ok = d.hi, d.lo, e.hi, e.lo, true
	switch diff := int(d.scale) - int(e.scale); {
	case diff == 0:
	case diff > MaxPow10 || diff < -MaxPow10:
		return 0, 0, 0, 0, false
	case diff > 0:
		ehi, elo, ok = umul128(ehi, elo, uint64(pow10[diff].Hi), pow10[diff].Lo)
	default:
		dhi, dlo, ok = umul128(dhi, dlo, uint64(pow10[-diff].Hi), pow10[-diff].Lo)
	}
	return
}

// alignBig scales two magnitudes to their larger scale.
func alignBig(d, e Decimal) (a, b *big.Int) {
	a, b = d.mag(), e.mag()
	switch diff := int(d.scale) - int(e.scale); {
	case diff > 0:
		b = new(big.Int).Mul(b, bigPow10(diff))
	case diff < 0:
		a = new(big.Int).Mul(a, bigPow10(-diff))
	}
	return a, b
}

var smallBigPow10 = func() (p [64]*big.Int) {
	p[0] = big.NewInt(1)
	for i := 1; i < len(p); i++ {
		p[i] = new(big.Int).Mul(p[i-1], big.NewInt(10))
	}
	return p
}()

// bigPow10 returns 10^n, which must not be changed.
func bigPow10(n int) *big.Int {
	if n < len(smallBigPow10) {
		return smallBigPow10[n]
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// digits returns the number of decimal digits of the magnitude; 0 has none.
func (d Decimal) digits() int {
	if d.big == nil {
		return digits128(d.hi, d.lo)
	}
	// 2^(bits-1) ≤ magnitude < 2^bits; the margin is far above the rounding of the products.
	const log2, margin = 0.30102999566398119, 1e-6
	bits := float64(d.big.BitLen())
	n := int(bits*log2 + margin)
	if int((bits-1)*log2-margin) < n && d.big.CmpAbs(bigPow10(n)) < 0 {
		return n
	}
	return n + 1
}

func digits128(hi, lo uint64) int {
	// log10(2) ≈ 1233/4096; the estimate is exact or one short.
	n := 0
	if hi != 0 {
		n = (64 + bits.Len64(hi)) * 1233 >> 12
	} else {
		n = bits.Len64(lo) * 1233 >> 12
	}
	if n > MaxPow10 || cmpHalves(hi, lo, uint64(pow10[n].Hi), pow10[n].Lo) >= 0 {
		n++
	}
	return n
}

// WholeDigits returns the digits before the point (0 for |d| < 1); specials have none.
func (d Decimal) WholeDigits() int { return max(0, d.digits()-int(d.scale)) }
