package expr

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

var compareOps = map[string]vector.CmpOp{
	"=": vector.Eq, "<>": vector.Ne, "<": vector.Lt, "<=": vector.Le, ">": vector.Gt, ">=": vector.Ge,
}

var swappedOps = map[string]string{"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// SwappedOperator returns the comparison that holds for exchanged sides, "" for an operator that is none.
func SwappedOperator(name string) string { return swappedOps[name] }

var negatedOps = map[string]string{
	"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
	"~~": "!~~", "!~~": "~~", "~~*": "!~~*", "!~~*": "~~*", "~": "!~", "!~": "~", "~*": "!~*", "!~*": "~*",
}

// comparisonOperators are =, <>, <, <=, > and >= on every type, and between types that have a
// common one.
func comparisonOperators() []*Function {
	var list []*Function
	add := func(l, r, via string) {
		for _, name := range []string{"=", "<>", "<", "<=", ">", ">="} {
			f := op(name, l+" "+r, "bool", buildCompare)
			if via != "" {
				f.via = typeWords[via]
			}
			list = append(list, f)
		}
	}
	for _, t := range []string{"bool", "int2", "int4", "int8", "float4", "float8", "numeric", "text", "bpchar", "name",
		"bytea", "date", "timestamp", "timestamptz", "interval", "oid"} {
		add(t, t, "")
	}
	mixed := func(via string, types ...string) {
		for _, t := range types {
			add(t, via, via)
			add(via, t, via)
		}
	}
	mixed("int4", "int2")
	mixed("int8", "int2", "int4")
	mixed("float8", "float4")
	mixed("timestamp", "date")
	mixed("timestamptz", "date", "timestamp")
	mixed("text", "name")
	return list
}

// operands evaluates the two sides of a comparison to vectors that the kernels compare.
type operands struct {
	left, right  Evaluator
	lt, rt       catalog.Type
	lbuf, rbuf   vector.Vector
	ltrim, rtrim vector.Vector // char(n) without padding; numerics brought to one scale
	lnum, rnum   numbers
}

// eval returns flat or constant vectors of one kind. exact false means numerics in byte form (or
// mixed forms) that only numericAt can compare.
func (o *operands) eval(b *vector.Batch, sel vector.Sel) (l, r *vector.Vector, exact bool, err error) {
	if o.lt.ID == catalog.Numeric {
		return o.evalNumeric(b, sel)
	}
	if l, err = o.left.Eval(b, sel); err != nil {
		return
	}
	if r, err = o.right.Eval(b, sel); err != nil {
		return
	}
	l, r = flat(l, &o.lbuf, b.N), flat(r, &o.rbuf, b.N)
	if o.lt.ID == catalog.Char {
		l, r = trimmed(l, &o.ltrim, b.N, sel), trimmed(r, &o.rtrim, b.N, sel)
	}
	return l, r, true, nil
}

// trimmed returns char(n) values without their padding.
func trimmed(v, buf *vector.Vector, n int, sel vector.Sel) *vector.Vector {
	if v.IsNull(0) && v.Form == vector.Const {
		return v
	}
	if v.Form == vector.Const {
		b := v.BytesAt(0)
		if len(b) == 0 || b[len(b)-1] != ' ' {
			return v
		}
		buf.Reset(vector.Bytes, 1)
		buf.AppendBytes(trimBlankBytes(b))
		buf.Form = vector.Const
		return buf
	}
	buf.Reset(vector.Bytes, n)
	if sel == nil {
		for i := range n {
			buf.AppendBytes(trimBlankBytes(v.BytesAt(i)))
		}
	} else {
		for _, i := range sel {
			buf.CloseTo(int(i))
			buf.AppendBytes(trimBlankBytes(v.BytesAt(int(i))))
		}
		buf.CloseTo(n)
	}
	buf.Valid = v.Valid
	return buf
}

type compareEval struct {
	op    vector.CmpOp
	sides operands
	out   vector.Vector
}

func buildCompare(c *compiler, call *Call) (Evaluator, error) {
	call = SimplifyComparison(call).(*Call)
	sides, err := c.operands(call)
	return &compareEval{op: compareOps[call.Fn.Name], sides: sides}, err
}

// operands compiles the sides of a comparison, simplified by the caller.
func (c *compiler) operands(call *Call) (operands, error) {
	l, r := widened(call.Args[0]), widened(call.Args[1])
	args, err := c.compileList([]Expr{l, r})
	if err != nil {
		return operands{}, err
	}
	return operands{left: args[0], right: args[1], lt: l.Type(), rt: r.Type()}, nil
}

// widened looks through implicit casts between numerics that change no value.
func widened(e Expr) Expr {
	for {
		c, ok := e.(*Cast)
		if !ok || c.Typ != (catalog.Type{ID: catalog.Numeric}) || c.Arg.Type().ID != catalog.Numeric {
			return e
		}
		e = c.Arg
	}
}

func (e *compareEval) Eval(b *vector.Batch, sel vector.Sel) (*vector.Vector, error) {
	l, r, exact, err := e.sides.eval(b, sel)
	if err != nil {
		return nil, err
	}
	n := b.N
	allConst := l.Form == vector.Const && r.Form == vector.Const
	if allConst {
		n, sel = 1, nil
	}
	e.out.Reset(vector.Bool, n)
	if !setValid(&e.out, n, l, r) {
		return setNull(&e.out, vector.Bool), nil
	}
	out := vector.Of[uint8](&e.out)
	switch {
	case !exact:
		e.decimals(out, l, r, n, sel)
	case allConst:
		out[0] = 0
		if e.op.Holds(vector.CompareRows(l, 0, r, 0)) {
			out[0] = 1
		}
	default:
		vector.CompareFlags(e.op, out, l, r, n, sel)
	}
	if allConst {
		e.out.Form = vector.Const
	}
	return &e.out, nil
}

func (e *compareEval) decimals(out []uint8, l, r *vector.Vector, n int, sel vector.Sel) {
	for k := range count(n, sel) {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		out[i] = 0
		if !l.IsNull(i) && !r.IsNull(i) && e.op.Holds(compareNumericRows(&e.sides, i)) {
			out[i] = 1
		}
	}
}

func compareNumericRows(o *operands, i int) int { return o.lnum.at(i).Cmp(o.rnum.at(i)) }

// CompareValues returns a comparison of two non-NULL values of a type in SQL order, for vectors of
// any form: as vector.CompareRows, but knowing char(n) and numerics in byte form.
func CompareValues(t catalog.Type) func(a *vector.Vector, i int, b *vector.Vector, j int) int {
	switch {
	case t.ID == catalog.Char:
		return func(a *vector.Vector, i int, b *vector.Vector, j int) int {
			return compareBytes(trimBlankBytes(a.BytesAt(i)), trimBlankBytes(b.BytesAt(j)))
		}
	case t.ID == catalog.Numeric && t.Kind() == vector.Bytes:
		return func(a *vector.Vector, i int, b *vector.Vector, j int) int {
			return numericAt(t, a, i).Cmp(numericAt(t, b, j))
		}
	}
	return vector.CompareRows
}
