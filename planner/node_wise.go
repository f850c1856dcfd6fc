package planner

import "github.com/bits-and-blooms/bitset"

// PartitionWise tells how a hash join may be carried out group by group of the leaves of its left side,
// which is a scan of a partitioned table with filters and projections over it at most: rows of a group
// find matches in that group alone.
type PartitionWise struct {
	// Keys are the numbers of the join keys that equate the columns by which the table on the left is
	// partitioned.
	Keys []int
	// Groups divide the leaves on the left, a direct partition each or several; GroupOf tells in which a
	// direct partition is. A row on the right belongs to the group that its keys would be in.
	Groups  []LeafGroup
	GroupOf []int
	// Pairs divide the leaves on both sides, where the right side is a scan of a table partitioned by the
	// other side of the same keys; nil where it is not.
	Pairs []LeafGroup
}

// LeafGroup is leaves that a partition-wise join reads at a time.
type LeafGroup struct {
	Left, Right *bitset.BitSet
	// LeftRows and RightRows are how many rows the leaves have.
	LeftRows, RightRows float64
}

// AggregateWise tells that a grouping may be carried out some leaves at a time: no group has rows in leaves
// of two divisions.
type AggregateWise struct {
	// Divisions are leaves of the partitioned table that the grouping reads; nil where it reads a join of two
	// such tables, whose Pairs they are.
	Divisions []*bitset.BitSet
}
