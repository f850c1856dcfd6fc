package expr

import (
	"math"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// sumType is the type of sum over numerics: with at most 20 digits, 128 bits hold the sum of any
// number of rows.
func sumType(args []Expr) catalog.Type {
	t := numericOf(args[0].Type())
	if t.Prec > 0 && t.Prec <= 20 {
		return catalog.Type{ID: catalog.Numeric, Prec: catalog.MaxPrec128, Scale: t.Scale}
	}
	return catalog.Type{ID: catalog.Numeric}
}

func sumAggregates() []*Function {
	exact := func(avg bool) func(call *AggCall) Accumulator {
		return func(call *AggCall) Accumulator {
			return &exactSum{avg: avg, arg: call.Args[0].Type(), typ: call.Typ}
		}
	}
	list := []*Function{
		aggFn("sum", "int2", "int8", func(*AggCall) Accumulator { return &intSum[int16]{} }),
		aggFn("sum", "int4", "int8", func(*AggCall) Accumulator { return &intSum[int32]{} }),
		aggFn("sum", "int8", "numeric", exact(false), typed(sumType), takesNumbers),
		aggFn("sum", "numeric", "numeric", exact(false), typed(sumType), takesNumbers),
		aggFn("sum", "float4", "float4", func(*AggCall) Accumulator { return &floatSum[float32]{} }),
		aggFn("sum", "float8", "float8", func(*AggCall) Accumulator { return &floatSum[float64]{} }),
		aggFn("sum", "interval", "interval", func(*AggCall) Accumulator { return &intervalSumAcc{} }),
		aggFn("avg", "float4", "float8", func(*AggCall) Accumulator { return &floatSum[float32]{avg: true} }),
		aggFn("avg", "float8", "float8", func(*AggCall) Accumulator { return &floatSum[float64]{avg: true} }),
		aggFn("avg", "interval", "interval", func(*AggCall) Accumulator { return &intervalSumAcc{avg: true} }),
	}
	for _, t := range []string{"int2", "int4", "int8", "numeric"} {
		list = append(list, aggFn("avg", t, "numeric", exact(true), takesNumbers))
	}
	return list
}

// intSum is sum over small integers.
type intSum[T int16 | int32] struct {
	sums []int64
	seen []bool
	buf  vector.Vector
	rows vector.Sel
}

func (a *intSum[T]) Grow(groups int) {
	a.sums, a.seen = grow(a.sums, groups), grow(a.seen, groups)
}

func (a *intSum[T]) Update(groups []uint32, args []*vector.Vector, n int, sel vector.Sel) error {
	v, sel := validRows(args[0], &a.buf, n, sel, &a.rows)
	if count(n, sel) == 0 {
		return nil
	}
	x := vector.Of[T](v)[:n]
	switch {
	case groups == nil && sel == nil:
		sum := int64(0)
		for _, x := range x {
			sum += int64(x)
		}
		a.sums[0] += sum
		a.seen[0] = true
	case groups == nil:
		sum := int64(0)
		for _, i := range sel {
			sum += int64(x[i])
		}
		a.sums[0] += sum
		a.seen[0] = true
	case sel == nil:
		for i, g := range groups[:n] {
			a.sums[g] += int64(x[i])
			a.seen[g] = true
		}
	default:
		for _, i := range sel {
			g := groups[i]
			a.sums[g] += int64(x[i])
			a.seen[g] = true
		}
	}
	return nil
}

// validRows returns v flat and the selected rows without NULL.
func validRows(v, buf *vector.Vector, n int, sel vector.Sel, rows *vector.Sel) (*vector.Vector, vector.Sel) {
	if v.Form == vector.Const && v.IsNull(0) {
		return v, emptySel
	}
	if v.Form != vector.Flat && v.Kind != vector.Bytes {
		v = vector.Flatten(buf, v, n)
	}
	if v.Valid == nil || v.Form == vector.Const {
		return v, sel
	}
	*rows = vector.SelectValid(v.Valid, n, sel, *rows)
	return v, *rows
}

func (a *intSum[T]) Merge(other Accumulator, mapping []uint32) error {
	o := other.(*intSum[T])
	for g, s := range o.sums {
		to := mapGroup(mapping, g)
		a.sums[to] += s
		a.seen[to] = a.seen[to] || o.seen[g]
	}
	return nil
}

func (a *intSum[T]) Result(from, to int, out *vector.Vector) error {
	for g := from; g < to; g++ {
		vector.AppendDatum(out, vector.Datum{Kind: vector.I64, Null: !a.seen[g], I: a.sums[g]})
	}
	return nil
}

func (a *intSum[T]) SizeBytes() int { return cap(a.sums)*8 + cap(a.seen) }

// floatSum is sum or avg over floats.
type floatSum[T float32 | float64] struct {
	avg      bool
	sums     []float64
	count    []int64
	infinite bool // an infinity was among the input
	buf      vector.Vector
	rows     vector.Sel
}

func (a *floatSum[T]) Grow(groups int) {
	a.sums, a.count = grow(a.sums, groups), grow(a.count, groups)
}

func (a *floatSum[T]) Update(groups []uint32, args []*vector.Vector, n int, sel vector.Sel) error {
	v, sel := validRows(args[0], &a.buf, n, sel, &a.rows)
	if count(n, sel) == 0 {
		return nil
	}
	countRows(a.count, groups, n, sel)
	x := vector.Of[T](v)[:n]
	switch {
	case groups == nil && sel == nil:
		sum := T(a.sums[0])
		if a.avg {
			wide := a.sums[0]
			for _, x := range x {
				wide += float64(x)
			}
			a.sums[0] = wide
		} else {
			for _, x := range x {
				sum += x
			}
			a.sums[0] = float64(sum)
		}
	case groups == nil:
		for _, i := range sel {
			a.add(0, x[i])
		}
	case sel == nil:
		for i, g := range groups[:n] {
			a.add(int(g), x[i])
		}
	default:
		for _, i := range sel {
			a.add(int(groups[i]), x[i])
		}
	}
	a.noteInfinite(groups, x, n, sel)
	return nil
}

// noteInfinite looks for infinities in the input, once a sum is infinite: then they tell overflow
// from a legitimate result.
func (a *floatSum[T]) noteInfinite(groups []uint32, x []T, n int, sel vector.Sel) {
	if a.infinite || groups == nil && !math.IsInf(a.sums[0], 0) && a.sums[0] == a.sums[0] {
		return
	}
	for k := range count(n, sel) {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		a.infinite = a.infinite || math.IsInf(float64(x[i]), 0)
	}
}

func (a *floatSum[T]) add(g int, x T) {
	if a.avg {
		a.sums[g] += float64(x)
	} else {
		a.sums[g] = float64(T(a.sums[g]) + x)
	}
}

func (a *floatSum[T]) Merge(other Accumulator, mapping []uint32) error {
	o := other.(*floatSum[T])
	for g, s := range o.sums {
		to := mapGroup(mapping, g)
		if o.count[g] > 0 {
			if a.avg {
				a.sums[to] += s
			} else {
				a.add(to, T(s))
			}
			a.count[to] += o.count[g]
		}
	}
	a.infinite = a.infinite || o.infinite
	return nil
}

func (a *floatSum[T]) Result(from, to int, out *vector.Vector) error {
	for g := from; g < to; g++ {
		f := a.sums[g]
		if math.IsInf(f, 0) && !a.infinite {
			return errFloatOverflow
		}
		if a.avg && a.count[g] > 0 {
			f /= float64(a.count[g])
		}
		vector.AppendDatum(out, vector.Datum{Kind: out.Kind, Null: a.count[g] == 0, F: f})
	}
	return nil
}

func (a *floatSum[T]) SizeBytes() int { return cap(a.sums)*8 + cap(a.count)*8 }

// intervalSumAcc is sum or avg over intervals.
type intervalSumAcc struct {
	avg   bool
	sums  []vector.Interval
	count []int64
	rows  vector.Sel
	buf   vector.Vector
}

func (a *intervalSumAcc) Grow(groups int) {
	a.sums, a.count = grow(a.sums, groups), grow(a.count, groups)
}

func (a *intervalSumAcc) Update(groups []uint32, args []*vector.Vector, n int, sel vector.Sel) error {
	v, sel := validRows(args[0], &a.buf, n, sel, &a.rows)
	x := vector.Of[vector.Interval](v)
	for k := range count(n, sel) {
		i, g := k, 0
		if sel != nil {
			i = int(sel[k])
		}
		if groups != nil {
			g = int(groups[i])
		}
		sum, err := addIntervals(a.sums[g], x[i])
		if err != nil {
			return err
		}
		a.sums[g] = sum
		a.count[g]++
	}
	return nil
}

func (a *intervalSumAcc) Merge(other Accumulator, mapping []uint32) error {
	o := other.(*intervalSumAcc)
	for g, s := range o.sums {
		to := mapGroup(mapping, g)
		sum, err := addIntervals(a.sums[to], s)
		if err != nil {
			return err
		}
		a.sums[to] = sum
		a.count[to] += o.count[g]
	}
	return nil
}

func (a *intervalSumAcc) Result(from, to int, out *vector.Vector) error {
	for g := from; g < to; g++ {
		if a.count[g] == 0 {
			vector.AppendDatum(out, vector.NullDatum(vector.KindInterval))
			continue
		}
		iv := a.sums[g]
		if a.avg {
			var err error
			if iv, err = divideInterval(iv, float64(a.count[g])); err != nil {
				return err
			}
		}
		vector.AppendDatum(out, vector.IntervalDatum(iv))
	}
	return nil
}

func (a *intervalSumAcc) SizeBytes() int { return cap(a.sums)*16 + cap(a.count)*8 }
