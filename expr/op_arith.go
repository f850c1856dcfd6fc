package expr

import (
	"math"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/internal/floatmath"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// arithmeticOperators are the operators on numbers.
func arithmeticOperators() []*Function {
	var list []*Function
	for _, name := range []string{"+", "-", "*", "/", "%"} {
		o := name[0]
		list = append(list,
			op(name, "int2 int2", "int2", buildInt(o, catalog.Int2, vector.MulChecked[int16])),
			op(name, "int4 int4", "int4", buildInt(o, catalog.Int4, vector.MulChecked[int32])),
			op(name, "int8 int8", "int8", buildInt(o, catalog.Int8, vector.MulChecked64)))
		for _, pair := range []string{"int2 int4", "int4 int2", "int2 int8", "int8 int2", "int4 int8", "int8 int4"} {
			f := op(name, pair, "int8", nil)
			if pair == "int2 int4" || pair == "int4 int2" {
				f.Ret = catalog.Int4
			}
			f.via = f.Ret
			list = append(list, f)
		}
		if o == '%' {
			continue
		}
		list = append(list,
			op(name, "float4 float4", "float4", buildFloat[float32](o)),
			op(name, "float8 float8", "float8", buildFloat[float64](o)))
		for _, pair := range []string{"float4 float8", "float8 float4"} {
			f := op(name, pair, "float8", nil)
			f.via = catalog.Float8
			list = append(list, f)
		}
	}
	list = append(list,
		op("+", "numeric numeric", "numeric", buildNumeric('+'), typed(addType)),
		op("-", "numeric numeric", "numeric", buildNumeric('-'), typed(addType)),
		op("*", "numeric numeric", "numeric", buildNumeric('*'), typed(mulType)),
		op("/", "numeric numeric", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(0).Quo(r.dec(1)) })),
		op("%", "numeric numeric", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(0).Rem(r.dec(1)) }), typed(remType)),
		op("^", "float8 float8", "float8", floatRow(floatPower)),
		op("^", "numeric numeric", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(0).Power(r.dec(1)) })),
		op("|/", "float8", "float8", floatRow(floatSqrt)),
		op("||/", "float8", "float8", floatRow(func(r *row) (float64, error) { return math.Cbrt(r.float(0)), nil })))
	list = append(list, signOperators()...)
	return append(list, bitOperators()...)
}

func signOperators() []*Function {
	list := []*Function{
		op("-", "numeric", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(0).Neg(), nil }), typed(firstType)),
		op("@", "numeric", "numeric", decRow(func(r *row) (decimal.Decimal, error) { return r.dec(0).Abs(), nil }), typed(firstType)),
		op("+", "numeric", "numeric", buildFirst, typed(firstType)),
	}
	for _, t := range []string{"int2", "int4", "int8"} {
		id := typeWords[t]
		list = append(list,
			op("-", t, t, intRow(func(r *row) (int64, error) { return negateInt(r.int(0), id) })),
			op("@", t, t, intRow(func(r *row) (int64, error) { return absInt(r.int(0), id) })),
			op("+", t, t, buildFirst),
			op("~", t, t, intRow(func(r *row) (int64, error) { return ^r.int(0), nil })))
	}
	for _, t := range []string{"float4", "float8"} {
		list = append(list,
			op("-", t, t, floatRow(func(r *row) (float64, error) { return -r.float(0), nil })),
			op("@", t, t, floatRow(func(r *row) (float64, error) { return math.Abs(r.float(0)), nil })),
			op("+", t, t, buildFirst))
	}
	return list
}

// buildFirst compiles a call that returns its first argument.
func buildFirst(c *compiler, call *Call) (Evaluator, error) { return c.compile(call.Args[0]) }

func negateInt(x int64, id catalog.TypeID) (int64, error) {
	if x == math.MinInt64 || !inRange(-x, id) {
		return 0, rangeError(id)
	}
	return -x, nil
}

func absInt(x int64, id catalog.TypeID) (int64, error) {
	if x < 0 {
		return negateInt(x, id)
	}
	return x, nil
}

func bitOperators() []*Function {
	var list []*Function
	for _, t := range []string{"int2", "int4", "int8"} {
		id := typeWords[t]
		width := uint(catalog.Type{ID: id}.Kind().Width() * 8)
		list = append(list,
			op("&", t+" "+t, t, intRow(func(r *row) (int64, error) { return r.int(0) & r.int(1), nil })),
			op("|", t+" "+t, t, intRow(func(r *row) (int64, error) { return r.int(0) | r.int(1), nil })),
			op("#", t+" "+t, t, intRow(func(r *row) (int64, error) { return r.int(0) ^ r.int(1), nil })),
			op("<<", t+" int4", t, intRow(func(r *row) (int64, error) {
				// The machine's shift: the count is taken modulo the word, which for int2 is int4's.
				return truncateInt(r.int(0)<<(uint(r.int(1))&(max(width, 32)-1)), id), nil
			})),
			op(">>", t+" int4", t, intRow(func(r *row) (int64, error) {
				return r.int(0) >> (uint(r.int(1)) & (max(width, 32) - 1)), nil
			})))
	}
	return list
}

func truncateInt(x int64, id catalog.TypeID) int64 {
	switch id {
	case catalog.Int2:
		return int64(int16(x))
	case catalog.Int4:
		return int64(int32(x))
	}
	return x
}

var (
	errSqrtNegative = sqlerr.New(sqlerr.InvalidArgumentForPower, "cannot take square root of a negative number")
	errLogNegative  = sqlerr.New(sqlerr.InvalidArgumentForLogarithm, "cannot take logarithm of a negative number")
	errLogZero      = sqlerr.New(sqlerr.InvalidArgumentForLogarithm, "cannot take logarithm of zero")
	errZeroPower    = sqlerr.New(sqlerr.InvalidArgumentForPower, "zero raised to a negative power is undefined")
	errComplexPower = sqlerr.New(sqlerr.InvalidArgumentForPower, "a negative number raised to a non-integer power yields a complex result")
)

func floatSqrt(r *row) (float64, error) {
	if x := r.float(0); x >= 0 || x != x {
		return math.Sqrt(x), nil
	}
	return 0, errSqrtNegative
}

func floatPower(r *row) (float64, error) {
	x, y := r.float(0), r.float(1)
	switch {
	case x == 0 && y < 0:
		return 0, errZeroPower
	case x < 0 && y != math.Trunc(y) && y-y == 0:
		return 0, errComplexPower
	}
	z := floatmath.Pow(x, y)
	return z, floatResult(z, math.IsInf(x, 0) || math.IsInf(y, 0), x == 0)
}

// floatResult checks a function's result for overflow and underflow.
func floatResult(z float64, infinite, zero bool) error {
	if math.IsInf(z, 0) && !infinite {
		return errFloatOverflow
	}
	if z == 0 && !zero && !infinite {
		return errFloatUnderflow
	}
	return nil
}
