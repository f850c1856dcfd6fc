package expr

import (
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/internal/floatmath"
	"github.com/weftdb/weft/internal/sqlerr"
)

// mathFunctions are the functions on numbers.
func mathFunctions() []*Function {
	decimal1 := func(f func(d decimal.Decimal) decimal.Decimal) builder {
		return decRow(func(r *row) (decimal.Decimal, error) { return f(r.dec(0)), nil })
	}
	float1 := func(f func(x float64) float64) builder {
		return floatRow(func(r *row) (float64, error) { return f(r.float(0)), nil })
	}
	list := []*Function{
		fn("abs", "numeric", "numeric", decimal1(decimal.Decimal.Abs), typed(firstType)),
		fn("ceil", "numeric", "numeric", decimal1(decimal.Decimal.Ceil), typed(wholeType)),
		fn("ceiling", "numeric", "numeric", decimal1(decimal.Decimal.Ceil), typed(wholeType)),
		fn("floor", "numeric", "numeric", decimal1(decimal.Decimal.Floor), typed(wholeType)),
		fn("round", "numeric", "numeric", decimal1(func(d decimal.Decimal) decimal.Decimal { return d.Round(0) }), typed(wholeType)),
		fn("trunc", "numeric", "numeric", decimal1(func(d decimal.Decimal) decimal.Decimal { return d.Trunc(0) }), typed(wholeType)),
		fn("round", "numeric int4", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(0).Round(clampDigits(r.int(1))), nil }), typed(roundType)),
		fn("trunc", "numeric int4", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(0).Trunc(clampDigits(r.int(1))), nil }), typed(roundType)),
		fn("sign", "numeric", "numeric", decRow(signNumeric), typed(signType)),
		fn("mod", "numeric numeric", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(0).Rem(r.dec(1)) }), typed(remType)),
		fn("div", "numeric numeric", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(0).QuoInt(r.dec(1)) })),
		fn("sqrt", "numeric", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(0).Sqrt() })),
		fn("exp", "numeric", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(0).Exp() })),
		fn("ln", "numeric", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(0).Ln() })),
		fn("log", "numeric", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(0).Log(decimal.FromInt64(10)) })),
		fn("log10", "numeric", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(0).Log(decimal.FromInt64(10)) })),
		fn("log", "numeric numeric", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(1).Log(r.dec(0)) })),
		fn("scale", "numeric", "int4", intRow(decimalScale)),
		fn("min_scale", "numeric", "int4", intRow(decimalMinScale)),
		fn("trim_scale", "numeric", "numeric", decimal1(decimal.Decimal.TrimScale)),
		fn("factorial", "int8", "numeric", decRow(factorial)),
		fn("width_bucket", "float8 float8 float8 int4", "int4", intRow(floatBucket)),
		fn("width_bucket", "numeric numeric numeric int4", "int4", intRow(widthBucket)),
		fn("ceil", "float8", "float8", float1(math.Ceil)), fn("ceiling", "float8", "float8", float1(math.Ceil)),
		fn("floor", "float8", "float8", float1(math.Floor)),
		fn("round", "float8", "float8", float1(math.RoundToEven)), fn("trunc", "float8", "float8", float1(math.Trunc)),
		fn("sign", "float8", "float8", float1(signFloat)),
		fn("sqrt", "float8", "float8", floatRow(floatSqrt)), fn("cbrt", "float8", "float8", float1(math.Cbrt)),
		fn("exp", "float8", "float8", floatRow(floatExp)),
		fn("ln", "float8", "float8", floatRow(floatLog(floatmath.Log))),
		fn("log", "float8", "float8", floatRow(floatLog(floatmath.Log10))), fn("log10", "float8", "float8", floatRow(floatLog(floatmath.Log10))),
		fn("degrees", "float8", "float8", floatRow(floatDegrees)),
		fn("radians", "float8", "float8", floatRow(floatRadians)),
		fn("pi", "", "float8", floatRow(func(*row) (float64, error) { return math.Pi, nil })),
		fn("random", "", "float8", floatRow(func(*row) (float64, error) { return rand.Float64(), nil }), volatile),
	}
	for _, name := range []string{"power", "pow"} {
		list = append(list,
			fn(name, "float8 float8", "float8", floatRow(floatPower)),
			fn(name, "numeric numeric", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(0).Power(r.dec(1)) })))
	}
	list = append(list, integerFunctions()...)
	return append(list, trigonometry()...)
}

func integerFunctions() []*Function {
	var list []*Function
	for _, t := range []string{"int2", "int4", "int8"} {
		id := typeWords[t]
		list = append(list,
			fn("abs", t, t, intRow(func(r *row) (int64, error) { return absInt(r.int(0), id) })),
			fn("mod", t+" "+t, t, intRow(func(r *row) (int64, error) {
				switch b := r.int(1); b {
				case 0:
					return 0, decimal.ErrDivisionByZero
				case -1:
					return 0, nil
				default:
					return r.int(0) % b, nil
				}
			})))
		if id != catalog.Int2 {
			list = append(list,
				fn("gcd", t+" "+t, t, intRow(func(r *row) (int64, error) { return gcd(r.int(0), r.int(1), id) })),
				fn("lcm", t+" "+t, t, intRow(func(r *row) (int64, error) { return lcm(r.int(0), r.int(1), id) })))
		}
	}
	for _, t := range []string{"float4", "float8"} {
		list = append(list, fn("abs", t, t, floatRow(func(r *row) (float64, error) { return math.Abs(r.float(0)), nil })))
	}
	return list
}

func gcd(a, b int64, id catalog.TypeID) (int64, error) {
	for b != 0 {
		if b == -1 {
			a, b = 1, 0
			break
		}
		a, b = b, a%b
	}
	return absInt(a, id)
}

func lcm(a, b int64, id catalog.TypeID) (int64, error) {
	if a == 0 || b == 0 {
		return 0, nil
	}
	g, err := gcd(a, b, id)
	if err != nil {
		return 0, err
	}
	w := decimal.Mul64(a/g, b)
	if !w.IsInt64() {
		return 0, rangeError(id)
	}
	return absInt(int64(w.Lo), id)
}

func trigonometry() []*Function {
	var list []*Function
	for name, f := range map[string]func(float64) float64{"sin": math.Sin, "cos": math.Cos, "tan": math.Tan,
		"asin": math.Asin, "acos": math.Acos, "atan": math.Atan, "sinh": floatmath.Sinh, "cosh": floatmath.Cosh, "tanh": math.Tanh,
		"cot": func(x float64) float64 { return 1 / math.Tan(x) }} {
		list = append(list, fn(name, "float8", "float8", floatRow(func(r *row) (float64, error) {
			x := r.float(0)
			z := f(x)
			if z != z && x == x {
				return 0, sqlerr.New(sqlerr.NumericValueOutOfRange, "input is out of range")
			}
			return z, nil
		})))
	}
	return append(list, fn("atan2", "float8 float8", "float8", floatRow(func(r *row) (float64, error) {
		return math.Atan2(r.float(0), r.float(1)), nil
	})))
}

// wholeType is the type of a number rounded to an integer.
func wholeType(args []Expr) catalog.Type {
	if whole, scale, ok := digitsOf(args[0].Type()); ok {
		if scale > 0 {
			whole++
		}
		return numericType(whole, 0)
	}
	return catalog.Type{ID: catalog.Numeric}
}

// roundType is the type of round and trunc to a constant number of digits.
func roundType(args []Expr) catalog.Type {
	whole, scale, ok := digitsOf(args[0].Type())
	c, isConst := args[1].(*Const)
	if !ok || !isConst || c.Value.Null || c.Value.I > 1000 {
		return catalog.Type{ID: catalog.Numeric}
	}
	digits := int(max(c.Value.I, 0))
	if digits < scale {
		whole++
	}
	return numericType(whole, digits)
}

func clampDigits(n int64) int { return int(min(max(n, -decimal.MaxWhole), decimal.MaxScale)) }

func signNumeric(r *row) (decimal.Decimal, error) {
	d := r.dec(0)
	if d.IsNaN() {
		return d, nil
	}
	return decimal.FromInt64(int64(d.Sign())), nil
}

func signType(args []Expr) catalog.Type {
	if _, _, ok := digitsOf(args[0].Type()); ok {
		return numericType(1, 0)
	}
	return catalog.Type{ID: catalog.Numeric}
}

func signFloat(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

func decimalScale(r *row) (int64, error) {
	d := r.dec(0)
	r.null = !d.IsFinite()
	return int64(d.Scale()), nil
}

func decimalMinScale(r *row) (int64, error) {
	d := r.dec(0)
	r.null = !d.IsFinite()
	return int64(d.MinScale()), nil
}

func floatExp(r *row) (float64, error) {
	x := r.float(0)
	z := floatmath.Exp(x)
	return z, floatResult(z, math.IsInf(x, 0), false)
}

func floatDegrees(r *row) (float64, error) {
	x := r.float(0)
	z := x / (math.Pi / 180)
	return z, floatResult(z, math.IsInf(x, 0), x == 0)
}

func floatRadians(r *row) (float64, error) {
	x := r.float(0)
	z := x * (math.Pi / 180)
	return z, floatResult(z, math.IsInf(x, 0), x == 0)
}

func floatLog(f func(float64) float64) func(r *row) (float64, error) {
	return func(r *row) (float64, error) {
		switch x := r.float(0); {
		case x == 0:
			return 0, errLogZero
		case x < 0:
			return 0, errLogNegative
		default:
			return f(x), nil
		}
	}
}

func factorial(r *row) (decimal.Decimal, error) {
	n := r.int(0)
	if n < 0 {
		return decimal.Decimal{}, sqlerr.New(sqlerr.NumericValueOutOfRange, "factorial of a negative number is undefined")
	}
	if n > 32177 {
		return decimal.Decimal{}, decimal.ErrOverflow
	}
	return decimal.FromBig(new(big.Int).MulRange(1, max(n, 1)), 0), nil
}

func floatBucket(r *row) (int64, error) {
	x, lo, hi, n := r.float(0), r.float(1), r.float(2), r.int(3)
	fail := func(text string) (int64, error) { return 0, sqlerr.New("2201G", "%s", text) }
	switch {
	case n <= 0:
		return fail("count must be greater than zero")
	case x != x || lo != lo || hi != hi:
		return fail("operand, lower bound, and upper bound cannot be NaN")
	case lo-lo != 0 || hi-hi != 0:
		return fail("lower and upper bounds must be finite")
	case lo == hi:
		return fail("lower bound cannot equal upper bound")
	case lo > hi:
		x, lo, hi = -x, -lo, -hi
	}
	switch {
	case x < lo:
		return 0, nil
	case x >= hi:
		return n + 1, nil
	}
	return min(int64(float64(n)*((x-lo)/(hi-lo)))+1, n), nil
}

func widthBucket(r *row) (int64, error) {
	x, lo, hi, n := r.dec(0), r.dec(1), r.dec(2), r.int(3)
	fail := func(text string) (int64, error) { return 0, sqlerr.New("2201G", "%s", text) }
	switch c := lo.Cmp(hi); {
	case n <= 0:
		return fail("count must be greater than zero")
	case x.IsNaN() || lo.IsNaN() || hi.IsNaN():
		return fail("operand, lower bound, and upper bound cannot be NaN")
	case lo.IsInf() || hi.IsInf():
		return fail("lower and upper bounds must be finite")
	case c == 0:
		return fail("lower bound cannot equal upper bound")
	case c > 0:
		x, lo, hi = x.Neg(), lo.Neg(), hi.Neg()
	}
	switch {
	case x.Cmp(lo) < 0:
		return 0, nil
	case x.Cmp(hi) >= 0:
		if n == math.MaxInt32 {
			return 0, errInt4Range
		}
		return n + 1, nil
	}
	q, err := x.Sub(lo).Mul(decimal.FromInt64(n)).QuoInt(hi.Sub(lo))
	if err != nil {
		return 0, err
	}
	i, _ := q.Int64()
	return i + 1, nil
}
