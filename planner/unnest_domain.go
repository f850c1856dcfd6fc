package planner

import "github.com/weftdb/weft/expr"

// domain pushes the distinct values of outer columns into a subquery.
type domain struct {
	b    *binder
	corr colSet
	outs []*expr.Col
	// left is the outer side, computed once and read wherever its values are needed. An outer side
	// that is itself correlated with a query further out cannot be set apart like that: it is
	// copied instead (left is nil then), so that its own correlation can be removed in its place.
	left  *CTE
	outer Node
}

// withDomain is a subtree and, for each outer column, its column that equals it.
type withDomain struct {
	node Node
	cols map[expr.ColID]*expr.Col
}

// join replaces a dependent join by one whose right side carries the domain, or returns nil when
// the domain cannot be pushed.
func (d *domain) join(join *Join, right Node) Node {
	d.outs = join.Left.Cols()
	d.outer = join.Left
	if len(freeColumns(join.Left)) == 0 {
		d.left = &CTE{ID: len(d.b.ctes), Name: "outer", Plan: join.Left}
	}
	out, ok := d.push(right)
	if !ok {
		return nil
	}
	c := *join
	if d.left != nil {
		d.b.ctes = append(d.b.ctes, d.left)
		c.Left = &CTEScan{CTE: d.left, Alias: d.left.Name, Out: d.outs}
	}
	c.Right = out.node
	c.On = append(append([]expr.Expr(nil), join.On...), d.matches(nil, out.cols)...)
	return withoutExtra(&c, join)
}

// values returns the domain: the distinct outer values, under fresh columns.
func (d *domain) values() withDomain {
	input, outs := d.copyOfOuter()
	agg := &Aggregate{Input: input}
	cols := map[expr.ColID]*expr.Col{}
	for i, c := range d.outs {
		col := outs[i]
		if d.corr[c.ID] {
			group := d.b.columnLike(c)
			agg.Groups = append(agg.Groups, Item{Col: group, Expr: col})
			cols[c.ID] = group
		}
	}
	return withDomain{agg, cols}
}

// copyOfOuter reads the outer side once more, under fresh columns.
func (d *domain) copyOfOuter() (Node, []*expr.Col) {
	outs := make([]*expr.Col, len(d.outs))
	if d.left == nil {
		plan, made := d.b.fresh(d.outer)
		for i, c := range d.outs {
			outs[i] = made[c.ID]
		}
		return plan, outs
	}
	for i, c := range d.outs {
		outs[i] = d.b.columnLike(c)
	}
	return &CTEScan{CTE: d.left, Alias: d.left.Name, Out: outs}, outs
}

// matches returns the conditions that equate two copies of the domain; nil stands for the outer
// columns themselves.
func (d *domain) matches(left, right map[expr.ColID]*expr.Col) []expr.Expr {
	var conds []expr.Expr
	for _, c := range d.outs {
		if !d.corr[c.ID] {
			continue
		}
		l := c
		if left != nil {
			l = left[c.ID]
		}
		r := right[c.ID]
		if l.NotNull {
			conds = append(conds, mustResolve(expr.ResolveBinary("=", l, r, 0)))
		} else {
			conds = append(conds, &expr.IsDistinct{Left: l, Right: r, Negated: true})
		}
	}
	return conds
}

func (d *domain) replace(e expr.Expr, cols map[expr.ColID]*expr.Col) expr.Expr {
	return replaceColPtrs(e, cols)
}

func (d *domain) replaceAll(list []expr.Expr, cols map[expr.ColID]*expr.Col) []expr.Expr {
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		out[i] = d.replace(e, cols)
	}
	return out
}

// ordered lists the domain's columns in a fixed order.
func (d *domain) ordered(cols map[expr.ColID]*expr.Col) []*expr.Col {
	var out []*expr.Col
	for _, c := range d.outs {
		if col, ok := cols[c.ID]; ok {
			out = append(out, col)
		}
	}
	return out
}

// push returns n joined with the domain; it always carries the domain's columns.
func (d *domain) push(n Node) (withDomain, bool) {
	if !freeColumns(n).meets(d.corr) {
		v := d.values()
		return withDomain{&Join{Kind: InnerJoin, Left: n, Right: v.node}, v.cols}, true
	}
	switch n := n.(type) {
	case *Filter:
		in, ok := d.push(n.Input)
		in.node = &Filter{Input: in.node, Conds: d.replaceAll(n.Conds, in.cols)}
		return in, ok
	case *Project:
		return d.pushProject(n)
	case *Aggregate:
		return d.pushAggregate(n)
	case *Join:
		return d.pushJoin(n)
	case *Append:
		return d.pushAppend(n)
	case *Sort:
		if n.Limit == nil && n.Offset == nil {
			return d.push(n.Input)
		}
	}
	return withDomain{}, false
}

func (d *domain) pushProject(n *Project) (withDomain, bool) {
	in, ok := d.push(n.Input)
	if !ok {
		return in, false
	}
	c := *n
	c.Input = in.node
	c.Items = nil
	for _, it := range n.Items {
		c.Items = append(c.Items, Item{Col: it.Col, Expr: d.replace(it.Expr, in.cols)})
	}
	for _, col := range d.ordered(in.cols) {
		c.Items = append(c.Items, Item{Col: col, Expr: col})
	}
	return withDomain{&c, in.cols}, true
}

func (d *domain) pushAggregate(n *Aggregate) (withDomain, bool) {
	in, ok := d.push(n.Input)
	if !ok {
		return in, false
	}
	replaced := mapExprs(n, func(e expr.Expr) expr.Expr { return d.replace(e, in.cols) }).(*Aggregate)
	c := *replaced
	c.Input = in.node
	c.Groups = append([]Item(nil), c.Groups...)
	cols := map[expr.ColID]*expr.Col{}
	for _, o := range d.outs {
		if col, ok := in.cols[o.ID]; ok {
			group := d.b.columnLike(col)
			c.Groups = append(c.Groups, Item{Col: group, Expr: col})
			cols[o.ID] = group
		}
	}
	if len(n.Groups) > 0 || len(n.Aggs) == 0 {
		return withDomain{&c, cols}, true
	}
	// One row for each outer value, also where no input was found.
	c.Aggs = append([]AggItem(nil), c.Aggs...)
	v := d.values()
	p := &Project{}
	for i, a := range c.Aggs {
		inner := d.b.columnLike(a.Col)
		c.Aggs[i].Col = inner
		var value expr.Expr = nullable(inner)
		if empty := emptyValue(a.Call).(*expr.Const); !empty.Value.Null {
			value = &expr.Coalesce{Args: []expr.Expr{value, empty}, Typ: inner.Typ}
		}
		p.Items = append(p.Items, Item{Col: a.Col, Expr: value})
	}
	for _, col := range d.ordered(v.cols) {
		p.Items = append(p.Items, Item{Col: col, Expr: col})
	}
	p.Input = &Join{Kind: LeftJoin, Left: v.node, Right: &c, On: d.matches(v.cols, cols)}
	return withDomain{p, v.cols}, true
}

func (d *domain) pushJoin(n *Join) (withDomain, bool) {
	leftDepends := freeColumns(n.Left).meets(d.corr)
	rightDepends := freeColumns(n.Right).meets(d.corr)
	c := *n
	switch n.Kind {
	case InnerJoin:
		if !leftDepends && rightDepends {
			right, ok := d.push(n.Right)
			c.Right, c.On = right.node, d.replaceAll(n.On, right.cols)
			return withDomain{&c, right.cols}, ok
		}
	case LeftJoin, SemiJoin, AntiJoin, MarkJoin, SingleJoin:
	default:
		return withDomain{}, false
	}
	left, ok := d.push(n.Left)
	if !ok {
		return left, false
	}
	c.Left, c.On = left.node, d.replaceAll(n.On, left.cols)
	if rightDepends {
		right, ok := d.push(n.Right)
		if !ok {
			return right, false
		}
		c.Right = right.node
		c.On = append(c.On, d.matches(left.cols, right.cols)...)
	}
	return withDomain{&c, left.cols}, true
}

func (d *domain) pushAppend(n *Append) (withDomain, bool) {
	c := *n
	c.Inputs = nil
	c.Out = append([]*expr.Col(nil), n.Out...)
	cols := map[expr.ColID]*expr.Col{}
	for i, input := range n.Inputs {
		in, ok := d.push(input)
		if !ok {
			return in, false
		}
		p := &Project{Input: in.node}
		for _, col := range input.Cols() {
			p.Items = append(p.Items, Item{Col: col, Expr: col})
		}
		for _, o := range d.outs {
			col, ok := in.cols[o.ID]
			if !ok {
				continue
			}
			p.Items = append(p.Items, Item{Col: col, Expr: col})
			if i == 0 {
				out := d.b.columnLike(col)
				c.Out = append(c.Out, out)
				cols[o.ID] = out
			}
		}
		c.Inputs = append(c.Inputs, p)
	}
	return withDomain{&c, cols}, true
}
