package planner

import (
	"slices"

	"github.com/weftdb/weft/expr"
)

// foldConstants computes what does not depend on rows: 1 + 2 → 3, x = x_const AND true → x = x_const.
// A subexpression that raises an error stays, so that the error comes only if it is evaluated.
func foldConstants(b *binder, n Node) Node {
	return transformNodes(n, func(n Node) Node {
		if p, ok := n.(*Project); ok {
			return b.foldItems(p)
		}
		n = mapExprs(n, b.fold)
		f, ok := n.(*Filter)
		if !ok {
			return n
		}
		var conds []expr.Expr
		for _, c := range f.Conds {
			if k, ok := c.(*expr.Const); ok && !k.Value.Null && k.Value.I != 0 {
				continue
			}
			conds = append(conds, c)
		}
		if len(conds) == 0 {
			return f.Input
		}
		c := *f
		c.Conds = conds
		return &c
	})
}

// fold computes the constant parts of an expression. An error that PostgreSQL raises while planning
// is kept for the end of planning.
func (b *binder) fold(e expr.Expr) expr.Expr {
	out, err := folded(e)
	b.fail(err)
	return out
}

func folded(e expr.Expr) (expr.Expr, error) {
	out, err := expr.FoldConstants(e, nil)
	return expr.Transform(out, expr.SimplifyComparison), err
}

// fail keeps the first error for the end of planning.
func (b *binder) fail(err error) {
	if b.failed == nil {
		b.failed = err
	}
}

// foldItems folds what a projection computes. An item that nobody turns out to need may fail.
func (b *binder) foldItems(p *Project) Node {
	c := *p
	c.Items = slices.Clone(p.Items)
	for i := range c.Items {
		it := &c.Items[i]
		var err error
		it.Expr, err = folded(it.Expr)
		b.failing = b.failing || err != nil
	}
	return &c
}

// failIfNeeded fails for items that are left in a plan, whose other columns were pruned. They are computed again,
// for rules may have rewritten them.
func (b *binder) failIfNeeded(n Node) {
	if !b.failing {
		return
	}
	walkNodes(n, func(n Node) bool {
		if p, ok := n.(*Project); ok {
			for _, it := range p.Items {
				_, err := expr.FoldConstants(it.Expr, nil)
				b.fail(err)
			}
		}
		return true
	})
}

// topN gives a Sort directly below a Limit the limit, so that it keeps only that many rows:
//
//	Limit(Sort(x))  →  Sort[limit](x), also through a projection between the two.
func topN(b *binder, n Node) Node {
	return transformNodes(n, func(n Node) Node {
		l, ok := n.(*Limit)
		if !ok || l.Count == nil {
			return n
		}
		switch in := l.Input.(type) {
		case *Sort:
			if in.Limit == nil && in.Offset == nil {
				return limited(in, l)
			}
		case *Project:
			if s, ok := in.Input.(*Sort); ok && s.Limit == nil && s.Offset == nil {
				c := *in
				c.Input = limited(s, l)
				return &c
			}
		}
		return n
	})
}

func limited(s *Sort, l *Limit) *Sort {
	c := *s
	c.Limit, c.Offset = l.Count, l.Offset
	return &c
}
