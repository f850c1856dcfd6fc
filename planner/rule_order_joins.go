package planner

import (
	"math/bits"

	"github.com/weftdb/weft/expr"
)

// orderJoins reorders each region of joins by cost. A region is a tree of inner joins together
// with the semi, anti, left, mark and single joins that hang on it: such a join's right side is one
// vertex, to be joined at any point at which the vertices that its condition names are present.
// Right and full joins, and everything below another kind of node, border the region.
//
// Up to dpLimit vertices all bushy trees are considered by dynamic programming over subsets;
// beyond, the cheapest next join is taken greedily. Needs: push_filter.
func orderJoins(b *binder, n Node) Node {
	if join, ok := n.(*Join); ok && inRegion(join.Kind) {
		return orderRegion(b, join)
	}
	kids := n.Kids()
	if len(kids) == 0 {
		return n
	}
	next := make([]Node, len(kids))
	changed := false
	for i, kid := range kids {
		next[i] = orderJoins(b, kid)
		changed = changed || next[i] != kid
	}
	if !changed {
		return n
	}
	return n.With(next)
}

// dpLimit is where 3ⁿ subset pairs stop being cheap: 10 vertices have 59,049.
const dpLimit = 10

func inRegion(k JoinKind) bool {
	switch k {
	case InnerJoin, SemiJoin, AntiJoin, LeftJoin, MarkJoin, SingleJoin, NullAwareAntiJoin:
		return true
	}
	return false
}

// vertex is a relation of a region.
type vertex struct {
	node  Node
	facts *relFacts
	cols  colSet
	// For the right side of a join that is not inner: the join, and the vertices it needs.
	join *Join
	need uint64
	made colSet // columns it adds to the result
}

// predicate is an inner join condition.
type predicate struct {
	cond expr.Expr
	set  uint64 // vertices it names
}

// region is a join graph.
type region struct {
	b        *binder
	vertices []*vertex
	preds    []predicate
	// classes are sets of expressions that the inner equalities make equal, one entry per vertex
	// and expression.
	classes [][]member
	owner   map[expr.ColID]int
	// after holds conditions on a single vertex that are checked once it has been joined.
	after []predicate
}

type member struct {
	e      expr.Expr
	vertex int
}

func orderRegion(b *binder, root *Join) Node {
	g := &region{b: b, owner: map[expr.ColID]int{}}
	var conds []expr.Expr
	g.flatten(root, &conds)
	if len(g.vertices) > 62 {
		return root.With([]Node{orderJoins(b, root.Left), orderJoins(b, root.Right)})
	}
	for _, v := range g.vertices {
		if v.join != nil {
			v.need = g.vertexSet(v.join.On) &^ (1 << g.indexOf(v))
		}
	}
	for _, c := range conds {
		g.addCondition(c)
	}
	g.equateWithin()
	g.shareConstants()
	for _, v := range g.vertices {
		v.facts = b.estimate(v.node)
	}
	var best *subplan
	if len(g.vertices) <= dpLimit {
		best = g.dynamic()
	}
	if best == nil {
		best = g.greedy()
	}
	// Conditions on fewer than two vertices (volatile ones, constants) are not part of any join.
	out := best.node
	var rest []expr.Expr
	for _, p := range g.preds {
		if bits.OnesCount64(p.set) < 2 {
			rest = append(rest, p.cond)
		}
	}
	for _, p := range g.after {
		rest = append(rest, p.cond)
	}
	return keepOrder(filterOver(out, rest), root.Cols())
}

// keepOrder makes plan yield exactly cols.
func keepOrder(plan Node, cols []*expr.Col) Node {
	have := plan.Cols()
	same := len(have) == len(cols)
	for i := range cols {
		same = same && have[i].ID == cols[i].ID
	}
	if same {
		return plan
	}
	p := &Project{Input: plan}
	for _, c := range cols {
		p.Items = append(p.Items, Item{Col: c, Expr: c})
	}
	return p
}

// flatten collects the region's vertices, left to right, and the inner joins' conditions.
func (g *region) flatten(n Node, conds *[]expr.Expr) {
	join, ok := n.(*Join)
	if !ok || !inRegion(join.Kind) {
		g.addVertex(&vertex{node: orderJoins(g.b, n)})
		return
	}
	g.flatten(join.Left, conds)
	if join.Kind == InnerJoin {
		g.flatten(join.Right, conds)
		*conds = append(*conds, join.On...)
		return
	}
	g.addVertex(&vertex{node: orderJoins(g.b, join.Right), join: join})
}

func (g *region) addVertex(v *vertex) {
	v.cols = setOf(v.node.Cols())
	v.made = v.cols
	if v.join != nil && v.join.Mark != nil {
		v.made = colSet{v.join.Mark.ID: true}
	}
	for id := range v.cols {
		g.owner[id] = len(g.vertices)
	}
	for id := range v.made {
		g.owner[id] = len(g.vertices)
	}
	g.vertices = append(g.vertices, v)
}

func (g *region) indexOf(v *vertex) int {
	for i := range g.vertices {
		if g.vertices[i] == v {
			return i
		}
	}
	return -1
}

func (g *region) vertexSet(exprs []expr.Expr) uint64 {
	var set uint64
	for id := range columnSet(exprs...) {
		if v, ok := g.owner[id]; ok {
			set |= 1 << v
		}
	}
	return set
}

// addCondition files an inner condition: equalities between two vertices into classes, conditions
// on one vertex into it, others as predicates.
func (g *region) addCondition(c expr.Expr) {
	set := g.vertexSet([]expr.Expr{c})
	if bits.OnesCount64(set) == 2 && isEquality(c) {
		kids := expr.Children(c)
		l, r := g.vertexSet(kids[:1]), g.vertexSet(kids[1:])
		if bits.OnesCount64(l) == 1 && bits.OnesCount64(r) == 1 && l != r && kids[0].Type() == kids[1].Type() {
			g.addEquality(member{kids[0], bits.TrailingZeros64(l)}, member{kids[1], bits.TrailingZeros64(r)})
			return
		}
	}
	g.preds = append(g.preds, predicate{c, set})
}

func (g *region) addEquality(a, b member) {
	ca, cb := g.classOf(a), g.classOf(b)
	switch {
	case ca < 0 && cb < 0:
		g.classes = append(g.classes, []member{a, b})
	case ca < 0:
		g.classes[cb] = append(g.classes[cb], a)
	case cb < 0:
		g.classes[ca] = append(g.classes[ca], b)
	case ca != cb:
		g.classes[ca] = append(g.classes[ca], g.classes[cb]...)
		g.classes = append(g.classes[:cb], g.classes[cb+1:]...)
	}
}

func (g *region) classOf(m member) int {
	for i, class := range g.classes {
		for _, have := range class {
			if expr.Equal(have.e, m.e) {
				return i
			}
		}
	}
	return -1
}

// equateWithin checks inside a vertex that its members of a class are equal: joins compare one member
// of each side only.
func (g *region) equateWithin() {
	for _, class := range g.classes {
		first := map[int]member{}
		for _, m := range class {
			f, ok := first[m.vertex]
			if !ok {
				first[m.vertex] = m
				continue
			}
			eq := mustResolve(expr.ResolveBinary("=", f.e, m.e, 0))
			if v := g.vertices[m.vertex]; v.join == nil {
				v.node = push(v.node, []expr.Expr{eq})
			} else {
				// The columns may be NULL where the vertex's join finds no match, so the
				// condition belongs above that join.
				g.after = append(g.after, predicate{eq, 1 << m.vertex})
			}
		}
	}
}

// shareConstants applies comparisons of a class's member with constants to the other members:
// a = b AND a = 5 lets b's relation be filtered by b = 5 too.
func (g *region) shareConstants() {
	for _, class := range g.classes {
		for _, from := range class {
			for _, cond := range constantConditions(g.vertices[from.vertex].node, from.e) {
				for _, to := range class {
					v := g.vertices[to.vertex]
					if to.vertex == from.vertex || v.join != nil {
						continue
					}
					if copied := replaceSide(cond, from.e, to.e); copied != nil && !hasCondition(v.node, copied) {
						v.node = push(v.node, []expr.Expr{copied})
					}
				}
			}
		}
	}
}

// constantConditions returns a scan's comparisons of e with constants.
func constantConditions(n Node, e expr.Expr) []expr.Expr {
	scan, ok := n.(*Scan)
	if !ok {
		return nil
	}
	var out []expr.Expr
	for _, c := range scan.Filter {
		kids := expr.Children(c)
		if len(kids) < 2 || !expr.Equal(kids[0], e) {
			continue
		}
		constant := true
		for _, k := range kids[1:] {
			constant = constant && len(columnSet(k)) == 0 && expr.VolatilityOf(k) != expr.Volatile
		}
		switch c := c.(type) {
		case *expr.InList:
			if constant && !c.Negated {
				out = append(out, c)
			}
		case *expr.Call:
			switch c.Fn.Name {
			case "=", "<", "<=", ">", ">=":
				if constant {
					out = append(out, c)
				}
			}
		}
	}
	return out
}

func hasCondition(n Node, cond expr.Expr) bool {
	scan, ok := n.(*Scan)
	return ok && indexOf(scan.Filter, cond) >= 0
}

func replaceSide(cond, from, to expr.Expr) expr.Expr {
	if from.Type() != to.Type() {
		return nil
	}
	kids := append([]expr.Expr(nil), expr.Children(cond)...)
	kids[0] = to
	return expr.WithChildren(cond, kids)
}

// subplan is a joined subset of a region's vertices.
type subplan struct {
	set   uint64
	node  Node
	facts *relFacts
	cost  float64
}

// single returns a vertex as a plan of its own.
func (g *region) single(i int) *subplan {
	v := g.vertices[i]
	p := &subplan{set: 1 << i, node: v.node, facts: v.facts, cost: float64(v.node.Estimate().Total)}
	return p
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

// greedy joins the pair that costs least until one plan is left; cross products come last.
func (g *region) greedy() *subplan {
	var plans []*subplan
	for i := range g.vertices {
		plans = append(plans, g.single(i))
	}
	for len(plans) > 1 {
		var best *subplan
		bi, bj := 0, 0
		for _, cross := range []bool{false, true} {
			for i := range plans {
				for j := range plans {
					if i == j {
						continue
					}
					if p := g.combine(plans[i], plans[j], cross); p != nil && (best == nil || p.cost < best.cost) {
						best, bi, bj = p, i, j
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
		var rest []*subplan
		for i := range plans {
			if i != bi && i != bj {
				rest = append(rest, plans[i])
			}
		}
		plans = append(rest, best)
	}
	return plans[0]
}

// combine joins two subsets, or returns nil where that is not allowed: a vertex of a non-inner
// join must be the right side alone, after the vertices it needs; a cross product only if asked.
func (g *region) combine(left, right *subplan, cross bool) *subplan {
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
	lcols, rcols := setOf(left.node.Cols()), setOf(right.node.Cols())
	eqs, rest := splitEqualities(conds, lcols, rcols)
	p := &subplan{set: left.set | right.set, node: join}
	p.facts = joinFacts(kind, left.facts, right.facts, eqs, rest)
	p.cost = left.cost + right.cost + joinCost(left.facts.rows, right.facts.rows, p.facts.rows, len(eqs) > 0)
	if len(eqs) > 0 && left.facts.rows < right.facts.rows {
		if inner, _, perRow := g.b.indexJoin(kind, left.node, right.node, conds); inner != nil {
			p.cost = min(p.cost, left.cost+indexJoinCost(left.facts.rows, perRow)+p.facts.rows*costOutput)
		}
	}
	if kind == InnerJoin {
		return p
	}
	// Inner conditions that name what this join adds hold for its result.
	if conds := g.between(left.set, right.set); len(conds) > 0 {
		p.node = filterOver(join, conds)
		p.facts = p.facts.filtered(p.facts.selectivity(conds))
	}
	return p
}
