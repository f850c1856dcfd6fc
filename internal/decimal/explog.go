package decimal

import (
	"math"
	"math/big"
	"math/bits"
)

// Exponentials and logarithms are computed in fixed point: a big integer x stands for x / 2^point.
// guardBits is what rounding errors, of which there are some hundreds, may eat.
const guardBits = 48

// pointFor returns the fraction bits that hold a number of decimal digits, and the guard bits.
func pointFor(digits int) uint { return uint(math.Ceil(float64(digits)*math.Log2(10))) + guardBits }

// expScale computes e^d to scale digits.
func (d Decimal) expScale(scale int) (Decimal, error) {
	f := d.Float64()
	if f > 2000*3 { // PostgreSQL's limit on results of exp
		return Decimal{}, ErrOverflow
	}
	if f < -2000*3 {
		return Decimal{scale: uint16(scale)}, nil
	}
	size := math.Abs(f)
	point := pointFor(scale + int(size*math.Log10E) + 1)
	x := new(big.Int).Lsh(d.mag(), point)
	e := expFixed(x.Quo(x, bigPow10(int(d.scale))), point, uint(bits.Len(uint(size))))
	unit := bigPow10(scale)
	if d.neg {
		return fromMag(divRoundBig(new(big.Int).Lsh(unit, point), e), scale, false), nil
	}
	return fromMag(roundShift(e.Mul(e, unit), point), scale, false), nil
}

// expFixed returns e^x for |x| < 2^whole, with a relative error of 2^-point but for the guard bits.
func expFixed(x *big.Int, point, whole uint) *big.Int {
	// e^x = (e^(x/2^n))^(2^n): a larger n makes the series shorter, and costs n squarings and bits.
	halvings := whole + uint(math.Sqrt(float64(point)))/2
	wide := point + halvings
	term := new(big.Int).Lsh(big.NewInt(1), wide)
	sum := new(big.Int).Set(term)
	var n big.Int
	for i := int64(1); term.BitLen() > 1; i++ { // x is x/2^halvings with wide fraction bits
		term.Rsh(term.Mul(term, x), wide)
		term.Quo(term, n.SetInt64(i))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Rsh(sum.Mul(sum, sum), wide)
	}
	return sum.Rsh(sum, halvings)
}

// lnScale computes ln(d) to scale digits.
func (d Decimal) lnScale(scale int) Decimal {
	const exponentBits = 20 // of d, by which the error of ln(2) is multiplied
	point := pointFor(scale) + exponentBits
	m, e := d.mantissa(point)
	ln := lnFixed(m, point)
	ln.Add(ln, new(big.Int).Mul(ln2Fixed(point), big.NewInt(int64(e))))
	neg := ln.Sign() < 0
	return fromMag(roundShift(ln.Mul(ln.Abs(ln), bigPow10(scale)), point), scale, neg)
}

// mantissa returns m and e with d = m · 2^e and 1 ≤ m < 2, m in fixed point. d is positive.
func (d Decimal) mantissa(point uint) (m *big.Int, e int) {
	num, den := d.mag(), bigPow10(int(d.scale))
	e = num.BitLen() - den.BitLen()
	for {
		if shift := int(point) - e; shift >= 0 {
			m = new(big.Int).Lsh(num, uint(shift))
		} else {
			m = new(big.Int).Rsh(num, uint(-shift))
		}
		if m.Quo(m, den); m.BitLen() > int(point) {
			return m, e
		}
		e--
	}
}

// lnFixed returns ln(m) for 1 ≤ m < 2 by Halley's iteration on e^y = m, which triples the correct
// bits each time.
func lnFixed(m *big.Int, point uint) *big.Int {
	start, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(m), -int(point)).Float64()
	y, _ := new(big.Float).SetMantExp(big.NewFloat(math.Log(start)), int(point)).Int(nil)
	for correct := uint(50); correct < point; correct *= 3 {
		e := expFixed(y, point, 1)
		step := new(big.Int).Sub(m, e)
		step.Lsh(step, point+1)
		y.Add(y, step.Quo(step, e.Add(e, m)))
	}
	return y
}

// ln2Fixed returns ln(2) = 18 atanh(1/26) - 2 atanh(1/4801) + 8 atanh(1/8749).
func ln2Fixed(point uint) *big.Int {
	sum := new(big.Int)
	for _, part := range []struct{ factor, k int64 }{{18, 26}, {-2, 4801}, {8, 8749}} {
		term := new(big.Int).Lsh(big.NewInt(part.factor), point)
		term.Quo(term, big.NewInt(part.k))
		square := big.NewInt(part.k * part.k)
		var n, t big.Int
		for i := int64(1); term.Sign() != 0; i += 2 { // atanh(1/k) = 1/k + 1/3k³ + 1/5k⁵ + …
			sum.Add(sum, t.Quo(term, n.SetInt64(i)))
			term.Quo(term, square)
		}
	}
	return sum
}

// roundShift divides a non-negative integer by 2^n, rounding half up.
func roundShift(x *big.Int, n uint) *big.Int {
	half := new(big.Int).Lsh(big.NewInt(1), n-1)
	return half.Rsh(half.Add(half, x), n)
}
