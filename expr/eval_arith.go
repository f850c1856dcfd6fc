package expr

import (
	"math"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/decimal"
	"github.com/weftdb/weft/vector"
)

// binaryEval evaluates two operands and spreads constants, so that one kernel per operation does.
type binaryEval struct {
	l, r       Evaluator
	kind       vector.Kind
	lbuf, rbuf vector.Vector
	lrep, rrep vector.Vector
	out        vector.Vector
}

func (c *compiler) binary(call *Call) (binaryEval, error) {
	args, err := c.compileList(call.Args)
	if err != nil {
		return binaryEval{}, err
	}
	return binaryEval{l: args[0], r: args[1], kind: call.Typ.Kind()}, nil
}

// operands evaluates both sides and prepares out. done: out is already the result.
func (e *binaryEval) operands(b *vector.Batch, sel vector.Sel) (l, r *vector.Vector, n int, done bool, err error) {
	if l, err = e.l.Eval(b, sel); err != nil {
		return
	}
	if r, err = e.r.Eval(b, sel); err != nil {
		return
	}
	n = b.N
	l, r = flat(l, &e.lbuf, n), flat(r, &e.rbuf, n)
	if l.Form == vector.Const && r.Form == vector.Const {
		n = 1
		if count(b.N, sel) == 0 {
			setNull(&e.out, e.kind)
			return l, r, n, true, nil
		}
	}
	e.out.Reset(e.kind, n)
	if !setValid(&e.out, n, l, r) {
		setNull(&e.out, e.kind)
		done = true
	}
	return
}

// finish marks a result of constants as constant.
func (e *binaryEval) finish(l, r *vector.Vector) *vector.Vector {
	if l.Form == vector.Const && r.Form == vector.Const {
		e.out.Form = vector.Const
	}
	return &e.out
}

// intEval is + - * / % on integers.
type intEval[T int16 | int32 | int64] struct {
	binaryEval
	op       byte
	mul      func(dst, x, y []T) bool
	overflow error
}

func buildInt[T int16 | int32 | int64](op byte, id catalog.TypeID, mul func(dst, x, y []T) bool) builder {
	return func(c *compiler, call *Call) (Evaluator, error) {
		base, err := c.binary(call)
		return &intEval[T]{binaryEval: base, op: op, mul: mul, overflow: rangeError(id)}, err
	}
}

func (e *intEval[T]) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	l, r, n, done, err := e.operands(b, sel)
	if err != nil || done {
		return &e.out, err
	}
	dst := vector.Of[T](&e.out)[:n]
	x, y := spread[T](l, &e.lrep, n), spread[T](r, &e.rrep, n)
	if e.op == '/' || e.op == '%' || !e.dense(dst, x, y) {
		if n == 1 && l.Form == vector.Const && r.Form == vector.Const {
			sel = nil
		}
		if err := e.rows(dst, x, y, n, sel); err != nil {
			return nil, err
		}
	}
	return e.finish(l, r), nil
}

// dense computes all rows at once; false when some row overflowed, which may be one that nobody
// wants.
func (e *intEval[T]) dense(dst, x, y []T) bool {
	switch e.op {
	case '+':
		return vector.AddChecked(dst, x, y)
	case '-':
		return vector.SubChecked(dst, x, y)
	}
	return e.op == '*' && e.mul(dst, x, y)
}

// rows computes the selected valid rows one by one, with exact errors.
func (e *intEval[T]) rows(dst, x, y []T, n int, sel vector.Sel) error {
	valid := e.out.Valid
	for k := range count(n, sel) {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		if valid != nil && !valid.Get(i) {
			continue
		}
		a, b := int64(x[i]), int64(y[i])
		var z int64
		ok := true
		switch e.op {
		case '+':
			z = a + b
			ok = (a^z)&(b^z) >= 0
		case '-':
			z = a - b
			ok = (a^b)&(a^z) >= 0
		case '*':
			w := decimal.Mul64(a, b)
			z, ok = int64(w.Lo), w.IsInt64()
		default:
			if b == 0 {
				return decimal.ErrDivisionByZero
			}
			switch {
			case e.op == '%' && b == -1:
				z = 0
			case e.op == '%':
				z = a % b
			default:
				z = a / b
				ok = b != -1 || a != math.MinInt64
			}
		}
		if !ok || int64(T(z)) != z {
			return e.overflow
		}
		dst[i] = T(z)
	}
	return nil
}

// floatEval is + - * / on floats.
type floatEval[T float32 | float64] struct {
	binaryEval
	op byte
}

func buildFloat[T float32 | float64](op byte) builder {
	return func(c *compiler, call *Call) (Evaluator, error) {
		base, err := c.binary(call)
		return &floatEval[T]{binaryEval: base, op: op}, err
	}
}

func (e *floatEval[T]) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	l, r, n, done, err := e.operands(b, sel)
	if err != nil || done {
		return &e.out, err
	}
	dst := vector.Of[T](&e.out)[:n]
	x, y := spread[T](l, &e.lrep, n), spread[T](r, &e.rrep, n)
	switch e.op {
	case '+':
		vector.Add(dst, x, y)
	case '-':
		vector.Sub(dst, x, y)
	case '*':
		vector.Mul(dst, x, y)
	default:
		for i, a := range x {
			dst[i] = a / y[i]
		}
	}
	if n == 1 && l.Form == vector.Const && r.Form == vector.Const {
		sel = nil
	}
	if err := e.check(dst, x, y, n, sel); err != nil {
		return nil, err
	}
	return e.finish(l, r), nil
}

// check finds overflow, underflow and division by zero as PostgreSQL defines them.
func (e *floatEval[T]) check(dst, x, y []T, n int, sel vector.Sel) error {
	if e.op != '/' {
		// Any infinity or, in products, zero calls for a closer look.
		odd := 0
		for _, z := range dst {
			if z-z != 0 || e.op == '*' && z == 0 {
				odd = 1
			}
		}
		if odd == 0 {
			return nil
		}
	}
	valid := e.out.Valid
	for k := range count(n, sel) {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		if valid != nil && !valid.Get(i) {
			continue
		}
		a, b, z := float64(x[i]), float64(y[i]), float64(dst[i])
		switch {
		case e.op == '/' && b == 0 && a == a:
			return decimal.ErrDivisionByZero
		case math.IsInf(z, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0):
			return errFloatOverflow
		case z == 0 && e.op == '*' && a != 0 && b != 0, z == 0 && e.op == '/' && a != 0 && !math.IsInf(b, 0):
			return errFloatUnderflow
		}
	}
	return nil
}
