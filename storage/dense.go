package storage

import "github.com/weftdb/weft/vector"

// denser turns the columns of batches into flat vectors of the live rows only, copying where a
// column is not that already. It belongs to one goroutine; results are valid until the next call.
type denser struct {
	out     []*vector.Vector
	scratch []*vector.Vector
}

// columns returns a dense view of b's first n columns.
func (d *denser) columns(b *vector.Batch, n int) []*vector.Vector {
	for len(d.scratch) < n {
		d.scratch = append(d.scratch, &vector.Vector{})
		d.out = append(d.out, nil)
	}
	rows := b.Live()
	for i, v := range b.Vecs[:n] {
		if v.Form == vector.Flat && b.Sel == nil {
			d.out[i] = v
			continue
		}
		densify(d.scratch[i], v, b.Sel, rows)
		d.out[i] = d.scratch[i]
	}
	return d.out[:n]
}

// densify makes dst the flat vector of the selected rows of v; sel nil means rows 0 … n−1.
func densify(dst, v *vector.Vector, sel vector.Sel, n int) {
	dst.Reset(v.Kind, n)
	switch v.Kind.Width() {
	case 1:
		gather[uint8](dst, v, sel, n)
	case 2:
		gather[uint16](dst, v, sel, n)
	case 4:
		gather[uint32](dst, v, sel, n)
	case 8:
		gather[uint64](dst, v, sel, n)
	case 16:
		gather[vector.Int128](dst, v, sel, n)
	default:
		for i := range n {
			dst.AppendBytes(v.BytesAt(selected(sel, i)))
		}
	}
	if v.Valid == nil {
		return
	}
	for i := range n {
		if v.IsNull(selected(sel, i)) {
			dst.SetNull(i, n)
		}
	}
}

func selected(sel vector.Sel, i int) int {
	if sel == nil {
		return i
	}
	return int(sel[i])
}

// gather copies fixed-width values of any form. Only the width counts: T stands for every type of
// its size.
func gather[T vector.Elem](dst, v *vector.Vector, sel vector.Sel, n int) {
	out := vector.Of[T](dst)[:n]
	switch v.Form {
	case vector.Const:
		x := vector.Of[T](v)[0]
		for i := range out {
			out[i] = x
		}
	case vector.Dict:
		codes, values := v.Codes(), vector.Of[T](v.Dict)
		for i := range out {
			out[i] = values[codes[selected(sel, i)]]
		}
	default:
		values := vector.Of[T](v)
		for i := range out {
			out[i] = values[sel[i]]
		}
	}
}
