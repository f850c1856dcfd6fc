package prune

import (
	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/vector"
)

// DataNodes describes how the rows of a table are spread over its data nodes: as one level by hash, whose
// leaves are the nodes. It is nil where all rows are on one. cols stand for the table's columns.
func DataNodes(t *catalog.Table, nodes int, cols []*expr.Col) (*Desc, error) {
	by, err := catalog.NewDistribution(t, nodes)
	if err != nil || by.Single() {
		return nil, err
	}
	divided := *t
	divided.Partitioning = &catalog.Partitioning{Strategy: catalog.PartitionByHash}
	l := &Level{table: &divided, nullKid: -1, defaultKid: -1, nodes: &by, hi: nodes}
	for _, pos := range by.Columns {
		typ := t.Columns[pos].Type
		divided.Partitioning.Keys = append(divided.Partitioning.Keys, catalog.PartitionKey{Column: t.Columns[pos].ID, Type: typ})
		l.keys = append(l.keys, key{pos: pos, expr: cols[pos], typ: typ, notNull: t.Columns[pos].NotNull, compare: expr.CompareValues(typ), values: vector.New(typ.Kind(), 0)})
	}
	d := &Desc{Table: t, Cols: cols, Leaves: make([]Leaf, nodes), top: l}
	for node := range d.Leaves {
		d.Leaves[node].Table = t
		l.kids = append(l.kids, kid{table: t, lo: node, hi: node + 1})
	}
	return d, nil
}
