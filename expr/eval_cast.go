package expr

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/vector"
)

// compileCast chooses the evaluator of a cast: kernels for the common ones, row functions for the
// rest.
func (c *compiler) compileCast(e *Cast) (Evaluator, error) {
	from, to := e.Arg.Type(), e.Typ
	if from == to || isRelabel(from, to) {
		return c.compile(e.Arg)
	}
	switch {
	case to.ID == catalog.Numeric && (from.ID == catalog.Numeric || from.IsInteger() || from.ID == catalog.Oid):
		arg, err := c.compile(e.Arg)
		return &numericCast{arg: arg, from: from, to: to}, err
	case from.IsInteger() && to.IsInteger() && from.ID < to.ID:
		return c.widen(e)
	case from.IsInteger() && to.ID == catalog.Float8:
		return c.toFloat8(e)
	case from.ID == catalog.Date && to == (catalog.Type{ID: catalog.Timestamp}):
		arg, err := c.compile(e.Arg)
		return &dateToTimestampEval{arg: arg}, err
	case from.ID == catalog.Float4 && to.ID == catalog.Float8:
		arg, err := c.compile(e.Arg)
		return &convertEval[float32, float64]{arg: arg, kind: vector.F64}, err
	}
	call := &Call{Fn: &Function{Name: "cast", Strict: true, Volatility: castVolatility(from.ID, to.ID)},
		Args: []Expr{e.Arg}, Typ: to, Pos: e.Pos}
	return rowCast(from, to, !e.Assignment && !e.Implicit)(c, call)
}

// isRelabel reports casts that change nothing in the value.
func isRelabel(from, to catalog.Type) bool {
	switch {
	case from.IsString() && to.IsString():
		return from.ID != catalog.Char && to.ID != catalog.Name && to.Prec == 0 || from.ID == to.ID && to.Prec == 0
	case from.ID == to.ID:
		return to.Prec == 0 && from.ID != catalog.Numeric
	}
	return false
}

// convertEval converts between element types without failing.
type convertEval[A, B int16 | int32 | int64 | float32 | float64] struct {
	arg  Evaluator
	kind vector.Kind
	buf  vector.Vector
	out  vector.Vector
}

func (e *convertEval[A, B]) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	v, err := e.arg.Eval(b, sel)
	if err != nil {
		return nil, err
	}
	v = flat(v, &e.buf, b.N)
	n := b.N
	if v.Form == vector.Const {
		n = 1
	}
	e.out.Reset(e.kind, n)
	in, out := vector.Of[A](v)[:n], vector.Of[B](&e.out)[:n]
	for i, x := range in {
		out[i] = B(x)
	}
	e.out.Valid = v.Valid
	e.out.Form = v.Form
	return &e.out, nil
}

func (c *compiler) widen(e *Cast) (Evaluator, error) {
	arg, err := c.compile(e.Arg)
	switch {
	case e.Arg.Type().ID == catalog.Int4:
		return &convertEval[int32, int64]{arg: arg, kind: vector.I64}, err
	case e.Typ.ID == catalog.Int4:
		return &convertEval[int16, int32]{arg: arg, kind: vector.I32}, err
	}
	return &convertEval[int16, int64]{arg: arg, kind: vector.I64}, err
}

func (c *compiler) toFloat8(e *Cast) (Evaluator, error) {
	arg, err := c.compile(e.Arg)
	switch e.Arg.Type().ID {
	case catalog.Int2:
		return &convertEval[int16, float64]{arg: arg, kind: vector.F64}, err
	case catalog.Int4:
		return &convertEval[int32, float64]{arg: arg, kind: vector.F64}, err
	}
	return &convertEval[int64, float64]{arg: arg, kind: vector.F64}, err
}

// dateToTimestampEval converts dates to timestamps.
type dateToTimestampEval struct {
	arg Evaluator
	buf vector.Vector
	out vector.Vector
}

func (e *dateToTimestampEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	v, err := e.arg.Eval(b, sel)
	if err != nil {
		return nil, err
	}
	v = flat(v, &e.buf, b.N)
	n := b.N
	if v.Form == vector.Const {
		if count(n, sel) == 0 || v.IsNull(0) {
			return setNull(&e.out, vector.I64), nil
		}
		n, sel = 1, nil
	}
	e.out.Reset(vector.I64, n)
	setValid(&e.out, n, v)
	in, out := vector.Of[int32](v), vector.Of[int64](&e.out)
	for k := range count(n, sel) {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		if v.Valid != nil && !v.Valid.Get(i) {
			continue
		}
		if out[i], err = dateToTimestamp(in[i], false, nil); err != nil {
			return nil, err
		}
	}
	e.out.Form = v.Form
	return &e.out, nil
}

// numericCast converts integers and numerics to a numeric type.
type numericCast struct {
	arg  Evaluator
	from catalog.Type
	to   catalog.Type
	buf  vector.Vector
	wide vector.Vector
	out  vector.Vector
}

func (e *numericCast) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	x, err := e.evalNumbers(b, sel)
	if err != nil {
		return nil, err
	}
	return x.toKind(e.to, b.N, sel, &e.out)
}

func (e *numericCast) evalNumbers(b *vector.Batch, sel vector.Sel) (numbers, error) {
	x, err := e.source(b, sel)
	if err != nil || e.to.Prec == 0 || x.constNull() {
		return x, err
	}
	// Widening to a type that holds every value needs no check.
	whole, scale, ok := digitsOf(e.from)
	if ok && scale <= int(e.to.Scale) && whole <= int(e.to.Prec-e.to.Scale) && x.scales == nil && x.fixed() {
		up := int(e.to.Scale) - x.scale
		if up == 0 {
			return x, nil
		}
		if e.to.Kind() != vector.Bytes {
			v, err := x.toKind(e.to, b.N, sel, &e.out)
			return numbers{vec: v, scale: int(e.to.Scale)}, err
		}
	}
	v, err := x.store(e.to, b.N, sel, &e.out)
	return numbers{vec: v, scale: int(e.to.Scale)}, err
}

// source returns the argument as numbers.
func (e *numericCast) source(b *vector.Batch, sel vector.Sel) (numbers, error) {
	if e.from.ID == catalog.Numeric {
		return evalNumbers(e.arg, e.from, b, sel, &e.buf)
	}
	v, err := e.arg.Eval(b, sel)
	if err != nil {
		return numbers{}, err
	}
	v = flat(v, &e.buf, b.N)
	if v.Kind == vector.I64 {
		return numbers{vec: v}, nil
	}
	n := b.N
	if v.Form == vector.Const {
		n = 1
	}
	e.wide.Reset(vector.I64, n)
	out := vector.Of[int64](&e.wide)[:n]
	size := 32
	if v.Kind == vector.I16 {
		size = 16
		for i, x := range vector.Of[int16](v)[:n] {
			out[i] = int64(x)
		}
	} else {
		for i, x := range vector.Of[int32](v)[:n] {
			out[i] = int64(x)
		}
	}
	e.wide.Valid, e.wide.Form = v.Valid, v.Form
	return numbers{vec: &e.wide, size: size}, nil
}

// rowCast is the general cast, one row at a time.
func rowCast(from, to catalog.Type, explicit bool) builder {
	switch {
	case from.IsString() && to.IsString():
		return textRow(func(r *row, dst []byte) ([]byte, error) {
			b := r.bytes(0)
			if from.ID == catalog.Char && to.ID != catalog.Char {
				b = trimBlankBytes(b)
			}
			if to.ID == catalog.Name {
				return append(dst, truncateName(vector.StringOf(b))...), nil
			}
			if to.Prec == 0 {
				return append(dst, b...), nil
			}
			return appendFitted(dst, b, to, explicit)
		})
	case to.IsString():
		return castToText(from, to, explicit)
	case from.IsString():
		return castFromText(from, to, explicit)
	}
	return castFixed(from, to, explicit)
}

func castToText(from, to catalog.Type, explicit bool) builder {
	return textRow(func(r *row, dst []byte) ([]byte, error) {
		start := len(dst)
		if from.ID == catalog.Bool {
			dst = appendCastText(dst, from, vector.BoolDatum(r.bool(0)), r.env)
		} else {
			dst = AppendText(dst, from, r.args[0], r.i, r.env)
		}
		if to.Prec == 0 || len(dst)-start <= int(to.Prec) && to.ID != catalog.Char {
			return dst, nil
		}
		scratch, _ := r.cache.(*[]byte)
		if scratch == nil {
			scratch = new([]byte)
			r.cache = scratch
		}
		*scratch = append((*scratch)[:0], dst[start:]...)
		return appendFitted(dst[:start], *scratch, to, explicit)
	})
}

func castFromText(from, to catalog.Type, explicit bool) builder {
	input := func(r *row) string {
		b := r.bytes(0)
		if from.ID == catalog.Char {
			b = trimBlankBytes(b)
		}
		return vector.StringOf(b)
	}
	switch to.ID {
	case catalog.Bytea:
		return textRow(func(r *row, dst []byte) ([]byte, error) { return parseBytea(dst, input(r)) })
	case catalog.Numeric:
		return decRow(func(r *row) (decimal.Decimal, error) {
			d, err := parseNumeric(input(r))
			if err == nil {
				d, err = fitNumeric(to, d)
			}
			return d, err
		})
	case catalog.Float4, catalog.Float8:
		return floatRow(func(r *row) (float64, error) { return parseFloat(input(r), to.ID) })
	case catalog.Interval:
		return intervalRow(func(r *row) (vector.Interval, error) {
			iv, err := parseInterval(input(r))
			return roundInterval(iv, to), err
		})
	case catalog.Bool:
		return boolRow(func(r *row) (bool, error) { return parseBool(input(r)) })
	}
	return intRow(func(r *row) (int64, error) {
		d, err := parseDatum(to.Base(), input(r), r.env)
		if err == nil && to.Prec > 0 {
			d, err = castDatum(d, to.Base(), to, explicit, r.env)
		}
		return d.I, err
	})
}

// castFixed converts between types that are not strings.
func castFixed(from, to catalog.Type, explicit bool) builder {
	convert := func(r *row) (vector.Datum, error) {
		v, i := r.at(0)
		return castDatum(vector.DatumAt(v, i), from, to, explicit, r.env)
	}
	switch to.Kind() {
	case vector.F32, vector.F64:
		return floatRow(func(r *row) (float64, error) {
			d, err := convert(r)
			return d.F, err
		})
	case vector.KindInterval:
		return intervalRow(func(r *row) (vector.Interval, error) { return roundInterval(r.interval(0), to), nil })
	}
	if to.ID == catalog.Numeric {
		return decRow(func(r *row) (decimal.Decimal, error) {
			v, i := r.at(0)
			return fitNumeric(to, toDecimal(vector.DatumAt(v, i), from))
		})
	}
	return intRow(func(r *row) (int64, error) {
		d, err := convert(r)
		return d.I, err
	})
}
