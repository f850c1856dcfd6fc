package expr

import (
	"github.com/weftdb/weft/vector"
)

// boolEval is AND or OR with three-valued logic. Later arguments are evaluated only for the rows
// that the earlier ones left open.
type boolEval struct {
	or   bool
	args []Evaluator
	buf  vector.Vector
	out  vector.Vector
	open vector.Sel
}

func (c *compiler) compileBool(e *BoolOp) (Evaluator, error) {
	out := &boolEval{or: e.Or}
	p := c.private()
	for i, a := range e.Args {
		from := p
		if i == 0 {
			from = c
		}
		arg, err := from.compile(a)
		if err != nil {
			return nil, err
		}
		out.args = append(out.args, arg)
	}
	return out, nil
}

func (e *boolEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	n := b.N
	e.out.Reset(vector.Bool, n)
	flags := vector.Of[uint8](&e.out)
	// The decisive value ends a row; NULL is remembered in the validity bits.
	decisive := uint8(0)
	if e.or {
		decisive = 1
	}
	open := vector.SelectAll(n, sel, e.open)
	for _, i := range open {
		flags[i] = 1 - decisive
	}
	for k, arg := range e.args {
		if len(open) == 0 {
			break
		}
		v, err := arg.Eval(b, open)
		if err != nil {
			return nil, err
		}
		v = flat(v, &e.buf, n)
		open = e.apply(v, flags, open, decisive, n, k == len(e.args)-1)
	}
	e.open = open[:0]
	return &e.out, nil
}

// apply folds one argument in and returns the rows that are still open.
func (e *boolEval) apply(v *vector.Vector, flags []uint8, open vector.Sel, decisive uint8, n int, last bool) vector.Sel {
	in := vector.Of[uint8](v)
	step := 1
	if v.Form == vector.Const {
		step = 0
	}
	k := 0
	for _, row := range open {
		i := int(row)
		if v.Valid != nil && v.IsNull(i) {
			e.out.SetNull(i, n)
			open[k] = row
			k++
			continue
		}
		if in[i*step] == decisive {
			flags[i] = decisive
			if e.out.Valid != nil {
				e.out.Valid.Set(i)
			}
			continue
		}
		open[k] = row
		k++
	}
	return open[:k]
}

type notEval struct {
	arg Evaluator
	buf vector.Vector
	out vector.Vector
}

func (c *compiler) compileNot(e *Not) (Evaluator, error) {
	arg, err := c.compile(e.Arg)
	return &notEval{arg: arg}, err
}

func (e *notEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	v, err := e.arg.Eval(b, sel)
	if err != nil {
		return nil, err
	}
	if v.Form == vector.Const {
		if v.IsNull(0) {
			return v, nil
		}
		e.out.SetConst(vector.BoolDatum(vector.Of[uint8](v)[0] == 0))
		return &e.out, nil
	}
	v = flat(v, &e.buf, b.N)
	e.out.Reset(vector.Bool, b.N)
	setValid(&e.out, b.N, v)
	in, out := vector.Of[uint8](v)[:b.N], vector.Of[uint8](&e.out)[:b.N]
	for i, x := range in {
		out[i] = (x & 1) ^ 1
	}
	return &e.out, nil
}

type isNullEval struct {
	arg     Evaluator
	negated bool
	out     vector.Vector
}

func (e *isNullEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	v, err := e.arg.Eval(b, sel)
	if err != nil {
		return nil, err
	}
	if v.Form == vector.Const || v.Valid == nil {
		e.out.SetConst(vector.BoolDatum(v.IsNull(0) != e.negated))
		return &e.out, nil
	}
	e.out.Reset(vector.Bool, b.N)
	out := vector.Of[uint8](&e.out)[:b.N]
	flip := uint64(1)
	if e.negated {
		flip = 0
	}
	for i := range out {
		out[i] = uint8(v.Valid[i>>6]>>(uint(i)&63)&1 ^ flip)
	}
	return &e.out, nil
}

// distinctEval is IS [NOT] DISTINCT FROM.
type distinctEval struct {
	equal   Evaluator // left = right
	left    Evaluator
	right   Evaluator
	negated bool
	buf     vector.Vector
	out     vector.Vector
}

func (c *compiler) compileDistinct(e *IsDistinct) (Evaluator, error) {
	call, err := ResolveBinary("=", e.Left, e.Right, -1)
	if err != nil {
		return nil, err
	}
	parts, err := c.compileList([]Expr{call, e.Left, e.Right})
	if err != nil {
		return nil, err
	}
	return &distinctEval{equal: parts[0], left: parts[1], right: parts[2], negated: e.Negated}, nil
}

func (e *distinctEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	l, err := e.left.Eval(b, sel)
	if err != nil {
		return nil, err
	}
	n := b.N
	e.out.Reset(vector.Bool, n)
	out := vector.Of[uint8](&e.out)[:n]
	// The null flags first: equality may use the same evaluators again.
	const leftNull, rightNull = 1, 2
	mark(out, l, leftNull, true)
	r, err := e.right.Eval(b, sel)
	if err != nil {
		return nil, err
	}
	mark(out, r, rightNull, false)
	eq, err := e.equal.Eval(b, sel)
	if err != nil {
		return nil, err
	}
	eq = flat(eq, &e.buf, n)
	flags, step := vector.Of[uint8](eq), 1
	if eq.Form == vector.Const {
		step = 0
	}
	for i, nulls := range out {
		same := nulls == leftNull|rightNull
		if nulls == 0 {
			same = flags[i*step] == 1
		}
		out[i] = 0
		if same == e.negated {
			out[i] = 1
		}
	}
	return &e.out, nil
}

// mark sets or adds a bit where v is NULL.
func mark(out []uint8, v *vector.Vector, bit uint8, reset bool) {
	if reset {
		clear(out)
	}
	if v.Valid == nil {
		return
	}
	for i := range out {
		if v.IsNull(i) {
			out[i] |= bit
		}
	}
}

// inEval is IN over a list: true if equal to some item, else NULL if any comparison was NULL.
func (c *compiler) compileIn(e *InList) (Evaluator, error) {
	if set, looked := newSet(e); set != nil {
		arg, err := c.compile(looked)
		if err != nil {
			return nil, err
		}
		return &inSetEval{arg: arg, set: set, negated: e.Negated}, nil
	}
	or := &BoolOp{Or: true}
	for _, item := range e.List {
		eq, err := ResolveBinary("=", e.Arg, item, -1)
		if err != nil {
			return nil, err
		}
		or.Args = append(or.Args, eq)
	}
	var test Expr = or
	if len(or.Args) == 1 {
		test = or.Args[0]
	}
	if e.Negated {
		test = &Not{Arg: test}
	}
	return c.compile(test)
}

type inSetEval struct {
	arg     Evaluator
	set     *valueSet
	negated bool
	buf     vector.Vector
	out     vector.Vector
}

func (e *inSetEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	v, err := e.arg.Eval(b, sel)
	if err != nil {
		return nil, err
	}
	if v.Form == vector.Const {
		if v.IsNull(0) {
			return setNull(&e.out, vector.Bool), nil
		}
		hit := e.set.contains(v, 0)
		if !hit && e.set.hasNull {
			return setNull(&e.out, vector.Bool), nil
		}
		e.out.SetConst(vector.BoolDatum(hit != e.negated))
		return &e.out, nil
	}
	n := b.N
	v = flat(v, &e.buf, n)
	e.out.Reset(vector.Bool, n)
	setValid(&e.out, n, v)
	out := vector.Of[uint8](&e.out)[:n]
	hit, miss := uint8(1), uint8(0)
	if e.negated {
		hit, miss = 0, 1
	}
	for k := range count(n, sel) {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		if v.Valid != nil && !v.Valid.Get(i) {
			continue
		}
		if e.set.contains(v, i) {
			out[i] = hit
		} else {
			out[i] = miss
			if e.set.hasNull {
				e.out.SetNull(i, n)
			}
		}
	}
	return &e.out, nil
}
