package planner

import (
	"github.com/weftdb/weft/expr"
)

// chooseJoins makes joins executable: it splits conditions into hash keys and residual conditions,
// and turns a join whose left side is much the smaller around, so that the smaller side is hashed.
// Needs: prune_columns.
func chooseJoins(b *binder, n Node) Node {
	return transformNodes(n, func(n Node) Node {
		join, ok := n.(*Join)
		if !ok {
			return n
		}
		if apply := b.chooseIndexJoin(join); apply != nil {
			return apply
		}
		return b.chooseJoin(join)
	})
}

// turned gives the kind of a join with its inputs exchanged; kinds without an entry cannot be.
var turned = map[JoinKind]JoinKind{InnerJoin: InnerJoin, LeftJoin: RightJoin, RightJoin: LeftJoin,
	FullJoin: FullJoin, SemiJoin: RightSemiJoin, AntiJoin: RightAntiJoin}

func (b *binder) chooseJoin(n *Join) Node {
	c := *n
	left, right := setOf(n.Left.Cols()), setOf(n.Right.Cols())
	c.Keys, c.Residual, c.On = nil, nil, nil
	if b.settings.EnableHashJoin {
		c.Keys, c.Residual, c.NullAware = splitKeys(n, left, right)
	} else {
		c.Residual = n.On
	}
	c.Out = n.Cols()
	if len(c.Keys) == 0 {
		return &c
	}
	l, r := b.estimate(n.Left), b.estimate(n.Right)
	if kind, ok := turned[n.Kind]; ok && b.worthTurning(n, l, r) {
		c.Kind, c.Left, c.Right, c.Keys = kind, n.Right, n.Left, turnedKeys(c.Keys)
	}
	c.RightUnique = sidesKeys(nil, b.proofs.of(c.Right).keys, c.Keys).right != nil
	return &c
}

// worthTurning compares building on the right with building on the left.
func (b *binder) worthTurning(n *Join, l, r *relFacts) bool {
	out := float64(n.Estimate().Rows)
	cost := joinCost(l.rows, r.rows, out, true)
	flipped := joinCost(r.rows, l.rows, out, true)
	if n.Kind == SemiJoin || n.Kind == AntiJoin {
		flipped *= 1.2 // the build rows must be marked and visited again
	}
	return flipped < cost
}

// splitKeys separates a join's equalities from its other conditions. The comparisons of a mark
// join's own IN are keys only where NULLs cannot tell NULL from FALSE, or when the comparison is
// the only condition, in which case the join itself is null-aware.
func splitKeys(n *Join, left, right colSet) (keys []JoinKey, residual []expr.Expr, nullAware bool) {
	threeValued := n.Kind == MarkJoin || n.Kind == NullAwareAntiJoin
	for _, cond := range n.On {
		l, r, ok := sidesOf(cond, left, right)
		if !ok || l.Type().Kind() != r.Type().Kind() {
			residual = append(residual, cond)
			continue
		}
		_, nullSafe := stripIsTrue(cond).(*expr.IsDistinct)
		if threeValued && !nullSafe && stripIsTrue(cond) == cond && !(neverNull(l) && neverNull(r)) {
			if len(n.On) == 1 {
				return []JoinKey{{Left: l, Right: r}}, nil, true
			}
			residual = append(residual, cond)
			continue
		}
		keys = append(keys, JoinKey{Left: l, Right: r, NullSafe: nullSafe})
	}
	return keys, residual, false
}
