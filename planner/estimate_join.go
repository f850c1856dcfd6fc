package planner

import (
	"math"

	"github.com/weftdb/weft/expr"
)

// equality is a join condition left = right between two relations' expressions.
type equality struct{ left, right expr.Expr }

// splitEqualities separates the equalities between the two sides from other conditions.
func splitEqualities(conds []expr.Expr, left, right colSet) (eqs []equality, rest []expr.Expr) {
	for _, c := range conds {
		if l, r, ok := sidesOf(c, left, right); ok {
			eqs = append(eqs, equality{l, r})
			continue
		}
		rest = append(rest, c)
	}
	return eqs, rest
}

// sidesOf splits an equality or IS NOT DISTINCT FROM into an expression over each side.
func sidesOf(cond expr.Expr, left, right colSet) (l, r expr.Expr, ok bool) {
	cond = stripIsTrue(cond)
	var a, b expr.Expr
	switch e := cond.(type) {
	case *expr.Call:
		if !isEquality(e) {
			return nil, nil, false
		}
		a, b = e.Args[0], e.Args[1]
	case *expr.IsDistinct:
		if !e.Negated {
			return nil, nil, false
		}
		a, b = e.Left, e.Right
	default:
		return nil, nil, false
	}
	ua, ub := columnSet(a), columnSet(b)
	if len(ua) == 0 || len(ub) == 0 {
		return nil, nil, false
	}
	switch {
	case ua.within(left) && ub.within(right):
		return a, b, true
	case ua.within(right) && ub.within(left):
		return b, a, true
	}
	return nil, nil, false
}

// isTrue makes a condition two-valued: NULL becomes FALSE.
func isTrue(cond expr.Expr) expr.Expr {
	return &expr.IsDistinct{Left: cond, Right: &expr.Const{Value: boolDatum(true), Typ: boolType}, Negated: true}
}

// stripIsTrue undoes isTrue.
func stripIsTrue(cond expr.Expr) expr.Expr {
	d, ok := cond.(*expr.IsDistinct)
	if !ok || !d.Negated {
		return cond
	}
	if k, ok := d.Right.(*expr.Const); ok && k.Typ == boolType && !k.Value.Null && k.Value.I == 1 {
		return d.Left
	}
	return cond
}

func (b *binder) joinNodeFacts(n *Join) *relFacts {
	left, right := b.estimate(n.Left), b.estimate(n.Right)
	conds := append([]expr.Expr(nil), n.On...)
	conds = append(conds, n.Residual...)
	eqs, rest := splitEqualities(conds, setOf(n.Left.Cols()), setOf(n.Right.Cols()))
	for _, k := range n.Keys {
		eqs = append(eqs, equality{k.Left, k.Right})
	}
	return joinFacts(n.Kind, left, right, eqs, rest)
}

// joinFacts estimates a join of two relations.
func joinFacts(kind JoinKind, left, right *relFacts, eqs []equality, rest []expr.Expr) *relFacts {
	inner := left.rows * right.rows * equalitySelectivity(left, right, eqs)
	for range rest {
		inner *= defaultResidual
	}
	switch kind {
	case SemiJoin, AntiJoin, NullAwareAntiJoin:
		share := semiShare(left, right, eqs)
		if len(rest) > 0 {
			share *= 1 - math.Pow(1-defaultSemi, math.Max(1, inner/math.Max(left.rows, 1)))
		}
		if kind != SemiJoin {
			share = math.Max(1-share, 0.02)
		}
		return left.filtered(math.Max(share, minimumSelectivity))
	case RightSemiJoin, RightAntiJoin:
		flipped := make([]equality, len(eqs))
		for i, e := range eqs {
			flipped[i] = equality{e.right, e.left}
		}
		k := SemiJoin
		if kind == RightAntiJoin {
			k = AntiJoin
		}
		return joinFacts(k, right, left, flipped, rest)
	}
	return joinedFacts(left, right, kind, inner)
}

// joinedFacts merges both sides' facts under a number of matches.
func joinedFacts(left, right *relFacts, kind JoinKind, inner float64) *relFacts {
	rows := inner
	bound := left.bound * right.bound
	switch kind {
	case LeftJoin:
		rows = math.Max(inner, left.rows)
	case SingleJoin, MarkJoin:
		rows, bound = left.rows, left.bound
	case RightJoin:
		rows = math.Max(inner, right.rows)
	case FullJoin:
		rows = math.Max(inner, left.rows+right.rows)
	case SemiJoin, AntiJoin:
		rows, bound = left.rows*defaultSemi, left.bound
	}
	out := &relFacts{rows: rows, bound: bound, cols: map[expr.ColID]colFacts{}}
	for _, side := range []*relFacts{left, right} {
		for id, c := range side.cols {
			c.distinct = math.Max(1, math.Min(c.distinct, rows))
			out.cols[id] = c
		}
	}
	// A key of one side stays a key when the other side adds at most one match per row.
	if rows <= left.rows*1.0001 {
		out.keys = append(out.keys, left.keys...)
	}
	if rows <= right.rows*1.0001 {
		out.keys = append(out.keys, right.keys...)
	}
	return out
}

// equalitySelectivity is the share of the cross product that satisfies all equalities.
func equalitySelectivity(left, right *relFacts, eqs []equality) float64 {
	if len(eqs) == 0 {
		return 1
	}
	s := 1.0
	leftKey, rightKey := colSet{}, colSet{}
	for _, e := range eqs {
		l, r := left.exprFacts(e.left), right.exprFacts(e.right)
		s /= math.Max(math.Max(l.distinct, r.distinct), 1)
		addBare(leftKey, e.left)
		addBare(rightKey, e.right)
	}
	// A join that covers a key of one side finds at most one match there, however many columns
	// the key has: independence would multiply their selectivities.
	for _, side := range []struct {
		f    *relFacts
		cols colSet
	}{{left, leftKey}, {right, rightKey}} {
		for _, k := range side.f.keys {
			if k.cols.within(side.cols) {
				s = math.Max(s, 1/math.Max(k.domain, 1))
				if len(k.cols) > 1 {
					return math.Min(s, 1)
				}
			}
		}
	}
	return math.Max(s, 1/math.Max(math.Max(left.rows, right.rows)*1e3, 1))
}

func addBare(set colSet, e expr.Expr) {
	for {
		c, ok := e.(*expr.Cast)
		if !ok {
			break
		}
		e = c.Arg
	}
	if c, ok := e.(*expr.Col); ok {
		set[c.ID] = true
	}
}

// semiShare is the share of left rows with a match.
func semiShare(left, right *relFacts, eqs []equality) float64 {
	if len(eqs) == 0 {
		if right.rows < 1 {
			return defaultSemi
		}
		return 1
	}
	share := 1.0
	for _, e := range eqs {
		l, r := left.exprFacts(e.left), right.exprFacts(e.right)
		share = math.Min(share, math.Min(1, r.distinct/math.Max(l.distinct, 1)))
	}
	return share
}
