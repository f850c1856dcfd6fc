package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
)

// delivers reports whether a node's rows come in the order of the keys.
func (b *binder) delivers(n Node, keys []SortKey) bool {
	if slices.ContainsFunc(keys, func(k SortKey) bool { return expr.VolatilityOf(k.Expr) == expr.Volatile }) {
		return false // another value each time
	}
	switch n := n.(type) {
	case *Sort:
		return inOrderOf(n.Keys, keys)
	case *Limit:
		return b.delivers(n.Input, keys)
	case *Filter:
		return b.delivers(n.Input, keys)
	case *Project:
		return b.delivers(n.Input, keysBelow(n, keys))
	case *Scan:
		if n.Access == AccessKey {
			return true
		}
		if n.Access != AccessIndex || !n.Index.Ordered || n.Parts != nil {
			return false
		}
		u := b.usable(n, n.Index.Index)
		if u == nil {
			return false
		}
		reverse, ok := u.ordered(n.Index, bareKeys(keys))
		return ok && reverse == n.Index.Reverse
	case *Join:
		below, ok := n.mergedOrder(keys)
		return ok && b.delivers(n.Left, below)
	case *Apply:
		if n.Kind == InnerJoin || n.Kind == SemiJoin || n.Kind == AntiJoin {
			return b.delivers(n.Outer, keys)
		}
	}
	return false
}

// inOrderOf reports whether rows that are sorted by some keys are in the order of others.
func inOrderOf(sorted, keys []SortKey) bool {
	if len(sorted) < len(keys) {
		return false
	}
	for i, k := range keys {
		s := sorted[i]
		if !sameKey(bareKey(k.Expr), bareKey(s.Expr)) || k.Desc != s.Desc || k.NullsFirst != s.NullsFirst && !k.anyNulls && !neverNull(k.Expr) {
			return false
		}
	}
	return true
}

// mergedOrder translates an order of a merge join's rows into that of its left rows which brings it about.
// Rows with equal keys come in no order that could be promised: a group on disk is read for many left rows.
func (n *Join) mergedOrder(keys []SortKey) ([]SortKey, bool) {
	if n.Merge == nil || len(keys) > len(n.Merge) || n.Kind == FullJoin || n.Kind == RightJoin {
		return nil, false
	}
	below := slices.Clone(keys)
	for i, k := range keys {
		if n.Merge[i].Desc != k.Desc || !n.keyIs(i, k.Expr) {
			return nil, false
		}
		below[i].Expr = n.Keys[i].Left
		if n.Kind == InnerJoin && !n.Keys[i].NullSafe {
			below[i].anyNulls = true // rows with NULL keys are not yielded
		}
	}
	return below, true
}

// keyIs reports whether an expression has the values of a key in the rows of a join. The right side's are
// NULL in left rows without a match.
func (n *Join) keyIs(i int, e expr.Expr) bool {
	e = bareKey(e)
	return sameKey(e, bareKey(n.Keys[i].Left)) || n.Kind == InnerJoin && sameKey(e, bareKey(n.Keys[i].Right))
}

// keysBelow translates keys over a projection's columns into such over its input's.
func keysBelow(p *Project, keys []SortKey) []SortKey {
	with := map[expr.ColID]expr.Expr{}
	for _, it := range p.Items {
		with[it.Col.ID] = it.Expr
	}
	below := slices.Clone(keys)
	for i := range below {
		below[i].Expr = replaceCols(below[i].Expr, with)
	}
	return below
}

// bareKeys are keys without the casts that do not matter to their order.
func bareKeys(keys []SortKey) []SortKey {
	out := slices.Clone(keys)
	for i := range out {
		out[i].Expr = bareKey(out[i].Expr)
	}
	return out
}

// bareKey strips casts that give different values different ones, in the same order.
func bareKey(e expr.Expr) expr.Expr {
	for {
		c, ok := e.(*expr.Cast)
		if !ok || !keepsOrder(c.Arg.Type(), c.Typ) {
			return e
		}
		e = c.Arg
	}
}

func keepsOrder(from, to catalog.Type) bool {
	switch from.ID {
	case catalog.Int2, catalog.Int4, catalog.Int8:
		return to.IsInteger() && to.Kind().Width() >= from.Kind().Width() || to.ID == catalog.Numeric && to.Prec == 0
	case catalog.Float4:
		return to.ID == catalog.Float8
	case catalog.Date:
		return to.ID == catalog.Timestamp
	case catalog.Text, catalog.Varchar:
		return (to.ID == catalog.Text || to.ID == catalog.Varchar) && to.Prec == 0
	}
	return false
}

// orders lists orders in which a node's rows come, or could be read by an index.
func (b *binder) orders(n Node) [][]SortKey {
	switch n := n.(type) {
	case *Sort:
		return [][]SortKey{n.Keys}
	case *Limit:
		if b.sortedBelow(n.Input) {
			return b.orders(n.Input)
		}
	case *Filter:
		return b.orders(n.Input)
	case *Project:
		return ordersAbove(n, b.orders(n.Input))
	case *Scan:
		return b.indexOrders(n)
	case *Join:
		if n.Merge == nil {
			return nil
		}
		var keys []SortKey
		for i, k := range n.Keys {
			keys = append(keys, SortKey{Expr: k.Left, Desc: n.Merge[i].Desc, NullsFirst: n.Merge[i].NullsFirst})
		}
		return [][]SortKey{keys}
	}
	return nil
}

// sortedBelow reports whether a node's rows come in an order already: below a LIMIT none can be chosen.
func (b *binder) sortedBelow(n Node) bool {
	for {
		switch in := n.(type) {
		case *Project:
			n = in.Input
		case *Filter:
			n = in.Input
		case *Sort:
			return true
		case *Scan:
			return in.Access == AccessIndex && in.Index.Ordered
		default:
			return false
		}
	}
}

func (b *binder) indexOrders(n *Scan) (out [][]SortKey) {
	if n.Parts != nil {
		return nil
	}
	for i := range n.Table.Indexes {
		u := b.usable(n, &n.Table.Indexes[i])
		if u == nil {
			continue
		}
		var keys []SortKey
		for at, key := range u.keys {
			if key == nil {
				break
			}
			if cond, _ := n.equalityOn(key); cond != nil {
				continue // one value
			}
			desc, nullsFirst := u.index.KeyOrder(at)
			keys = append(keys, SortKey{Expr: key, Desc: desc, NullsFirst: nullsFirst})
		}
		if len(keys) > 0 {
			out = append(out, keys)
		}
	}
	return out
}

// ordersAbove translates orders of a projection's input into such of its own columns.
func ordersAbove(p *Project, orders [][]SortKey) (out [][]SortKey) {
	for _, order := range orders {
		var keys []SortKey
		for _, k := range order {
			at := slices.IndexFunc(p.Items, func(it Item) bool { return sameKey(bareKey(it.Expr), bareKey(k.Expr)) })
			if at < 0 {
				break
			}
			k.Expr = p.Items[at].Col
			keys = append(keys, k)
		}
		if len(keys) > 0 {
			out = append(out, keys)
		}
	}
	return out
}
