package prune

import (
	"github.com/bits-and-blooms/bitset"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// Listed reports whether the table's direct partitions list the values that their rows have.
func (d *Desc) Listed() bool { return d.top.table.Partitioning.Strategy == catalog.PartitionByList }

// Cover notes which of the values that partitions list occur in a column. It belongs to one worker.
type Cover struct {
	level *Level
	seen  *bitset.BitSet // by number of the value
	left  int            // values that have not been seen
}

// NewCover returns a cover of a table that is Listed.
func (d *Desc) NewCover() *Cover {
	n := d.top.keys[0].values.Len
	return &Cover{level: d.top, seen: bitset.New(uint(n)), left: n}
}

// Add looks at the live rows of a column of values that the key's type represents in the same way.
func (c *Cover) Add(v *vector.Vector, n int, sel vector.Sel) {
	if v.Form == vector.Const {
		n, sel = 1, nil
	}
	live := n
	if sel != nil {
		live = len(sel)
	}
	for k := 0; k < live && c.left > 0; k++ {
		row := k
		if sel != nil {
			row = int(sel[k])
		}
		if v.IsNull(row) {
			continue
		}
		if at, ok := c.level.valueAt(v, row); ok && !c.seen.Test(uint(at)) {
			c.seen.Set(uint(at))
			c.left--
		}
	}
}

// Merge adds what another has seen.
func (c *Cover) Merge(other *Cover) {
	c.seen.InPlaceUnion(other.seen)
	c.left = c.level.keys[0].values.Len - int(c.seen.Count())
}

// Covered returns the leaves all of whose rows have values that were seen: those below direct partitions
// with every value of theirs, which neither take NULL nor what no partition lists.
func (d *Desc) Covered(c *Cover) *bitset.BitSet {
	l, out := d.top, bitset.New(uint(len(d.Leaves)))
	missing := make([]int, len(l.kids))
	copy(missing, l.listed)
	for at, ok := c.seen.NextSet(0); ok; at, ok = c.seen.NextSet(at + 1) {
		missing[l.owners[at]]--
	}
	for kid := range l.kids {
		if kid != l.nullKid && kid != l.defaultKid && missing[kid] == 0 {
			out.InPlaceUnion(d.below(l, kid))
		}
	}
	return out
}
