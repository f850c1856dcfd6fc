package expr

import (
	"math/bits"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/vector"
)

// numbers is a numeric operand during evaluation. Numeric expressions are evaluated in the
// narrowest form that their operands' actual magnitudes allow, whatever the form of their static
// type: a product of 47 derived digits usually fits 64 bits. Only when even 128 bits may overflow
// does a batch fall back to the byte form.
type numbers struct {
	vec   *vector.Vector // I64, I128 or Bytes; flat or constant
	scale int            // of I64 and I128
	// size bounds the magnitude: |x| < 2^size for every selected row. 0 = not known yet.
	size int
	// scales holds the display scale per row when rows differ (the arms of a CASE); nil = scale.
	scales []uint8
}

// numberEvaluator is implemented by evaluators of numerics that can leave the form open.
type numberEvaluator interface {
	evalNumbers(b *vector.Batch, sel vector.Sel) (numbers, error)
}

// evalNumbers evaluates a numeric expression of static type t.
func evalNumbers(e Evaluator, t catalog.Type, b *vector.Batch, sel vector.Sel, buf *vector.Vector) (numbers, error) {
	if ne, ok := e.(numberEvaluator); ok {
		return ne.evalNumbers(b, sel)
	}
	v, err := e.Eval(b, sel)
	if err != nil {
		return numbers{}, err
	}
	if v.Form == vector.Const && v.Kind == vector.Bytes && !v.IsNull(0) {
		return constNumbers(v, buf), nil
	}
	return numbers{vec: flat(v, buf, b.N), scale: int(t.Scale)}, nil
}

// constNumbers brings a constant in byte form (a parameter, the result of a subquery) to an integer
// form if it has one, so that comparing a column with it stays with integers.
func constNumbers(v, buf *vector.Vector) numbers {
	d := decimal.FromBytes(v.BytesAt(0))
	x, ok := d.Int128(d.Scale())
	switch {
	case !ok:
		return numbers{vec: v}
	case x.IsInt64():
		buf.SetConst(vector.IntDatum(vector.I64, int64(x.Lo)))
	default:
		buf.SetConst(vector.Int128Datum(x))
	}
	return numbers{vec: buf, scale: d.Scale()}
}

// fixed reports whether the operand is in one of the integer forms.
func (x *numbers) fixed() bool { return x.vec.Kind != vector.Bytes }

// measure returns the magnitude bound of a fixed operand.
func (x *numbers) measure(n int, sel vector.Sel) int {
	if x.size > 0 {
		return x.size
	}
	if x.vec.Form == vector.Const {
		n, sel = 1, nil
	}
	if x.vec.Kind == vector.I64 {
		x.size = max(vector.MagnitudeBits(vector.Of[int64](x.vec)[:n], sel), 1)
	} else {
		x.size = vector.MagnitudeBits128(vector.Of[vector.Int128](x.vec)[:n], sel)
	}
	return x.size
}

// at reads row i, which is not NULL.
func (x *numbers) at(i int) decimal.Decimal {
	j := i
	if x.vec.Form == vector.Const {
		j = 0
	}
	var d decimal.Decimal
	switch x.vec.Kind {
	case vector.I64:
		d = decimal.FromScaledInt64(vector.Of[int64](x.vec)[j], x.scale)
	case vector.I128:
		d = decimal.FromInt128(vector.Of[vector.Int128](x.vec)[j], x.scale)
	default:
		return decimal.FromBytes(x.vec.BytesAt(j))
	}
	if x.scales != nil {
		return d.Round(int(x.scales[i]))
	}
	return d
}

func (x *numbers) constNull() bool { return x.vec.Form == vector.Const && x.vec.IsNull(0) }

// pow10Bits is the bits that multiplying by 10^n adds at most.
func pow10Bits(n int) int {
	if n == 0 {
		return 0
	}
	if n > decimal.MaxPow10 {
		return 1000
	}
	p := decimal.Pow10(n)
	if p.Hi == 0 {
		return bits.Len64(p.Lo)
	}
	return 64 + bits.Len64(uint64(p.Hi))
}

// as64 returns the values as int64s multiplied by 10^up, in buf if anything has to be done. The
// caller knows that they fit.
func (x *numbers) as64(up, n int, buf *vector.Vector) *vector.Vector {
	if up == 0 && x.vec.Kind == vector.I64 {
		return x.vec
	}
	isConst := x.vec.Form == vector.Const
	if isConst {
		n = 1
	}
	buf.Reset(vector.I64, n)
	out := vector.Of[int64](buf)[:n]
	factor := pow10(up)
	if x.vec.Kind == vector.I64 {
		vector.MulConst(out, vector.Of[int64](x.vec)[:n], factor)
	} else {
		for i, v := range vector.Of[vector.Int128](x.vec)[:n] {
			out[i] = int64(v.Lo) * factor
		}
	}
	buf.Valid = x.vec.Valid
	if isConst {
		buf.Form = vector.Const
	}
	return buf
}

// as128 returns the values as 128-bit integers multiplied by 10^up, wrapping around.
func (x *numbers) as128(up, n int, buf *vector.Vector) *vector.Vector {
	if up == 0 && x.vec.Kind == vector.I128 {
		return x.vec
	}
	isConst := x.vec.Form == vector.Const
	if isConst {
		n = 1
	}
	buf.Reset(vector.I128, n)
	out := vector.Of[vector.Int128](buf)[:n]
	if x.vec.Kind == vector.I64 {
		vector.Widen(out, vector.Of[int64](x.vec)[:n])
	} else {
		copy(out, vector.Of[vector.Int128](x.vec)[:n])
	}
	if up > 0 {
		factor := decimal.Pow10(up)
		for i, v := range out {
			out[i] = v.Mul(factor)
		}
	}
	buf.Valid = x.vec.Valid
	if isConst {
		buf.Form = vector.Const
	}
	return buf
}

// toKind converts numbers to the form of type t, which they fit, using out for the result.
func (x *numbers) toKind(t catalog.Type, n int, sel vector.Sel, out *vector.Vector) (*vector.Vector, error) {
	kind := t.Kind()
	up := int(t.Scale) - x.scale
	switch {
	case x.constNull():
		return setNull(out, kind), nil
	case kind == vector.Bytes && !x.fixed():
		return x.vec, nil
	case kind == vector.Bytes:
		x.encode(n, sel, out)
		return out, nil
	case kind == vector.I128 && x.fixed() && up >= 0:
		return x.as128(up, n, out), nil
	case kind == vector.I64 && x.vec.Kind == vector.I64 && up >= 0:
		return x.as64(up, n, out), nil
	}
	return x.store(t, n, sel, out)
}

// encode writes fixed numbers in byte form.
func (x *numbers) encode(n int, sel vector.Sel, out *vector.Vector) {
	isConst := x.vec.Form == vector.Const && x.scales == nil
	if isConst {
		n, sel = 1, nil
	}
	out.Reset(vector.Bytes, n)
	one := func(i int) {
		if x.vec.IsNull(i) {
			out.EndBytes(out.HeapBuf())
			return
		}
		out.EndBytes(decimal.AppendBytes(out.HeapBuf(), x.at(i)))
	}
	if sel == nil {
		for i := range n {
			one(i)
		}
	} else {
		for _, i := range sel {
			out.CloseTo(int(i))
			one(int(i))
		}
		out.CloseTo(n)
	}
	out.Valid = x.vec.Valid
	if isConst {
		out.Form = vector.Const
	}
}

// store rounds numbers to a type with modifiers and checks that they fit.
func (x *numbers) store(t catalog.Type, n int, sel vector.Sel, out *vector.Vector) (*vector.Vector, error) {
	isConst := x.vec.Form == vector.Const
	if isConst {
		n, sel = 1, nil
	}
	kind := t.Kind()
	out.Reset(kind, n)
	for k := range count(n, sel) {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		if kind == vector.Bytes {
			out.CloseTo(i)
		}
		if x.vec.IsNull(i) {
			continue
		}
		d, err := fitNumeric(t, x.at(i))
		if err != nil {
			return nil, err
		}
		switch kind {
		case vector.Bytes:
			out.EndBytes(decimal.AppendBytes(out.HeapBuf(), d))
		case vector.I64:
			w, _ := d.Int128(int(t.Scale))
			vector.Of[int64](out)[i] = int64(w.Lo)
		default:
			vector.Of[vector.Int128](out)[i], _ = d.Int128(int(t.Scale))
		}
	}
	if kind == vector.Bytes {
		out.CloseTo(n)
	}
	out.Valid = x.vec.Valid
	if isConst {
		out.Form = vector.Const
	}
	return out, nil
}

// evalNumeric brings the sides of a numeric comparison to one integer form and scale; exact is
// false when that is not possible.
func (o *operands) evalNumeric(b *vector.Batch, sel vector.Sel) (l, r *vector.Vector, exact bool, err error) {
	if o.lnum, err = evalNumbers(o.left, o.lt, b, sel, &o.lbuf); err != nil {
		return
	}
	if o.rnum, err = evalNumbers(o.right, o.rt, b, sel, &o.rbuf); err != nil {
		return
	}
	x, y := &o.lnum, &o.rnum
	l, r = x.vec, y.vec
	if x.constNull() || y.constNull() {
		// Any kinds do: the result is NULL.
		return l, setNull(&o.rtrim, l.Kind), true, nil
	}
	if !x.fixed() || !y.fixed() {
		return l, r, false, nil
	}
	if x.scale == y.scale && l.Kind == r.Kind {
		return l, r, true, nil
	}
	scale := max(x.scale, y.scale)
	ux, uy := scale-x.scale, scale-y.scale
	size := 0
	if ux > 0 {
		size = x.measure(b.N, sel) + pow10Bits(ux)
	}
	if uy > 0 {
		size = max(size, y.measure(b.N, sel)+pow10Bits(uy))
	}
	switch {
	case size <= 63 && l.Kind == vector.I64 && r.Kind == vector.I64:
		return x.as64(ux, b.N, &o.ltrim), y.as64(uy, b.N, &o.rtrim), true, nil
	case size <= 127:
		return x.as128(ux, b.N, &o.ltrim), y.as128(uy, b.N, &o.rtrim), true, nil
	}
	return l, r, false, nil
}
