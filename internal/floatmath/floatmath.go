// Package floatmath computes exponentials, logarithms and powers of float64 that are correctly
// rounded but for rare cases, so that they agree with those of a good C library: 10^100 is 1e100 and
// log10(1e15) is 15. The math package is off by a unit in the last place in many of them, and wrong
// near the ends of the range.
//
// Values are carried as unevaluated sums of two floats ("double-double", Dekker 1971), some 100
// bits, and rounded once at the end.
package floatmath

import "math"

// pair is the sum of two floats; lo is at most half a unit in the last place of hi.
type pair struct{ hi, lo float64 }

// fast makes a pair of a sum whose first operand is not the smaller one, or is zero.
func fast(a, b float64) pair {
	s := a + b
	return pair{s, b - (s - a)}
}

// sum is the exact sum of two floats.
func sum(a, b float64) pair {
	s := a + b
	t := s - a
	return pair{s, (a - (s - t)) + (b - t)}
}

// product is the exact product of two floats.
func product(a, b float64) pair {
	p := a * b
	return pair{p, math.FMA(a, b, -p)}
}

func (x pair) plus(y pair) pair {
	s := sum(x.hi, y.hi)
	return fast(s.hi, s.lo+(x.lo+y.lo))
}

func (x pair) times(y pair) pair {
	p := product(x.hi, y.hi)
	return fast(p.hi, p.lo+(x.hi*y.lo+x.lo*y.hi))
}

func (x pair) timesFloat(y float64) pair {
	p := product(x.hi, y)
	return fast(p.hi, p.lo+x.lo*y)
}

// scaled multiplies by a power of two, which is exact.
func (x pair) scaled(by float64) pair { return pair{x.hi * by, x.lo * by} }

// Constants in two parts.
var (
	ln2   = pair{0.6931471805599453, 2.3190468138462996e-17}
	log10 = pair{0.4342944819032518, 1.098319650216765e-17} // 1/ln(10)
)

// inverse holds 1/3, 1/5, 1/7 and 1/9.
var inverse = [4]pair{
	{1.0 / 3, 1.850371707708594e-17}, {1.0 / 5, -1.1102230246251566e-17},
	{1.0 / 7, 7.93016446160826e-18}, {1.0 / 9, 6.1679056923619804e-18},
}

// log returns the logarithm of a positive, finite number.
func log(x float64) pair {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	// ln(m) = 2·atanh(z) = 2z(1 + z²/3 + z⁴/5 + …) with z = (m-1)/(m+1), |z| < 0.172
	over, under := m-1, sum(m, 1)
	q := over / under.hi
	z := fast(q, (math.FMA(-q, under.hi, over)-q*under.lo)/under.hi)
	w := z.times(z)
	rest := 0.0
	for n := 27; n > 9; n -= 2 { // as large as matters, and needed to few bits
		rest = (rest + 1/float64(n)) * w.hi
	}
	t := pair{rest, 0}
	for i := len(inverse) - 1; i >= 0; i-- {
		t = t.plus(inverse[i]).times(w)
	}
	l := z.plus(z.times(t)).scaled(2)
	if e == 0 {
		return l
	}
	return ln2.timesFloat(float64(e)).plus(l)
}

// exp returns e^x rounded.
func exp(x pair) float64 {
	switch {
	case x.hi > 800:
		return math.Inf(1)
	case x.hi < -800:
		return 0
	}
	k := math.RoundToEven(x.hi / ln2.hi)
	// e^x = 2^k · e^r, and e^r - 1 comes from e^(r/256) - 1 by doubling: (1+s)² - 1 = 2s + s².
	r := x.plus(ln2.timesFloat(-k))
	const halvings = 8
	t := r.scaled(1.0 / (1 << halvings))
	h := t.hi
	rest := h * h * h * (1.0/6 + h*(1.0/24+h*(1.0/120+h*(1.0/720+h/5040))))
	s := t.plus(t.times(t).scaled(0.5)).plus(pair{rest, 0})
	for range halvings {
		s = s.scaled(2).plus(s.times(s))
	}
	s = sum(1, s.hi).plus(pair{s.lo, 0})
	return math.Ldexp(s.hi+s.lo, int(k))
}

func special(x float64) bool { return x-x != 0 }

// Exp returns e^x.
func Exp(x float64) float64 {
	if special(x) {
		return math.Exp(x)
	}
	return exp(pair{x, 0})
}

// Log returns the natural logarithm of x, with math.Log's special cases.
func Log(x float64) float64 {
	if special(x) || x <= 0 {
		return math.Log(x)
	}
	l := log(x)
	return l.hi + l.lo
}

// Log10 returns the decimal logarithm of x, with math.Log10's special cases.
func Log10(x float64) float64 {
	if special(x) || x <= 0 {
		return math.Log10(x)
	}
	l := log(x).times(log10)
	return l.hi + l.lo
}

// hyperbolicLimit is from where e^-x no longer matters to sinh(x) and cosh(x).
const hyperbolicLimit = 22

// Sinh returns the hyperbolic sine of x.
func Sinh(x float64) float64 {
	if math.Abs(x) < hyperbolicLimit || special(x) {
		return math.Sinh(x)
	}
	return math.Copysign(halfExp(math.Abs(x)), x)
}

// Cosh returns the hyperbolic cosine of x.
func Cosh(x float64) float64 {
	if math.Abs(x) < hyperbolicLimit || special(x) {
		return math.Cosh(x)
	}
	return halfExp(math.Abs(x))
}

// halfExp returns e^x / 2, which may be finite where e^x is not.
func halfExp(x float64) float64 { return exp(pair{x, 0}.plus(ln2.scaled(-1))) }

// Pow returns x^y, with math.Pow's special cases.
func Pow(x, y float64) float64 {
	if special(x) || special(y) || x == 0 || y == 0 || x < 0 && math.Trunc(y) != y {
		return math.Pow(x, y)
	}
	l := log(math.Abs(x))
	p := math.Inf(1)
	switch rough := l.hi * y; {
	case rough < -800:
		p = 0
	case rough <= 800:
		p = exp(l.timesFloat(y))
	}
	if x < 0 && math.Mod(y, 2) != 0 {
		return -p
	}
	return p
}
