package weft

import (
	"slices"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/expr"
	"github.com/weftdb/weft/imcv"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// unitColumns describe a column unit. imcu_size is its memory, imcu_data_size that of its values as
// they are, and compressed_data_size what it takes in a file, 0 where it is in none.
var unitColumns = []planner.ResultColumn{column("rel_name", nameType), column("rowgroup_id", int4Type), column("attnum", int2Type),
	column("column_name", nameType), column("imcu_size", int8Type), column("imcu_data_size", int8Type),
	column("compressed_data_size", int8Type), column("compressed_ratio", realType),
	column("method", textType), column("row_count", int4Type), column("null_count", int4Type), column("min", textType), column("max", textType),
	column("place", textType)}

// unitRows describes a table's loaded units, with the node each lies on.
func (c *functionCall) unitRows(function string, args []vector.Datum, row func(node int, values []vector.Datum)) error {
	tables, err := c.viewed(function, args, 0)
	if err != nil {
		return err
	}
	only, one := given(args, 1)
	for _, t := range tables {
		for _, u := range c.db.views.Units(t) {
			if !one || int64(u.Group) == only.I {
				c.unitRow(t, &u, row)
			}
		}
	}
	return nil
}

// unitRow describes one unit.
func (c *functionCall) unitRow(t *catalog.Table, u *imcv.UnitInfo, row func(node int, values []vector.Datum)) {
	column, place := &t.Columns[t.ColumnByID(u.Column)], "memory"
	if !u.InMemory {
		place = "disk"
	}
	row(slices.Index(t.Stores, u.Store), []vector.Datum{text(t.Name), int4(u.Group), int2(int(u.Column)), text(column.Name), int8(u.Bytes), int8(u.PlainBytes),
		int8(u.DiskBytes), real8(float64(u.PlainBytes) / float64(max(u.Bytes, 1))), text(u.Encoding.String()), int4(u.Rows), int4(u.Nulls),
		c.bound(column.Type, u.Min), c.bound(column.Type, u.Max), text(place)})
}

// bound is a zone's end as text.
func (c *functionCall) bound(t catalog.Type, d vector.Datum) vector.Datum {
	if d.Null {
		return vector.NullDatum(vector.Bytes)
	}
	return text(expr.FormatDatum(t, d, &expr.Env{}))
}

func unitMeta(c *functionCall, args []vector.Datum) (rows [][]vector.Datum, err error) {
	err = c.unitRows("gs_imcu_meta", args, func(_ int, values []vector.Datum) { rows = append(rows, values) })
	return rows, err
}

func globalUnitMeta(c *functionCall, args []vector.Datum) (rows [][]vector.Datum, err error) {
	err = c.unitRows("gs_global_imcu_meta", args, func(node int, values []vector.Datum) {
		rows = append(rows, append([]vector.Datum{text(catalog.NodeName(node))}, values...))
	})
	return rows, err
}

var estimateColumns = []planner.ResultColumn{column("node_name", textType), column("estimated_size", int8Type)}

// estimateSize is gs_imcu_size_estimation(table, columns, partition): the memory that a view of all
// columns, or of those in a comma list, would take, of all partitions or of one.
func estimateSize(c *functionCall, args []vector.Datum) ([][]vector.Datum, error) {
	t, err := c.table("gs_imcu_size_estimation", args, 0)
	if err != nil {
		return nil, err
	}
	leaves := c.catalog.Leaves(t)
	if name, ok := given(args, 2); ok {
		if leaves, err = c.leavesOf(t, name.S); err != nil {
			return nil, err
		}
	}
	names, err := columnsNamed(t, args)
	if err != nil {
		return nil, err
	}
	var bytes []int64 // by node
	for _, leaf := range leaves {
		var columns []catalog.ColumnID
		for _, name := range names {
			columns = append(columns, leaf.Columns[leaf.ColumnIndex(name)].ID)
		}
		nodes, err := c.db.views.EstimateBytes(c.ctx, leaf, columns)
		if err != nil {
			return nil, err
		}
		for node := range nodes {
			if node == len(bytes) {
				bytes = append(bytes, 0)
			}
			bytes[node] += nodes[node].Bytes()
		}
	}
	var rows [][]vector.Datum
	for node := range bytes {
		rows = append(rows, []vector.Datum{text(catalog.NodeName(node)), int8(bytes[node])})
	}
	return rows, nil
}

var rowSizeColumns = onNode([]planner.ResultColumn{column("rel_name", nameType), column("row_size", int8Type)})

// tableRowSize is gs_table_row_size(table): the bytes of a table's rows, or of its partitions' rows, as the row
// store encodes them, to compare units with. It reads all of them, as of the last commit.
func tableRowSize(c *functionCall, args []vector.Datum) (rows [][]vector.Datum, err error) {
	t, err := c.table("gs_table_row_size", args, 0)
	if err != nil {
		return nil, err
	}
	view := c.db.engine.View()
	defer view.Release()
	for _, leaf := range c.catalog.Leaves(t) {
		for node, store := range leaf.Stores {
			bytes, err := view.RowBytes(c.ctx, store)
			if err != nil {
				return nil, err
			}
			rows = append(rows, []vector.Datum{text(catalog.NodeName(node)), text(leaf.Name), int8(bytes)})
		}
	}
	return rows, nil
}

// leavesOf lists the leaves that are, or are below, a partition of a table.
func (c *functionCall) leavesOf(t *catalog.Table, partition string) ([]*catalog.Table, error) {
	if t.Kind != catalog.PartitionedTable {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "table %q is not partitioned", t.Name).WithDetail("Partition %q was asked for.", partition)
	}
	for _, p := range c.catalog.Descendants(t.ID) {
		if p.Name == partition {
			return c.catalog.Leaves(p), nil
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedTable, "table %q has no partition %q", t.Name, partition)
}

// columnsNamed returns the names in a comma list, argument 1, or of all columns.
func columnsNamed(t *catalog.Table, args []vector.Datum) (names []string, err error) {
	list, ok := given(args, 1)
	if !ok {
		for i := range t.Columns {
			names = append(names, t.Columns[i].Name)
		}
		return names, nil
	}
	for _, name := range strings.Split(list.S, ",") {
		name = strings.TrimSpace(name)
		if t.ColumnIndex(name) < 0 {
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", name, t.Name)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// The journal says which rows have changed since their units were built, not by whom or how: a reader
// looks at the rows themselves. A transaction's own writes are not in it before they are committed; its scans
// find them in its overlay.
var (
	journalColumns = []planner.ResultColumn{column("node_name", textType), column("rel_oid", oidType), column("rowgroup_id", int4Type), column("ctid", int8Type)}
	chunkColumns   = []planner.ResultColumn{column("node_name", textType), column("rel_oid", oidType), column("rowgroup_id", int4Type), column("status", textType),
		column("row_count", int4Type), column("buffer_count", int4Type), column("mem_usage", int8Type), column("build_commit", int8Type)}
)

// nodeOf names the data node of a table's store.
func nodeOf(t *catalog.Table, store catalog.StoreID) string {
	return catalog.NodeName(slices.Index(t.Stores, store))
}

// journals visits the row groups of the table with a number, or one of them.
func (c *functionCall) journals(args []vector.Datum, visit func(t *catalog.Table, g *imcv.GroupInfo)) error {
	id, ok := given(args, 0)
	if !ok {
		return sqlerr.New(sqlerr.InvalidParameterValue, "the table's number is missing")
	}
	t := c.catalog.Table(catalog.TableID(id.I))
	if t == nil || !t.HasView {
		return sqlerr.New(sqlerr.UndefinedTable, "no table with a column view has number %d", id.I).WithHint("gs_imcv lists them.")
	}
	groups := c.db.views.Groups(t)
	only, one := given(args, 1)
	for i := range groups {
		if !one || int64(groups[i].Group) == only.I {
			visit(t, &groups[i])
		}
	}
	return nil
}

func journalData(c *functionCall, args []vector.Datum) (rows [][]vector.Datum, err error) {
	err = c.journals(args, func(t *catalog.Table, g *imcv.GroupInfo) {
		for _, ref := range c.db.views.TouchedRows(t, g.Store, g.Group) {
			rows = append(rows, []vector.Datum{text(nodeOf(t, g.Store)), int8(int64(t.ID)), int4(g.Group), int8(int64(ref))})
		}
	})
	return rows, err
}

func journalChunks(c *functionCall, args []vector.Datum) (rows [][]vector.Datum, err error) {
	err = c.journals(args, func(t *catalog.Table, g *imcv.GroupInfo) {
		status := "clean"
		switch {
		case !g.Loaded:
			status = "not loaded"
		case g.Voided:
			status = "void"
		case g.TouchedRows > 0:
			status = "touched"
		}
		rows = append(rows, []vector.Datum{text(nodeOf(t, g.Store)), int8(int64(t.ID)), int4(g.Group), text(status), int4(g.TouchedRows),
			int4(g.TouchedPages), int8(g.JournalBytes), int8(int64(g.BuiltAt))})
	})
	return rows, err
}
