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
	pairs int64 // of subsets that were looked at
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
	search := "dynamic"
	if len(g.vertices) <= dpLimit {
		best = g.dynamic()
	}
	if best == nil {
		best, search = g.greedy(), "greedy"
	}
	b.phases.ordered(len(g.vertices), search, g.pairs)
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
