package planner

import (
	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/prune"
)

// maxLeafGroups bounds the groups that rows of a build are divided into: each needs a buffer.
const maxLeafGroups = 64

// joinPartitionWise finds the joins that can be carried out group by group of partitions. Whether one is
// depends on the memory that there is when it runs.
// Needs: choose_access, since the scans are known then.
func joinPartitionWise(b *binder, n Node) Node {
	if !b.settings.EnablePartitionwiseJoin {
		return n
	}
	return transformNodes(n, func(n Node) Node {
		join, ok := n.(*Join)
		if !ok || len(join.Keys) == 0 || join.Merge != nil || join.NullAware || join.Kind == NullAwareAntiJoin {
			return n
		}
		wise := b.partitionWise(join)
		if wise == nil {
			return n
		}
		c := *join
		c.Wise = wise
		return &c
	})
}

func (b *binder) partitionWise(n *Join) *PartitionWise {
	left := PartitionedInput(n.Left)
	if left == nil {
		return nil
	}
	columns, types := left.Parts.Desc.DividedBy()
	w := &PartitionWise{}
	for i, pos := range columns {
		key := -1
		for k := range n.Keys {
			if c, ok := traced(n.Left, n.Keys[k].Left).(*expr.Col); ok && expr.Equal(c, left.columnAt(pos)) && prune.SameDivision(types[i], n.Keys[k].Right.Type()) {
				key = k
				break
			}
		}
		if key < 0 {
			return nil
		}
		w.Keys = append(w.Keys, key)
	}
	if len(columns) == 0 {
		return nil
	}
	if w.divide(left); len(w.Groups) < 2 {
		return nil
	}
	w.Pairs = b.pairs(n, left, w.Keys)
	return w
}

// PartitionedInput returns the scan of a partitioned table that a node is, but for filters and
// projections over it; nil where it is none.
func PartitionedInput(n Node) *Scan {
	switch n := n.(type) {
	case *Scan:
		if n.Parts != nil && !n.Parts.Only {
			return n
		}
	case *Filter:
		return PartitionedInput(n.Input)
	case *Project:
		return PartitionedInput(n.Input)
	}
	return nil
}

// divide makes groups of neighbouring direct partitions: as many partitions in each, but for those that
// are not read.
func (w *PartitionWise) divide(left *Scan) {
	direct := left.Parts.Desc.Direct()
	read := 0
	for _, d := range direct {
		if d.Left.IntersectionCardinality(left.Parts.Selected) > 0 {
			read++
		}
	}
	each := (read + maxLeafGroups - 1) / maxLeafGroups
	taken := 0
	for _, d := range direct {
		if d.Left.IntersectionCardinality(left.Parts.Selected) > 0 {
			if taken%each == 0 {
				w.Groups = append(w.Groups, LeafGroup{Left: bitset.New(d.Left.Len())})
			}
			taken++
			w.Groups[len(w.Groups)-1].Left.InPlaceUnion(d.Left)
			w.GroupOf = append(w.GroupOf, len(w.Groups)-1)
		} else {
			w.GroupOf = append(w.GroupOf, -1) // no row of the left side is there
		}
	}
}

// pairs divides the leaves of both sides of a join.
func (b *binder) pairs(n *Join, left *Scan, keys []int) (out []LeafGroup) {
	right := PartitionedInput(n.Right)
	if right == nil {
		return nil
	}
	columns, _ := right.Parts.Desc.DividedBy()
	if len(columns) != len(keys) {
		return nil
	}
	for i, pos := range columns {
		if c, ok := traced(n.Right, n.Keys[keys[i]].Right).(*expr.Col); !ok || !expr.Equal(c, right.columnAt(pos)) {
			return nil
		}
	}
	groups, ok := prune.Match(left.Parts.Desc, right.Parts.Desc)
	if !ok || b.world == nil {
		return nil // without row counts it cannot be chosen
	}
	for _, g := range groups {
		g.Left.InPlaceIntersection(left.Parts.Selected)
		g.Right.InPlaceIntersection(right.Parts.Selected)
		if g.Left.None() && g.Right.None() {
			continue
		}
		pair := LeafGroup{Left: g.Left, Right: g.Right}
		for i, ok := g.Left.NextSet(0); ok; i, ok = g.Left.NextSet(i + 1) {
			pair.LeftRows += b.world.Rows(left.Parts.Desc.Leaves[i].Table)
		}
		for i, ok := g.Right.NextSet(0); ok; i, ok = g.Right.NextSet(i + 1) {
			pair.RightRows += b.world.Rows(right.Parts.Desc.Leaves[i].Table)
		}
		out = append(out, pair)
	}
	if len(out) < 2 {
		return nil
	}
	return out
}
