package imcv

import (
	"math"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// Pruner skips row groups whose zones show that no row can pass a filter.
type Pruner struct{ tests []zoneTest }

// zoneTest is a comparison of a column with a value.
type zoneTest struct {
	col    catalog.ColumnID
	op     string
	values []vector.Datum // one, or the list of an IN
}

// NewPruner takes what zones can decide from a filter's conjuncts: comparisons of a column with
// values known now. column maps a column of the expressions to the table's. Parameters have the
// values of the run; the pruner must not outlive it.
func NewPruner(filter []expr.Expr, column func(expr.ColID) (catalog.ColumnID, bool), env *expr.Env) *Pruner {
	p := &Pruner{}
	for _, cond := range filter {
		switch e := cond.(type) {
		case *expr.Call:
			if len(e.Args) == 2 && e.Fn.Operator {
				p.comparison(e.Fn.Name, e.Args[0], e.Args[1], column, env)
			}
		case *expr.InList:
			if !e.Negated {
				p.inList(e, column, env)
			}
		}
	}
	return p
}

var mirrored = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

func (p *Pruner) comparison(op string, left, right expr.Expr, column func(expr.ColID) (catalog.ColumnID, bool), env *expr.Env) {
	if _, ok := mirrored[op]; !ok {
		return
	}
	if _, ok := left.(*expr.Col); !ok {
		left, right, op = right, left, mirrored[op]
	}
	c, ok := left.(*expr.Col)
	if !ok || !comparable(c.Typ) {
		return
	}
	value, ok := known(right, c.Typ, env)
	id, covered := column(c.ID)
	if ok && covered {
		p.tests = append(p.tests, zoneTest{id, op, []vector.Datum{value}})
	}
}

func (p *Pruner) inList(e *expr.InList, column func(expr.ColID) (catalog.ColumnID, bool), env *expr.Env) {
	c, ok := e.Arg.(*expr.Col)
	if !ok || !comparable(c.Typ) {
		return
	}
	id, covered := column(c.ID)
	t := zoneTest{col: id, op: "in"}
	for _, item := range e.List {
		value, ok := known(item, c.Typ, env)
		if !ok {
			return
		}
		t.values = append(t.values, value)
	}
	if covered {
		p.tests = append(p.tests, t)
	}
}

// comparable reports whether values of a type compare by their representation. char(n) does not:
// trailing blanks do not count there.
func comparable(t catalog.Type) bool {
	return t.ID != catalog.Char && (t.ID != catalog.Numeric || t.Kind() != vector.Bytes) && t.ID != catalog.Interval
}

// known returns the value of a constant or parameter in the representation of type t. It fails for
// values of another representation: a numeric with more digits after the point, for instance.
func known(e expr.Expr, t catalog.Type, env *expr.Env) (vector.Datum, bool) {
	var d vector.Datum
	switch e := e.(type) {
	case *expr.Const:
		d = e.Value
	case *expr.Param:
		var err error
		if d, err = env.Param(e.Index); err != nil {
			return d, false // the filter reports it, if a row gets there
		}
	default:
		return d, false
	}
	from := e.Type()
	if from.Kind() != t.Kind() || from.ID == catalog.Numeric && t.ID != catalog.Numeric {
		return d, false
	}
	if from.Scale == t.Scale || d.Null {
		return d, true
	}
	if t.Kind() != vector.I64 {
		return d, false
	}
	for scale := from.Scale; scale < t.Scale; scale++ {
		if d.I > math.MaxInt64/10 || d.I < math.MinInt64/10 {
			return d, false
		}
		d.I *= 10
	}
	return d, from.Scale < t.Scale
}

// Skip reports whether no trusted row of the group can pass the filter.
func (p *Pruner) Skip(r *GroupReader) bool {
	for i := range p.tests {
		t := &p.tests[i]
		if u := r.group.units[t.col]; u != nil && t.excludes(u.zone) {
			return true
		}
	}
	return false
}

// excludes reports whether no value within the zone satisfies the test.
func (t *zoneTest) excludes(z Zone) bool {
	if z.Nulls == z.Rows {
		return true // NULL passes no comparison
	}
	if z.Min.Null {
		return false // bounds unknown
	}
	for _, value := range t.values {
		if value.Null {
			continue
		}
		below := compare(value, z.Min) < 0 // value < min
		above := compare(value, z.Max) > 0 // value > max
		possible := false
		switch t.op {
		case "=", "in":
			possible = !below && !above
		case "<":
			possible = compare(value, z.Min) > 0
		case "<=":
			possible = !below
		case ">":
			possible = compare(value, z.Max) < 0
		case ">=":
			possible = !above
		}
		if possible {
			return false
		}
	}
	return true
}

func compare(a, b vector.Datum) int {
	return vector.CompareRows(vector.ConstOf(a), 0, vector.ConstOf(b), 0)
}
