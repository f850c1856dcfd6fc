package planner

import (
	"slices"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
)

// aggregatePartitionWise finds the groupings that can be carried out some leaves at a time. Whether one is
// depends on the memory that there is when it runs.
// Needs: partitionwise_join, for groupings of joins.
func aggregatePartitionWise(b *binder, n Node) Node {
	if !b.settings.EnablePartitionwiseAggregate {
		return n
	}
	return transformNodes(n, func(n Node) Node {
		a, ok := n.(*Aggregate)
		if !ok || len(a.Groups) == 0 {
			return n
		}
		wise := a.partitionWise()
		if wise == nil {
			return n
		}
		c := *a
		c.Wise = wise
		return &c
	})
}

// partitionWise tells how the groups are divided by partitions; nil where they are not.
func (n *Aggregate) partitionWise() *AggregateWise {
	if join := DividedJoin(n.Input); join != nil {
		if join.Wise == nil || join.Wise.Pairs == nil || !n.hasKeysOf(join) {
			return nil
		}
		return &AggregateWise{}
	}
	scan := PartitionedInput(n.Input)
	if scan == nil {
		return nil
	}
	grouped := make([]expr.Expr, len(n.Groups))
	for i := range n.Groups {
		grouped[i] = traced(n.Input, n.Groups[i].Expr)
	}
	w := &AggregateWise{}
	for _, leaves := range scan.Parts.Desc.Divisions(func(key expr.Expr) bool { return scan.fixedBy(grouped, key) }) {
		if leaves.InPlaceIntersection(scan.Parts.Selected); leaves.Any() {
			w.Divisions = append(w.Divisions, leaves)
		}
	}
	if len(w.Divisions) < 2 {
		return nil
	}
	return w
}

// fixedBy reports whether rows that are equal in all of some expressions over the scan's columns have one
// value of a partition key too: the key is one of them, or computed from columns among them whose equal
// values are the same in all respects. Other values may be equal and yet give another result, such as
// 1.0 and 1.00, or 0 and -0.
func (n *Scan) fixedBy(grouped []expr.Expr, key expr.Expr) bool {
	key, complete := n.overColumns(key)
	if !complete {
		return false
	}
	same := func(e expr.Expr) bool {
		return slices.ContainsFunc(grouped, func(g expr.Expr) bool { return expr.Equal(g, e) })
	}
	if same(key) {
		return true
	}
	some, all := false, true
	expr.Walk(key, func(e expr.Expr) bool {
		if c, ok := e.(*expr.Col); ok {
			some = true
			all = all && exactEquality(c.Typ) && same(c)
		}
		return true
	})
	return some && all
}

// overColumns returns an expression over the columns of the scanned table's description as one over the
// scan's; false where the scan does not read them all.
func (n *Scan) overColumns(e expr.Expr) (expr.Expr, bool) {
	complete := true
	e = expr.Transform(e, func(e expr.Expr) expr.Expr {
		c, ok := e.(*expr.Col)
		if !ok {
			return e
		}
		for pos, own := range n.Parts.Desc.Cols {
			if own.ID == c.ID {
				if at := n.columnAt(pos); at != nil {
					return at
				}
			}
		}
		complete = false
		return e
	})
	return e, complete
}

// exactEquality reports whether equal values of a type cannot be told apart by any function.
func exactEquality(t catalog.Type) bool {
	switch t.ID {
	case catalog.Bool, catalog.Int2, catalog.Int4, catalog.Int8, catalog.Varchar, catalog.Text, catalog.Name, catalog.Bytea, catalog.Date,
		catalog.Timestamp, catalog.TimestampTZ, catalog.Oid:
		return true
	}
	return false
}

// traced follows an expression over the columns of a node down through projections and filters: the result
// is one over the columns of the first node below that is neither.
func traced(n Node, e expr.Expr) expr.Expr {
	for {
		switch m := n.(type) {
		case *Filter:
			n = m.Input
		case *Project:
			items := m.Items
			e = expr.Transform(e, func(e expr.Expr) expr.Expr {
				if c, ok := e.(*expr.Col); ok {
					for i := range items {
						if items[i].Col.ID == c.ID {
							return items[i].Expr
						}
					}
				}
				return e
			})
			n = m.Input
		default:
			return e
		}
	}
}

// DividedJoin returns the hash join that a node is, but for filters and projections over it; nil where it
// is none.
func DividedJoin(n Node) *Join {
	switch n := n.(type) {
	case *Join:
		if len(n.Keys) > 0 {
			return n
		}
	case *Filter:
		return DividedJoin(n.Input)
	case *Project:
		return DividedJoin(n.Input)
	}
	return nil
}

// hasKeysOf reports whether the grouping has, among its expressions, all keys by which both sides of a join
// are partitioned, from a side whose values the join does not replace by NULL.
func (n *Aggregate) hasKeysOf(join *Join) bool {
	left, right := false, false
	switch join.Kind {
	case InnerJoin:
		left, right = true, true
	case LeftJoin, SemiJoin, AntiJoin, MarkJoin, SingleJoin:
		left = true
	case RightJoin, RightSemiJoin, RightAntiJoin:
		right = true
	}
	has := func(side Node, key expr.Expr) bool {
		key = traced(side, key)
		for i := range n.Groups {
			if expr.Equal(traced(side, traced(n.Input, n.Groups[i].Expr)), key) {
				return true
			}
		}
		return false
	}
	for _, k := range join.Wise.Keys {
		if !(left && has(join.Left, join.Keys[k].Left) || right && has(join.Right, join.Keys[k].Right)) {
			return false
		}
	}
	return true
}
