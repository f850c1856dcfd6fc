package planner

import "github.com/weftdb/weft/expr"

// pruneColumns drops the columns that nobody reads: scans read, joins carry and projections compute
// only what is needed above them. It sets Join.Out and ScanCol.FilterOnly. Needs: order_joins.
func pruneColumns(b *binder, n Node) Node {
	return mergeProjects(pruneNode(n, setOf(n.Cols())))
}

func (s colSet) with(exprs ...expr.Expr) colSet {
	out := make(colSet, len(s))
	for id := range s {
		out[id] = true
	}
	for _, e := range exprs {
		if e != nil {
			out.addExpr(e)
		}
	}
	return out
}

func neededOf(cols []*expr.Col, needed colSet) []*expr.Col {
	out := []*expr.Col{}
	for _, c := range cols {
		if needed[c.ID] {
			out = append(out, c)
		}
	}
	return out
}

func pruneNode(n Node, needed colSet) Node {
	switch n := n.(type) {
	case *Scan:
		return pruneScan(n, needed)
	case *Project:
		c := *n
		c.Items = nil
		below := colSet{}
		for _, it := range n.Items {
			if needed[it.Col.ID] {
				c.Items = append(c.Items, it)
				below.addExpr(it.Expr)
			}
		}
		c.Input = pruneNode(n.Input, below)
		return &c
	case *Filter:
		c := *n
		c.Input = pruneNode(n.Input, needed.with(n.Conds...))
		return &c
	case *Join:
		c := *n
		below := needed.with(n.On...)
		c.Left, c.Right = pruneNode(n.Left, below), pruneNode(n.Right, below)
		c.Out = neededOf(n.Cols(), needed)
		return &c
	case *Apply:
		c := *n
		below := needed.with(n.On...)
		for _, p := range n.Params {
			below[p.Col.ID] = true
		}
		c.Outer, c.Inner = pruneNode(n.Outer, below), pruneNode(n.Inner, below)
		return &c
	case *Aggregate:
		return pruneAggregate(n, needed)
	case *Sort:
		c := *n
		below := needed
		for _, k := range n.Keys {
			below = below.with(k.Expr)
		}
		c.Input = pruneNode(n.Input, below)
		return &c
	case *Limit:
		c := *n
		c.Input = pruneNode(n.Input, needed)
		return &c
	case *Append:
		return pruneAppend(n, needed)
	}
	kids := n.Kids()
	if len(kids) == 0 {
		return n
	}
	next := make([]Node, len(kids))
	for i, kid := range kids {
		next[i] = pruneNode(kid, setOf(kid.Cols()))
	}
	return n.With(next)
}

func pruneScan(n *Scan, needed colSet) Node {
	c := *n
	c.Columns = nil
	keep := needed.with(n.Filter...)
	for _, col := range n.Columns {
		if keep[col.Col.ID] {
			col.FilterOnly = !needed[col.Col.ID]
			c.Columns = append(c.Columns, col)
		}
	}
	if n.RowRef != nil && !keep[n.RowRef.ID] {
		c.RowRef = nil
	}
	return &c
}

func pruneAggregate(n *Aggregate, needed colSet) Node {
	c := *n
	below := colSet{}
	for _, g := range n.Groups {
		below.addExpr(g.Expr)
	}
	c.Aggs = nil
	for i, a := range n.Aggs {
		// A scalar aggregate needs an aggregate left to be one.
		if !needed[a.Col.ID] && (len(n.Groups) > 0 || i > 0 || len(n.Aggs) > 1 && anyNeeded(n.Aggs, needed)) {
			continue
		}
		c.Aggs = append(c.Aggs, a)
		for _, arg := range (&aggregateRef{call: a.Call}).Children() {
			below.addExpr(arg)
		}
	}
	c.Input = pruneNode(n.Input, below)
	return &c
}

func anyNeeded(aggs []AggItem, needed colSet) bool {
	for _, a := range aggs {
		if needed[a.Col.ID] {
			return true
		}
	}
	return false
}

func pruneAppend(n *Append, needed colSet) Node {
	c := *n
	c.Out = neededOf(n.Out, needed)
	c.Inputs = make([]Node, len(n.Inputs))
	for i, input := range n.Inputs {
		var cols []*expr.Col
		for j, col := range input.Cols() {
			if needed[n.Out[j].ID] {
				cols = append(cols, col)
			}
		}
		c.Inputs[i] = keepOrder(pruneNode(input, setOf(cols)), cols)
	}
	return &c
}

// mergeProjects joins projections that follow each other where no expression would be computed
// twice, and removes those that pass their input on unchanged.
func mergeProjects(n Node) Node {
	return transformNodes(n, func(n Node) Node {
		p, ok := n.(*Project)
		if !ok {
			return n
		}
		if inner, ok := p.Input.(*Project); ok && mergeable(p, inner) {
			with := map[expr.ColID]expr.Expr{}
			for _, it := range inner.Items {
				with[it.Col.ID] = it.Expr
			}
			c := *p
			c.Input = inner.Input
			c.Items = make([]Item, len(p.Items))
			for i, it := range p.Items {
				c.Items[i] = Item{Col: it.Col, Expr: replaceCols(it.Expr, with)}
			}
			p = &c
		}
		cols := p.Input.Cols()
		if len(cols) != len(p.Items) {
			return p
		}
		for i, it := range p.Items {
			if c, ok := it.Expr.(*expr.Col); !ok || c.ID != cols[i].ID || it.Col.ID != c.ID {
				return p
			}
		}
		return p.Input
	})
}

// mergeable reports whether every expression of inner is cheap or read once.
func mergeable(outer, inner *Project) bool {
	uses := map[expr.ColID]int{}
	for _, it := range outer.Items {
		expr.Walk(it.Expr, func(e expr.Expr) bool {
			if c, ok := e.(*expr.Col); ok {
				uses[c.ID]++
			}
			return true
		})
	}
	for _, it := range inner.Items {
		switch it.Expr.(type) {
		case *expr.Col, *expr.Const, *expr.Param:
			continue
		}
		if uses[it.Col.ID] > 1 || expr.VolatilityOf(it.Expr) == expr.Volatile {
			return false
		}
	}
	return true
}
