package vector

import (
	"bytes"
	"cmp"
)

// CompareRows compares two values of vectors of the same kind, of any form, in SQL order; neither
// is NULL. Numerics in byte form need package expr's comparison.
func CompareRows(a *Vector, i int, b *Vector, j int) int {
	a, i = resolveRow(a, i)
	b, j = resolveRow(b, j)
	switch a.Kind {
	case Bool:
		return cmp.Compare(Of[uint8](a)[i], Of[uint8](b)[j])
	case I8:
		return cmp.Compare(Of[int8](a)[i], Of[int8](b)[j])
	case I16:
		return cmp.Compare(Of[int16](a)[i], Of[int16](b)[j])
	case I32:
		return cmp.Compare(Of[int32](a)[i], Of[int32](b)[j])
	case I64:
		return cmp.Compare(Of[int64](a)[i], Of[int64](b)[j])
	case F32:
		return compareFloat(Of[float32](a)[i], Of[float32](b)[j])
	case F64:
		return compareFloat(Of[float64](a)[i], Of[float64](b)[j])
	case I128:
		return Of[Int128](a)[i].Cmp(Of[Int128](b)[j])
	case KindInterval:
		return Of[Interval](a)[i].Span().Cmp(Of[Interval](b)[j].Span())
	case Bytes:
		return bytes.Compare(a.BytesAt(i), b.BytesAt(j))
	}
	panic("vector: compare kind " + a.Kind.String())
}

// resolveRow finds where a constant or dictionary vector stores row i.
func resolveRow(v *Vector, i int) (*Vector, int) {
	switch v.Form {
	case Const:
		return v, 0
	case Dict:
		return v.Dict, int(v.Codes()[i])
	}
	return v, i
}

// CompareNullable is CompareRows for values that may be NULL; NULLs come last unless nullsFirst.
func CompareNullable(a *Vector, i int, b *Vector, j int, desc, nullsFirst bool) int {
	an, bn := a.IsNull(i), b.IsNull(j)
	if an || bn {
		c := b2i(an) - b2i(bn)
		if nullsFirst {
			return -c
		}
		return c
	}
	c := CompareRows(a, i, b, j)
	if desc {
		return -c
	}
	return c
}
