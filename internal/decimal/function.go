package decimal

import (
	"math"
	"math/big"
)

// clampScale applies the limits of a scale chosen by a function.
func clampScale(scale int) int { return min(max(scale, 0), maxDisplayScale) }

// Sqrt returns the square root.
func (d Decimal) Sqrt() (Decimal, error) {
	switch {
	case d.kind == nan || d.kind == posInf:
		return d, nil
	case d.Sign() < 0:
		return d, errNegativeSqrt
	}
	weight, _ := d.nbase()
	return d.SqrtScale(clampScale(max(minSigDigits-(weight*4/2+1), int(d.scale)))), nil
}

// SqrtScale returns the square root of a number that is not negative, rounded to scale digits.
func (d Decimal) SqrtScale(scale int) Decimal {
	// floor(sqrt(m·10^(2(scale+1)-s))) has one digit too many; round it off. Sticky low bits
	// cannot matter: a root that ends in exactly 5 there is exact.
	shift := 2*(scale+1) - int(d.scale)
	m := d.mag()
	if shift >= 0 {
		m = new(big.Int).Mul(m, bigPow10(shift))
	} else {
		m = new(big.Int).Quo(m, bigPow10(-shift))
	}
	root := new(big.Int).Sqrt(m)
	return fromMag(divRoundBig(root, smallBigPow10[1]), scale, false)
}

// lnWeight estimates the decimal weight of ln(d), as PostgreSQL's estimate_ln_dweight.
func (d Decimal) lnWeight() int {
	if d.Sign() <= 0 {
		return 0
	}
	if d.Cmp(FromScaledInt64(9, 1)) >= 0 && d.Cmp(FromScaledInt64(11, 1)) <= 0 {
		x := d.Sub(FromInt64(1))
		if x.IsZero() {
			return 0
		}
		return x.digits() - 1 - x.Scale()
	}
	// The first two base-10000 digits are enough away from 1.
	digits, weight := AppendBase10000(nil, d)
	lead, exp := float64(digits[0]), weight*4
	if len(digits) > 1 {
		lead, exp = lead*10000+float64(digits[1]), exp-4
	}
	ln := math.Log(lead) + float64(exp)*math.Ln10
	return int(math.Log10(math.Abs(ln)))
}

// Ln returns the natural logarithm.
func (d Decimal) Ln() (Decimal, error) {
	if d.kind == nan || d.kind == posInf {
		return d, nil
	}
	if err := d.checkLog(); err != nil {
		return d, err
	}
	return d.lnScale(clampScale(max(minSigDigits-d.lnWeight(), int(d.scale)))), nil
}

func (d Decimal) checkLog() error {
	switch d.Sign() {
	case 0:
		return errLogZero
	case -1:
		return errLogNegative
	}
	return nil
}

// Exp returns e^d.
func (d Decimal) Exp() (Decimal, error) {
	switch d.kind {
	case negInf:
		return Decimal{}, nil
	case posInf, nan:
		return d, nil
	}
	val := min(max(d.Float64()*0.434294481903252, -2000), 2000)
	scale := clampScale(max(minSigDigits-int(val), int(d.scale)))
	return d.expScale(scale)
}

// Log returns the logarithm of d to the given base.
func (d Decimal) Log(base Decimal) (Decimal, error) {
	if d.kind == nan || base.kind == nan {
		return NaN, nil
	}
	if (d.kind != finite || base.kind != finite) && (d.Sign() < 0 || base.Sign() < 0) {
		return d, errLogNegative
	}
	if err := base.checkLog(); err != nil {
		return d, err
	}
	if err := d.checkLog(); err != nil {
		return d, err
	}
	switch {
	case d.kind == posInf && base.kind == posInf:
		return NaN, nil
	case d.kind == posInf:
		return Inf, nil
	case base.kind == posInf:
		return Decimal{}, nil
	}
	wb, wn := base.lnWeight(), d.lnWeight()
	scale := clampScale(max(minSigDigits-(wn-wb), int(base.scale), int(d.scale)))
	lnBase := base.lnScale(max(scale+wn-2*wb+8+max(wb, 0), 0) + 8)
	lnNum := d.lnScale(max(scale-wb+8, 0) + 8)
	if lnBase.IsZero() {
		return d, ErrDivisionByZero
	}
	return quoScale(lnNum, lnBase, scale), nil
}

// Power returns d^e.
func (d Decimal) Power(e Decimal) (Decimal, error) {
	one := FromInt64(1)
	switch {
	case d.kind == nan && !e.IsZero() || e.kind == nan && d.Cmp(one) != 0:
		return NaN, nil
	case d.kind == nan || e.kind == nan:
		return one, nil
	case d.IsZero() && e.Sign() < 0:
		return d, errZeroPower
	case d.kind != finite || e.kind != finite:
		return powerSpecial(d, e)
	case d.neg && !e.IsInteger():
		return d, errComplexPower
	}
	if n, ok := e.Int64(); ok && e.IsInteger() && n >= math.MinInt32 && n <= math.MaxInt32 {
		return d.powerInt(int(n))
	}
	if d.IsZero() {
		return Decimal{scale: minSigDigits}, nil
	}
	neg := false
	if d.neg {
		neg = !e.Trunc(0).isEven()
		d = d.Abs()
	}
	roughScale := clampScale(8 - d.lnWeight())
	val := d.lnScale(roughScale).Mul(e).Round(roughScale).Float64()
	if math.Abs(val) > 2000*3.01 {
		if val > 0 {
			return d, ErrOverflow
		}
		return Decimal{scale: maxDisplayScale}, nil
	}
	weight := int(val * 0.434294481903252)
	scale := clampScale(max(minSigDigits-weight, int(d.scale), int(e.scale)))
	sig := scale + max(weight, 0) + 12
	ln := d.lnScale(max(sig+e.WholeDigits(), 0))
	r, err := ln.Mul(e).Round(sig + 8).expScale(scale)
	if neg {
		r = r.Neg()
	}
	return r, err
}

func (d Decimal) isEven() bool {
	if d.big != nil {
		return d.big.Bit(0) == 0
	}
	return d.lo&1 == 0
}

// powerSpecial handles infinities, after NaN and 0^negative have been dealt with.
func powerSpecial(d, e Decimal) (Decimal, error) {
	one := FromInt64(1)
	switch {
	case d.Cmp(one) == 0 || e.IsZero():
		return one, nil
	case e.kind != finite:
		c := d.Abs().Cmp(one)
		switch {
		case d.IsZero():
			return Decimal{}, nil
		case c == 0:
			return one, nil
		case (c > 0) == (e.kind == posInf):
			return Inf, nil
		}
		return Decimal{}, nil
	case e.Sign() < 0:
		if d.kind == negInf && !e.IsInteger() {
			return d, errComplexPower
		}
		return Decimal{}, nil
	case d.kind == posInf:
		return Inf, nil
	case !e.IsInteger():
		return d, errComplexPower
	case e.Trunc(0).isEven():
		return Inf, nil
	}
	return NegInf, nil
}

// powerInt is PostgreSQL's power_var_int: multiplication to a fixed number of fraction digits.
func (d Decimal) powerInt(n int) (Decimal, error) {
	f := 0.0
	if !d.IsZero() {
		digits, weight := AppendBase10000(nil, d)
		m, p := float64(digits[0]), weight*4
		for i := 1; i < len(digits) && i*4 < 16; i++ {
			m, p = m*10000+float64(digits[i]), p-4
		}
		f = float64(n) * (math.Log10(m) + float64(p))
	}
	scale := clampScale(max(minSigDigits, int(d.scale)))
	switch {
	case f > MaxWhole+4:
		return d, ErrOverflow
	case f+1 < -float64(scale):
		return Decimal{scale: uint16(scale)}, nil
	}
	switch {
	case n == 0:
		return FromInt64(1).Round(scale), nil
	case n == 1:
		return d.Round(scale), nil
	case n == -1:
		return quoScale(FromInt64(1), d, scale), nil
	case n == 2:
		return d.Mul(d).Round(scale), nil
	case d.IsZero():
		return Decimal{scale: uint16(scale)}, nil
	}
	r := d.powApprox(n, scale, f)
	if r.WholeDigits() > MaxWhole {
		return d, ErrOverflow
	}
	return r, nil
}

// powApprox multiplies out d^n keeping enough significant digits for scale fraction digits; f is
// the decimal logarithm of the result.
func (d Decimal) powApprox(n, scale int, f float64) Decimal {
	keep := max(scale+int(f), 1) + 8 + int(math.Log(math.Abs(float64(n)))) + 8
	odd, neg := n&1 != 0, d.neg
	inverse := n < 0
	if inverse {
		n = -n
	}
	result, square := FromInt64(1), d.Abs()
	for ; n != 0; n >>= 1 {
		if n&1 != 0 {
			result = mulKeep(result, square, keep)
		}
		if n > 1 {
			square = mulKeep(square, square, keep)
		}
	}
	if inverse {
		result = quoScale(FromInt64(1), result, scale)
	}
	result = result.Round(scale)
	if odd && neg {
		result = result.Neg()
	}
	return result
}

// mulKeep multiplies, keeping at least keep significant digits.
func mulKeep(a, b Decimal, keep int) Decimal {
	r := a.Mul(b)
	if excess := r.digits() - keep; excess > 0 {
		return r.Round(min(r.Scale(), max(0, r.Scale()-excess)))
	}
	return r
}
