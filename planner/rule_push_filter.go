package planner

import (
	"github.com/weftdb/weft/expr"
)

// pushFilters moves conditions down to where their columns come from:
//
//	Filter(a.x = 1 AND a.y = b.y, Join(a, b))  →  Join[a.y = b.y](Scan a [x = 1], b)
//
// On the way an outer join whose padded rows a condition refuses becomes an inner join, conditions
// common to all branches of an OR are taken out of it, and an OR over several relations leaves a
// weaker condition on each. Needs: unnest.
func pushFilters(b *binder, n Node) Node { return push(n, nil) }

// push returns n with conds applied as deep as they can be.
func push(n Node, conds []expr.Expr) Node {
	switch n := n.(type) {
	case *Filter:
		// The filter's own conditions come first: they may shield those above from values that
		// make them fail.
		return push(n.Input, append(factorAll(n.Conds), conds...))
	case *Project:
		return pushProject(n, conds)
	case *Join:
		return pushJoin(n, conds)
	case *Apply:
		return pushApply(n, conds)
	case *Aggregate:
		return pushAggregate(n, conds)
	case *Append:
		return pushAppend(n, conds)
	case *Scan:
		if len(conds) == 0 {
			return n
		}
		c := *n
		c.Filter = append(append([]expr.Expr(nil), n.Filter...), conds...)
		return &c
	case *Sort:
		if n.Limit == nil && n.Offset == nil {
			c := *n
			c.Input = push(n.Input, conds)
			return &c
		}
	}
	return filterOver(pushKids(n), conds)
}

// pushKids pushes nothing new into a node's inputs, but lets their own filters sink.
func pushKids(n Node) Node {
	kids := n.Kids()
	if len(kids) == 0 {
		return n
	}
	next := make([]Node, len(kids))
	for i, kid := range kids {
		next[i] = push(kid, nil)
	}
	return n.With(next)
}

func filterOver(n Node, conds []expr.Expr) Node {
	if len(conds) == 0 {
		return n
	}
	return &Filter{Input: n, Conds: conds}
}

func pushProject(n *Project, conds []expr.Expr) Node {
	with := map[expr.ColID]expr.Expr{}
	blocked := colSet{}
	for _, it := range n.Items {
		if expr.VolatilityOf(it.Expr) == expr.Volatile {
			blocked[it.Col.ID] = true
		}
		with[it.Col.ID] = it.Expr
	}
	var below, above []expr.Expr
	for _, c := range conds {
		if columnSet(c).meets(blocked) {
			above = append(above, c)
		} else {
			below = append(below, replaceCols(c, with))
		}
	}
	c := *n
	c.Input = push(n.Input, below)
	return filterOver(&c, above)
}

func pushAggregate(n *Aggregate, conds []expr.Expr) Node {
	with := map[expr.ColID]expr.Expr{}
	groups := colSet{}
	for _, g := range n.Groups {
		with[g.Col.ID] = g.Expr
		groups[g.Col.ID] = true
	}
	var below, above []expr.Expr
	for _, c := range conds {
		used := columnSet(c)
		if len(used) > 0 && used.within(groups) && expr.VolatilityOf(c) != expr.Volatile {
			below = append(below, replaceCols(c, with))
		} else {
			above = append(above, c)
		}
	}
	c := *n
	c.Input = push(n.Input, below)
	return filterOver(&c, above)
}

func pushAppend(n *Append, conds []expr.Expr) Node {
	c := *n
	c.Inputs = make([]Node, len(n.Inputs))
	for i, input := range n.Inputs {
		with := map[expr.ColID]expr.Expr{}
		for j, col := range input.Cols() {
			with[n.Out[j].ID] = col
		}
		own := make([]expr.Expr, len(conds))
		for j, cond := range conds {
			own[j] = replaceCols(cond, with)
		}
		c.Inputs[i] = push(input, own)
	}
	return &c
}

// pushJoin distributes conditions from above and the join's own.
func pushJoin(n *Join, conds []expr.Expr) Node {
	left, right := setOf(n.Left.Cols()), setOf(n.Right.Cols())
	c := *n
	c.Kind = simplifyOuter(n.Kind, conds, left, right)
	s := &spread{left: left, right: right}
	on := factorAll(n.On)
	switch c.Kind {
	case InnerJoin:
		s.add(append(on, conds...), true, true)
		c.On = s.both
	case LeftJoin, SingleJoin:
		s.add(on, false, true)
		c.On, s.both = s.both, nil
		s.add(conds, true, false)
	case RightJoin:
		s.add(on, true, false)
		c.On, s.both = s.both, nil
		s.add(conds, false, true)
	case SemiJoin:
		s.add(on, true, true)
		c.On, s.both = s.both, nil
		s.add(conds, true, false)
	case AntiJoin:
		s.add(on, false, true)
		c.On, s.both = s.both, nil
		s.add(conds, true, false)
	case MarkJoin, NullAwareAntiJoin:
		// A NULL condition counts here, so the join's own conditions must not filter earlier.
		s.add(conds, true, false)
	case FullJoin:
		s.both = conds
	}
	if c.Kind == InnerJoin {
		s.both = nil
	}
	c.Left, c.Right = push(n.Left, s.toLeft), push(n.Right, s.toRight)
	return filterOver(&c, s.both)
}

// pushApply lets conditions on outer rows decide before the inner side is run for them.
func pushApply(n *Apply, conds []expr.Expr) Node {
	s := &spread{left: setOf(n.Outer.Cols()), right: colSet{}}
	s.add(conds, true, false)
	c := *n
	c.Outer, c.Inner = push(n.Outer, s.toLeft), push(n.Inner, nil)
	return filterOver(&c, s.both)
}

// spread sorts conditions by the side they can go to.
type spread struct {
	left, right           colSet
	toLeft, toRight, both []expr.Expr
}

func (s *spread) add(conds []expr.Expr, leftOK, rightOK bool) {
	for _, c := range conds {
		used := columnSet(c)
		if expr.VolatilityOf(c) == expr.Volatile {
			s.both = append(s.both, c)
			continue
		}
		switch {
		case leftOK && used.within(s.left):
			s.toLeft = append(s.toLeft, c)
		case rightOK && used.within(s.right) && len(used) > 0:
			s.toRight = append(s.toRight, c)
		default:
			s.both = append(s.both, c)
			if leftOK {
				s.toLeft = appendImplied(s.toLeft, c, s.left)
			}
			if rightOK {
				s.toRight = appendImplied(s.toRight, c, s.right)
			}
		}
	}
}

// appendImplied adds what an OR over several relations says of one of them alone: if every branch
// restricts it, the OR of those restrictions.
func appendImplied(list []expr.Expr, cond expr.Expr, side colSet) []expr.Expr {
	or, ok := cond.(*expr.BoolOp)
	if !ok || !or.Or {
		return list
	}
	implied := &expr.BoolOp{Or: true}
	for _, branch := range or.Args {
		var own []expr.Expr
		for _, c := range expr.Conjuncts(branch) {
			if used := columnSet(c); len(used) > 0 && used.within(side) {
				own = append(own, c)
			}
		}
		if len(own) == 0 {
			return list
		}
		implied.Args = append(implied.Args, conjunction(own))
	}
	return append(list, implied)
}

func conjunction(conds []expr.Expr) expr.Expr {
	if len(conds) == 1 {
		return conds[0]
	}
	return &expr.BoolOp{Args: conds}
}

// factorAll takes common conjuncts out of ORs: (a AND b) OR (a AND c) → a AND (b OR c).
func factorAll(conds []expr.Expr) []expr.Expr {
	var out []expr.Expr
	for _, c := range conds {
		out = append(out, factor(c)...)
	}
	return out
}

func factor(cond expr.Expr) []expr.Expr {
	or, ok := cond.(*expr.BoolOp)
	if !ok || !or.Or {
		return expr.Conjuncts(cond)
	}
	branches := make([][]expr.Expr, len(or.Args))
	for i, a := range or.Args {
		branches[i] = expr.Conjuncts(a)
	}
	var common []expr.Expr
	for _, c := range branches[0] {
		everywhere := true
		for _, other := range branches[1:] {
			everywhere = everywhere && indexOf(other, c) >= 0
		}
		if everywhere && expr.VolatilityOf(c) != expr.Volatile {
			common = append(common, c)
		}
	}
	if len(common) == 0 {
		return []expr.Expr{cond}
	}
	rest := &expr.BoolOp{Or: true}
	for _, branch := range branches {
		var left []expr.Expr
		for _, c := range branch {
			if indexOf(common, c) < 0 {
				left = append(left, c)
			}
		}
		if len(left) == 0 { // one branch is just the common part, which then decides
			return common
		}
		rest.Args = append(rest.Args, conjunction(left))
	}
	return append(common, rest)
}

func indexOf(list []expr.Expr, e expr.Expr) int {
	for i := range list {
		if expr.Equal(list[i], e) {
			return i
		}
	}
	return -1
}

// simplifyOuter returns the join that a outer join amounts to below conditions that refuse its
// padded rows.
func simplifyOuter(kind JoinKind, conds []expr.Expr, left, right colSet) JoinKind {
	refuses := func(side colSet) bool {
		for _, c := range conds {
			if notTrueOfNulls(c, side) {
				return true
			}
		}
		return false
	}
	switch kind {
	case LeftJoin:
		if refuses(right) {
			return InnerJoin
		}
	case RightJoin:
		if refuses(left) {
			return InnerJoin
		}
	case FullJoin:
		noLeftPad, noRightPad := refuses(left), refuses(right)
		switch {
		case noLeftPad && noRightPad:
			return InnerJoin
		case noLeftPad:
			return LeftJoin
		case noRightPad:
			return RightJoin
		}
	}
	return kind
}

// notTrueOfNulls reports whether cond cannot be true where all columns of side are NULL.
func notTrueOfNulls(cond expr.Expr, side colSet) bool {
	if nullOfNulls(cond, side) {
		return true
	}
	switch e := cond.(type) {
	case *expr.BoolOp:
		for _, a := range e.Args {
			if notTrueOfNulls(a, side) != e.Or {
				return !e.Or
			}
		}
		return e.Or
	case *expr.IsNull:
		return e.Negated && nullOfNulls(e.Arg, side)
	}
	return false
}

// nullOfNulls reports whether e is NULL where all columns of side are NULL.
func nullOfNulls(e expr.Expr, side colSet) bool {
	switch e := e.(type) {
	case *expr.Col:
		return side[e.ID]
	case *expr.Call:
		if !e.Fn.Strict {
			return false
		}
		for _, a := range e.Args {
			if nullOfNulls(a, side) {
				return true
			}
		}
	case *expr.Cast:
		return nullOfNulls(e.Arg, side)
	case *expr.Not:
		return nullOfNulls(e.Arg, side)
	case *expr.InList:
		return nullOfNulls(e.Arg, side)
	}
	return false
}
