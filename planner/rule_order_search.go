package planner

import (
	"math/bits"
	"slices"

	"github.com/weftdb/weft/expr"
)

// subplan is a joined subset of a region's vertices.
type subplan struct {
	set   uint64
	node  Node
	rows  float64
	cost  float64
	cols  colSet // of node; nil until someone asks
	known *relFacts
	infer func() *relFacts // makes known: most subplans are given up before anything is joined to them
}

// facts are the estimates of a subplan.
func (p *subplan) facts() *relFacts {
	if p.known == nil {
		p.known = p.infer()
	}
	return p.known
}

func (p *subplan) columns() colSet {
	if p.cols == nil {
		p.cols = setOf(p.node.Cols())
	}
	return p.cols
}

// single returns a vertex as a plan of its own.
func (g *region) single(i int) *subplan {
	v := g.vertices[i]
	return &subplan{set: 1 << i, node: v.node, rows: v.facts.rows, known: v.facts, cost: float64(v.node.Estimate().Total)}
}

// dynamic finds the cheapest tree over all vertices, nil if only cross products connect them.
func (g *region) dynamic() *subplan {
	n := len(g.vertices)
	best := make([]*subplan, 1<<n)
	for i := range g.vertices {
		best[1<<i] = g.single(i)
	}
	for set := uint64(1); set < 1<<n; set++ {
		if set&(set-1) == 0 {
			continue
		}
		for left := (set - 1) & set; left > 0; left = (left - 1) & set {
			right := set &^ left
			if best[left] == nil || best[right] == nil {
				continue
			}
			if p := g.combine(best[left], best[right], false); p != nil && (best[set] == nil || p.cost < best[set].cost) {
				best[set] = p
			}
		}
	}
	return best[1<<n-1]
}

// greedy joins the pair that costs least until one plan is left; cross products come last. A pair is looked at once:
// what others join to changes nothing about it.
func (g *region) greedy() *subplan {
	var plans []*subplan
	for i := range g.vertices {
		plans = append(plans, g.single(i))
	}
	known := [2]map[[2]*subplan]*subplan{{}, {}} // joins of pairs, without cross products and with them
	for len(plans) > 1 {
		var best *subplan
		var pair [2]*subplan
		for cross := range known {
			for _, left := range plans {
				for _, right := range plans {
					if left == right {
						continue
					}
					p, ok := known[cross][[2]*subplan{left, right}]
					if !ok {
						p = g.combine(left, right, cross == 1)
						known[cross][[2]*subplan{left, right}] = p
					}
					if p != nil && (best == nil || p.cost < best.cost) {
						best, pair = p, [2]*subplan{left, right}
					}
				}
			}
			if best != nil {
				break
			}
		}
		if best == nil {
			panic("planner: join region cannot be connected")
		}
		plans = slices.DeleteFunc(plans, func(p *subplan) bool { return p == pair[0] || p == pair[1] })
		plans = append(plans, best)
	}
	return plans[0]
}

// combine joins two subsets, or returns nil where that is not allowed: a vertex of a non-inner
// join must be the right side alone, after the vertices it needs; a cross product only if asked.
func (g *region) combine(left, right *subplan, cross bool) *subplan {
	g.pairs++
	if left.set&(left.set-1) == 0 && g.vertices[bits.TrailingZeros64(left.set)].join != nil {
		return nil
	}
	kind := InnerJoin
	var mark *expr.Col
	var conds []expr.Expr
	if right.set&(right.set-1) == 0 {
		if v := g.vertices[bits.TrailingZeros64(right.set)]; v.join != nil {
			if v.need&^left.set != 0 {
				return nil
			}
			if v.need == 0 && len(g.vertices) > 2 && !g.innerDone(left.set) && !cross {
				return nil // nothing ties it to a place: join it last
			}
			kind, mark, conds = v.join.Kind, v.join.Mark, v.join.On
		}
	}
	connected := kind != InnerJoin
	if kind == InnerJoin {
		conds = g.between(left.set, right.set)
		connected = len(conds) > 0
	}
	if !connected && !cross {
		return nil
	}
	return g.joined(left, right, kind, conds, mark)
}

// innerDone reports whether set holds all vertices of inner joins.
func (g *region) innerDone(set uint64) bool {
	for i, v := range g.vertices {
		if v.join == nil && set&(1<<i) == 0 {
			return false
		}
	}
	return true
}

// between returns the inner conditions that become checkable by joining two subsets.
func (g *region) between(left, right uint64) []expr.Expr {
	var conds []expr.Expr
	for _, class := range g.classes {
		var l, r *member
		for i := range class {
			m := &class[i]
			if left&(1<<m.vertex) != 0 && l == nil {
				l = m
			}
			if right&(1<<m.vertex) != 0 && r == nil {
				r = m
			}
		}
		if l != nil && r != nil {
			conds = append(conds, mustResolve(expr.ResolveBinary("=", l.e, r.e, 0)))
		}
	}
	both := left | right
	for _, p := range g.preds {
		if p.set&^both == 0 && p.set&^left != 0 && p.set&^right != 0 {
			conds = append(conds, p.cond)
		}
	}
	return conds
}

// joined builds and costs a join of two subplans. The right side is hashed.
func (g *region) joined(left, right *subplan, kind JoinKind, conds []expr.Expr, mark *expr.Col) *subplan {
	join := &Join{Kind: kind, Left: left.node, Right: right.node, On: conds, Mark: mark}
	eqs, rest := splitEqualities(conds, left.columns(), right.columns())
	p := &subplan{set: left.set | right.set, node: join}
	p.infer = func() *relFacts { return joinFacts(kind, left.facts(), right.facts(), eqs, rest) }
	if kind == InnerJoin {
		p.rows = innerRows(left.facts(), right.facts(), eqs, rest)
	} else {
		p.rows = p.facts().rows
	}
	p.cost = left.cost + right.cost + joinCost(left.rows, right.rows, p.rows, len(eqs) > 0)
	if len(eqs) > 0 && left.rows < right.rows {
		if inner, _, perRow := g.b.indexJoin(kind, left.node, right.node, conds); inner != nil {
			p.cost = min(p.cost, left.cost+indexJoinCost(left.rows, perRow)+p.rows*costOutput)
		}
	}
	if kind == InnerJoin {
		return p
	}
	// Inner conditions that name what this join adds hold for its result.
	if conds := g.between(left.set, right.set); len(conds) > 0 {
		p.node = filterOver(join, conds)
		p.known = p.facts().filtered(p.facts().selectivity(conds))
		p.rows = p.known.rows
	}
	return p
}
