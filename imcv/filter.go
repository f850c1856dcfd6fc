package imcv

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// UnitFilter is the part of a scan's filter that column units answer: from their bounds and Bloom
// filters whether to look at a row group at all, then from codes, without decoding, which rows pass.
// It belongs to one scan of one goroutine; parameters have the values of the run.
//
// Bind decides anew for each row group which conjuncts its encodings can answer; the others are left
// to compiled expressions. Conjuncts answered here cannot raise errors.
type UnitFilter struct {
	conjuncts []conjunct
	always    uint64 // conjuncts that no unit can answer
	bound     []boundTest
	none      bool // no trusted row of the bound group passes
	lent      []lentKeys
	boundKeys []boundKeys
}

// conjunct is one condition of a filter.
type conjunct struct {
	col    catalog.ColumnID // 0 = not of one covered column
	test   *zoneTest        // nil = no comparison with known values
	match  *likeTest        // nil = no LIKE that symbols can answer
	null   nullTest
	values *valueFilter // decides on single values; nil = none
}

// place returns where a group reader has the conjunct's column, −1 if it is of none.
func (c *conjunct) place(r *GroupReader) int {
	if c.col == 0 {
		return -1
	}
	return r.index(c.col)
}

type nullTest uint8

const (
	noNullTest nullTest = iota
	isNull
	isNotNull
)

// maxConjuncts is how many conjuncts a filter tells apart.
const maxConjuncts = 64

// NewUnitFilter takes a filter's conjuncts. column maps a column of the expressions to the table's, and
// reports whether units hold it.
func NewUnitFilter(filter []expr.Expr, column func(expr.ColID) (catalog.ColumnID, bool), env *expr.Env) *UnitFilter {
	f := &UnitFilter{}
	for i, cond := range filter {
		if i >= maxConjuncts {
			break
		}
		c := conjunct{}
		switch e := cond.(type) {
		case *expr.Call:
			if len(e.Args) == 2 && e.Fn.Operator {
				c.comparison(e.Fn.Name, e.Args[0], e.Args[1], column, env)
				c.like(e, column, env)
			}
		case *expr.InList:
			if !e.Negated {
				c.inList(e, column, env)
			}
		case *expr.IsNull:
			c.isNull(e, column)
		}
		if c.null == noNullTest {
			c.values = newValueFilter(cond, column, env)
			if c.values != nil {
				c.col = c.values.col
			}
		}
		if c.col == 0 {
			f.always |= 1 << i
		}
		f.conjuncts = append(f.conjuncts, c)
	}
	return f
}

func (c *conjunct) isNull(e *expr.IsNull, column func(expr.ColID) (catalog.ColumnID, bool)) {
	col, ok := e.Arg.(*expr.Col)
	if !ok {
		return
	}
	if id, covered := column(col.ID); covered {
		c.col, c.null = id, isNull
		if e.Negated {
			c.null = isNotNull
		}
	}
}

// Skip reports whether no trusted row of the group can pass, by what is known of units without their
// values.
func (f *UnitFilter) Skip(r *GroupReader) bool {
	for i := range f.conjuncts {
		c := &f.conjuncts[i]
		at := c.place(r)
		if at < 0 {
			continue
		}
		switch z := &r.columns[at].zone; {
		case c.null == isNull && z.Nulls == 0, c.null == isNotNull && z.Nulls == z.Rows:
			return true
		case c.test != nil && (c.test.excludes(*z) || !c.test.mayHold(r.columns[at].bloom)):
			return true
		}
	}
	return false
}

// Bind prepares the filter for the units of a loaded group. It returns the conjuncts, as bits, that are
// left to expressions.
func (f *UnitFilter) Bind(r *GroupReader) (rest uint64) {
	f.bound, f.none, rest = f.bound[:0], false, f.always
	for i := range f.conjuncts {
		c := &f.conjuncts[i]
		at := c.place(r)
		if at < 0 {
			rest |= 1 << i
			continue
		}
		b, ok := c.bind(r.units[at])
		switch {
		case !ok:
			rest |= 1 << i
		case b.outcome == noRows:
			f.none = true
		case b.outcome != allRows:
			f.bound = append(f.bound, b)
		}
	}
	f.bindKeys(r)
	return rest
}

// Rest returns the conjuncts of filter, the one f was made from, that bits stand for, with those beyond
// what f tells apart.
func Rest(filter []expr.Expr, bits uint64) []expr.Expr {
	var out []expr.Expr
	for i, e := range filter {
		if i >= maxConjuncts || bits>>i&1 != 0 {
			out = append(out, e)
		}
	}
	return out
}

// Select returns the trusted rows among positions from … from+n−1 that pass the bound conjuncts, relative
// to from: nil when all do, else out's memory.
func (f *UnitFilter) Select(r *GroupReader, from, n int, out vector.Sel) (sel vector.Sel, all bool) {
	if out == nil {
		out = vector.Sel{} // nil stands for all rows
	}
	if f.none {
		return out[:0], false
	}
	mask := r.trusted(from, n)
	for i := range f.bound {
		if empty(mask) {
			return out[:0], false
		}
		f.bound[i].narrow(mask, from, n, &r.scratch)
	}
	f.narrowByKeys(mask, from, n, &r.scratch)
	return selection(mask, n, out)
}

func empty(mask []uint64) bool {
	for _, w := range mask {
		if w != 0 {
			return false
		}
	}
	return true
}
