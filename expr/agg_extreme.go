package expr

import (
	"bytes"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/vector"
)

func extremeAggregates() []*Function {
	var list []*Function
	for _, name := range []string{"min", "max"} {
		for _, t := range []string{"int2", "int4", "int8", "float4", "float8", "numeric", "text", "bpchar", "date", "timestamp",
			"timestamptz", "interval", "oid"} {
			list = append(list, aggFn(name, t, t, newExtreme(name == "max", false), typed(firstType)))
		}
	}
	return append(list, aggFn("any_value", "any", "any", newExtreme(false, true), typed(firstType)))
}

// newExtreme makes the accumulator of min, max or any_value for the argument's kind.
func newExtreme(greatest, any bool) func(call *AggCall) Accumulator {
	return func(call *AggCall) Accumulator {
		base := extremeState{greatest: greatest, any: any}
		t := call.Args[0].Type()
		switch t.Kind() {
		case vector.Bool, vector.I8:
			return &fixedExtreme[int8]{extremeState: base}
		case vector.I16:
			return &fixedExtreme[int16]{extremeState: base}
		case vector.I32:
			return &fixedExtreme[int32]{extremeState: base}
		case vector.I64:
			return &fixedExtreme[int64]{extremeState: base}
		case vector.F32:
			return &floatExtreme[float32]{fixedExtreme[float32]{extremeState: base}}
		case vector.F64:
			return &floatExtreme[float64]{fixedExtreme[float64]{extremeState: base}}
		case vector.I128:
			return &wideExtreme[vector.Int128]{extremeState: base, compare: vector.Int128.Cmp}
		case vector.KindInterval:
			return &wideExtreme[vector.Interval]{extremeState: base,
				compare: func(a, b vector.Interval) int { return a.Span().Cmp(b.Span()) }}
		}
		acc := &bytesExtreme{extremeState: base, compare: bytes.Compare}
		switch t.ID {
		case catalog.Char:
			acc.compare = func(a, b []byte) int { return bytes.Compare(trimBlankBytes(a), trimBlankBytes(b)) }
		case catalog.Numeric:
			acc.compare, acc.last = decimal.CompareBytes, true
		}
		return acc
	}
}

type extremeState struct {
	greatest bool
	any      bool // keep the first value, whatever it is
	seen     []bool
	buf      vector.Vector
	rows     vector.Sel
}

type fixedExtreme[T vector.Fixed] struct {
	extremeState
	best []T
}

func (a *fixedExtreme[T]) Grow(groups int) {
	a.best, a.seen = grow(a.best, groups), grow(a.seen, groups)
}

func (a *fixedExtreme[T]) Update(groups []uint32, args []*vector.Vector, n int, sel vector.Sel) error {
	v, sel := validRows(args[0], &a.buf, n, sel, &a.rows)
	if count(n, sel) == 0 {
		return nil
	}
	x := vector.Of[T](v)[:n]
	if groups == nil {
		a.offer(0, a.single(x, sel))
		return nil
	}
	if sel == nil {
		for i, g := range groups[:n] {
			a.offer(int(g), x[i])
		}
		return nil
	}
	for _, i := range sel {
		a.offer(int(groups[i]), x[i])
	}
	return nil
}

// single finds the extreme of the selected values.
func (a *fixedExtreme[T]) single(x []T, sel vector.Sel) T {
	if sel != nil {
		best := x[sel[0]]
		for _, i := range sel {
			if a.greatest {
				best = max(best, x[i])
			} else {
				best = min(best, x[i])
			}
		}
		return best
	}
	best := x[0]
	if a.greatest {
		for _, x := range x {
			best = max(best, x)
		}
	} else {
		for _, x := range x {
			best = min(best, x)
		}
	}
	return best
}

func (a *fixedExtreme[T]) offer(g int, x T) {
	if !a.seen[g] {
		a.seen[g], a.best[g] = true, x
	} else if !a.any && (a.greatest && x > a.best[g] || !a.greatest && x < a.best[g]) {
		a.best[g] = x
	}
}

func (a *fixedExtreme[T]) Merge(other Accumulator, mapping []uint32) error {
	o := other.(*fixedExtreme[T])
	for g, x := range o.best {
		if o.seen[g] {
			a.offer(mapGroup(mapping, g), x)
		}
	}
	return nil
}

func (a *fixedExtreme[T]) Result(from, to int, out *vector.Vector) error {
	for g := from; g < to; g++ {
		if !a.seen[g] {
			vector.AppendDatum(out, vector.NullDatum(out.Kind))
			continue
		}
		row := out.Len
		vector.AppendDatum(out, vector.Datum{Kind: out.Kind})
		vector.Of[T](out)[row] = a.best[g]
	}
	return nil
}

func (a *fixedExtreme[T]) SizeBytes() int { return cap(a.best)*8 + cap(a.seen) }

// floatExtreme knows that NaN is the greatest float.
type floatExtreme[T float32 | float64] struct{ fixedExtreme[T] }

func (a *floatExtreme[T]) Update(groups []uint32, args []*vector.Vector, n int, sel vector.Sel) error {
	v, sel := validRows(args[0], &a.buf, n, sel, &a.rows)
	x := vector.Of[T](v)
	for k := range count(n, sel) {
		i, g := k, 0
		if sel != nil {
			i = int(sel[k])
		}
		if groups != nil {
			g = int(groups[i])
		}
		a.offerFloat(g, x[i])
	}
	return nil
}

func (a *floatExtreme[T]) offerFloat(g int, x T) {
	if !a.seen[g] {
		a.seen[g], a.best[g] = true, x
		return
	}
	b := a.best[g]
	// Of equal values (-0 and 0) the last one stays, as in PostgreSQL.
	less, greater := x <= b || b != b, x >= b || x != x
	if !a.any && (a.greatest && greater || !a.greatest && less) {
		a.best[g] = x
	}
}

func (a *floatExtreme[T]) Merge(other Accumulator, mapping []uint32) error {
	o := other.(*floatExtreme[T])
	for g, x := range o.best {
		if o.seen[g] {
			a.offerFloat(mapGroup(mapping, g), x)
		}
	}
	return nil
}

type wideExtreme[T vector.Elem] struct {
	extremeState
	best    []T
	compare func(a, b T) int
}

func (a *wideExtreme[T]) Grow(groups int) {
	a.best, a.seen = grow(a.best, groups), grow(a.seen, groups)
}

func (a *wideExtreme[T]) Update(groups []uint32, args []*vector.Vector, n int, sel vector.Sel) error {
	v, sel := validRows(args[0], &a.buf, n, sel, &a.rows)
	x := vector.Of[T](v)
	for k := range count(n, sel) {
		i, g := k, 0
		if sel != nil {
			i = int(sel[k])
		}
		if groups != nil {
			g = int(groups[i])
		}
		a.offer(g, x[i])
	}
	return nil
}

func (a *wideExtreme[T]) offer(g int, x T) {
	if !a.seen[g] {
		a.seen[g], a.best[g] = true, x
		return
	}
	if c := a.compare(x, a.best[g]); !a.any && (a.greatest && c >= 0 || !a.greatest && c <= 0) {
		a.best[g] = x
	}
}

func (a *wideExtreme[T]) Merge(other Accumulator, mapping []uint32) error {
	o := other.(*wideExtreme[T])
	for g, x := range o.best {
		if o.seen[g] {
			a.offer(mapGroup(mapping, g), x)
		}
	}
	return nil
}

func (a *wideExtreme[T]) Result(from, to int, out *vector.Vector) error {
	for g := from; g < to; g++ {
		row := out.Len
		vector.AppendDatum(out, vector.Datum{Kind: out.Kind, Null: !a.seen[g]})
		vector.Of[T](out)[row] = a.best[g]
	}
	return nil
}

func (a *wideExtreme[T]) SizeBytes() int { return cap(a.best)*16 + cap(a.seen) }

type bytesExtreme struct {
	extremeState
	best    [][]byte
	size    int
	last    bool // of equal values the last one stays: they may differ in display scale
	compare func(a, b []byte) int
}

func (a *bytesExtreme) Grow(groups int) {
	a.best, a.seen = grow(a.best, groups), grow(a.seen, groups)
}

func (a *bytesExtreme) Update(groups []uint32, args []*vector.Vector, n int, sel vector.Sel) error {
	v, sel := validRows(args[0], &a.buf, n, sel, &a.rows)
	for k := range count(n, sel) {
		i, g := k, 0
		if sel != nil {
			i = int(sel[k])
		}
		if groups != nil {
			g = int(groups[i])
		}
		a.offer(g, v.BytesAt(i))
	}
	return nil
}

func (a *bytesExtreme) offer(g int, x []byte) {
	if a.seen[g] {
		if a.any {
			return
		}
		c := a.compare(x, a.best[g])
		if a.greatest && c < 0 || !a.greatest && c > 0 || c == 0 && !a.last {
			return
		}
	}
	a.size -= cap(a.best[g])
	a.seen[g], a.best[g] = true, append(a.best[g][:0], x...)
	a.size += cap(a.best[g])
}

func (a *bytesExtreme) Merge(other Accumulator, mapping []uint32) error {
	o := other.(*bytesExtreme)
	for g, x := range o.best {
		if o.seen[g] {
			a.offer(mapGroup(mapping, g), x)
		}
	}
	return nil
}

func (a *bytesExtreme) Result(from, to int, out *vector.Vector) error {
	for g := from; g < to; g++ {
		vector.AppendDatum(out, vector.Datum{Kind: vector.Bytes, Null: !a.seen[g], S: vector.StringOf(a.best[g])})
	}
	return nil
}

func (a *bytesExtreme) SizeBytes() int { return cap(a.best)*24 + cap(a.seen) + a.size }
