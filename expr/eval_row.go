package expr

import (
	"context"
	"math"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/vector"
)

// row gives a function that is written for single rows access to its arguments.
type row struct {
	args  []*vector.Vector // flat, constant, or dictionaries of strings
	types []catalog.Type
	i     int
	env   *Env
	call  *Call
	null  bool // set by the function to return NULL
	cache any  // whatever the function wants to keep between rows
}

func (r *row) at(k int) (*vector.Vector, int) {
	v := r.args[k]
	if v.Form == vector.Const {
		return v, 0
	}
	return v, r.i
}

func (r *row) isNull(k int) bool { return r.args[k].IsNull(r.i) }

func (r *row) bytes(k int) []byte { return r.args[k].BytesAt(r.i) }

// str views argument k as a string that is valid during the call only.
func (r *row) str(k int) string { return vector.StringOf(r.args[k].BytesAt(r.i)) }

func (r *row) int(k int) int64 {
	v, i := r.at(k)
	switch v.Kind {
	case vector.Bool:
		return int64(vector.Of[uint8](v)[i])
	case vector.I16:
		return int64(vector.Of[int16](v)[i])
	case vector.I32:
		return int64(vector.Of[int32](v)[i])
	case vector.I8:
		return int64(vector.Of[int8](v)[i])
	}
	return vector.Of[int64](v)[i]
}

func (r *row) bool(k int) bool { return r.int(k) != 0 }

func (r *row) float(k int) float64 {
	v, i := r.at(k)
	if v.Kind == vector.F32 {
		return float64(vector.Of[float32](v)[i])
	}
	return vector.Of[float64](v)[i]
}

func (r *row) dec(k int) decimal.Decimal { return numericAt(r.types[k], r.args[k], r.i) }

func (r *row) interval(k int) vector.Interval {
	v, i := r.at(k)
	return vector.Of[vector.Interval](v)[i]
}

// The builders below make evaluators of functions written for one row.

func intRow(f func(r *row) (int64, error)) builder {
	return rowBuilder(func(e *rowEval, r *row) error {
		x, err := f(r)
		if err != nil {
			return err
		}
		e.setInt(r.i, x)
		return nil
	})
}

func boolRow(f func(r *row) (bool, error)) builder {
	return rowBuilder(func(e *rowEval, r *row) error {
		x, err := f(r)
		if x {
			vector.Of[uint8](&e.out)[r.i] = 1
		} else {
			vector.Of[uint8](&e.out)[r.i] = 0
		}
		return err
	})
}

func floatRow(f func(r *row) (float64, error)) builder {
	return rowBuilder(func(e *rowEval, r *row) error {
		x, err := f(r)
		if e.out.Kind == vector.F32 {
			vector.Of[float32](&e.out)[r.i] = float32(x)
		} else {
			vector.Of[float64](&e.out)[r.i] = x
		}
		return err
	})
}

func intervalRow(f func(r *row) (vector.Interval, error)) builder {
	return rowBuilder(func(e *rowEval, r *row) error {
		x, err := f(r)
		vector.Of[vector.Interval](&e.out)[r.i] = x
		return err
	})
}

// textRow makes an evaluator of a function that appends its result.
func textRow(f func(r *row, dst []byte) ([]byte, error)) builder {
	return rowBuilder(func(e *rowEval, r *row) error {
		dst, err := f(r, e.out.HeapBuf())
		if err != nil {
			return err
		}
		e.out.EndBytes(dst)
		return nil
	})
}

// decRow makes an evaluator of a numeric function. Its results must have the digits that the
// call's type promises.
func decRow(f func(r *row) (decimal.Decimal, error)) builder {
	return rowBuilder(func(e *rowEval, r *row) error {
		d, err := f(r)
		if err != nil {
			return err
		}
		if r.null {
			if e.out.Kind == vector.Bytes {
				e.out.EndBytes(e.out.HeapBuf())
			}
			return nil
		}
		return e.setNumeric(r.i, d)
	})
}

func (e *rowEval) setInt(i int, x int64) {
	switch e.out.Kind {
	case vector.Bool, vector.I8:
		vector.Of[int8](&e.out)[i] = int8(x)
	case vector.I16:
		vector.Of[int16](&e.out)[i] = int16(x)
	case vector.I32:
		vector.Of[int32](&e.out)[i] = int32(x)
	default:
		vector.Of[int64](&e.out)[i] = x
	}
}

func (e *rowEval) setNumeric(i int, d decimal.Decimal) error {
	if e.out.Kind == vector.Bytes {
		if err := d.CheckLimits(); err != nil {
			return err
		}
		e.out.EndBytes(decimal.AppendBytes(e.out.HeapBuf(), d))
		return nil
	}
	x, ok := d.Int128(int(e.typ.Scale))
	if e.out.Kind == vector.I64 {
		if !ok || !x.IsInt64() {
			return errFieldOverflow(e.typ)
		}
		vector.Of[int64](&e.out)[i] = int64(x.Lo)
		return nil
	}
	if !ok {
		return errFieldOverflow(e.typ)
	}
	vector.Of[vector.Int128](&e.out)[i] = x
	return nil
}

// rowEval runs a function row by row.
type rowEval struct {
	args   []Evaluator
	typ    catalog.Type
	strict bool
	pure   bool // constant arguments give a constant
	one    func(e *rowEval, r *row) error
	row    row
	bufs   []vector.Vector
	out    vector.Vector
}

func rowBuilder(one func(e *rowEval, r *row) error) builder {
	return func(c *compiler, call *Call) (Evaluator, error) {
		args, err := c.compileList(call.Args)
		if err != nil {
			return nil, err
		}
		e := &rowEval{args: args, typ: call.Typ, strict: call.Fn.Strict, pure: call.Fn.Volatility != Volatile, one: one}
		e.bufs = make([]vector.Vector, len(args))
		e.row = row{args: make([]*vector.Vector, len(args)), env: c.env, call: call}
		for _, a := range call.Args {
			e.row.types = append(e.row.types, a.Type())
		}
		return e, nil
	}
}

func (e *rowEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	allConst := e.pure
	for k, a := range e.args {
		v, err := a.Eval(b, sel)
		if err != nil {
			return nil, err
		}
		if v.Form == vector.Dict && v.Kind != vector.Bytes {
			v = vector.Flatten(&e.bufs[k], v, b.N)
		}
		e.row.args[k] = v
		allConst = allConst && v.Form == vector.Const
	}
	n, kind := b.N, e.typ.Kind()
	if allConst {
		if count(n, sel) == 0 {
			return setNull(&e.out, kind), nil // nobody looks, nothing may fail
		}
		n, sel = 1, nil
	}
	e.out.Reset(kind, n)
	if e.strict && !setValid(&e.out, n, e.row.args...) {
		return setNull(&e.out, kind), nil
	}
	if err := e.loop(n, sel); err != nil {
		return nil, err
	}
	if allConst {
		e.out.Form = vector.Const
	}
	return &e.out, nil
}

// A batch's texts lie in one piece of memory with offsets of 31 bits.
var errValuesTooLarge = sqlerr.New(sqlerr.ProgramLimitExceeded, "the texts of %d rows at a time must not exceed 2 GB together", vector.BatchCap)

func (e *rowEval) loop(n int, sel vector.Sel) error {
	r := &e.row
	bytes := e.out.Kind == vector.Bytes
	valid := e.out.Valid
	for k := range count(n, sel) {
		r.i = k
		if sel != nil {
			r.i = int(sel[k])
		}
		if valid != nil && !valid.Get(r.i) {
			continue
		}
		if bytes {
			e.out.CloseTo(r.i)
		}
		r.null = false
		if r.env.stopped() {
			return context.Canceled
		}
		if err := e.one(e, r); err != nil {
			return err
		}
		if bytes && len(e.out.HeapBuf()) > math.MaxInt32 {
			return errValuesTooLarge
		}
		if r.null {
			e.out.SetNull(r.i, n)
		}
	}
	if bytes {
		e.out.CloseTo(n)
	}
	return nil
}
