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
	case catalog.PartitionByHash:
		l.addHashes(partitions)
	}
	return b, nil
}

// Empty reports whether a range has no place for a row.
func (b *Bounds) Empty(bound *catalog.PartitionBound) (bool, error) {
	from, to, err := b.ends(bound)
	return err == nil && b.level.compareEdges(from, to) >= 0, err
}

func (b *Bounds) ends(bound *catalog.PartitionBound) (from, to edge, err error) {
	if from, err = b.level.edge(bound.From); err == nil {
		to, err = b.level.edge(bound.To)
	}
	return from, to, err
}

// OverlapRange returns the first partition that has a part of a range, nil if none does. inFrom tells
// that the lower end is in it, key which value of the end decides.
func (b *Bounds) OverlapRange(bound *catalog.PartitionBound) (other *catalog.Table, inFrom bool, key int, err error) {
	from, to, err := b.ends(bound)
	if err != nil {
		return nil, false, 0, err
	}
	parts, err := b.level.ranges(b.partitions)
	if err != nil {
		return nil, false, 0, err
	}
	for _, p := range parts {
		if b.level.compareEdges(from, p.to) >= 0 || b.level.compareEdges(p.from, to) >= 0 {
			continue
		}
		if b.level.compareEdges(p.from, from) <= 0 {
			return p.table, true, b.level.decides(p.from, from), nil
		}
		return p.table, false, b.level.decides(p.from, to), nil
	}
	return nil, false, 0, nil
}

// decides returns which key makes the difference between two edges, the first if none does.
func (l *Level) decides(a, b edge) int {
	for i := range l.keys {
		if a.kinds[i] != b.kinds[i] || a.kinds[i] == 0 && l.keys[i].compare(a.values.Vecs[i], 0, b.values.Vecs[i], 0) != 0 {
			return i
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

// Neighbours returns the partitions with the greatest modulus up to one, and with the least above it.
func (b *Bounds) Neighbours(modulus int) (below, above *catalog.Table) {
	for i := range b.level.kids {
		t := b.level.kids[i].table
		if t.Bound.Modulus <= modulus {
			if below == nil || t.Bound.Modulus > below.Bound.Modulus {
				below = t
			}
		} else if above == nil {
			above = t
		}
	}
	return below, above
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
