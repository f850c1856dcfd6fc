package weft

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/imcv"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// tableFunction is a system function that can stand in FROM.
type tableFunction struct {
	columns []planner.ResultColumn
	args    []catalog.Type
	// alone marks functions whose effect no transaction can undo: they are refused in a block.
	alone bool
	rows  func(d *database, args []vector.Datum) ([][]vector.Datum, error)
}

var tableFunctions = map[string]tableFunction{
	"gs_global_imcv_info": {columns: append([]planner.ResultColumn{{Name: "node_name", Type: catalog.Type{ID: catalog.Text}}}, viewColumns...), rows: globalViewInfo},
	"gs_htap_imcv_info":   {columns: viewColumns, rows: viewInfo},
	"gs_imcv_flush":       {columns: []planner.ResultColumn{{Name: "total", Type: catalog.Type{ID: catalog.Int8}}}, args: []catalog.Type{{ID: catalog.Text}}, alone: true, rows: flushView},
}

var viewColumns = []planner.ResultColumn{
	{Name: "rel_name", Type: catalog.Type{ID: catalog.Name}}, {Name: "partition_name", Type: catalog.Type{ID: catalog.Name}},
	{Name: "subpartition_name", Type: catalog.Type{ID: catalog.Name}}, {Name: "schema_name", Type: catalog.Type{ID: catalog.Name}},
	{Name: "user_name", Type: catalog.Type{ID: catalog.Name}}, {Name: "imcvnattr", Type: catalog.Type{ID: catalog.Int2}},
	{Name: "imcvkey", Type: catalog.Type{ID: catalog.Int2Vector}}, {Name: "priority", Type: catalog.Type{ID: catalog.Int2}},
	{Name: "rowgroup_num", Type: catalog.Type{ID: catalog.Int4}}, {Name: "populated_rowgroup_num", Type: catalog.Type{ID: catalog.Int4}},
	{Name: "cu_num_in_mem", Type: catalog.Type{ID: catalog.Int4}}, {Name: "cu_mem_size", Type: catalog.Type{ID: catalog.Int8}},
	{Name: "cu_num_in_disk", Type: catalog.Type{ID: catalog.Int4}}, {Name: "cu_disk_size", Type: catalog.Type{ID: catalog.Int8}},
}

// refuseInBlock fails for a plan that calls a function which must not run in a transaction block.
func (s *Session) refuseInBlock(plan *planner.Plan) error {
	if s.txn == nil {
		return nil
	}
	for _, call := range plan.Functions {
		if tableFunctions[call.Name].alone {
			return sqlerr.New(sqlerr.ActiveTransaction, "%s cannot run inside a transaction block", call.Name).At(call.Pos)
		}
	}
	return nil
}

// tableFunction computes a system function's rows.
func (d *database) tableFunction(name string, args []vector.Datum) ([][]vector.Datum, error) {
	f, ok := tableFunctions[name]
	if !ok {
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", name)
	}
	return f.rows(d, args)
}

func text(s string) vector.Datum { return vector.StringDatum(s) }
func int2(n int) vector.Datum    { return vector.IntDatum(vector.I16, int64(n)) }
func int4(n int) vector.Datum    { return vector.IntDatum(vector.I32, int64(n)) }
func int8(n int64) vector.Datum  { return vector.IntDatum(vector.I64, n) }

// viewRow is a column view's row without the node's name.
func viewRow(s *catalog.Snapshot, t *catalog.Table, i imcv.Info) []vector.Datum {
	names := []string{t.Name, "", ""} // the topmost table, its partition, and the leaf if that is another one
	if above := s.Ancestors(t); len(above) > 0 {
		names[0] = above[len(above)-1].Name
		if names[1] = t.Name; len(above) > 1 {
			names[1], names[2] = above[len(above)-2].Name, t.Name
		}
	}
	var keys []string
	for _, id := range t.CoveredColumns() {
		keys = append(keys, strconv.Itoa(int(id)))
	}
	const noPriority = 1
	return []vector.Datum{text(names[0]), text(names[1]), text(names[2]), text(t.Schema), text("weft"), int2(len(keys)), text(strings.Join(keys, " ")), int2(noPriority),
		int4(i.Groups), int4(i.LoadedGroups), int4(i.UnitsInMemory), int8(i.MemoryBytes), int4(i.UnitsOnDisk), int8(i.DiskBytes)}
}

func globalViewInfo(d *database, _ []vector.Datum) ([][]vector.Datum, error) {
	var rows [][]vector.Datum
	current := d.engine.Catalog()
	for _, t := range current.Tables() {
		if !t.HasView {
			continue
		}
		for node, info := range d.views.Info(t) {
			rows = append(rows, append([]vector.Datum{text(catalog.NodeName(node))}, viewRow(current, t, info)...))
		}
	}
	return rows, nil
}

func viewInfo(d *database, _ []vector.Datum) ([][]vector.Datum, error) {
	var rows [][]vector.Datum
	current := d.engine.Catalog()
	for _, t := range current.Tables() {
		if !t.HasView {
			continue
		}
		for _, info := range d.views.Info(t) {
			rows = append(rows, viewRow(current, t, info))
		}
	}
	return rows, nil
}

// flushView loads or rebuilds a table's column view now and returns the number of row groups
// loaded.
func flushView(d *database, args []vector.Datum) ([][]vector.Datum, error) {
	if len(args) != 1 || args[0].Null {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "gs_imcv_flush takes a table name")
	}
	schema, name := catalog.DefaultSchema, args[0].S
	if s, n, ok := strings.Cut(name, "."); ok {
		schema, name = s, n
	}
	current := d.engine.Catalog()
	t := current.Lookup(schema, name)
	if t == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", args[0].S)
	}
	leaves := slices.DeleteFunc(current.Leaves(t), func(leaf *catalog.Table) bool { return !leaf.HasView })
	if len(leaves) == 0 {
		return nil, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "table %q has no column view", t.Name).WithHint("Create one with ALTER TABLE %s COLVIEW.", t.Name)
	}
	loaded := 0
	for _, leaf := range leaves {
		n, err := d.views.Flush(leaf)
		if err != nil {
			return nil, err
		}
		loaded += n
	}
	return [][]vector.Datum{{int8(int64(loaded))}}, nil
}

// parseInt reads a setting that was normalised when it was set.
func parseInt(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
