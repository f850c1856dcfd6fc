package expr

import (
	"math"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/vector"
)

func varianceAggregates() []*Function {
	var list []*Function
	for _, a := range []struct {
		name         string
		sample, root bool
	}{
		{"variance", true, false}, {"var_samp", true, false}, {"var_pop", false, false},
		{"stddev", true, true}, {"stddev_samp", true, true}, {"stddev_pop", false, true},
	} {
		for _, t := range []string{"int2", "int4", "int8", "numeric"} {
			list = append(list, aggFn(a.name, t, "numeric", func(call *AggCall) Accumulator {
				return newExactVariance(call, a.sample, a.root)
			}, takesNumbers))
		}
		for _, t := range []string{"float4", "float8"} {
			list = append(list, aggFn(a.name, t, "float8", func(*AggCall) Accumulator {
				return &floatVariance{sample: a.sample, root: a.root}
			}))
		}
	}
	return list
}

// exactVariance keeps the exact sums of the values and of their squares.
type exactVariance struct {
	sample, root bool
	x, xx        exactSum
	square       numericEval
	buf, val     vector.Vector
}

func newExactVariance(call *AggCall, sample, root bool) *exactVariance {
	numeric := catalog.Type{ID: catalog.Numeric}
	a := &exactVariance{sample: sample, root: root}
	a.x.arg, a.x.typ = call.Args[0].Type(), numeric
	a.xx.arg, a.xx.typ = numeric, numeric
	a.square.op, a.square.typ = '*', numeric
	return a
}

func (a *exactVariance) Grow(groups int) {
	a.x.Grow(groups)
	a.xx.Grow(groups)
}

func (a *exactVariance) Update(groups []uint32, args []*vector.Vector, n int, sel vector.Sel) error {
	v := args[0]
	if v.Form == vector.Const && v.IsNull(0) {
		return nil
	}
	v = vector.Flatten(&a.buf, v, n)
	x := numbers{scale: int(a.x.arg.Scale)}
	if a.x.arg.IsInteger() {
		v, x.size = widenInts(v, &a.val, n)
	}
	x.vec = v
	return a.updateNumbers(groups, x, n, sel)
}

func (a *exactVariance) updateNumbers(groups []uint32, x numbers, n int, sel vector.Sel) error {
	if x.constNull() {
		return nil
	}
	if x.vec.Form == vector.Const {
		x.vec = vector.Flatten(&a.buf, x.vec, n)
	}
	if err := a.x.updateNumbers(groups, x, n, sel); err != nil {
		return err
	}
	sq := &a.square
	sq.x, sq.y = x, x
	var xx numbers
	ok := false
	if x.fixed() {
		if xx, ok = sq.integers(n, sel); ok {
			sq.narrow.Valid = x.vec.Valid
			xx.scales = sq.rowScales(n, xx.scale)
		}
	}
	if !ok {
		var err error
		if xx, err = sq.decimals(n, sel); err != nil {
			return err
		}
	}
	return a.xx.updateNumbers(groups, xx, n, sel)
}

func (a *exactVariance) Merge(other Accumulator, mapping []uint32) error {
	o := other.(*exactVariance)
	if err := a.x.Merge(&o.x, mapping); err != nil {
		return err
	}
	return a.xx.Merge(&o.xx, mapping)
}

func (a *exactVariance) Result(from, to int, out *vector.Vector) error {
	for g := from; g < to; g++ {
		n := a.x.count[g]
		if n == 0 || a.sample && n == 1 {
			vector.AppendDatum(out, vector.NullDatum(vector.Bytes))
			continue
		}
		d, err := a.result(n, a.x.total(g), a.xx.total(g))
		if err != nil {
			return err
		}
		if err := appendNumeric(out, catalog.Type{ID: catalog.Numeric}, d); err != nil {
			return err
		}
	}
	return nil
}

// result is PostgreSQL's numeric_stddev_internal.
func (a *exactVariance) result(n int64, sum, squares decimal.Decimal) (decimal.Decimal, error) {
	if !sum.IsFinite() || !squares.IsFinite() {
		return decimal.NaN, nil
	}
	count := decimal.FromInt64(n)
	numerator := count.Mul(squares).Sub(sum.Mul(sum))
	if numerator.Sign() <= 0 {
		return decimal.Decimal{}, nil
	}
	divisor := count.Mul(count)
	if a.sample {
		divisor = count.Mul(decimal.FromInt64(n - 1))
	}
	variance, err := numerator.Quo(divisor)
	if err != nil || !a.root {
		return variance, err
	}
	return variance.SqrtScale(variance.Scale()), nil
}

func (a *exactVariance) SizeBytes() int { return a.x.SizeBytes() + a.xx.SizeBytes() }

// floatVariance uses the algorithm of Youngs and Cramer, as PostgreSQL does.
type floatVariance struct {
	sample, root bool
	n, sx, sxx   []float64
	buf          vector.Vector
	rows         vector.Sel
}

func (a *floatVariance) Grow(groups int) {
	a.n, a.sx, a.sxx = grow(a.n, groups), grow(a.sx, groups), grow(a.sxx, groups)
}

func (a *floatVariance) Update(groups []uint32, args []*vector.Vector, n int, sel vector.Sel) error {
	v, sel := validRows(args[0], &a.buf, n, sel, &a.rows)
	r := row{args: []*vector.Vector{v}}
	for k := range count(n, sel) {
		r.i = k
		if sel != nil {
			r.i = int(sel[k])
		}
		g := 0
		if groups != nil {
			g = int(groups[r.i])
		}
		if err := a.add(g, r.float(0)); err != nil {
			return err
		}
	}
	return nil
}

func (a *floatVariance) add(g int, x float64) error {
	before := a.sx[g]
	a.n[g]++
	a.sx[g] += x
	if a.n[g] == 1 {
		if x-x != 0 { // infinite or NaN
			a.sxx[g] = math.NaN()
		}
		return nil
	}
	d := x*a.n[g] - a.sx[g]
	a.sxx[g] += d * d / (a.n[g] * (a.n[g] - 1))
	if math.IsInf(a.sx[g], 0) || math.IsInf(a.sxx[g], 0) {
		if !math.IsInf(before, 0) && !math.IsInf(x, 0) {
			return errFloatOverflow
		}
		a.sxx[g] = math.NaN()
	}
	return nil
}

func (a *floatVariance) Merge(other Accumulator, mapping []uint32) error {
	o := other.(*floatVariance)
	for g, n2 := range o.n {
		if n2 == 0 {
			continue
		}
		to := mapGroup(mapping, g)
		n1 := a.n[to]
		if n1 > 0 {
			d := a.sx[to]/n1 - o.sx[g]/n2
			a.sxx[to] += n1 * n2 * d * d / (n1 + n2)
		}
		finite := !math.IsInf(a.sx[to], 0) && !math.IsInf(o.sx[g], 0)
		a.sxx[to] += o.sxx[g]
		a.n[to] += n2
		a.sx[to] += o.sx[g]
		if finite && (math.IsInf(a.sx[to], 0) || math.IsInf(a.sxx[to], 0)) {
			return errFloatOverflow
		}
	}
	return nil
}

func (a *floatVariance) Result(from, to int, out *vector.Vector) error {
	for g := from; g < to; g++ {
		n := a.n[g]
		d := vector.Datum{Kind: vector.F64, Null: n == 0 || a.sample && n == 1}
		if !d.Null {
			if a.sample {
				n--
			}
			d.F = a.sxx[g] / n
			if a.root {
				d.F = math.Sqrt(d.F)
			}
		}
		vector.AppendDatum(out, d)
	}
	return nil
}

func (a *floatVariance) SizeBytes() int { return (cap(a.n) + cap(a.sx) + cap(a.sxx)) * 8 }
