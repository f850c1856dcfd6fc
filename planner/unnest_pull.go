package planner

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// pulled is a subtree freed of its correlated conditions.
type pulled struct {
	node  Node
	conds []expr.Expr
	// empty is set when the subtree was a scalar aggregate: the value of each column for no input.
	empty map[expr.ColID]expr.Expr
}

// puller moves conditions on outer columns upwards.
type puller struct {
	b    *binder
	corr colSet
}

func (p *puller) depends(n Node) bool { return freeColumns(n).meets(p.corr) }

func (p *puller) uses(e expr.Expr) bool { return columnSet(e).meets(p.corr) }

// pull frees n of the outer columns, or reports that a condition cannot pass.
func (p *puller) pull(n Node) (pulled, bool) {
	if !p.depends(n) {
		return pulled{node: n}, true
	}
	switch n := n.(type) {
	case *Filter:
		return p.pullFilter(n)
	case *Project:
		return p.pullProject(n)
	case *Join:
		return p.pullJoin(n)
	case *Aggregate:
		return p.pullAggregate(n)
	case *Sort:
		if n.Limit == nil && n.Offset == nil {
			return p.pull(n.Input)
		}
	}
	return pulled{}, false
}

func (p *puller) split(conds []expr.Expr) (own, outer []expr.Expr) {
	for _, c := range conds {
		if p.uses(c) {
			outer = append(outer, c)
		} else {
			own = append(own, c)
		}
	}
	return own, outer
}

func (p *puller) pullFilter(n *Filter) (pulled, bool) {
	in, ok := p.pull(n.Input)
	if !ok {
		return in, false
	}
	own, outer := p.split(n.Conds)
	if in.empty != nil {
		return p.pullHaving(in, own, outer)
	}
	in.conds = append(in.conds, outer...)
	if len(own) > 0 {
		in.node = &Filter{Input: in.node, Conds: own}
	}
	return in, true
}

// pullHaving treats a filter above a scalar aggregate. If the filter refuses the row of an empty
// input, a missing group means NULL, which is what the join yields anyway.
func (p *puller) pullHaving(in pulled, own, outer []expr.Expr) (pulled, bool) {
	if len(outer) > 0 {
		return in, false
	}
	pass := true
	for _, c := range own {
		k, ok := p.b.fold(replaceCols(c, in.empty)).(*expr.Const)
		if !ok {
			return in, false
		}
		pass = pass && !k.Value.Null && k.Value.I != 0
	}
	if pass {
		return in, false // the row passes when empty: only the domain keeps such rows apart
	}
	for id := range in.empty {
		c := in.empty[id]
		in.empty[id] = &expr.Const{Value: vector.NullDatum(c.Type().Kind()), Typ: c.Type()}
	}
	in.node = &Filter{Input: in.node, Conds: own}
	return in, true
}

func (p *puller) pullProject(n *Project) (pulled, bool) {
	for _, it := range n.Items {
		if p.uses(it.Expr) {
			return pulled{}, false
		}
	}
	in, ok := p.pull(n.Input)
	if !ok {
		return in, false
	}
	c := *n
	c.Input = in.node
	c.Items = append([]Item(nil), n.Items...)
	have := setOf(n.Cols())
	needed := columnSet(in.conds...)
	for _, col := range in.node.Cols() {
		if needed[col.ID] && !have[col.ID] {
			c.Items = append(c.Items, Item{Col: col, Expr: col})
		}
	}
	out := pulled{node: &c, conds: in.conds}
	if in.empty != nil {
		out.empty = map[expr.ColID]expr.Expr{}
		for _, it := range n.Items {
			out.empty[it.Col.ID] = p.b.fold(replaceCols(it.Expr, in.empty))
		}
	}
	return out, true
}

func (p *puller) pullJoin(n *Join) (pulled, bool) {
	c := *n
	left, ok := p.pull(n.Left)
	if !ok || left.empty != nil {
		return pulled{}, false
	}
	c.Left = left.node
	out := pulled{conds: left.conds}
	own, outer := p.split(n.On)
	if n.Kind == InnerJoin {
		right, ok := p.pull(n.Right)
		if !ok || right.empty != nil {
			return pulled{}, false
		}
		c.Right = right.node
		c.On = own
		out.conds = append(append(out.conds, right.conds...), outer...)
		out.node = &c
		return out, true
	}
	switch n.Kind {
	case LeftJoin, SemiJoin, AntiJoin, MarkJoin, SingleJoin, NullAwareAntiJoin:
	default:
		return pulled{}, false
	}
	if len(outer) > 0 || p.depends(n.Right) {
		return pulled{}, false
	}
	out.node = &c
	return out, true
}

// pullAggregate lets equalities between an inner and an outer expression pass, by grouping by the
// inner one.
func (p *puller) pullAggregate(n *Aggregate) (pulled, bool) {
	for _, g := range n.Groups {
		if p.uses(g.Expr) {
			return pulled{}, false
		}
	}
	for _, a := range n.Aggs {
		for _, arg := range (&aggregateRef{call: a.Call}).Children() {
			if p.uses(arg) {
				return pulled{}, false
			}
		}
	}
	in, ok := p.pull(n.Input)
	if !ok || in.empty != nil {
		return pulled{}, false
	}
	c := *n
	c.Input = in.node
	c.Groups = append([]Item(nil), n.Groups...)
	out := pulled{node: &c}
	for _, cond := range in.conds {
		inner, rebuild := p.innerSide(cond)
		if inner == nil {
			return pulled{}, false
		}
		col := p.groupBy(&c, inner)
		out.conds = append(out.conds, rebuild(col))
	}
	if len(n.Groups) == 0 && len(n.Aggs) > 0 {
		out.empty = map[expr.ColID]expr.Expr{}
		for _, a := range n.Aggs {
			out.empty[a.Col.ID] = emptyValue(a.Call)
		}
	}
	return out, true
}

// groupBy returns the column of a group, adding it if it is new.
func (p *puller) groupBy(n *Aggregate, e expr.Expr) *expr.Col {
	for _, g := range n.Groups {
		if expr.Equal(g.Expr, e) {
			return g.Col
		}
	}
	name := "group"
	if c, ok := e.(*expr.Col); ok {
		name = c.Name
	}
	col := p.b.column(name, e.Type(), neverNull(e))
	n.Groups = append(n.Groups, Item{Col: col, Expr: e})
	return col
}

// innerSide splits an equality into the side without outer columns and a function that rebuilds
// the condition over another inner expression.
func (p *puller) innerSide(cond expr.Expr) (expr.Expr, func(expr.Expr) expr.Expr) {
	if !isEquality(cond) {
		return nil, nil
	}
	kids := expr.Children(cond)
	for i, side := range []int{1, 0} {
		inner, outer := kids[i], kids[side]
		used := columnSet(inner)
		if len(used) > 0 && !p.uses(inner) && !columnSet(outer).meets(used) && p.onlyOuter(outer) {
			at := i
			return inner, func(e expr.Expr) expr.Expr {
				next := append([]expr.Expr(nil), kids...)
				next[at] = e
				return expr.WithChildren(cond, next)
			}
		}
	}
	return nil, nil
}

func (p *puller) onlyOuter(e expr.Expr) bool { return columnSet(e).within(p.corr) }

// emptyValue is an aggregate's value over no rows.
func emptyValue(call *expr.AggCall) expr.Expr {
	if call.Fn.Name == "count" {
		return &expr.Const{Value: vector.IntDatum(vector.I64, 0), Typ: catalog.Type{ID: catalog.Int8}}
	}
	return &expr.Const{Value: vector.NullDatum(call.Typ.Kind()), Typ: call.Typ}
}
