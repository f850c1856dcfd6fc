package expr

import (
	"bytes"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

var likeOps = map[string]bool{"~~": true, "!~~": true, "~~*": true, "!~~*": true}

func compareBytes(a, b []byte) int { return bytes.Compare(a, b) }

// filter compiles a condition. Negations are pushed down to the comparisons first, which is valid
// because only TRUE counts.
func (c *compiler) filter(e Expr) (Filter, error) {
	e = pushNot(e, false)
	if f, ok, err := c.dictFilter(e); ok || err != nil {
		return f, err
	}
	switch e := e.(type) {
	case *BoolOp:
		return c.boolFilter(e)
	case *IsNull:
		arg, err := c.compile(e.Arg)
		return &nullFilter{arg: arg, negated: e.Negated}, err
	case *Call:
		e = SimplifyComparison(e).(*Call)
		if op, ok := compareOps[e.Fn.Name]; ok && e.Fn.Operator && len(e.Args) == 2 {
			sides, err := c.operands(e)
			if sides.lt.ID == catalog.Char {
				return &charFilter{op: op, left: sides.left, right: sides.right}, err
			}
			return &compareFilter{op: op, sides: sides}, err
		}
		if likeOps[e.Fn.Name] && e.Fn.Operator {
			like, err := e.Fn.build(c, e)
			if err != nil {
				return nil, err
			}
			return &likeFilter{eval: like.(*likeEval)}, nil
		}
	case *InList:
		if set, looked := newSet(e); set != nil {
			arg, err := c.compile(looked)
			return &inFilter{arg: arg, set: set, negated: e.Negated}, err
		}
	}
	arg, err := c.compile(e)
	return &flagFilter{arg: arg}, err
}

// pushNot moves a negation into e.
func pushNot(e Expr, negate bool) Expr {
	switch e := e.(type) {
	case *Not:
		return pushNot(e.Arg, !negate)
	case *BoolOp:
		out := &BoolOp{Or: e.Or != negate}
		for _, a := range e.Args {
			out.Args = append(out.Args, pushNot(a, negate))
		}
		return out
	}
	if !negate {
		return e
	}
	switch e := e.(type) {
	case *IsNull:
		return &IsNull{Arg: e.Arg, Negated: !e.Negated}
	case *IsDistinct:
		return &IsDistinct{Left: e.Left, Right: e.Right, Negated: !e.Negated}
	case *InList:
		return &InList{Arg: e.Arg, List: e.List, Negated: !e.Negated}
	case *Call:
		if name, ok := negatedOps[e.Fn.Name]; ok && e.Fn.Operator && len(e.Args) == 2 {
			if f := exactMatch(registered.binary[name], e.Fn.Args); f != nil {
				return &Call{Fn: f, Args: e.Args, Typ: e.Typ, Pos: e.Pos}
			}
		}
	}
	return &Not{Arg: e}
}

// boolFilter compiles AND and OR.
func (c *compiler) boolFilter(e *BoolOp) (Filter, error) {
	var parts []Filter
	p := c.private()
	for i, a := range e.Args {
		from := p
		if i == 0 {
			from = c
		}
		f, err := from.filter(a)
		if err != nil {
			return nil, err
		}
		parts = append(parts, f)
	}
	if e.Or {
		return &orFilter{parts: parts}, nil
	}
	return &andFilter{parts: parts}, nil
}

// andFilter narrows the selection by one conjunct after the other.
type andFilter struct{ parts []Filter }

func (f *andFilter) Select(b *vector.Batch, in, out vector.Sel) (vector.Sel, error) {
	for _, part := range f.parts {
		var err error
		if out, err = part.Select(b, in, out); err != nil {
			return nil, err
		}
		if len(out) == 0 {
			return out, nil
		}
		in = out
	}
	return out, nil
}

// orFilter tries each alternative on the rows that none has accepted yet.
type orFilter struct {
	parts []Filter
	open  vector.Sel
	hit   vector.Sel
	marks []uint8
}

func (f *orFilter) Select(b *vector.Batch, in, out vector.Sel) (vector.Sel, error) {
	open := vector.SelectAll(b.N, in, f.open)
	f.open = open
	if cap(f.marks) < b.N {
		f.marks = make([]uint8, max(b.N, vector.BatchCap))
	}
	marks := f.marks[:b.N]
	clear(marks)
	for _, part := range f.parts {
		hit, err := part.Select(b, open, f.hit)
		if err != nil {
			return nil, err
		}
		f.hit = hit
		for _, i := range hit {
			marks[i] = 1
		}
		if open = subtract(open, hit); len(open) == 0 {
			break
		}
	}
	return vector.SelectTrue(marks, b.N, in, out), nil
}

// compareFilter keeps the rows where a comparison holds.
type compareFilter struct {
	op    vector.CmpOp
	sides operands
}

func (f *compareFilter) Select(b *vector.Batch, in, out vector.Sel) (vector.Sel, error) {
	l, r, exact, err := f.sides.eval(b, in)
	if err != nil {
		return nil, err
	}
	if exact {
		return vector.SelectCompare(f.op, l, r, b.N, in, out), nil
	}
	out = vector.SelectAll(b.N, in, out)
	k := 0
	for _, i := range out {
		if !l.IsNull(int(i)) && !r.IsNull(int(i)) && f.op.Holds(compareNumericRows(&f.sides, int(i))) {
			out[k] = i
			k++
		}
	}
	return out[:k], nil
}

type nullFilter struct {
	arg     Evaluator
	negated bool
}

func (f *nullFilter) Select(b *vector.Batch, in, out vector.Sel) (vector.Sel, error) {
	v, err := f.arg.Eval(b, in)
	if err != nil {
		return nil, err
	}
	if v.Form == vector.Const || v.Valid == nil {
		out = vector.SelectAll(b.N, in, out)
		if v.IsNull(0) == f.negated {
			out = out[:0]
		}
		return out, nil
	}
	if f.negated {
		return vector.SelectValid(v.Valid, b.N, in, out), nil
	}
	return vector.SelectNull(v.Valid, b.N, in, out), nil
}

// flagFilter keeps the rows where any boolean expression is true.
type flagFilter struct {
	arg Evaluator
	buf vector.Vector
}

func (f *flagFilter) Select(b *vector.Batch, in, out vector.Sel) (vector.Sel, error) {
	v, err := f.arg.Eval(b, in)
	if err != nil {
		return nil, err
	}
	if v.Form == vector.Const {
		out = vector.SelectAll(b.N, in, out)
		if v.IsNull(0) || vector.Of[uint8](v)[0] == 0 {
			out = out[:0]
		}
		return out, nil
	}
	v = flat(v, &f.buf, b.N)
	out = vector.SelectTrue(vector.Of[uint8](v), b.N, in, out)
	if v.Valid != nil {
		out = vector.SelectValid(v.Valid, b.N, out, out)
	}
	return out, nil
}

// inFilter keeps the rows whose value is in a set of constants.
type inFilter struct {
	arg     Evaluator
	set     *valueSet
	negated bool
	buf     vector.Vector
}

func (f *inFilter) Select(b *vector.Batch, in, out vector.Sel) (vector.Sel, error) {
	v, err := f.arg.Eval(b, in)
	if err != nil {
		return nil, err
	}
	v = flat(v, &f.buf, b.N)
	out = vector.SelectAll(b.N, in, out)
	if f.negated && f.set.hasNull {
		return out[:0], nil
	}
	k := 0
	for _, i := range out {
		row := int(i)
		if v.Form == vector.Const {
			row = 0
		}
		if !v.IsNull(row) && f.set.contains(v, row) != f.negated {
			out[k] = i
			k++
		}
	}
	return out[:k], nil
}
