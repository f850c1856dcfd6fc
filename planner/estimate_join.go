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
	inner := innerRows(left, right, eqs, rest)
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
	out := joinedFacts(left, right, kind, inner)
	if kind == InnerJoin {
		out.keys = equatedKeys(out.keys, eqs)
	}
	return out
}

// innerRows estimates the rows of an inner join.
func innerRows(left, right *relFacts, eqs []equality, rest []expr.Expr) float64 {
	rows := left.rows * right.rows * equalitySelectivity(left, right, eqs)
	for range rest {
		rows *= defaultResidual
	}
	return rows
}

// joinedFacts merges both sides' facts under a number of matches.
func joinedFacts(left, right *relFacts, kind JoinKind, inner float64) *relFacts {
	rows := inner
	switch kind {
	case LeftJoin:
		rows = math.Max(inner, left.rows)
	case SingleJoin, MarkJoin:
		rows = left.rows
	case RightJoin:
		rows = math.Max(inner, right.rows)
	case FullJoin:
		rows = math.Max(inner, left.rows+right.rows)
	case SemiJoin, AntiJoin:
		rows = left.rows * defaultSemi
	}
	out := &relFacts{rows: rows, cols: make(map[expr.ColID]colFacts, len(left.cols)+len(right.cols))}
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

// equalitySelectivity is the share of the cross product that satisfies all equalities: one over the
// larger number of distinct keys. A side has no more distinct keys than rows, however many columns
// the key has; where the columns cover a key of a side, it had as many before its filters as rows.
func equalitySelectivity(left, right *relFacts, eqs []equality) float64 {
	if len(eqs) == 0 {
		return 1
	}
	leftKeys, rightKeys := 1.0, 1.0
	leftCols, rightCols := colSet{}, colSet{}
	for _, e := range eqs {
		leftKeys *= math.Max(left.exprFacts(e.left).distinct, 1)
		rightKeys *= math.Max(right.exprFacts(e.right).distinct, 1)
		addBare(leftCols, e.left)
		addBare(rightCols, e.right)
	}
	if len(eqs) > 1 {
		leftKeys = math.Min(leftKeys, math.Max(left.rows, 1))
		rightKeys = math.Min(rightKeys, math.Max(right.rows, 1))
	}
	// Values of a foreign key are drawn from the whole domain of the key it refers to, also from
	// those whose rows a filter has removed.
	if domain := left.keyDomain(leftCols); domain > 0 {
		return 1 / domain
	}
	if domain := right.keyDomain(rightCols); domain > 0 {
		return 1 / domain
	}
	return 1 / math.Max(leftKeys, rightKeys)
}

// keyDomain returns the size of a key that cols cover, 0 if they cover none. Of several keys the
// one with the fewest rows decides.
func (f *relFacts) keyDomain(cols colSet) float64 {
	domain := 0.0
	for _, k := range f.keys {
		if len(k.cols) > 0 && k.cols.within(cols) && (domain == 0 || k.domain < domain) {
			domain = k.domain
		}
	}
	return domain
}

// equatedKeys adds to keys those in which a column is replaced by one that a join makes equal to it.
func equatedKeys(keys []keyFacts, eqs []equality) []keyFacts {
	const most = 16 // variants beyond this add planning time and hardly ever a better estimate
	out := keys
	for _, e := range eqs {
		l, r := bareColumn(e.left), bareColumn(e.right)
		if l == nil || r == nil {
			continue
		}
		for _, k := range keys {
			if len(out) >= most {
				return out
			}
			for _, swap := range [][2]*expr.Col{{l, r}, {r, l}} {
				if k.cols[swap[0].ID] && !k.cols[swap[1].ID] {
					cols := k.cols.with()
					delete(cols, swap[0].ID)
					cols[swap[1].ID] = true
					out = append(out[:len(out):len(out)], keyFacts{cols, k.domain})
				}
			}
		}
	}
	return out
}

func bareColumn(e expr.Expr) *expr.Col {
	for {
		c, ok := e.(*expr.Cast)
		if !ok {
			break
		}
		e = c.Arg
	}
	c, _ := e.(*expr.Col)
	return c
}

func addBare(set colSet, e expr.Expr) {
	if c := bareColumn(e); c != nil {
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
