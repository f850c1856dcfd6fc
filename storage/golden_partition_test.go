package storage

import (
	"testing"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/vector"
)

// fillGoldenPartitions adds what came with format 3: a table divided by list, one of whose partitions is
// divided by range and has its columns in another order.
func fillGoldenPartitions(t *testing.T, e *Engine) {
	fillGoldenIndexes(t, e)
	columns := func(names ...string) []catalog.Column {
		var list []catalog.Column
		for i, name := range names {
			list = append(list, catalog.Column{ID: catalog.ColumnID(i + 1), Name: name, Type: int4Type, NotNull: name == "a", AddedIn: 1})
		}
		return list
	}
	describe := func(name string, parent *catalog.Table, bound *catalog.PartitionBound, by *catalog.Partitioning, names ...string) *catalog.Table {
		tbl := &catalog.Table{ID: e.NewTableID(), Schema: "public", Name: name, SchemaVersion: 1, NextColumn: 3, Columns: columns(names...),
			DistributeBy: []catalog.ColumnID{1}, Partitioning: by, Bound: bound, Checks: []catalog.Check{{Name: "c", Expr: "a > 0", Inherited: parent != nil}}}
		x := catalog.Index{ID: e.NewIndexID(), Name: name + "_pkey", Columns: []catalog.ColumnID{catalog.ColumnID(tbl.ColumnIndex("a") + 1), catalog.ColumnID(tbl.ColumnIndex("b") + 1)}, Unique: true, Primary: true}
		if parent != nil {
			tbl.Parent, x.Parent = parent.ID, parent.Indexes[0].ID
		}
		tbl.Indexes = []catalog.Index{x}
		if by != nil {
			tbl.Kind = catalog.PartitionedTable
		} else {
			for range e.Catalog().Nodes {
				tbl.Stores = append(tbl.Stores, e.NewStoreID())
			}
		}
		return createTable(t, e, tbl)
	}
	value := func(texts ...string) []catalog.BoundValue {
		var list []catalog.BoundValue
		for _, text := range texts {
			list = append(list, catalog.BoundValue{Text: text})
		}
		return list
	}
	root := describe("parts", nil, nil, &catalog.Partitioning{Strategy: catalog.PartitionByList, Keys: []catalog.PartitionKey{{Expr: "(a % 3)", Type: int4Type}}}, "a", "b")
	first := describe("parts_0", root, &catalog.PartitionBound{In: append(value("0"), catalog.BoundValue{Kind: catalog.BoundIsNull})}, nil, "a", "b")
	middle := describe("parts_1", root, &catalog.PartitionBound{In: value("1")}, &catalog.Partitioning{Keys: []catalog.PartitionKey{{Column: 1, Type: int4Type}}}, "b", "a")
	second := describe("parts_1_low", middle, &catalog.PartitionBound{From: []catalog.BoundValue{{Kind: catalog.BoundIsMin}}, To: value("100")}, nil, "b", "a")
	describe("parts_rest", root, &catalog.PartitionBound{Default: true}, nil, "a", "b")
	for i, tbl := range []*catalog.Table{first, second} {
		b := vector.NewBatch([]vector.Kind{vector.I32, vector.I32})
		for k := range int64(3) {
			a := vector.IntDatum(vector.I32, 3*k+int64(i)+3)
			for pos, d := range map[int]vector.Datum{tbl.ColumnIndex("a"): a, tbl.ColumnIndex("b"): vector.IntDatum(vector.I32, 10*k)} {
				vector.AppendDatum(b.Vecs[pos], d)
			}
		}
		b.N = 3
		x := e.Begin(TxnOptions{})
		_, err := x.Insert(bg, tbl, b)
		must(t, err)
		must(t, x.Commit(bg))
	}
}
