package prune

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// constraint is what conditions say together of one key: which values a row for which all of them are
// true may have. Values have the key's type.
type constraint struct {
	never  bool // none
	null   bool // only NULL
	value  bool // no NULL
	listed bool // only those in list
	list   []vector.Datum
	low    *limit
	high   *limit
	not    []vector.Datum // none of these
	// distinct are those of not for which NULL is in order.
	distinct []vector.Datum
	// waits tells that an execution will know more of the key, fixed that this will be a list of values.
	waits, fixed bool
}

// limit is an end of the values of a key.
type limit struct {
	value vector.Datum
	open  bool
}

// values is a key's type with what it takes to compare its values.
type values struct {
	typ     catalog.Type
	compare func(a *vector.Vector, i int, b *vector.Vector, j int) int
}

func (t *values) cmp(a, b vector.Datum) int {
	return t.compare(oneValue(t.typ, a), 0, oneValue(t.typ, b), 0)
}

// oneValue is a vector of one row.
func oneValue(t catalog.Type, d vector.Datum) *vector.Vector {
	v := vector.New(t.Kind(), 1)
	vector.AppendDatum(v, d)
	return v
}

// restrict narrows the constraint by one more condition: key op value.
func (c *constraint) restrict(t *values, op string, value vector.Datum) {
	c.value = true
	switch op {
	case "=":
		c.narrow(t, []vector.Datum{value})
	case "<>":
		c.not = append(c.not, value)
	case "<", "<=":
		l := &limit{value, op == "<"}
		if c.high == nil || tighter(t.cmp(l.value, c.high.value), l, c.high) {
			c.high = l
		}
	case ">", ">=":
		l := &limit{value, op == ">"}
		if c.low == nil || tighter(-t.cmp(l.value, c.low.value), l, c.low) {
			c.low = l
		}
	}
}

// tighter reports whether an end a leaves less than b; order is negative where a's value does.
func tighter(order int, a, b *limit) bool { return order < 0 || order == 0 && a.open && !b.open }

// narrow leaves only those values that are in list too.
func (c *constraint) narrow(t *values, list []vector.Datum) {
	if !c.listed {
		c.listed, c.list = true, slices.Clone(list)
		return
	}
	c.list = slices.DeleteFunc(c.list, func(d vector.Datum) bool {
		return !slices.ContainsFunc(list, func(o vector.Datum) bool { return t.cmp(d, o) == 0 })
	})
}

// settle draws the conclusions.
func (c *constraint) settle(t *values) {
	if c.null && c.value {
		c.never = true
	}
	if !c.listed {
		return
	}
	c.list = slices.DeleteFunc(c.list, func(d vector.Datum) bool {
		switch {
		case c.null:
			return true
		case c.low != nil && !inside(t.cmp(d, c.low.value), c.low):
			return true
		case c.high != nil && !inside(-t.cmp(d, c.high.value), c.high):
			return true
		}
		excluded := func(o vector.Datum) bool { return t.cmp(d, o) == 0 }
		return slices.ContainsFunc(c.not, excluded) || slices.ContainsFunc(c.distinct, excluded)
	})
	c.never = c.never || len(c.list) == 0
}

// inside reports whether a value that compares so with an end is on the side that is left.
func inside(order int, l *limit) bool { return order > 0 || order == 0 && !l.open }

// Knowledge tells the values of expressions without columns.
type Knowledge struct {
	// Env has the parameters and the session; nil while planning: only what is the same in every
	// execution is known then.
	Env *expr.Env
	// Waiting is set where an execution will know more.
	Waiting bool
}

// value returns the value of an expression, if it is known, or tells that an execution will know it.
func (k *Knowledge) value(e expr.Expr) (d vector.Datum, known, later bool) {
	if c, ok := e.(*expr.Const); ok {
		return c.Value, true, false
	}
	volatility := expr.VolatilityOf(e)
	if volatility == expr.Volatile {
		return d, false, false
	}
	if k.Env == nil && (volatility != expr.Immutable || expr.HasParam(e)) {
		return d, false, true
	}
	d, err := expr.EvalConst(e, k.Env)
	return d, err == nil, false // the row that needs the value fails
}

// value returns the value that a key is compared with, if it is known. fixes tells that it is one of those
// that the key has to be equal to.
func (r *reader) value(at int, e expr.Expr, fixes bool) (vector.Datum, bool) {
	d, known, later := r.known.value(e)
	c := &r.out[at]
	c.waits, c.fixed = c.waits || later, c.fixed || later && fixes
	return d, known
}

// hasColumn reports whether an expression reads a row.
func hasColumn(e expr.Expr) bool { return len(expr.Columns(e)) > 0 }

// reader takes conditions as statements about keys.
type reader struct {
	known *Knowledge
	keys  []expr.Expr // over the columns of the scan; nil = it lacks one
	types []values
	out   []constraint
	never bool // some condition is never true
}

// keyOf finds the key that an expression is, itself or converted to a type that keeps its order.
func (r *reader) keyOf(e expr.Expr) int {
	for i, k := range r.keys {
		if k != nil && expr.Equal(k, e) {
			return i
		}
	}
	if c, ok := e.(*expr.Cast); ok && keepsOrder(c.Arg.Type(), c.Typ) {
		return r.keyOf(c.Arg)
	}
	return -1
}

// keepsOrder reports whether a conversion keeps different values different and in their order.
func keepsOrder(from, to catalog.Type) bool {
	switch from.ID {
	case catalog.Int2:
		return to.ID == catalog.Int4 || to.ID == catalog.Int8 || to.ID == catalog.Float8 || to == to.Base() && to.ID == catalog.Numeric
	case catalog.Int4:
		return to.ID == catalog.Int8 || to.ID == catalog.Float8 || to == to.Base() && to.ID == catalog.Numeric
	case catalog.Int8:
		return to == to.Base() && to.ID == catalog.Numeric
	case catalog.Float4:
		return to.ID == catalog.Float8
	case catalog.Numeric:
		return to == to.Base() && to.ID == catalog.Numeric
	case catalog.Date:
		return to == to.Base() && to.ID == catalog.Timestamp
	case catalog.Varchar, catalog.Name:
		return to == to.Base() && (to.ID == catalog.Text || to.ID == catalog.Varchar)
	case catalog.Text:
		return to == to.Base() && to.ID == catalog.Varchar
	}
	return false
}

// condition narrows the constraints of keys by a condition that is known to be true.
func (r *reader) condition(e expr.Expr) {
	switch e := e.(type) {
	case *expr.Const:
		r.never = r.never || e.Value.Null || e.Value.I == 0
		return
	case *expr.Call:
		if e.Fn.Operator && len(e.Args) == 2 {
			r.comparison(e.Fn.Name, e.Args[0], e.Args[1])
			return
		}
	case *expr.InList:
		r.list(e)
		return
	case *expr.IsNull:
		if at := r.keyOf(e.Arg); at >= 0 {
			r.out[at].null = r.out[at].null || !e.Negated
			r.out[at].value = r.out[at].value || e.Negated
		}
		return
	case *expr.IsDistinct:
		r.distinct(e)
		return
	case *expr.Not:
		r.truth(e.Arg, false)
		return
	}
	r.truth(e, true)
}

// truth reads a key of type boolean that stands alone.
func (r *reader) truth(e expr.Expr, is bool) {
	if at := r.keyOf(e); at >= 0 && r.types[at].typ.ID == catalog.Bool {
		r.out[at].restrict(&r.types[at], "=", vector.BoolDatum(is))
	}
}

func (r *reader) comparison(op string, left, right expr.Expr) {
	if expr.SwappedOperator(op) == "" {
		return
	}
	if hasColumn(right) {
		left, right, op = right, left, expr.SwappedOperator(op)
	}
	if hasColumn(right) {
		return
	}
	at := r.keyOf(left)
	if at < 0 {
		return
	}
	r.out[at].value = true
	d, ok := r.value(at, right, op == "=")
	if !ok {
		return
	}
	if d.Null {
		r.out[at].never = true
		return
	}
	r.compared(at, op, d, right.Type())
}

// compared reads key op value, where the value has another type perhaps.
func (r *reader) compared(at int, op string, d vector.Datum, typ catalog.Type) {
	t, c := &r.types[at], &r.out[at]
	near, order, ok := convert(d, typ, t.typ)
	if !ok {
		return
	}
	switch {
	case order == 0:
		c.restrict(t, op, near)
	case op == "=":
		c.never = true
	case op == "<>":
	case order == beyond || order == -beyond:
		if t.typ.IsInteger() && (op == "<" || op == "<=") == (order < 0) {
			c.never = true // every value is greater, or smaller; others have infinities
		}
	case op == "<" || op == "<=":
		c.restrict(t, pick(order < 0, "<=", "<"), near)
	default:
		c.restrict(t, pick(order < 0, ">", ">="), near)
	}
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// beyond is the order of what is greater, or with a minus smaller, than all values of a type.
const beyond = 2

// convert returns the value of type to that is nearest to a value of type from, and how the two
// compare: negative where the former is smaller. ±beyond is a value outside of the type, greater
// (positive) or smaller than all of its own. It is not ok where types do not compare so.
func convert(d vector.Datum, from, to catalog.Type) (near vector.Datum, order int, ok bool) {
	if from.ID == to.ID && from.Kind() == to.Kind() && from.Scale == to.Scale || isText(from) && isText(to) {
		d.Kind = to.Kind()
		return d, 0, true
	}
	if !comparable(from, to) {
		return d, 0, false
	}
	k := &expr.Const{Value: d, Typ: from}
	down, err := expr.EvalConst(&expr.Cast{Arg: k, Typ: to}, nil)
	if err != nil {
		return d, outside(k), from.IsNumber() && outside(k) != 0
	}
	common := from
	switch {
	case from.ID == catalog.Numeric || to.ID == catalog.Numeric:
		common = catalog.Type{ID: catalog.Numeric}
	case keepsOrder(from, to):
		common = to
	}
	a, err := expr.EvalConst(&expr.Cast{Arg: &expr.Const{Value: down, Typ: to}, Typ: common}, nil)
	if err != nil {
		return d, 0, false
	}
	b, err := expr.EvalConst(&expr.Cast{Arg: k, Typ: common}, nil)
	if err != nil {
		return d, 0, false
	}
	t := values{common, expr.CompareValues(common)}
	return down, max(-1, min(1, t.cmp(a, b))), true
}

// isText reports whether values are strings that compare byte by byte.
func isText(t catalog.Type) bool { return t.IsString() && t.ID != catalog.Char }

// comparable reports whether one of two types has all values of the other.
func comparable(a, b catalog.Type) bool {
	exact := func(t catalog.Type) bool { return t.IsInteger() || t.ID == catalog.Numeric }
	return keepsOrder(a, b.Base()) || keepsOrder(b, a.Base()) || exact(a) && exact(b)
}

// outside tells on which side a number is that is out of a type's range.
func outside(k *expr.Const) int {
	f, err := expr.EvalConst(&expr.Cast{Arg: k, Typ: catalog.Type{ID: catalog.Float8}}, nil)
	switch {
	case err != nil || f.F != f.F:
		return 0
	case f.F < 0:
		return -beyond
	}
	return beyond
}

// list reads IN and NOT IN.
func (r *reader) list(e *expr.InList) {
	at := r.keyOf(e.Arg)
	if at < 0 {
		return
	}
	t, c := &r.types[at], &r.out[at]
	c.value = true
	var list []vector.Datum
	for _, item := range e.List {
		if hasColumn(item) {
			return
		}
		d, ok := r.value(at, item, !e.Negated)
		switch {
		case !ok && e.Negated:
			continue
		case !ok:
			return
		case d.Null && e.Negated:
			c.never = true
			return
		case d.Null:
			continue
		}
		near, order, ok := convert(d, item.Type(), t.typ)
		switch {
		case !ok && !e.Negated:
			return
		case ok && order == 0:
			list = append(list, near)
		}
	}
	if e.Negated {
		c.not = append(c.not, list...)
		return
	}
	c.narrow(t, list)
}

// distinct reads IS [NOT] DISTINCT FROM, of which IS TRUE and the like are made.
func (r *reader) distinct(e *expr.IsDistinct) {
	left, right := e.Left, e.Right
	if hasColumn(right) {
		left, right = right, left
	}
	at := r.keyOf(left)
	if at < 0 || hasColumn(right) {
		return
	}
	d, ok := r.value(at, right, e.Negated)
	if !ok {
		return
	}
	t, c := &r.types[at], &r.out[at]
	if d.Null {
		c.null, c.value = c.null || e.Negated, c.value || !e.Negated
		return
	}
	near, order, ok := convert(d, right.Type(), t.typ)
	switch {
	case !ok:
	case e.Negated && order == 0:
		c.narrow(t, []vector.Datum{near})
		c.value = true
	case e.Negated:
		c.never = true
	case order == 0:
		c.distinct = append(c.distinct, near)
	}
}
