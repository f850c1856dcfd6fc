package expr

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/vector"
)

// numericEval is + - or * on numerics.
type numericEval struct {
	op         byte
	l, r       Evaluator
	lt, rt     catalog.Type
	typ        catalog.Type
	x, y       numbers
	lbuf, rbuf vector.Vector // flattened dictionaries
	lval, rval vector.Vector // operands brought to one scale and form
	repeat     vector.Vector // a constant, repeated
	narrow     vector.Vector // result in the form that fits
	out        vector.Vector // result in the static form
	scales     []uint8
}

func buildNumeric(op byte) builder {
	return func(c *compiler, call *Call) (Evaluator, error) {
		l, r := widened(call.Args[0]), widened(call.Args[1])
		args, err := c.compileList([]Expr{l, r})
		if err != nil {
			return nil, err
		}
		return &numericEval{op: op, l: args[0], r: args[1], lt: l.Type(), rt: r.Type(), typ: call.Typ}, nil
	}
}

func (e *numericEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	x, err := e.evalNumbers(b, sel)
	if err != nil {
		return nil, err
	}
	return x.toKind(e.typ, b.N, sel, &e.out)
}

func (e *numericEval) evalNumbers(b *vector.Batch, sel vector.Sel) (numbers, error) {
	var err error
	if e.x, err = evalNumbers(e.l, e.lt, b, sel, &e.lbuf); err != nil {
		return numbers{}, err
	}
	if e.y, err = evalNumbers(e.r, e.rt, b, sel, &e.rbuf); err != nil {
		return numbers{}, err
	}
	n := b.N
	if e.x.constNull() || e.y.constNull() {
		return numbers{vec: setNull(&e.narrow, vector.I64), scale: int(e.typ.Scale), size: 1}, nil
	}
	if e.x.vec.Form == vector.Const && e.y.vec.Form == vector.Const && e.x.scales == nil && e.y.scales == nil {
		r, err := e.decimals(1, nil)
		r.vec.Form = vector.Const
		return r, err
	}
	if e.x.fixed() && e.y.fixed() {
		if r, ok := e.integers(n, sel); ok {
			e.narrow.Valid = nil
			setValid(&e.narrow, n, e.x.vec, e.y.vec)
			r.scales = e.rowScales(n, r.scale)
			return r, nil
		}
	}
	return e.decimals(n, sel)
}

// integers computes the result in 64 or 128 bits, if it fits those for certain.
func (e *numericEval) integers(n int, sel vector.Sel) (numbers, bool) {
	x, y := &e.x, &e.y
	var scale, ux, uy, size int
	if e.op == '*' {
		scale = x.scale + y.scale
		size = x.measure(n, sel) + y.measure(n, sel)
	} else {
		scale = max(x.scale, y.scale)
		ux, uy = scale-x.scale, scale-y.scale
		size = max(x.measure(n, sel)+pow10Bits(ux), y.measure(n, sel)+pow10Bits(uy)) + 1
	}
	switch {
	case size <= 63:
		e.narrow.Reset(vector.I64, n)
		if sel != nil && len(sel) < n/sparseShare {
			arithSel64(e.op, vector.Of[int64](&e.narrow)[:n], x.as64(ux, n, &e.lval), y.as64(uy, n, &e.rval), sel)
			break
		}
		arith64(e.op, vector.Of[int64](&e.narrow)[:n], x.as64(ux, n, &e.lval), y.as64(uy, n, &e.rval))
	case size <= 127 || e.typ.Kind() == vector.I128 && x.scales == nil && y.scales == nil:
		// A static 128-bit type holds the result whatever the estimate says.
		e.narrow.Reset(vector.I128, n)
		e.arith128(vector.Of[vector.Int128](&e.narrow)[:n], ux, uy, n)
	default:
		return numbers{}, false
	}
	return numbers{vec: &e.narrow, scale: scale, size: min(size, 127)}, true
}

// sparseShare is the share of selected rows below which looking them up beats computing all rows.
const sparseShare = 8

// arithSel64 is arith64 for a few rows.
func arithSel64(op byte, dst []int64, l, r *vector.Vector, sel vector.Sel) {
	a, b, i, j := vector.Of[int64](l), vector.Of[int64](r), 1, 1
	if l.Form == vector.Const {
		i = 0
	}
	if r.Form == vector.Const {
		j = 0
	}
	switch op {
	case '+':
		for _, k := range sel {
			dst[k] = a[int(k)*i] + b[int(k)*j]
		}
	case '-':
		for _, k := range sel {
			dst[k] = a[int(k)*i] - b[int(k)*j]
		}
	default:
		for _, k := range sel {
			dst[k] = a[int(k)*i] * b[int(k)*j]
		}
	}
}

// arith64 computes without overflow checks. Not both operands are constant.
func arith64(op byte, dst []int64, l, r *vector.Vector) {
	a, b := vector.Of[int64](l), vector.Of[int64](r)
	lc, rc := l.Form == vector.Const, r.Form == vector.Const
	n := len(dst)
	switch {
	case op == '+' && rc:
		vector.AddConst(dst, a[:n], b[0])
	case op == '+' && lc:
		vector.AddConst(dst, b[:n], a[0])
	case op == '+':
		vector.Add(dst, a[:n], b[:n])
	case op == '-' && rc:
		vector.AddConst(dst, a[:n], -b[0])
	case op == '-' && lc:
		vector.SubFromConst(dst, b[:n], a[0])
	case op == '-':
		vector.Sub(dst, a[:n], b[:n])
	case rc:
		vector.MulConst(dst, a[:n], b[0])
	case lc:
		vector.MulConst(dst, b[:n], a[0])
	default:
		vector.Mul(dst, a[:n], b[:n])
	}
}

func (e *numericEval) arith128(dst []vector.Int128, ux, uy, n int) {
	x, y := &e.x, &e.y
	if e.op == '*' && x.vec.Kind == vector.I64 && y.vec.Kind == vector.I64 {
		l, r := spread[int64](x.vec, &e.repeat, n), spread[int64](y.vec, &e.repeat, n)
		vector.MulWide(dst, l, r)
		return
	}
	lv, rv := x.as128(ux, n, &e.lval), y.as128(uy, n, &e.rval)
	// At most one is constant.
	l, r := spread[vector.Int128](lv, &e.repeat, n), spread[vector.Int128](rv, &e.repeat, n)
	switch e.op {
	case '+':
		vector.Add128(dst, l, r)
	case '-':
		vector.Sub128(dst, l, r)
	default:
		vector.Mul128(dst, l, r)
	}
}

// spread returns n values, repeating a constant into buf.
func spread[T vector.Elem](v, buf *vector.Vector, n int) []T {
	if v.Form != vector.Const {
		return vector.Of[T](v)[:n]
	}
	c := vector.Of[T](v)[0]
	buf.Reset(v.Kind, n)
	out := vector.Of[T](buf)[:n]
	for i := range out {
		out[i] = c
	}
	return out
}

// rowScales combines the operands' display scales, nil when all rows have scale.
func (e *numericEval) rowScales(n, scale int) []uint8 {
	x, y := &e.x, &e.y
	if x.scales == nil && y.scales == nil {
		return nil
	}
	if cap(e.scales) < n {
		e.scales = make([]uint8, max(n, vector.BatchCap))
	}
	out := e.scales[:n]
	for i := range out {
		sx, sy := uint8(x.scale), uint8(y.scale)
		if x.scales != nil {
			sx = x.scales[i]
		}
		if y.scales != nil {
			sy = y.scales[i]
		}
		if e.op == '*' {
			out[i] = sx + sy
		} else {
			out[i] = max(sx, sy)
		}
	}
	return out
}

// decimals computes row by row in byte form.
func (e *numericEval) decimals(n int, sel vector.Sel) (numbers, error) {
	out := &e.narrow
	out.Reset(vector.Bytes, n)
	setValid(out, n, e.x.vec, e.y.vec)
	for k := range count(n, sel) {
		i := k
		if sel != nil {
			i = int(sel[k])
			out.CloseTo(i)
		}
		if out.Valid != nil && !out.Valid.Get(i) {
			out.CloseTo(i + 1)
			continue
		}
		var d decimal.Decimal
		switch x, y := e.x.at(i), e.y.at(i); e.op {
		case '+':
			d = x.Add(y)
		case '-':
			d = x.Sub(y)
		default:
			d = x.Mul(y)
		}
		if err := d.CheckLimits(); err != nil {
			return numbers{vec: out}, err
		}
		out.EndBytes(decimal.AppendBytes(out.HeapBuf(), d))
	}
	out.CloseTo(n)
	return numbers{vec: out}, nil
}
