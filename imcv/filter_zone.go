package imcv

import (
	"math"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// zoneTest is a comparison of a column with a value.
type zoneTest struct {
	op     string         // that of a comparison, in, or between
	values []vector.Datum // one, the list of an IN, or the bounds of between
	hashes []uint64       // of the values where equality is asked for
}

// comparison takes what is a comparison of a column with a value known now.
func (c *conjunct) comparison(op string, left, right expr.Expr, column func(expr.ColID) (catalog.ColumnID, bool), env *expr.Env) {
	if expr.SwappedOperator(op) == "" {
		return
	}
	if columnOf(left) == nil {
		left, right, op = right, left, expr.SwappedOperator(op)
	}
	col := columnOf(left)
	if col == nil || !comparable(col.Typ) {
		return
	}
	value, ok := known(right, col.Typ, env)
	id, covered := column(col.ID)
	if ok && covered {
		c.col, c.test = id, newZoneTest(op, value)
	}
}

func (c *conjunct) inList(e *expr.InList, column func(expr.ColID) (catalog.ColumnID, bool), env *expr.Env) {
	col := columnOf(e.Arg)
	if col == nil || !comparable(col.Typ) {
		return
	}
	id, covered := column(col.ID)
	if !covered {
		return
	}
	var list []vector.Datum
	for _, item := range e.List {
		value, ok := known(item, col.Typ, env)
		if !ok {
			return
		}
		list = append(list, value)
	}
	c.col, c.test = id, newZoneTest("in", list...)
}

// newZoneTest prepares the look-ups in Bloom filters with the test.
func newZoneTest(op string, list ...vector.Datum) *zoneTest {
	t := &zoneTest{op: op, values: list}
	if op == "=" || op == "in" {
		for _, d := range list {
			t.hashes = append(t.hashes, hashDatum(d))
		}
	}
	return t
}

// mayHold reports whether a unit with a Bloom filter may hold a value that passes.
func (t *zoneTest) mayHold(b bloom) bool {
	if b == nil || t.hashes == nil {
		return true
	}
	for _, h := range t.hashes {
		if b.mayHold(h) {
			return true
		}
	}
	return false
}

// columnOf returns the column that an expression is, maybe under the cast of varchar to text, which leaves
// values as they are; nil if it is none.
func columnOf(e expr.Expr) *expr.Col {
	if c, ok := e.(*expr.Cast); ok && c.Typ.ID == catalog.Text && c.Arg.Type().ID == catalog.Varchar {
		e = c.Arg
	}
	col, _ := e.(*expr.Col)
	return col
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
	if from.ID == catalog.Char {
		return d, false // blanks at its end may not count
	}
	if isWhole(from) && isWhole(t) && !d.Null {
		d.Kind = t.Kind()
		bits := 8 * t.Kind().Width()
		return d, d.I<<(64-bits)>>(64-bits) == d.I
	}
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

func isWhole(t catalog.Type) bool {
	return t.ID == catalog.Int2 || t.ID == catalog.Int4 || t.ID == catalog.Int8
}

// excludes reports whether no value within the zone satisfies the test.
func (t *zoneTest) excludes(z Zone) bool {
	if z.Nulls == z.Rows {
		return true // NULL passes no comparison
	}
	if z.Min.Null {
		return false // bounds unknown
	}
	if t.op == "between" {
		return compare(t.values[1], z.Min) < 0 || compare(t.values[0], z.Max) > 0
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
		case "<>":
			possible = compare(z.Min, z.Max) != 0 || below || above
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
