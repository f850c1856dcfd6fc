package vector

import "bytes"

// CompareFlags sets dst[i] to 1 where l op r is true and to 0 where it is not, for the rows of sel
// (nil = n rows); NULLs are the caller's business. l and r have the same kind and are flat or
// constant, but not both constant.
func CompareFlags(op CmpOp, dst []uint8, l, r *Vector, n int, sel Sel) {
	if l.Form == Const {
		l, r, op = r, l, op.Swap()
	}
	switch l.Kind {
	case Bool:
		flagsFixed[uint8](op, dst, l, r, n)
	case I8:
		flagsFixed[int8](op, dst, l, r, n)
	case I16:
		flagsFixed[int16](op, dst, l, r, n)
	case I32:
		flagsFixed[int32](op, dst, l, r, n)
	case I64:
		flagsFixed[int64](op, dst, l, r, n)
	case F32:
		flagsFloat[float32](op, dst, l, r, n)
	case F64:
		flagsFloat[float64](op, dst, l, r, n)
	default:
		flagsWide(op, dst, l, r, n, sel)
	}
}

// The fixed-width kernels ignore the selection: comparing the other rows costs less than looking
// the selected ones up.

func flagsFixed[T Fixed](op CmpOp, dst []uint8, l, r *Vector, n int) {
	if r.Form == Const {
		flagsConst(op, dst[:n], Of[T](l)[:n], Of[T](r)[0])
		return
	}
	a, b := Of[T](l)[:n], Of[T](r)[:n]
	if op == Gt || op == Ge {
		a, b, op = b, a, op.Swap()
	}
	flagsCols(op, dst[:n], a, b)
}

func flagsConst[T Fixed](op CmpOp, dst []uint8, v []T, c T) {
	dst = dst[:len(v)]
	switch op {
	case Eq:
		for i, x := range v {
			dst[i] = b2u(x == c)
		}
	case Ne:
		for i, x := range v {
			dst[i] = b2u(x != c)
		}
	case Lt:
		for i, x := range v {
			dst[i] = b2u(x < c)
		}
	case Le:
		for i, x := range v {
			dst[i] = b2u(x <= c)
		}
	case Gt:
		for i, x := range v {
			dst[i] = b2u(!(x <= c))
		}
	case Ge:
		for i, x := range v {
			dst[i] = b2u(!(x < c))
		}
	}
}

func flagsCols[T Fixed](op CmpOp, dst []uint8, a, b []T) {
	dst, b = dst[:len(a)], b[:len(a)]
	switch op {
	case Eq:
		for i, x := range a {
			dst[i] = b2u(x == b[i])
		}
	case Ne:
		for i, x := range a {
			dst[i] = b2u(x != b[i])
		}
	case Lt:
		for i, x := range a {
			dst[i] = b2u(x < b[i])
		}
	case Le:
		for i, x := range a {
			dst[i] = b2u(x <= b[i])
		}
	}
}

func flagsFloat[T float32 | float64](op CmpOp, dst []uint8, l, r *Vector, n int) {
	if r.Form == Const {
		if c := Of[T](r)[0]; c == c {
			flagsFixed[T](op, dst, l, r, n)
			return
		}
	} else if !hasNaN(Of[T](l)[:n]) && !hasNaN(Of[T](r)[:n]) {
		flagsFixed[T](op, dst, l, r, n)
		return
	}
	a, b, step, mask := Of[T](l), Of[T](r), 1, op.mask()
	if r.Form == Const {
		step = 0
	}
	for i := range n {
		dst[i] = uint8(mask >> (compareFloat(a[i], b[i*step]) + 1) & 1)
	}
}

func flagsWide(op CmpOp, dst []uint8, l, r *Vector, n int, sel Sel) {
	if sel == nil {
		for i := range n {
			dst[i] = uint8(op.mask() >> (compareWide(l, r, i) + 1) & 1)
		}
		return
	}
	for _, i := range sel {
		dst[i] = uint8(op.mask() >> (compareWide(l, r, int(i)) + 1) & 1)
	}
}

// compareWide compares row i of l, which is flat, with that of r.
func compareWide(l, r *Vector, i int) int {
	j := i
	if r.Form == Const {
		j = 0
	}
	switch l.Kind {
	case I128:
		return Of[Int128](l)[i].Cmp(Of[Int128](r)[j])
	case KindInterval:
		return Of[Interval](l)[i].Span().Cmp(Of[Interval](r)[j].Span())
	}
	return bytes.Compare(l.BytesAt(i), r.BytesAt(j))
}
