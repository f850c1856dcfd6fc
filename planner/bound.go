package planner

import (
	"fmt"
	"math"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
)

// RowsBound is an upper limit of a row count that holds for certain, under the row counts that it was made
// with. It is no number, so that estimates and bounds are never taken for each other.
type RowsBound struct{ rows float64 }

// unbounded is the bound of what nothing is known of.
var unbounded = RowsBound{math.Inf(1)}

// Holds reports whether so many rows are within the bound.
func (b RowsBound) Holds(rows int64) bool { return float64(rows) <= b.rows }

// Known reports whether there is a limit.
func (b RowsBound) Known() bool { return !math.IsInf(b.rows, 1) }

// bytes is what so many rows take at most when each takes so many bytes on average.
func (b RowsBound) bytes(each int) float64 { return b.rows * float64(each) }

// String prints the number, or that it is not known.
func (b RowsBound) String() string {
	if !b.Known() {
		return "unknown"
	}
	return fmt.Sprintf("%.0f", b.rows)
}

func (b RowsBound) plus(o RowsBound) RowsBound { return RowsBound{b.rows + o.rows} }

func (b RowsBound) times(o RowsBound) RowsBound {
	if b.rows == 0 || o.rows == 0 {
		return RowsBound{}
	}
	return RowsBound{b.rows * o.rows}
}

func (b RowsBound) least(o RowsBound) RowsBound { return RowsBound{math.Min(b.rows, o.rows)} }

func (b RowsBound) orOne() RowsBound { return RowsBound{math.Max(b.rows, 1)} }

// proof is what holds for certain of the rows of a node.
type proof struct {
	bound RowsBound
	keys  []rowKey
}

// prover finds proofs, once for each node.
type prover struct {
	// rows is how many rows a table with stores has at most.
	rows  func(t *catalog.Table) RowsBound
	known map[Node]proof
}

// newProver returns a prover whose bounds hold each time a node is run while no table has more rows than rows
// says; nil: nothing is known of that. A plan that is kept may be run later, when there are more: bounds are
// made for an execution, with what its snapshot shows, and are no part of a plan.
func newProver(rows func(t *catalog.Table) int64) *prover {
	p := &prover{known: map[Node]proof{}, rows: func(*catalog.Table) RowsBound { return unbounded }}
	if rows != nil {
		p.rows = func(t *catalog.Table) RowsBound { return RowsBound{float64(rows(t))} }
	}
	return p
}

func (p *prover) of(n Node) proof {
	if f, ok := p.known[n]; ok {
		return f
	}
	f := p.prove(n)
	for i := range f.keys {
		if len(f.keys[i].cols) == 0 {
			f.bound = f.bound.least(RowsBound{1})
		}
	}
	p.known[n] = f
	return f
}

func (p *prover) prove(n Node) proof {
	switch n := n.(type) {
	case *Scan:
		return p.scan(n)
	case *Filter:
		in := p.of(n.Input)
		return proof{passing(in.bound, n.Conds), pinned(in.keys, n.Conds)}
	case *Project:
		in := p.of(n.Input)
		return proof{in.bound, projected(in.keys, itemNames(n.Items))}
	case *Join:
		return p.join(n)
	case *Apply:
		outer, inner := p.of(n.Outer), p.of(n.Inner)
		return proof{joinBound(n.Kind, outer.bound, inner.bound, joinSides{}), applyKeys(n.Kind, outer.keys)}
	case *Aggregate:
		return p.aggregate(n)
	case *Sort:
		in := p.of(n.Input)
		if n.Ties {
			return in
		}
		return proof{cut(in.bound, n.Limit), in.keys}
	case *Limit:
		in := p.of(n.Input)
		return proof{cut(in.bound, n.Count), in.keys}
	case *Append:
		out := proof{}
		for _, input := range n.Inputs {
			out.bound = out.bound.plus(p.of(input).bound)
		}
		return out
	case *Repeat:
		return proof{bound: p.repeated(n.Input)}
	case *Values:
		return proof{bound: RowsBound{float64(len(n.Rows))}}
	case *FuncScan:
		return series(n)
	case *CTEScan:
		in := p.of(n.CTE.Plan)
		with := map[expr.ColID]expr.ColID{}
		for i, c := range n.CTE.Plan.Cols() {
			if n.Out[i] != nil {
				with[c.ID] = n.Out[i].ID
			}
		}
		return proof{in.bound, projected(in.keys, with)}
	case *LockRows, *LateFetch:
		return p.of(n.Kids()[0])
	case *Insert, *Update, *Delete, *Merge:
		return proof{bound: p.of(n.Kids()[0]).bound} // a row is written once, and returned once
	}
	return proof{bound: unbounded}
}

func (p *prover) scan(n *Scan) proof {
	out := proof{keys: scanKeys(n)}
	if n.Parts == nil {
		out.bound = p.rows(n.Table)
	} else {
		set := n.Parts.Selected
		for i, ok := set.NextSet(0); ok; i, ok = set.NextSet(i + 1) {
			out.bound = out.bound.plus(p.rows(n.Parts.Desc.Leaves[i].Table))
		}
	}
	out.bound = passing(out.bound, n.Filter)
	return out
}

// passing bounds what passes conditions: all of it, for all that is known, unless one is never true.
func passing(b RowsBound, conds []expr.Expr) RowsBound {
	for _, cond := range conds {
		if k, ok := cond.(*expr.Const); ok && (k.Value.Null || k.Value.I == 0) {
			return RowsBound{}
		}
	}
	return b
}

// cut bounds what LIMIT passes on.
func cut(b RowsBound, limit expr.Expr) RowsBound {
	if k, ok := limit.(*expr.Const); ok && !k.Value.Null {
		return b.least(RowsBound{math.Max(float64(k.Value.I), 0)})
	}
	return b
}

func (p *prover) join(n *Join) proof {
	left, right := p.of(n.Left), p.of(n.Right)
	sides := sidesKeys(left.keys, right.keys, n.Keys)
	return proof{joinBound(n.Kind, left.bound, right.bound, sides), joinKeys(n.Kind, left.keys, right.keys, sides, n.Keys)}
}

// joinBound bounds a join: of matches there are no more than pairs, and no more than rows of a side whose rows
// have one match at most.
func joinBound(kind JoinKind, left, right RowsBound, sides joinSides) RowsBound {
	matches := left.times(right)
	if sides.right != nil {
		matches = matches.least(left)
	}
	if sides.left != nil {
		matches = matches.least(right)
	}
	switch kind {
	case InnerJoin:
		return matches
	case LeftJoin:
		if sides.right != nil {
			return left
		}
		return matches.plus(left).least(left.times(right.orOne()))
	case RightJoin:
		if sides.left != nil {
			return right
		}
		return matches.plus(right).least(right.times(left.orOne()))
	case FullJoin:
		return matches.plus(left).plus(right)
	case RightSemiJoin, RightAntiJoin:
		return right
	}
	return left
}

// applyKeys are the keys of rows for each of which a subquery is run.
func applyKeys(kind JoinKind, outer []rowKey) []rowKey {
	switch kind {
	case SemiJoin, AntiJoin, NullAwareAntiJoin, MarkJoin, SingleJoin:
		return outer
	}
	return nil
}

func (p *prover) aggregate(n *Aggregate) proof {
	in := p.of(n.Input)
	if len(n.Groups) == 0 {
		return proof{RowsBound{1}, []rowKey{{cols: colSet{}, name: "one row"}}}
	}
	keys := []rowKey{{cols: setOf(itemCols(n.Groups)), name: "group"}}
	return proof{in.bound, append(keys, projected(in.keys, itemNames(n.Groups))...)}
}

// repeated bounds INTERSECT ALL and EXCEPT ALL: no row is repeated more often than it was counted below.
func (p *prover) repeated(n Node) RowsBound {
	switch n := n.(type) {
	case *Filter:
		return p.repeated(n.Input)
	case *Project:
		return p.repeated(n.Input)
	case *Aggregate:
		return p.of(n.Input).bound
	}
	return unbounded
}

// series bounds generate_series over integers that are known.
func series(n *FuncScan) proof {
	if n.Name != "generate_series" || len(n.Args) < 2 {
		return proof{bound: unbounded}
	}
	lo, ok1 := n.Args[0].(*expr.Const)
	hi, ok2 := n.Args[1].(*expr.Const)
	step := 1.0
	if len(n.Args) == 3 {
		k, ok := n.Args[2].(*expr.Const)
		if !ok || k.Value.Null || k.Value.I == 0 {
			return proof{bound: unbounded}
		}
		step = float64(k.Value.I)
	}
	if !ok1 || !ok2 || !lo.Typ.IsInteger() || !hi.Typ.IsInteger() {
		return proof{bound: unbounded}
	}
	if lo.Value.Null || hi.Value.Null {
		return proof{}
	}
	// Floats err by less than a row for each 2^52 of them.
	steps := (float64(hi.Value.I) - float64(lo.Value.I)) / step
	return proof{RowsBound{math.Max(0, math.Ceil(steps*(1+1e-15))+1)}, []rowKey{{cols: setOf(n.Out), name: "series"}}}
}
