package planner

import (
	"math"
	"slices"

	"github.com/weftdb/weft/expr"
)

// mergeJoins lets joins merge their inputs where these come in the order of the keys, or can be read in it,
// and that is cheaper than hashing; and lets the order that a merge join can give take the place of a sort.
// Joins of rows that are locked or changed are left alone, since such rows may be read in newer versions,
// which come in no order.
// Needs: choose_join, choose_access.
func mergeJoins(b *binder, n Node) Node {
	if !b.settings.EnableMergeJoin {
		return n
	}
	return transformNodes(n, func(n Node) Node {
		switch n := n.(type) {
		case *Join:
			if !b.mayMerge(n) {
				break
			}
			if merged := b.mergedJoin(n, nil, 1); merged != nil && b.costOf(merged, 1) < b.costOf(n, 1) {
				return merged
			}
		case *Sort:
			if ordered := b.sortedByJoin(n); ordered != nil {
				return ordered
			}
		}
		return n
	})
}

// mayMerge reports whether merging costs less than a join does now if its inputs come in order at no cost.
// Few joins remain, and planning the others takes no longer.
func (b *binder) mayMerge(n *Join) bool {
	left, right := b.estimate(n.Left).rows, b.estimate(n.Right).rows
	now := b.costOf(n, 1) - b.costOf(n.Left, 1) - b.costOf(n.Right, 1)
	return mergeCost(left, right, b.estimate(n).rows) < now
}

// costOf is the cost of a share of a node's rows, the first ones. A nested loop that a setting forbids
// costs more than anything.
func (b *binder) costOf(n Node, share float64) float64 {
	b.estimate(n)
	e := n.Estimate()
	cost := float64(e.Startup) + float64(e.Total-e.Startup)*share
	if j, ok := n.(*Join); ok && len(j.Keys) == 0 && !b.settings.EnableHashJoin && !b.settings.EnableIndexJoin {
		cost += costDisabled
	}
	return cost
}

// sortedByJoin returns a sort's rows in its order without sorting them, from a join that merges; nil where
// that is not possible or not cheaper.
func (b *binder) sortedByJoin(n *Sort) Node {
	if n.Ties {
		return nil
	}
	rows := math.Max(b.estimate(n.Input).rows, 1)
	share := math.Min(1, limitOf(n, rows)/rows)
	out := b.joinInOrder(n.Input, n.Keys, share)
	if out == nil || b.costOf(out, share) >= b.costOf(n, 1) {
		return nil
	}
	if n.Limit != nil || n.Offset != nil {
		out = &Limit{Input: out, Count: n.Limit, Offset: n.Offset}
	}
	return out
}

// joinInOrder returns a join, below projections and filters, with its rows in the order of the keys; nil
// where there is none or it cannot be.
func (b *binder) joinInOrder(n Node, keys []SortKey, share float64) Node {
	switch n := n.(type) {
	case *Project:
		if in := b.joinInOrder(n.Input, keysBelow(n, keys), share); in != nil {
			return n.With([]Node{in})
		}
	case *Filter:
		if in := b.joinInOrder(n.Input, keys, share); in != nil {
			return n.With([]Node{in})
		}
	case *Join:
		if b.delivers(n, keys) {
			return n
		}
		if merged := b.mergedJoin(n, keys, share); merged != nil {
			return merged
		}
	}
	return nil
}

// inOrder returns a node with its rows in the order of the keys, in the cheapest way.
func (b *binder) inOrder(n Node, keys []SortKey, share float64) Node {
	if b.delivers(n, keys) {
		return n
	}
	sort := &Sort{Input: n, Keys: slices.Clone(keys)}
	for i := range sort.Keys {
		sort.Keys[i].anyNulls = false
	}
	best, cost := Node(sort), b.costOf(sort, share)
	for _, other := range []Node{b.readInOrder(sort, keys, share), b.joinInOrder(n, keys, share)} {
		if other == nil {
			continue
		}
		if c := b.costOf(other, share); c < cost {
			best, cost = other, c
		}
	}
	return best
}

// readInOrder returns a scan, below projections and filters, in the order of an index; nil if there is none.
func (b *binder) readInOrder(n *Sort, keys []SortKey, share float64) Node {
	scan, below := sortedScan(&Sort{Input: n.Input, Keys: keys})
	if scan == nil {
		return nil
	}
	if c, _ := b.scanInOrder(scan, bareKeys(below), share); c != nil {
		return replaceNode(n.Input, scan, c)
	}
	return nil
}

// mergeKinds are the joins that can be merged, with the kind they then are: the left side is the one all of
// whose rows matter, and whose order the result keeps.
var mergeKinds = map[JoinKind]struct {
	kind JoinKind
	turn bool
}{InnerJoin: {InnerJoin, false}, LeftJoin: {LeftJoin, false}, RightJoin: {LeftJoin, true}, FullJoin: {FullJoin, false},
	SemiJoin: {SemiJoin, false}, AntiJoin: {AntiJoin, false}, RightSemiJoin: {SemiJoin, true}, RightAntiJoin: {AntiJoin, true}}

// mergedJoin returns a join as a merge join: in the order of want, or where that is nil in the one that
// costs least; nil where it cannot be.
func (b *binder) mergedJoin(n *Join, want []SortKey, share float64) *Join {
	base := b.mergeable(n)
	if base == nil {
		return nil
	}
	var best *Join
	var cost float64
	for _, order := range b.mergeOrders(base, want) {
		c := *base
		c.Estimates = Estimates{}
		c.Keys, c.Merge = nil, nil
		var left, right []SortKey
		for _, k := range order {
			key := base.Keys[k.at]
			c.Keys, c.Merge = append(c.Keys, key), append(c.Merge, k.MergeKey)
			side := SortKey{Desc: k.Desc, NullsFirst: k.NullsFirst, anyNulls: !key.NullSafe}
			side.Expr = key.Right
			right = append(right, side)
			if side.Expr = key.Left; k.strict {
				side.anyNulls = false
			}
			left = append(left, side)
		}
		c.Left, c.Right = b.inOrder(base.Left, left, share), b.inOrder(base.Right, right, share)
		if want != nil && !b.delivers(&c, want) || b.settings.EnableHashJoin && (b.sortsTooMuch(c.Left) || b.sortsTooMuch(c.Right)) {
			continue
		}
		if total := b.costOf(&c, share); best == nil || total < cost {
			best, cost = &c, total
		}
	}
	return best
}

// sortsTooMuch reports whether a node sorts more than there is room for.
func (b *binder) sortsTooMuch(n Node) bool {
	s, ok := n.(*Sort)
	if !ok || s.Limit != nil || b.settings.SortRoomBytes == 0 {
		return false
	}
	b.estimate(s.Input)
	e := s.Input.Estimate()
	const perRow = 32 // what is kept of a row besides its values
	return float64(e.Rows)*float64(e.Width+perRow) > float64(b.settings.SortRoomBytes)
}

// mergeable returns a join with equalities as keys, and the side on the left whose order the result keeps;
// nil where it cannot be merged.
func (b *binder) mergeable(n *Join) *Join {
	if n.plain != nil {
		n = n.plain
	}
	as, ok := mergeKinds[n.Kind]
	if !ok || n.NullAware || locksRows(n) {
		return nil
	}
	c := *n
	c.plain = n
	if len(c.Keys) == 0 {
		like := &Join{Kind: n.Kind, On: joined(n.On, n.Residual)}
		c.On = nil
		if c.Keys, c.Residual, _ = splitKeys(like, setOf(n.Left.Cols()), setOf(n.Right.Cols())); len(c.Keys) == 0 {
			return nil
		}
	}
	c.Keys = slices.Clone(c.Keys)
	for _, k := range c.Keys {
		if expr.VolatilityOf(k.Left) == expr.Volatile || expr.VolatilityOf(k.Right) == expr.Volatile {
			return nil // sorted by one value and compared by another
		}
	}
	turn := as.turn
	if n.Kind == InnerJoin {
		left, right := b.estimate(n.Left), b.estimate(n.Right)
		sides := sidesKeys(b.proofs.of(n.Left).keys, b.proofs.of(n.Right).keys, c.Keys)
		uniqueLeft, uniqueRight := sides.left != nil, sides.right != nil
		switch { // groups of equal keys are held of the right side
		case uniqueLeft != uniqueRight:
			turn = uniqueLeft
		case uniqueRight:
			turn = right.rows < left.rows
		default:
			turn = left.rows < right.rows
		}
	}
	c.Kind, c.Out = as.kind, n.Cols()
	if turn {
		c.Left, c.Right, c.Keys = n.Right, n.Left, turnedKeys(c.Keys)
	}
	c.RightUnique = sidesKeys(nil, b.proofs.of(c.Right).keys, c.Keys).right != nil
	return &c
}

// turnedKeys exchanges the sides of keys.
func turnedKeys(keys []JoinKey) []JoinKey {
	out := make([]JoinKey, len(keys))
	for i, k := range keys {
		out[i] = JoinKey{Left: k.Right, Right: k.Left, NullSafe: k.NullSafe}
	}
	return out
}

// orderedKey is a place in the order of a merge join's keys. strict tells that who wants the order says where
// NULLs stand.
type orderedKey struct {
	MergeKey
	at     int
	strict bool
}

// mergeOrders lists orders to merge a join by: that which is wanted, or else those in which an input comes or
// can be read, and that of the conditions.
func (b *binder) mergeOrders(n *Join, want []SortKey) (out [][]orderedKey) {
	add := func(order []orderedKey) {
		for at := range n.Keys {
			if !slices.ContainsFunc(order, func(k orderedKey) bool { return k.at == at }) {
				order = append(order, orderedKey{at: at})
			}
		}
		if !slices.ContainsFunc(out, func(o []orderedKey) bool { return slices.Equal(o, order) }) {
			out = append(out, order)
		}
	}
	if want != nil {
		if order := n.orderOf(want, func(at int, e expr.Expr) bool { return n.keyIs(at, e) }); len(order) == len(want) {
			for i := range order {
				order[i].strict = !want[i].anyNulls
			}
			add(order)
		}
		return out
	}
	for _, keys := range b.orders(n.Left) {
		add(n.orderOf(keys, func(at int, e expr.Expr) bool { return sameKey(bareKey(n.Keys[at].Left), bareKey(e)) }))
	}
	for _, keys := range b.orders(n.Right) {
		add(n.orderOf(keys, func(at int, e expr.Expr) bool { return sameKey(bareKey(n.Keys[at].Right), bareKey(e)) }))
	}
	add(nil)
	return out
}

// orderOf finds the join's keys in an order, as far as it has nothing else.
func (n *Join) orderOf(keys []SortKey, is func(at int, e expr.Expr) bool) (order []orderedKey) {
	for _, k := range keys {
		found := false
		for at := 0; at < len(n.Keys) && !found; at++ {
			if used := slices.ContainsFunc(order, func(o orderedKey) bool { return o.at == at }); !used && is(at, k.Expr) {
				order = append(order, orderedKey{MergeKey: MergeKey{k.Desc, k.NullsFirst}, at: at})
				found = true
			}
		}
		if !found {
			break
		}
	}
	return order
}
