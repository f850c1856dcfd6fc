package decimal

import (
	"math/big"
	"math/bits"
)

// Add returns d + e with the larger scale.
func (d Decimal) Add(e Decimal) Decimal {
	if d.kind != finite || e.kind != finite {
		return addSpecial(d, e)
	}
	scale := max(d.scale, e.scale)
	if d.big == nil && e.big == nil {
		dhi, dlo, ehi, elo, ok := alignMag(d, e)
		if ok {
			if r, ok := addSmall(dhi, dlo, d.neg, ehi, elo, e.neg); ok {
				r.scale = scale
				return r
			}
		}
	}
	a, b := alignBig(d, e)
	if d.neg == e.neg {
		return fromMag(new(big.Int).Add(a, b), int(scale), d.neg)
	}
	if a.Cmp(b) >= 0 {
		return fromMag(new(big.Int).Sub(a, b), int(scale), d.neg)
	}
	return fromMag(new(big.Int).Sub(b, a), int(scale), e.neg)
}

func addSmall(dhi, dlo uint64, dneg bool, ehi, elo uint64, eneg bool) (Decimal, bool) {
	if dneg == eneg {
		lo, carry := bits.Add64(dlo, elo, 0)
		hi, carry := bits.Add64(dhi, ehi, carry)
		return Decimal{lo: lo, hi: hi, neg: dneg}, carry == 0
	}
	if cmpHalves(dhi, dlo, ehi, elo) < 0 {
		dhi, dlo, dneg, ehi, elo = ehi, elo, eneg, dhi, dlo
	}
	lo, borrow := bits.Sub64(dlo, elo, 0)
	hi, _ := bits.Sub64(dhi, ehi, borrow)
	return Decimal{lo: lo, hi: hi, neg: dneg && hi|lo != 0}, true
}

func addSpecial(d, e Decimal) Decimal {
	switch {
	case d.kind == nan || e.kind == nan:
		return NaN
	case d.kind == finite:
		return e
	case e.kind == finite || d.kind == e.kind:
		return d
	}
	return NaN // Infinity - Infinity
}

// Sub returns d - e with the larger scale.
func (d Decimal) Sub(e Decimal) Decimal { return d.Add(e.Neg()) }

// Mul returns d · e; its scale is the sum of the scales.
func (d Decimal) Mul(e Decimal) Decimal {
	if d.kind != finite || e.kind != finite {
		return mulSpecial(d, e)
	}
	neg := d.neg != e.neg
	scale := int(d.scale) + int(e.scale)
	var r Decimal
	done := false
	if d.big == nil && e.big == nil {
		hi, lo, ok := umul128(d.hi, d.lo, e.hi, e.lo)
		r, done = Decimal{lo: lo, hi: hi, neg: neg && hi|lo != 0}, ok
	}
	if !done {
		r = fromMag(new(big.Int).Mul(d.mag(), e.mag()), 0, neg)
	}
	if scale > MaxScale {
		m := divRoundBig(r.mag(), bigPow10(scale-MaxScale))
		return fromMag(m, MaxScale, neg)
	}
	r.scale = uint16(scale)
	return r
}

func mulSpecial(d, e Decimal) Decimal {
	switch s := d.Sign() * e.Sign(); {
	case d.kind == nan || e.kind == nan || s == 0:
		return NaN
	case s < 0:
		return NegInf
	}
	return Inf
}

// Quo returns d / e with the scale PostgreSQL chooses: at least 16 significant digits and no fewer
// fraction digits than either operand.
func (d Decimal) Quo(e Decimal) (Decimal, error) {
	if d.kind != finite || e.kind != finite {
		return quoSpecial(d, e)
	}
	if e.IsZero() {
		return Decimal{}, ErrDivisionByZero
	}
	return quoScale(d, e, divScale(d, e)), nil
}

func quoSpecial(d, e Decimal) (Decimal, error) {
	switch {
	case d.kind == nan || e.kind == nan:
		return NaN, nil
	case d.kind == finite: // number / infinity
		return Decimal{}, nil
	case e.kind != finite:
		return NaN, nil
	case e.IsZero():
		return Decimal{}, ErrDivisionByZero
	case d.Sign()*e.Sign() < 0:
		return NegInf, nil
	}
	return Inf, nil
}

// QuoScale divides numbers, rounding half away from zero to scale digits. e is not 0.
func (d Decimal) QuoScale(e Decimal, scale int) Decimal { return quoScale(d, e, scale) }

// quoScale divides numbers, rounding half away from zero to scale digits. e is not 0.
func quoScale(d, e Decimal, scale int) Decimal {
	neg := d.neg != e.neg
	shift := scale + int(e.scale) - int(d.scale)
	if d.big == nil && e.big == nil && shift >= 0 && shift <= MaxPow10 {
		p := pow10[shift]
		if hi, lo, ok := umul128(d.hi, d.lo, uint64(p.Hi), p.Lo); ok {
			hi, lo = udivRound(hi, lo, e.hi, e.lo)
			return Decimal{lo: lo, hi: hi, neg: neg && hi|lo != 0, scale: uint16(scale)}
		}
	}
	a, b := d.mag(), e.mag()
	if shift >= 0 {
		a = new(big.Int).Mul(a, bigPow10(shift))
	} else {
		b = new(big.Int).Mul(b, bigPow10(-shift))
	}
	return fromMag(divRoundBig(a, b), scale, neg)
}

// divRoundBig divides non-negative integers, rounding half up.
func divRoundBig(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Lsh(r, 1).Cmp(b) >= 0 {
		q.Add(q, smallBigPow10[0])
	}
	return q
}

// nbase returns PostgreSQL's weight and first digit in base 10000 of a normalised number; both are
// 0 for zero.
func (d Decimal) nbase() (weight, first int) {
	n := d.digits()
	if n == 0 {
		return 0, 0
	}
	exp := n - 1 - int(d.scale) // decimal exponent of the leading digit
	weight = exp >> 2
	lead := exp - 4*weight + 1 // digits of the leading base-10000 digit
	if d.big == nil {
		hi, lo := d.hi, d.lo
		if n > lead {
			p := pow10[n-lead]
			_, lo, _, _ = udiv128(hi, lo, uint64(p.Hi), p.Lo)
		} else {
			lo *= pow10[lead-n].Lo
		}
		return weight, int(lo)
	}
	q := new(big.Int).Quo(d.big, bigPow10(n-lead))
	return weight, int(q.Int64())
}

// divScale is PostgreSQL's select_div_scale.
func divScale(d, e Decimal) int {
	w1, first1 := d.nbase()
	w2, first2 := e.nbase()
	weight := w1 - w2
	if first1 <= first2 {
		weight--
	}
	scale := max(minSigDigits-4*weight, int(d.scale), int(e.scale), 0)
	return min(scale, maxDisplayScale)
}

// QuoInt returns the quotient truncated towards zero, with scale 0 (PostgreSQL's div).
func (d Decimal) QuoInt(e Decimal) (Decimal, error) {
	if d.kind != finite || e.kind != finite {
		return quoSpecial(d, e)
	}
	if e.IsZero() {
		return Decimal{}, ErrDivisionByZero
	}
	if d.big == nil && e.big == nil {
		if dhi, dlo, ehi, elo, ok := alignMag(d, e); ok {
			hi, lo, _, _ := udiv128(dhi, dlo, ehi, elo)
			return Decimal{lo: lo, hi: hi, neg: d.neg != e.neg && hi|lo != 0}, nil
		}
	}
	a, b := alignBig(d, e)
	return fromMag(new(big.Int).Quo(a, b), 0, d.neg != e.neg), nil
}

// Rem returns d modulo e with d's sign and the larger scale.
func (d Decimal) Rem(e Decimal) (Decimal, error) {
	switch {
	case d.kind == nan || e.kind == nan:
		return NaN, nil
	case e.IsZero():
		return Decimal{}, ErrDivisionByZero
	case d.kind != finite:
		return NaN, nil
	case e.kind != finite:
		return d, nil
	}
	scale := max(d.scale, e.scale)
	if d.big == nil && e.big == nil {
		if dhi, dlo, ehi, elo, ok := alignMag(d, e); ok {
			_, _, hi, lo := udiv128(dhi, dlo, ehi, elo)
			return Decimal{lo: lo, hi: hi, neg: d.neg && hi|lo != 0, scale: scale}, nil
		}
	}
	a, b := alignBig(d, e)
	return fromMag(new(big.Int).Rem(a, b), int(scale), d.neg), nil
}
