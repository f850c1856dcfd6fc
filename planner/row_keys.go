package planner

import (
	"maps"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
)

// rowKey is a set of columns whose values no two rows of a relation share, for certain: unlike keyFacts,
// which estimates rest on, it may decide how a plan is carried out. Without columns there is one row at most.
type rowKey struct {
	cols colSet
	// nulls tells that rows may share the values where one is NULL.
	nulls bool
	name  string // for EXPLAIN
}

// maxRowKeys bounds the keys that are followed of a relation.
const maxRowKeys = 16

// uniqueBy returns the key that makes sure that no two rows match equal values of some expressions; nil if
// there is none. safe tells of each whether NULL matches NULL.
func uniqueBy(keys []rowKey, exprs []expr.Expr, safe []bool) *rowKey {
	compared, withNulls := colSet{}, colSet{}
	for i, e := range exprs {
		if c := exactColumn(e); c != nil {
			if compared[c.ID] = true; safe[i] {
				withNulls[c.ID] = true
			}
		}
	}
	for i := range keys {
		k := &keys[i]
		if k.cols.within(compared) && !(k.nulls && k.cols.meets(withNulls)) {
			return k
		}
	}
	return nil
}

// scanKeys are the keys of what a scan reads.
func scanKeys(n *Scan) (keys []rowKey) {
	byID := map[catalog.ColumnID]*expr.Col{}
	for _, c := range n.Columns {
		byID[n.Table.Columns[c.Pos].ID] = c.Col
	}
	for i := range n.Table.Indexes {
		index := &n.Table.Indexes[i]
		k := rowKey{cols: colSet{}, name: index.Name}
		if index.Primary {
			k.name = "pk"
		}
		complete := index.Enforced()
		for _, id := range index.Columns {
			c := byID[id]
			if complete = complete && c != nil; complete {
				k.cols[c.ID] = true
				k.nulls = k.nulls || !c.NotNull && !index.NullsNotDistinct
			}
		}
		if complete && len(keys) < maxRowKeys {
			keys = append(keys, k)
		}
	}
	return pinned(keys, n.Filter)
}

// pinned leaves out of keys the columns that conditions give a single value.
func pinned(keys []rowKey, conds []expr.Expr) []rowKey {
	fixed := colSet{}
	for _, cond := range conds {
		call, ok := stripIsTrue(cond).(*expr.Call)
		if !ok || !isEquality(call) {
			continue
		}
		for i := range 2 {
			if c := exactColumn(call.Args[i]); c != nil && constant(call.Args[1-i]) {
				fixed[c.ID] = true
			}
		}
	}
	if len(fixed) == 0 {
		return keys
	}
	out := make([]rowKey, len(keys))
	for i, k := range keys {
		k.cols = maps.Clone(k.cols)
		maps.DeleteFunc(k.cols, func(id expr.ColID, _ bool) bool { return fixed[id] })
		k.nulls = k.nulls && len(k.cols) > 0
		out[i] = k
	}
	return out
}

// exactColumn returns the column that an expression is, perhaps as another type that tells all its values apart.
func exactColumn(e expr.Expr) *expr.Col {
	if cast, ok := e.(*expr.Cast); ok && cast.Arg.Type().IsInteger() && (cast.Typ.IsInteger() || cast.Typ.ID == catalog.Numeric) {
		e = cast.Arg
	}
	c, _ := e.(*expr.Col)
	return c
}

// constant reports whether an expression has one value in an execution.
func constant(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Const, *expr.Param:
		return true
	case *expr.Cast:
		return constant(e.Arg)
	}
	return false
}

// projected keeps the keys whose columns are there under other names.
func projected(keys []rowKey, with map[expr.ColID]expr.ColID) (out []rowKey) {
	for _, k := range keys {
		cols, complete := colSet{}, true
		for id := range k.cols {
			to, ok := with[id]
			complete = complete && ok
			cols[to] = true
		}
		if complete {
			k.cols = cols
			out = append(out, k)
		}
	}
	return out
}

func itemNames(items []Item) map[expr.ColID]expr.ColID {
	with := map[expr.ColID]expr.ColID{}
	for _, it := range items {
		if c, ok := it.Expr.(*expr.Col); ok {
			with[c.ID] = it.Col.ID
		}
	}
	return with
}

// joinSides tells what the keys of a join's inputs say about it: the key by which a row of the other side has
// one match at most, nil if it may have more.
type joinSides struct{ left, right *rowKey }

func sidesKeys(left, right []rowKey, keys []JoinKey) joinSides {
	l, r, safe := make([]expr.Expr, len(keys)), make([]expr.Expr, len(keys)), make([]bool, len(keys))
	for i, k := range keys {
		l[i], r[i], safe[i] = k.Left, k.Right, k.NullSafe
	}
	return joinSides{uniqueBy(left, l, safe), uniqueBy(right, r, safe)}
}

// joinKeys are the keys of a join's rows. Rows that have no match share the NULLs of the other side.
func joinKeys(kind JoinKind, left, right []rowKey, sides joinSides, keys []JoinKey) (out []rowKey) {
	switch kind {
	case SemiJoin, AntiJoin, NullAwareAntiJoin, MarkJoin, SingleJoin:
		return left
	case RightSemiJoin, RightAntiJoin:
		return right
	}
	leftNulls := kind == RightJoin || kind == FullJoin
	rightNulls := kind == LeftJoin || kind == FullJoin
	if sides.right != nil {
		out = append(out, extended(left, leftNulls)...)
	}
	if sides.left != nil {
		out = append(out, extended(right, rightNulls)...)
	}
	if len(out) == 0 && len(left) > 0 && len(right) > 0 {
		l, r := left[0], right[0]
		both := rowKey{cols: maps.Clone(l.cols), nulls: l.nulls || r.nulls || leftNulls || rightNulls, name: l.name + ", " + r.name}
		maps.Copy(both.cols, r.cols)
		out = append(out, both)
	}
	if kind == InnerJoin {
		out = equated(out, keys)
	}
	return out
}

// extended returns keys of rows of which some may come with NULLs in all columns: that there is one row at
// most holds no longer.
func extended(keys []rowKey, nulls bool) (out []rowKey) {
	for _, k := range keys {
		if nulls && len(k.cols) == 0 {
			continue
		}
		k.nulls = k.nulls || nulls
		out = append(out, k)
	}
	return out
}

// equated adds keys in which a column stands for one that a join makes equal to it.
func equated(keys []rowKey, equal []JoinKey) []rowKey {
	out := keys
	for _, e := range equal {
		l, leftIs := e.Left.(*expr.Col)
		r, rightIs := e.Right.(*expr.Col)
		if !leftIs || !rightIs || l.Typ != r.Typ {
			continue
		}
		for _, k := range keys {
			for _, swap := range [][2]*expr.Col{{l, r}, {r, l}} {
				if len(out) < maxRowKeys && k.cols[swap[0].ID] && !k.cols[swap[1].ID] {
					other := k
					other.cols = maps.Clone(k.cols)
					delete(other.cols, swap[0].ID)
					other.cols[swap[1].ID] = true
					out = append(out[:len(out):len(out)], other)
				}
			}
		}
	}
	return out
}
