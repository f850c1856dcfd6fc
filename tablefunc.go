package weft

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/weftdb/weft/catalog"
	"github.com/weftdb/weft/internal/sqlerr"
	"github.com/weftdb/weft/planner"
	"github.com/weftdb/weft/vector"
)

// tableFunction is a system function that can stand in FROM.
type tableFunction struct {
	columns []planner.ResultColumn
	args    []catalog.Type
	// relation: it can be named like a table, too.
	relation bool
	// alone marks functions whose effect no transaction can undo: they are refused in a block.
	alone bool
	// htap marks functions about column views: they fail without enable_htap.
	htap bool
	rows func(c *functionCall, args []vector.Datum) ([][]vector.Datum, error)
}

// functionCall is what a system function runs in.
type functionCall struct {
	ctx     context.Context
	db      *database
	catalog *catalog.Snapshot // of the statement
	path    []string          // search path
}

var (
	boolType, textType, nameType  = catalog.Type{ID: catalog.Bool}, catalog.Type{ID: catalog.Text}, catalog.Type{ID: catalog.Name}
	int2Type, int4Type, int8Type  = catalog.Type{ID: catalog.Int2}, catalog.Type{ID: catalog.Int4}, catalog.Type{ID: catalog.Int8}
	oidType, vectorType, realType = catalog.Type{ID: catalog.Oid}, catalog.Type{ID: catalog.Int2Vector}, catalog.Type{ID: catalog.Float8}
)

func column(name string, t catalog.Type) planner.ResultColumn {
	return planner.ResultColumn{Name: name, Type: t}
}

// onNode puts the name of the data node before other columns.
func onNode(columns []planner.ResultColumn) []planner.ResultColumn {
	return append([]planner.ResultColumn{column("node_name", textType)}, columns...)
}

var tableFunctions = map[string]tableFunction{
	"gs_global_imcv_info":       {columns: onNode(viewColumns), htap: true, rows: globalViewInfo},
	"gs_htap_imcv_info":         {columns: viewColumns, htap: true, rows: viewInfo},
	"gs_imcv":                   {columns: definitionColumns, relation: true, rows: viewDefinitions},
	"gs_imcv_status":            {columns: statusColumns, relation: true, htap: true, rows: viewStatus},
	"gs_imcv_flush":             {columns: totalColumn, args: []catalog.Type{textType, int4Type, textType}, alone: true, rows: flushView},
	"gs_htap_data_maintenance":  {columns: totalColumn, args: []catalog.Type{textType, textType}, alone: true, htap: true, rows: maintainView},
	"gs_imcu_meta":              {columns: unitColumns, args: []catalog.Type{textType, int4Type}, htap: true, rows: unitMeta},
	"gs_global_imcu_meta":       {columns: onNode(unitColumns), args: []catalog.Type{textType, int4Type}, htap: true, rows: globalUnitMeta},
	"gs_imcu_size_estimation":   {columns: estimateColumns, args: []catalog.Type{textType, textType, textType}, rows: estimateSize},
	"gs_table_row_size":         {columns: rowSizeColumns, args: []catalog.Type{textType}, rows: tableRowSize},
	"gs_htap_tmu_data":          {columns: journalColumns, args: []catalog.Type{oidType, int4Type}, htap: true, rows: journalData},
	"gs_htap_tmu_chunk_meta":    {columns: chunkColumns, args: []catalog.Type{oidType, int4Type}, htap: true, rows: journalChunks},
	"gs_imcv_bgworker_status":   {columns: workerColumns, relation: true, htap: true, rows: workerStatus},
	"gs_htap_scan_hit_status":   {columns: hitColumns, relation: true, htap: true, rows: hitStatus},
	"gs_htap_file_status":       {columns: fileColumns, relation: true, htap: true, rows: fileStatus},
	"gs_htap_verify_status":     {columns: verifyColumns, relation: true, rows: verifyStatus},
	"pg_total_memory_detail":    {columns: memoryColumns, relation: true, rows: memoryDetail},
	"gs_imcv_advice":            {columns: adviceColumns, relation: true, rows: viewAdvice},
	"gs_imcv_advice_statistics": {columns: useColumns, relation: true, rows: columnUse},
}

var totalColumn = []planner.ResultColumn{column("total", int8Type)}

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

// run computes a system function's rows.
func (c *functionCall) run(name string, args []vector.Datum) ([][]vector.Datum, error) {
	f, ok := tableFunctions[name]
	switch {
	case !ok:
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist", name)
	case f.htap && c.db.setting(setEnableHTAP) != "on":
		return nil, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "Query failed due to ENABLE_HTAP is not enabled.")
	}
	return f.rows(c, args)
}

func text(s string) vector.Datum { return vector.StringDatum(s) }
func int2(n int) vector.Datum    { return vector.IntDatum(vector.I16, int64(n)) }
func int4(n int) vector.Datum    { return vector.IntDatum(vector.I32, int64(n)) }
func int8(n int64) vector.Datum  { return vector.IntDatum(vector.I64, n) }
func real8(f float64) vector.Datum {
	return vector.FloatDatum(vector.F64, f)
}

// given returns argument i, and whether it was given and is not NULL.
func given(args []vector.Datum, i int) (vector.Datum, bool) {
	if i >= len(args) || args[i].Null {
		return vector.Datum{}, false
	}
	return args[i], true
}

// table finds the table that argument i names, by the session's search path where it has no schema.
func (c *functionCall) table(function string, args []vector.Datum, i int) (*catalog.Table, error) {
	name, ok := given(args, i)
	if !ok {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "%s takes a table name", function)
	}
	path, local := c.path, name.S
	if schema, rest, ok := strings.Cut(name.S, "."); ok {
		path, local = []string{schema}, rest
	}
	for _, schema := range path {
		if t := c.catalog.Lookup(schema, local); t != nil {
			if t.Kind != catalog.OrdinaryTable && t.Kind != catalog.PartitionedTable {
				return nil, sqlerr.New(sqlerr.WrongObjectType, "%q is not a table", local)
			}
			return t, nil
		}
	}
	return nil, sqlerr.New(sqlerr.UndefinedTable, "relation %q does not exist", name.S)
}

// viewed is table for functions that need a column view: the table, or those of its partitions that have
// one.
func (c *functionCall) viewed(function string, args []vector.Datum, i int) ([]*catalog.Table, error) {
	t, err := c.table(function, args, i)
	if err != nil {
		return nil, err
	}
	leaves := slices.DeleteFunc(c.catalog.Leaves(t), func(leaf *catalog.Table) bool { return !leaf.HasView })
	if len(leaves) == 0 {
		return nil, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "table %q has no column view", t.Name).WithHint("Create one with ALTER TABLE %s COLVIEW.", t.Name)
	}
	return leaves, nil
}

// views lists the tables with column views, by name.
func (c *functionCall) views() []*catalog.Table {
	return slices.DeleteFunc(c.catalog.Tables(), func(t *catalog.Table) bool { return !t.HasView })
}

// parseInt reads a setting that was normalised when it was set.
func parseInt(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
