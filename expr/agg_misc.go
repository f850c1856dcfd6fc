package expr

import (
	"github.com/weftdb/weft/vector"
)

func boolAggregates() []*Function {
	list := []*Function{
		aggFn("bool_and", "bool", "bool", func(*AggCall) Accumulator { return &bitAcc{op: '&'} }),
		aggFn("every", "bool", "bool", func(*AggCall) Accumulator { return &bitAcc{op: '&'} }),
		aggFn("bool_or", "bool", "bool", func(*AggCall) Accumulator { return &bitAcc{op: '|'} }),
	}
	for _, t := range []string{"int2", "int4", "int8"} {
		list = append(list,
			aggFn("bit_and", t, t, func(*AggCall) Accumulator { return &bitAcc{op: '&'} }),
			aggFn("bit_or", t, t, func(*AggCall) Accumulator { return &bitAcc{op: '|'} }),
			aggFn("bit_xor", t, t, func(*AggCall) Accumulator { return &bitAcc{op: '#'} }))
	}
	return list
}

// bitAcc combines booleans or integers bit by bit.
type bitAcc struct {
	op   byte
	bits []int64
	seen []bool
	buf  vector.Vector
	rows vector.Sel
}

func (a *bitAcc) Grow(groups int) { a.bits, a.seen = grow(a.bits, groups), grow(a.seen, groups) }

func (a *bitAcc) Update(groups []uint32, args []*vector.Vector, n int, sel vector.Sel) error {
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
		a.add(g, r.int(0))
	}
	return nil
}

func (a *bitAcc) add(g int, x int64) {
	switch {
	case !a.seen[g]:
		a.seen[g], a.bits[g] = true, x
	case a.op == '&':
		a.bits[g] &= x
	case a.op == '|':
		a.bits[g] |= x
	default:
		a.bits[g] ^= x
	}
}

func (a *bitAcc) Merge(other Accumulator, mapping []uint32) error {
	o := other.(*bitAcc)
	for g, x := range o.bits {
		if o.seen[g] {
			a.add(mapGroup(mapping, g), x)
		}
	}
	return nil
}

func (a *bitAcc) Result(from, to int, out *vector.Vector) error {
	for g := from; g < to; g++ {
		vector.AppendDatum(out, vector.Datum{Kind: out.Kind, Null: !a.seen[g], I: a.bits[g]})
	}
	return nil
}

func (a *bitAcc) SizeBytes() int { return cap(a.bits)*8 + cap(a.seen) }

func textAggregates() []*Function {
	return []*Function{
		aggFn("string_agg", "text text", "text", func(*AggCall) Accumulator { return &concatAcc{} }),
		aggFn("string_agg", "bytea bytea", "bytea", func(*AggCall) Accumulator { return &concatAcc{} }),
	}
}

// concatAcc is string_agg. Like PostgreSQL's it keeps the first separator in front, so that states
// can be merged, and skips it in the result.
type concatAcc struct {
	text [][]byte
	skip []int // length of the first separator, -1 = no value yet
	size int
	rows vector.Sel
	buf  vector.Vector
}

func (a *concatAcc) Grow(groups int) {
	have := len(a.skip)
	a.text, a.skip = grow(a.text, groups), grow(a.skip, groups)
	for g := have; g < groups; g++ {
		a.skip[g] = -1
	}
}

func (a *concatAcc) Update(groups []uint32, args []*vector.Vector, n int, sel vector.Sel) error {
	v, sel := validRows(args[0], &a.buf, n, sel, &a.rows)
	for k := range count(n, sel) {
		i, g := k, 0
		if sel != nil {
			i = int(sel[k])
		}
		if groups != nil {
			g = int(groups[i])
		}
		var sep []byte
		if !args[1].IsNull(i) {
			sep = args[1].BytesAt(i)
		}
		a.size -= cap(a.text[g])
		if a.skip[g] < 0 {
			a.skip[g] = len(sep)
		}
		a.text[g] = append(append(a.text[g], sep...), v.BytesAt(i)...)
		a.size += cap(a.text[g])
	}
	return nil
}

func (a *concatAcc) Merge(other Accumulator, mapping []uint32) error {
	o := other.(*concatAcc)
	for g, t := range o.text {
		if o.skip[g] < 0 {
			continue
		}
		to := mapGroup(mapping, g)
		if a.skip[to] < 0 {
			a.skip[to] = o.skip[g]
		}
		a.size -= cap(a.text[to])
		a.text[to] = append(a.text[to], t...)
		a.size += cap(a.text[to])
	}
	return nil
}

func (a *concatAcc) Result(from, to int, out *vector.Vector) error {
	for g := from; g < to; g++ {
		d := vector.Datum{Kind: vector.Bytes, Null: a.skip[g] < 0}
		if !d.Null {
			d.S = vector.StringOf(a.text[g][a.skip[g]:])
		}
		vector.AppendDatum(out, d)
	}
	return nil
}

func (a *concatAcc) SizeBytes() int { return cap(a.text)*24 + cap(a.skip)*8 + a.size }
