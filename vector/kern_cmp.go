package vector

import (
	"bytes"
)

// CmpOp is a comparison. SQL order: NaN is greatest and equals itself, −0 equals 0, strings order
// bytewise, intervals by their length with a month of 30 days.
type CmpOp uint8

// The comparisons.
const (
	Eq CmpOp = iota
	Ne
	Lt
	Le
	Gt
	Ge
)

// Swap returns the comparison with its operands exchanged: a < b is b > a.
func (op CmpOp) Swap() CmpOp { return [...]CmpOp{Eq, Ne, Gt, Ge, Lt, Le}[op] }

// Negate returns the opposite comparison.
func (op CmpOp) Negate() CmpOp { return [...]CmpOp{Ne, Eq, Ge, Gt, Le, Lt}[op] }

// Holds reports whether the comparison is true of a three-way result.
func (op CmpOp) Holds(c int) bool {
	switch {
	case c < 0:
		return op == Lt || op == Le || op == Ne
	case c == 0:
		return op == Eq || op == Le || op == Ge
	}
	return op == Gt || op == Ge || op == Ne
}

// mask has bit c+1 set when the comparison is true of the three-way result c.
func (op CmpOp) mask() uint { return [...]uint{2, 5, 1, 3, 4, 6}[op] }

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func b2u(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// room returns out with space for every row of in, or of n rows when in is nil. It is never nil,
// which would select all rows.
func room(n int, in, out Sel) Sel {
	if in != nil {
		n = len(in)
	}
	if out == nil || cap(out) < n {
		out = make(Sel, n, max(n, BatchCap))
	}
	return out[:n]
}

// SelectAll returns the selection of all rows of in (nil = n rows) in out.
func SelectAll(n int, in, out Sel) Sel {
	out = room(n, in, out)
	if in != nil {
		copy(out, in)
		return out
	}
	for i := range out {
		out[i] = uint16(i)
	}
	return out
}

// SelectCompare keeps the rows of in (nil = n rows) where l op r is true; rows with a NULL are
// dropped. l and r have the same kind and are flat or constant. The result is in out's memory when
// that is large enough; out may be in.
func SelectCompare(op CmpOp, l, r *Vector, n int, in, out Sel) Sel {
	if l.Form == Const {
		if r.Form == Const {
			if l.IsNull(0) || r.IsNull(0) || !op.Holds(CompareRows(l, 0, r, 0)) {
				return room(n, in, out)[:0]
			}
			return SelectAll(n, in, out)
		}
		l, r, op = r, l, op.Swap()
	}
	if r.Form == Const && r.IsNull(0) {
		return room(n, in, out)[:0]
	}
	out = room(n, in, out)
	switch l.Kind {
	case Bool:
		out = selectFixed[uint8](op, l, r, n, in, out)
	case I8:
		out = selectFixed[int8](op, l, r, n, in, out)
	case I16:
		out = selectFixed[int16](op, l, r, n, in, out)
	case I32:
		out = selectFixed[int32](op, l, r, n, in, out)
	case I64:
		out = selectFixed[int64](op, l, r, n, in, out)
	case F32:
		out = selectFloat[float32](op, l, r, n, in, out)
	case F64:
		out = selectFloat[float64](op, l, r, n, in, out)
	case I128:
		out = selectInt128(op, l, r, n, in, out)
	case KindInterval:
		out = selectInterval(op, l, r, n, in, out)
	case Bytes:
		out = selectBytes(op, l, r, n, in, out)
	default:
		panic("vector: compare kind " + l.Kind.String())
	}
	if l.Valid != nil {
		out = SelectValid(l.Valid, n, out, out)
	}
	if r.Valid != nil && r.Form != Const {
		out = SelectValid(r.Valid, n, out, out)
	}
	return out
}

// SelectValid keeps the rows of in (nil = n rows) whose bit is set.
func SelectValid(valid Bitmap, n int, in, out Sel) Sel {
	out = room(n, in, out)
	k := 0
	if in == nil {
		for i := range n {
			out[k] = uint16(i)
			k += int(valid[i>>6] >> (uint(i) & 63) & 1)
		}
		return out[:k]
	}
	for _, i := range in {
		out[k] = i
		k += int(valid[i>>6] >> (i & 63) & 1)
	}
	return out[:k]
}

// SelectNull keeps the rows of in (nil = n rows) whose bit is clear.
func SelectNull(valid Bitmap, n int, in, out Sel) Sel {
	out = room(n, in, out)
	k := 0
	if in == nil {
		for i := range n {
			out[k] = uint16(i)
			k += int(^valid[i>>6] >> (uint(i) & 63) & 1)
		}
		return out[:k]
	}
	for _, i := range in {
		out[k] = i
		k += int(^valid[i>>6] >> (i & 63) & 1)
	}
	return out[:k]
}

// SelectTrue keeps the rows of in (nil = n rows) where a flag is not 0.
func SelectTrue(flags []uint8, n int, in, out Sel) Sel {
	out = room(n, in, out)
	k := 0
	if in == nil {
		for i, f := range flags[:n] {
			out[k] = uint16(i)
			k += int(f & 1)
		}
		return out[:k]
	}
	for _, i := range in {
		out[k] = i
		k += int(flags[i] & 1)
	}
	return out[:k]
}

// SelectCodes keeps the rows of in (nil = n rows) whose code has a flag that is not 0.
func SelectCodes(flags []uint8, codes []uint32, n int, in, out Sel) Sel {
	out = room(n, in, out)
	k := 0
	if in == nil {
		for i, c := range codes[:n] {
			out[k] = uint16(i)
			k += int(flags[c] & 1)
		}
		return out[:k]
	}
	for _, i := range in {
		out[k] = i
		k += int(flags[codes[i]] & 1)
	}
	return out[:k]
}

func selectFixed[T Fixed](op CmpOp, l, r *Vector, n int, in, out Sel) Sel {
	if r.Form == Const {
		c := Of[T](r)[0]
		if in == nil {
			return selectConstAll(op, Of[T](l)[:n], c, out)
		}
		return selectConstSel(op, Of[T](l), c, in, out)
	}
	a, b := Of[T](l), Of[T](r)
	if op == Gt || op == Ge {
		a, b, op = b, a, op.Swap()
	}
	if in == nil {
		return selectColsAll(op, a[:n], b[:n], out)
	}
	return selectColsSel(op, a, b, in, out)
}

// The kernels: one loop a comparison, compaction without branches. Greater-than is written as
// not-less-or-equal, so that NaN compares as the greatest value.

func selectConstAll[T Fixed](op CmpOp, v []T, c T, out Sel) Sel {
	out = out[:len(v)]
	k := 0
	switch op {
	case Eq:
		for i, x := range v {
			out[k] = uint16(i)
			k += b2i(x == c)
		}
	case Ne:
		for i, x := range v {
			out[k] = uint16(i)
			k += b2i(x != c)
		}
	case Lt:
		for i, x := range v {
			out[k] = uint16(i)
			k += b2i(x < c)
		}
	case Le:
		for i, x := range v {
			out[k] = uint16(i)
			k += b2i(x <= c)
		}
	case Gt:
		for i, x := range v {
			out[k] = uint16(i)
			k += b2i(!(x <= c))
		}
	case Ge:
		for i, x := range v {
			out[k] = uint16(i)
			k += b2i(!(x < c))
		}
	}
	return out[:k]
}

func selectConstSel[T Fixed](op CmpOp, v []T, c T, in, out Sel) Sel {
	out = out[:len(in)]
	k := 0
	switch op {
	case Eq:
		for _, i := range in {
			out[k] = i
			k += b2i(v[i] == c)
		}
	case Ne:
		for _, i := range in {
			out[k] = i
			k += b2i(v[i] != c)
		}
	case Lt:
		for _, i := range in {
			out[k] = i
			k += b2i(v[i] < c)
		}
	case Le:
		for _, i := range in {
			out[k] = i
			k += b2i(v[i] <= c)
		}
	case Gt:
		for _, i := range in {
			out[k] = i
			k += b2i(!(v[i] <= c))
		}
	case Ge:
		for _, i := range in {
			out[k] = i
			k += b2i(!(v[i] < c))
		}
	}
	return out[:k]
}

func selectColsAll[T Fixed](op CmpOp, a, b []T, out Sel) Sel {
	b, out = b[:len(a)], out[:len(a)]
	k := 0
	switch op {
	case Eq:
		for i, x := range a {
			out[k] = uint16(i)
			k += b2i(x == b[i])
		}
	case Ne:
		for i, x := range a {
			out[k] = uint16(i)
			k += b2i(x != b[i])
		}
	case Lt:
		for i, x := range a {
			out[k] = uint16(i)
			k += b2i(x < b[i])
		}
	case Le:
		for i, x := range a {
			out[k] = uint16(i)
			k += b2i(x <= b[i])
		}
	}
	return out[:k]
}

func selectColsSel[T Fixed](op CmpOp, a, b []T, in, out Sel) Sel {
	out = out[:len(in)]
	k := 0
	switch op {
	case Eq:
		for _, i := range in {
			out[k] = i
			k += b2i(a[i] == b[i])
		}
	case Ne:
		for _, i := range in {
			out[k] = i
			k += b2i(a[i] != b[i])
		}
	case Lt:
		for _, i := range in {
			out[k] = i
			k += b2i(a[i] < b[i])
		}
	case Le:
		for _, i := range in {
			out[k] = i
			k += b2i(a[i] <= b[i])
		}
	}
	return out[:k]
}

// selectFloat compares floats: the built-in operators are right unless the constant, or both
// columns, may hold NaN.
func selectFloat[T float32 | float64](op CmpOp, l, r *Vector, n int, in, out Sel) Sel {
	if r.Form == Const {
		if c := Of[T](r)[0]; c == c {
			return selectFixed[T](op, l, r, n, in, out)
		}
	} else if !hasNaN(Of[T](l)[:n]) && !hasNaN(Of[T](r)[:n]) {
		return selectFixed[T](op, l, r, n, in, out)
	}
	a, b, step, mask := Of[T](l), Of[T](r), 1, op.mask()
	if r.Form == Const {
		step = 0
	}
	k := 0
	if in == nil {
		for i := range n {
			out[k] = uint16(i)
			k += int(mask >> (compareFloat(a[i], b[i*step]) + 1) & 1)
		}
		return out[:k]
	}
	for _, i := range in {
		out[k] = i
		k += int(mask >> (compareFloat(a[i], b[int(i)*step]) + 1) & 1)
	}
	return out[:k]
}

func hasNaN[T float32 | float64](v []T) bool {
	odd := 0
	for _, x := range v {
		odd |= b2i(x != x)
	}
	return odd != 0
}

func compareFloat[T float32 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return b2i(a != a) - b2i(b != b)
}

func selectInt128(op CmpOp, l, r *Vector, n int, in, out Sel) Sel {
	a, b, step, mask := Of[Int128](l), Of[Int128](r), 1, op.mask()
	if r.Form == Const {
		step = 0
	}
	k := 0
	if in == nil {
		for i := range n {
			out[k] = uint16(i)
			k += int(mask >> (a[i].Cmp(b[i*step]) + 1) & 1)
		}
		return out[:k]
	}
	for _, i := range in {
		out[k] = i
		k += int(mask >> (a[i].Cmp(b[int(i)*step]) + 1) & 1)
	}
	return out[:k]
}

// Span is the length of an interval in microseconds, with months of 30 days and days of 24 hours,
// as intervals are compared.
func (x Interval) Span() Int128 {
	const day = 86_400_000_000
	days := int64(x.Months)*30 + int64(x.Days)
	whole := Int128{Lo: uint64(days), Hi: days >> 63}.Mul(Int128{Lo: day})
	return whole.Add(Int128{Lo: uint64(x.Micros), Hi: x.Micros >> 63})
}

func selectInterval(op CmpOp, l, r *Vector, n int, in, out Sel) Sel {
	a, b, step, mask := Of[Interval](l), Of[Interval](r), 1, op.mask()
	if r.Form == Const {
		step = 0
	}
	k := 0
	if in == nil {
		for i := range n {
			out[k] = uint16(i)
			k += int(mask >> (a[i].Span().Cmp(b[i*step].Span()) + 1) & 1)
		}
		return out[:k]
	}
	for _, i := range in {
		out[k] = i
		k += int(mask >> (a[i].Span().Cmp(b[int(i)*step].Span()) + 1) & 1)
	}
	return out[:k]
}

func selectBytes(op CmpOp, l, r *Vector, n int, in, out Sel) Sel {
	if op == Eq || op == Ne {
		return selectBytesEqual(op == Eq, l, r, n, in, out)
	}
	lo, lh, ro, rh, step, mask := l.Offsets(), l.Heap(), r.Offsets(), r.Heap(), 1, op.mask()
	if r.Form == Const {
		step = 0
	}
	k := 0
	if in == nil {
		for i := range n {
			out[k] = uint16(i)
			j := i * step
			k += int(mask >> (bytes.Compare(lh[lo[i]:lo[i+1]], rh[ro[j]:ro[j+1]]) + 1) & 1)
		}
		return out[:k]
	}
	for _, row := range in {
		out[k] = row
		i, j := int(row), int(row)*step
		k += int(mask >> (bytes.Compare(lh[lo[i]:lo[i+1]], rh[ro[j]:ro[j+1]]) + 1) & 1)
	}
	return out[:k]
}

func selectBytesEqual(want bool, l, r *Vector, n int, in, out Sel) Sel {
	lo, lh, ro, rh, step := l.Offsets(), l.Heap(), r.Offsets(), r.Heap(), 1
	if r.Form == Const {
		step = 0
	}
	k := 0
	if in == nil {
		for i := range n {
			out[k] = uint16(i)
			j := i * step
			k += b2i(string(lh[lo[i]:lo[i+1]]) == string(rh[ro[j]:ro[j+1]]) == want)
		}
		return out[:k]
	}
	for _, row := range in {
		out[k] = row
		i, j := int(row), int(row)*step
		k += b2i(string(lh[lo[i]:lo[i+1]]) == string(rh[ro[j]:ro[j+1]]) == want)
	}
	return out[:k]
}
