package planner

import (
	"github.com/weftdb/weft/expr"
)

// An index join looks the right side's rows up by an index for each row of the left side. It pays
// where the left side has few rows: the right table is not read.

// indexJoinKinds are the joins that can be taken row by row of the left side.
var indexJoinKinds = map[JoinKind]bool{InnerJoin: true, LeftJoin: true, SemiJoin: true, AntiJoin: true}

// indexJoin returns the right side of a join as it is read for one left row, whose columns are
// parameters, with what that costs; nil when no index helps. params tells what the parameters are.
func (b *binder) indexJoin(kind JoinKind, left, right Node, conds []expr.Expr) (inner Node, params []ApplyParam, cost Cost) {
	if p, ok := right.(*Project); ok {
		return b.indexJoinProjected(kind, left, p, conds)
	}
	scan, ok := right.(*Scan)
	if !ok || !indexJoinKinds[kind] || len(scan.Table.Indexes) == 0 || scan.Lock != 0 || scan.hint == hintColumns ||
		b.settings.Router == RouterColumn && scan.Table.HasView && scan.hint != hintRows || !b.settings.EnableIndexJoin {
		return nil, nil, 0
	}
	c := *scan
	c.Filter = append([]expr.Expr(nil), scan.Filter...)
	with := map[expr.ColID]expr.Expr{}
	for _, cond := range conds {
		for id := range columnSet(cond) {
			col := columnOf(left, id)
			if col == nil || with[id] != nil {
				continue
			}
			params = append(params, ApplyParam{Index: b.paramSlots + len(params) + 1, Col: col})
			with[id] = &expr.Param{Index: b.paramSlots + len(params), Typ: col.Typ}
		}
		c.Filter = append(c.Filter, replaceCols(cond, with))
	}
	b.prune(&c)
	index, cost := b.cheapestIndex(&c)
	if index == nil || !usesParam(index) {
		return nil, nil, 0
	}
	return &c, params, cost
}

// indexJoinProjected looks through a projection: its values are computed from the rows found.
func (b *binder) indexJoinProjected(kind JoinKind, left Node, p *Project, conds []expr.Expr) (inner Node, params []ApplyParam, cost Cost) {
	with := map[expr.ColID]expr.Expr{}
	for _, it := range p.Items {
		if expr.VolatilityOf(it.Expr) == expr.Volatile {
			return nil, nil, 0
		}
		with[it.Col.ID] = it.Expr
	}
	below := make([]expr.Expr, len(conds))
	for i, cond := range conds {
		below[i] = replaceCols(cond, with)
	}
	if inner, params, cost = b.indexJoin(kind, left, p.Input, below); inner == nil {
		return nil, nil, 0
	}
	return p.With([]Node{inner}), params, cost
}

// columnOf finds a node's output column by its id.
func columnOf(n Node, id expr.ColID) *expr.Col {
	for _, c := range n.Cols() {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// usesParam reports whether an index range depends on the left row.
func usesParam(s *IndexScan) bool {
	for _, cond := range s.Conds {
		if expr.HasParam(cond) {
			return true
		}
	}
	return false
}

// indexJoinCost is the cost of an index join itself, without its left side.
func indexJoinCost(leftRows float64, perRow Cost) float64 {
	return leftRows * (costApplyRun + float64(perRow))
}

// chooseIndexJoin makes an Apply of a join that an index makes cheaper than hashing; nil if none
// does.
func (b *binder) chooseIndexJoin(n *Join) Node {
	leftRows, rightRows, out := b.estimate(n.Left).rows, b.estimate(n.Right).rows, b.estimate(n).rows
	inner, params, perRow := b.indexJoin(n.Kind, n.Left, n.Right, n.On)
	if inner == nil {
		return nil
	}
	hash := min(joinCost(leftRows, rightRows, out, true), joinCost(rightRows, leftRows, out, true))
	if indexJoinCost(leftRows, perRow) >= hash+float64(b.scanned(n.Right)) {
		return nil
	}
	b.paramSlots += len(params)
	return keepOrder(&Apply{Kind: n.Kind, Outer: n.Left, Inner: inner, Params: params, ByIndex: true}, n.Cols())
}

// scanned is what reading the table below projections costs in the way that route will choose.
func (b *binder) scanned(n Node) Cost {
	for {
		p, ok := n.(*Project)
		if !ok {
			break
		}
		n = p.Input
	}
	c := *n.(*Scan)
	b.route(&c)
	_, cost := b.scanCost(&c, c.Access)
	return cost
}
