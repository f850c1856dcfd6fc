package prune

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// Bounds are the partitions of one table, for a new one to be compared with.
type Bounds struct {
	level      *Level
	partitions []*catalog.Table
}

// NewBounds describes the direct partitions of a table.
func NewBounds(t *catalog.Table, partitions []*catalog.Table) (*Bounds, error) {
	l := &Level{table: t, nullKid: -1, defaultKid: -1}
	for i := range t.Partitioning.Keys {
		typ := t.Partitioning.Keys[i].Type
		l.keys = append(l.keys, key{typ: typ, compare: expr.CompareValues(typ), values: vector.New(typ.Kind(), 0)})
	}
	b := &Bounds{level: l, partitions: partitions}
	switch t.Partitioning.Strategy {
	case catalog.PartitionByList:
		return b, l.addLists(partitions)
	case catalog.PartitionByRange:
		return b, l.addRanges(partitions)
	}
	l.addHashes(partitions)
	return b, nil
}

// Empty reports whether a range has no place for a row.
func (b *Bounds) Empty(bound *catalog.PartitionBound) (bool, error) {
	from, to, err := b.ends(bound)
	return err == nil && b.level.compareEdges(from, to) >= 0, err
}

// Decides returns which value of a range says that it has no place for a row.
func (b *Bounds) Decides(bound *catalog.PartitionBound) int {
	from, to, err := b.ends(bound)
	if err != nil {
		return 0
	}
	for i := range from.kinds {
		if from.kinds[i] != to.kinds[i] || from.kinds[i] == 0 && b.level.keys[i].compare(from.values.Vecs[i], 0, to.values.Vecs[i], 0) != 0 {
			return i
		}
	}
	return len(from.kinds) - 1
}

func (b *Bounds) ends(bound *catalog.PartitionBound) (from, to edge, err error) {
	if from, err = b.level.edge(bound.From); err == nil {
		to, err = b.level.edge(bound.To)
	}
	return from, to, err
}

// OverlapRange returns a partition that has a part of a range, nil if none does. inFrom tells that the
// lower end is in it, key which value of the end decides, as PostgreSQL's search among the ends does.
func (b *Bounds) OverlapRange(bound *catalog.PartitionBound) (other *catalog.Table, inFrom bool, key int, err error) {
	from, to, err := b.ends(bound)
	if err != nil {
		return nil, false, 0, err
	}
	l := b.level
	low, high, order := -1, l.edges-1, 0
	for low < high {
		middle := (low + high + 1) / 2
		if order = l.compareEnd(middle, from); order == 0 && l.owners[middle] >= 0 {
			order = -len(l.keys)
		}
		if order > 0 {
			high = middle - 1
			continue
		}
		if low = middle; order == 0 {
			break
		}
	}
	if kid := l.owners[low+1]; kid >= 0 {
		return l.kids[kid].table, true, max(max(order, -order)-1, 0), nil
	}
	if low+1 < l.edges {
		if order = l.compareEnd(low+1, to); order < 0 {
			return l.kids[l.owners[low+2]].table, false, -order - 1, nil
		}
	}
	return nil, false, 0, nil
}

// compareEnd compares an edge of the level with an end of a range: the number, from 1, of the key that
// decides, negative where the edge is smaller.
func (l *Level) compareEnd(number int, e edge) int {
	for i := range l.keys {
		c := int(l.kinds[i][number]) - int(e.kinds[i])
		if c == 0 && e.kinds[i] == 0 {
			c = l.keys[i].compare(l.keys[i].values, number, e.values.Vecs[i], 0)
		}
		switch {
		case c < 0:
			return -(i + 1)
		case c > 0:
			return i + 1
		case e.kinds[i] != 0:
			return 0
		}
	}
	return 0
}

// OverlapList returns the first value of a list that is in another partition, and that one; nil if there
// is none.
func (b *Bounds) OverlapList(bound *catalog.PartitionBound) (value int, other *catalog.Table, err error) {
	for i, v := range bound.In {
		kid := b.level.nullKid
		if v.Kind == catalog.BoundIsValue {
			kid = -1
			d, err := ParseBound(b.level.keys[0].typ, v)
			if err != nil {
				return 0, nil, err
			}
			if at, ok := b.level.valueAt(oneValue(b.level.keys[0].typ, d), 0); ok {
				kid = b.level.owners[at]
			}
		}
		if kid >= 0 {
			return i, b.level.kids[kid].table, nil
		}
	}
	return 0, nil, nil
}

// Neighbours returns the partitions whose modulus and remainder are the greatest up to those of a bound,
// and the least above them.
func (b *Bounds) Neighbours(bound *catalog.PartitionBound) (below, above *catalog.Table) {
	for i := range b.level.kids {
		t := b.level.kids[i].table
		if t.Bound.Modulus > bound.Modulus || t.Bound.Modulus == bound.Modulus && t.Bound.Remainder > bound.Remainder {
			return below, t
		}
		below = t
	}
	return below, nil
}

// OverlapHash returns a partition that has some of the same hashes, nil if none does.
func (b *Bounds) OverlapHash(bound *catalog.PartitionBound) *catalog.Table {
	greatest := len(b.level.remainders)
	for r := bound.Remainder; r < greatest; r += bound.Modulus {
		if kid := b.level.remainders[r]; kid >= 0 {
			return b.level.kids[kid].table
		}
	}
	if greatest > 0 && bound.Modulus > greatest {
		if kid := b.level.remainders[bound.Remainder%greatest]; kid >= 0 {
			return b.level.kids[kid].table
		}
	}
	return nil
}
