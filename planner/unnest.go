package planner

import (
	"github.com/weftdb/weft/expr"
)

// unnest removes correlation: after it, no node uses columns of another subtree, apart from the
// inner plans of Apply nodes, whose outer columns became parameters.
//
// A dependent join is a join whose right side uses columns of its left side. Innermost first, each
// is treated by the first of three ways that works:
//
//  1. pullUp moves the correlated conditions up to the join, when everything between lets them
//     pass. An aggregate lets equalities pass by grouping by their inner side.
//  2. pushDomain joins the distinct outer values (the domain) into the subquery, down to where
//     they are used, and joins the result on them (Neumann and Kemper, "Unnesting Arbitrary
//     Queries", BTW 2015). The left side is then computed once and read twice.
//  3. Apply runs the subquery for each outer row: what is left below LIMIT.
func (b *binder) unnest(n Node) Node {
	return transformNodes(n, func(n Node) Node {
		join, ok := n.(*Join)
		if !ok {
			return n
		}
		if join.Kind == RightJoin || join.Kind == FullJoin {
			return n
		}
		return b.unnestJoin(join)
	})
}

// correlated returns the columns of left that right uses.
func correlated(left, right Node) colSet {
	corr := colSet{}
	have := setOf(left.Cols())
	for id := range freeColumns(right) {
		if have[id] {
			corr[id] = true
		}
	}
	return corr
}

func (b *binder) unnestJoin(join *Join) Node {
	corr := correlated(join.Left, join.Right)
	if len(corr) == 0 {
		return join
	}
	right := join.Right
	if len(join.On) == 0 && (join.Kind == SemiJoin || join.Kind == AntiJoin || join.Kind == MarkJoin) {
		right = stripLimit(right)
	}
	p := &puller{b: b, corr: corr}
	if out, ok := p.pull(right); ok {
		if done := b.joinPulled(join, out); done != nil {
			return done
		}
	}
	d := &domain{b: b, corr: corr}
	if out := d.join(join, right); out != nil {
		return out
	}
	return b.applyJoin(join, right, corr)
}

// stripLimit removes what does not change whether a query has rows.
func stripLimit(n Node) Node {
	for {
		switch l := n.(type) {
		case *Limit:
			c, ok := l.Count.(*expr.Const)
			if l.Offset != nil || !ok || c.Value.Null || c.Value.I < 1 {
				return n
			}
			n = l.Input
		case *Sort:
			if l.Limit != nil || l.Offset != nil {
				return n
			}
			n = l.Input
		default:
			return n
		}
	}
}

// applyJoin turns a dependent join into an Apply: the outer columns become parameters.
func (b *binder) applyJoin(join *Join, right Node, corr colSet) Node {
	a := &Apply{Kind: join.Kind, Outer: join.Left, On: join.On, Mark: join.Mark}
	with := map[expr.ColID]expr.Expr{}
	for _, c := range join.Left.Cols() {
		if corr[c.ID] {
			b.paramSlots++
			a.Params = append(a.Params, ApplyParam{Index: b.paramSlots, Col: c})
			with[c.ID] = &expr.Param{Index: b.paramSlots, Typ: c.Typ}
		}
	}
	a.Inner = substitute(right, with)
	return a
}

// joinPulled joins with a right side whose correlated conditions were pulled up. It returns nil
// when the kind of join needs the other way.
func (b *binder) joinPulled(join *Join, out pulled) Node {
	c := *join
	c.On = append([]expr.Expr(nil), join.On...)
	for _, cond := range out.conds {
		if join.Kind == MarkJoin || join.Kind == NullAwareAntiJoin {
			cond = isTrue(cond) // it filtered rows, where NULL is as good as FALSE
		}
		c.On = append(c.On, cond)
	}
	c.Right = out.node
	if out.empty == nil {
		return withoutExtra(&c, join)
	}
	// A scalar aggregate yields a row even for no input, which the grouped one does not.
	switch join.Kind {
	case SingleJoin, LeftJoin, InnerJoin:
		if join.Kind != SingleJoin && len(join.On) > 0 {
			return nil
		}
		c.Kind = LeftJoin
		return b.fillEmpty(&c, join, out.empty)
	}
	return nil
}

// withoutExtra hides the columns that pulling added to the right side.
func withoutExtra(join, original *Join) Node {
	if len(join.Cols()) == len(original.Cols()) {
		return join
	}
	return keepColumns(join, original.Cols())
}

// fillEmpty gives the columns of an aggregate that found no rows the values it has for no rows.
func (b *binder) fillEmpty(join, original *Join, empty map[expr.ColID]expr.Expr) Node {
	matched := b.column("matched", boolType, true)
	renamed := &Project{Input: join.Right}
	with := map[expr.ColID]expr.Expr{}
	p := &Project{}
	for _, c := range original.Left.Cols() {
		p.Items = append(p.Items, Item{Col: c, Expr: c})
	}
	wanted := setOf(original.Right.Cols())
	needMatch := false
	for _, c := range join.Right.Cols() {
		value, ok := empty[c.ID]
		if k, isConst := value.(*expr.Const); !ok || !wanted[c.ID] || isConst && k.Value.Null {
			renamed.Items = append(renamed.Items, Item{Col: c, Expr: c})
			if wanted[c.ID] {
				col := nullable(c)
				p.Items = append(p.Items, Item{Col: col, Expr: col})
			}
			continue
		}
		needMatch = true
		inner := b.columnLike(c)
		renamed.Items = append(renamed.Items, Item{Col: inner, Expr: c})
		with[c.ID] = inner
		p.Items = append(p.Items, Item{Col: c, Expr: &expr.Case{
			Whens: []expr.When{{Cond: &expr.IsNull{Arg: nullable(matched)}, Result: value}},
			Else:  nullable(inner), Typ: c.Typ}})
	}
	if needMatch {
		renamed.Items = append(renamed.Items, Item{Col: matched, Expr: &expr.Const{Value: boolDatum(true), Typ: boolType}})
		join.Right = renamed
		for i, on := range join.On {
			join.On[i] = replaceCols(on, with)
		}
	}
	p.Input = join
	return p
}
