package prune

import (
	"testing"

	"github.com/weftdb/weft/catalog"
)

// hashed is a description of a table divided by hash: modulus of each partition by remainder.
func hashed(parts ...[2]int) *Desc {
	d := &Desc{top: &Level{table: &catalog.Table{Partitioning: &catalog.Partitioning{Strategy: catalog.PartitionByHash}}, nullKid: -1, defaultKid: -1}}
	var tables []*catalog.Table
	for _, p := range parts {
		tables = append(tables, &catalog.Table{Bound: &catalog.PartitionBound{Modulus: p[0], Remainder: p[1]}})
	}
	d.top.addHashes(tables)
	for i := range d.top.kids {
		d.top.kids[i].lo, d.top.kids[i].hi = i, i+1
		d.Leaves = append(d.Leaves, Leaf{Table: d.top.kids[i].table})
	}
	return d
}

// TestMatchHashes: partitions are in one group where some hash belongs to both, and nothing else puts them
// there.
func TestMatchHashes(t *testing.T) {
	all := func(modulus int) (out [][2]int) {
		for r := range modulus {
			out = append(out, [2]int{modulus, r})
		}
		return out
	}
	for _, c := range []struct {
		left, right [][2]int
		groups      int
	}{
		{all(4), all(4), 4}, {all(4), all(2), 2}, {all(4), all(6), 2}, {all(3), all(4), 1}, {all(5), nil, 5},
		{[][2]int{{2, 0}, {4, 1}, {4, 3}}, all(4), 3}, {all(8), [][2]int{{8, 3}}, 8},
	} {
		groups, ok := Match(hashed(c.left...), hashed(c.right...))
		if !ok || len(groups) != c.groups {
			t.Errorf("%v and %v: %d groups, want %d", c.left, c.right, len(groups), c.groups)
		}
		left, right := uint(0), uint(0)
		for _, g := range groups {
			left, right = left+g.Left.Count(), right+g.Right.Count()
		}
		if left != uint(len(c.left)) || right != uint(len(c.right)) {
			t.Errorf("%v and %v: %d and %d leaves", c.left, c.right, left, right)
		}
	}
	if _, ok := Match(hashed(all(257)...), hashed(all(263)...)); ok {
		t.Error("moduli with too large a common multiple match")
	}
}
